"""weir-sweep tune: the sub-command. What it needs is loaded when it is used: jobs of campaigns run without."""

from __future__ import annotations

from pathlib import Path

from ..basics import whole_file
from ..basics.errors import ReportError
from ..version import VERSION

DESCRIPTION = """Looks for the best setting of some axes in the simulator, confirms it against the present one with fresh seeds, and writes the
answer, a page and the sweep file that confirms it by measurement. FILE.toml is a sweep file with a table [tune] in the place of [axes];
docs/tuning-a-switch.md explains it. The same command continues what was interrupted."""
EPILOG = """Exit status: 0 done, whether a better setting was found or none; 2 bad usage or input, nothing was started; 130, 143 interrupted (the same
command continues)."""


def add_parser(commands):
    added = commands.add_parser("tune", help="the best setting of some axes, simulated, and how sure that is", description=DESCRIPTION, epilog=EPILOG)
    added.add_argument("file", metavar="FILE.toml", type=Path, help="what is run, what is varied, what is to be made better")
    added.add_argument("--from", dest="of_run", metavar="RUN", type=Path,
                       help="directory of a run that was made: its twin (weir explain) takes the place of [run]; the file needs [tune] only")
    added.add_argument("--plan", action="store_true", help="what would be run, and how long it takes; starts nothing")
    added.add_argument("--budget", metavar="RUNS|TIME", help="runs of search and confirmation, such as 120, or for how long all may run on this "
                       "machine, such as 2h (replaces budget of [tune])")
    added.add_argument("--jobs", metavar="N", type=int, help="simulations at a time (default: all cores, as far as memory allows)")
    added.add_argument("--slurm", action="store_true", help="simulations as arrays of SLURM jobs with one core each")
    added.add_argument("--out", metavar="DIRECTORY", type=Path, help="where all is kept (default: FILE beside FILE.toml)")


def run(options):
    """The exit status. Raises ReportError."""
    if options.jobs is not None and (options.slurm or not 1 <= options.jobs <= 10000):
        raise ReportError("--jobs: it is a number of processes from 1 on, and goes with runs on this machine")
    if options.file.suffix != ".toml":
        raise ReportError(f"tune: {options.file}: the name of a sweep file ends with .toml")
    from ..sweep import continued
    from ..basics import programs
    from . import from_run, text, tune_file, tuning
    tune = tune_file.read(options.file, options.budget, options.of_run and from_run.tables(options.of_run, programs.find_weir()))
    if options.slurm and tune.budget_s:
        raise ReportError("--slurm: how many jobs go on at a time is not known before, so the budget is a number of runs there, and not a time")
    made = tuning.Tuning(tune, options.out or tune.path.with_suffix(""), lambda line: print(line, flush=True), options.jobs, options.slurm)
    try:
        print("\n".join(text.plan_lines(tune, made.forecast())) + ("" if options.plan else "\n"), flush=True)
        if options.plan:
            return 0
        made.begin()
        found = made.run()
    except tuning.NothingCanAct as nothing:
        print(f"{nothing}")
        return 0
    except continued.Interrupted as interrupted:
        print("interrupted; the same command continues", flush=True)
        return int(interrupted.args[0])
    _write(made, found)
    return 0


def _write(made, found):
    from . import confirm_file, page, record, text
    tune = made.tune
    written, lines = [made.directory / record.FILE, made.directory / record.PAGE], text.answer_lines(made.tune, found)
    whole_file.replace(written[0], whole_file.json_text(record.make(tune, found)))
    whole_file.replace(written[1], page.page_text(tune, found, f"Written by weir-sweep {VERSION}."))
    if found.chosen is not None:
        path, changed = confirm_file.write(tune.path.with_name(f"{tune.path.stem}-confirm.toml"), made.directory, confirm_file.text(
            tune, found, lambda candidate: made.options(found, candidate), confirm_file.only_simulated(made.campaigns.weir)))
        lines += text.next_lines(path, confirm_file.PLACEHOLDER in path.read_text(encoding="utf-8"))
        if changed:
            lines += text.unchanged_lines(path)
        else:
            written.append(path)
    print("\n" + "\n".join(lines))
    print("\n" + "\n".join(f"written  {path}" for path in written))
