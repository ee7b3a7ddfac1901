"""weir-sweep bmwg: the field's tests by their names. What it needs is loaded when it is used: jobs of campaigns run
without."""

import tempfile
from pathlib import Path

from weir_runs.basics import whole_file
from weir_runs.basics.errors import ReportError
from weir_runs.basics.terminal_text import is_coloured
from weir_runs.version import VERSION

FORMS = "PLAN.toml, check DIRECTORY, compare DIRECTORY DIRECTORY, --list or --template"


def run(options):
    """The exit status. Raises ReportError."""
    words = options.words
    if options.only is not None and not (words and words[0].endswith(".toml")):
        raise ReportError("bmwg: --only: it goes with a plan (PLAN.toml)")
    if options.template and (words or options.list):
        raise ReportError("bmwg: --template: it stands alone")
    if options.template:
        from .plan_file import TEMPLATE
        print(TEMPLATE, end="")
        return 0
    if options.list and not words:
        from . import draft_suite
        print("\n".join(draft_suite.list_lines()))
        return 0
    if len(words) == 2 and words[0] == "check":
        return _check(words[1])
    if len(words) == 3 and words[0] == "compare":
        return _compare(words[1:])
    if len(words) != 1 or words[0] in ("check", "compare"):
        raise ReportError(f"bmwg: {' '.join(words) or 'nothing'} was found; {FORMS} is expected")
    return _suite(options, Path(words[0]))


def _check(directory):
    from . import submission_reader
    found = submission_reader.lacks(submission_reader.read(directory))
    print("\n".join(found) if found else "nothing is lacking")
    return 1 if found else 0


def _compare(names):
    from . import submission_reader
    print("\n".join(submission_reader.compared(names, *map(submission_reader.read, names))))
    return 0


def _suite(options, path):
    from weir_compare.sweep import continued
    from . import catalogue, draft_suite, plan_file
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
            made = draft_suite.Suite(plan, world, options.quick, directory, print)
            made.begin()
            listed = catalogue.with_needs(wanted) if only or plan.only else catalogue.SECTIONS
            costs = {section.number: made.cost(section) for section in catalogue.with_needs(wanted)}
            print("\n".join(draft_suite.list_lines(costs, listed)))
        return 0
    directory = options.out or path.resolve().with_suffix("")
    made = draft_suite.Suite(plan, world, options.quick, directory, lambda line: print(line, flush=True))
    made.begin()
    try:
        finished = made.run(wanted)
    except continued.Interrupted as interrupted:
        print("interrupted; the same command continues", flush=True)
        return int(interrupted.args[0])
    return _report(plan, world, options.quick, made, finished, {section.number for section in wanted})


def _report(plan, world, quick, made, finished, wanted):
    from . import draft_suite, submission_page, submission_record
    found = submission_record.make(plan, world, quick, made.fabric, finished)
    whole_file.replace(made.directory / submission_record.FILE, whole_file.json_text(found))
    whole_file.replace(made.directory / submission_record.PAGE,
                       submission_page.page_text(found, f"Written by weir-sweep {VERSION}."))
    lines = submission_record.short(plan, finished).lines(is_coloured())
    print("\n" + "\n".join([*lines, "", *draft_suite.result_lines(finished)]))
    print(f"\nwritten  {made.directory / submission_record.FILE}\nwritten  {made.directory / submission_record.PAGE}")
    return 0 if all(one.outcome for one in finished if one.section.number in wanted) else 1
