"""weir-sweep bmwg: the field's tests by their names. What it needs is loaded when it is used: jobs of campaigns run without."""

from __future__ import annotations

import tempfile
from pathlib import Path

from ..basics import whole_file
from ..basics.errors import ReportError
from ..version import VERSION

DESCRIPTION = """Runs the tests of the IETF's draft on benchmarks of AI training fabrics, each as campaigns, and writes a report of ten
parts: submission.json and submission.html. The same command continues what was interrupted. docs/results-by-the-draft.md says what is
observed where, and what weir cannot observe."""
EPILOG = """Exit status: 0 done; 1 a test that was asked for has no result, or check found that something is lacking; 2 bad usage or input, nothing was
started; 130, 143 interrupted (the same command continues)."""
FORMS = "PLAN.toml, check DIRECTORY, compare DIRECTORY DIRECTORY, --list or --template"


def add_parser(commands, where):
    """`where`: adds --local and --simulate."""
    added = commands.add_parser("bmwg", help="the tests of the IETF's draft on AI fabrics, by their names", description=DESCRIPTION,
                                epilog=EPILOG)
    added.add_argument("words", metavar="PLAN.toml | check DIRECTORY | compare A B", nargs="*",
                       help="the plan: which fabric, which tests; or check, and the directory of a suite: what its report lacks of what the draft "
                            "asks for; or compare, and the directories of two: their figures side by side, and a ratio where all that must be equal is")
    where(added)
    added.add_argument("--list", action="store_true",
                       help="all sections: what they ask for, and whether they can be run; with a plan also how long they take. Starts nothing")
    added.add_argument("--template", action="store_true", help="print a plan to begin with")
    added.add_argument("--only", metavar="SECTIONS", help="run these sections and what they need: 5.3,8.1")
    added.add_argument("--quick", action="store_true", help="a part of the draft's parameters, in minutes; --list shows which")
    added.add_argument("--out", metavar="DIRECTORY", type=Path, help="the suite's directory (default: PLAN beside PLAN.toml)")


def run(options):
    """The exit status. Raises ReportError."""
    words = options.words
    if options.only is not None and not (words and words[0].endswith(".toml")):
        raise ReportError("bmwg: --only: it goes with a plan (PLAN.toml)")
    if options.template and (words or options.list):
        raise ReportError("bmwg: --template: it stands alone")
    if options.template:
        return _template()
    if options.list and not words:
        from . import text
        print("\n".join(text.list_lines()))
        return 0
    if len(words) == 2 and words[0] == "check":
        return _check(words[1])
    if len(words) == 3 and words[0] == "compare":
        return _compare(*words[1:])
    if len(words) != 1 or words[0] in ("check", "compare"):
        raise ReportError(f"bmwg: {' '.join(words) or 'nothing'} was found; {FORMS} is expected")
    return _suite(options, Path(words[0]))


def _template():
    from .plan_file import TEMPLATE
    print(TEMPLATE, end="")
    return 0


def _check(directory):
    from . import check
    found = check.lacks(check.read(directory))
    print("\n".join(found) if found else "nothing is lacking")
    return 1 if found else 0


def _compare(first, second):
    from . import check, compare
    print("\n".join(compare.lines((first, second), check.read(first), check.read(second))))
    return 0


def _suite(options, path):
    from ..sweep import continued
    from . import catalogue, plan_file, suite, text
    if path.suffix != ".toml":
        raise ReportError(f"bmwg: {path}: the name of a plan ends with .toml; weir-sweep bmwg --template prints one")
    plan = plan_file.read(path)
    world = options.world or "slurm"
    only = tuple(filter(None, (options.only or "").split(",")))
    if options.only is not None and not only:
        raise ReportError(f"bmwg: --only: '{options.only}' names no section; 5.3,8.1 would")
    wanted = plan_file.chosen(plan, only, "simulation" if world == "simulation" else "measurement")
    if options.list:
        with tempfile.TemporaryDirectory(prefix="weir-bmwg-") as directory:
            made = suite.Suite(plan, world, options.quick, directory, print)
            made.begin()
            listed = catalogue.with_needs(wanted) if only or plan.only else catalogue.SECTIONS
            costs = {section.number: made.cost(section) for section in catalogue.with_needs(wanted)}
            print("\n".join(text.list_lines(costs, listed)))
        return 0
    directory = options.out or path.resolve().with_suffix("")
    made = suite.Suite(plan, world, options.quick, directory, lambda line: print(line, flush=True))
    made.begin()
    try:
        finished = made.run(wanted)
    except continued.Interrupted as interrupted:
        print("interrupted; the same command continues", flush=True)
        return int(interrupted.args[0])
    return _report(plan, world, options.quick, made, finished, {section.number for section in wanted})


def _report(plan, world, quick, made, finished, wanted):
    from . import page, record, text
    found = record.make(plan, world, quick, made.fabric, finished)
    whole_file.replace(made.directory / record.FILE, whole_file.json_text(found))
    whole_file.replace(made.directory / record.PAGE, page.page_text(found, f"Written by weir-sweep {VERSION}."))
    print("\n" + "\n".join(text.result_lines(finished)))
    print(f"\nwritten  {made.directory / record.FILE}\nwritten  {made.directory / record.PAGE}")
    return 0 if all(one.outcome for one in finished if one.section.number in wanted) else 1
