"""weir-sweep: a campaign of many runs from one file."""

import argparse
import dataclasses
import os
import sys
from pathlib import Path

from .basics import whole_file
from .basics.errors import ReportError, status_of
from .basics.units import counted
from .bmwg import command as bmwg_command
from .runs import capacity
from .sweep import find_command, find_text, simulate as sweep_simulate, slurm_jobs, submission, text as sweep_text
from .sweep.campaign import FAILED, Campaign
from .sweep.file import read_sweep_file
from .tune import command as tune_command
from .version import VERSION

DESCRIPTION = """Runs weir for all combinations of some settings, repeatedly, and in an order that keeps drift from looking
like a difference: as SLURM jobs, on this machine, or simulated. A sweep file describes the runs; slurm/README.md explains it."""
EPILOG = """SWEEP is a sweep file (FILE.toml), or the directory of its campaign, which is FILE beside FILE.toml unless --out
names it. Exit status: 0 done, or handed to SLURM; 1 a run failed; 2 bad usage or input, nothing was started; 130, 143
interrupted (the same command continues)."""

POLL_S = 5.0  # how often `all` looks whether SLURM has finished the jobs


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, f"{self.prog}: {message} ({self.prog} --help shows the usage)\n")


def parser():
    made = _Parser(prog="weir-sweep", description=DESCRIPTION, epilog=EPILOG)
    made.add_argument("--version", action="version", version=f"weir-sweep {VERSION}")
    commands = made.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)

    def command(name, summary, description):
        added = commands.add_parser(name, help=summary, description=description, epilog=EPILOG)
        added.add_argument("sweep", metavar="SWEEP", type=Path, help="sweep file, or the directory of its campaign")
        added.add_argument("--out", metavar="DIRECTORY", type=Path, help="the campaign's directory")
        return added

    def where(added):
        kind = added.add_mutually_exclusive_group()
        kind.add_argument("--local", dest="world", action="store_const", const="local", help="without SLURM: by the launcher of [local], else on this machine")
        kind.add_argument("--simulate", dest="world", action="store_const", const="simulation", help="in the simulator")

    plan = command("plan", "what would be run, and how long it takes; starts nothing",
                   "Checks every setting and prints the number of runs, time, node hours and the order. Starts nothing.")
    where(plan)
    plan.add_argument("--on-change", metavar="COMMAND", help="replaces on-change of [switch]")
    plan.add_argument("--json", action="store_true", help="print JSON, with all points")

    submit = command("submit", "start the runs, or continue with those that are left",
                     "Starts the campaign, or continues it: complete runs are not repeated.")
    where(submit)
    submit.add_argument("--on-change", metavar="COMMAND",
                        help="command that sets the switch, called with the setting's name (replaces on-change of [switch])")
    submit.add_argument("--jobs", metavar="N", type=int, help="with --simulate: simulations at a time (default: all cores, as far as memory allows)")
    submit.add_argument("--slurm", action="store_true", help="with --simulate: as an array of jobs with one core each")
    submit.add_argument("--retry-failed", action="store_true", help="also repeat runs that failed")

    status = command("status", "progress of the campaign", "Shows the progress of the campaign, from its run directories.")
    status.add_argument("--all", action="store_true", help="one line for every run")
    status.add_argument("--json", action="store_true", help="print JSON")

    collect = command("collect", "results as one table and one page",
                      "Writes table.csv (table.parquet too where pyarrow is installed) and comparison.html into the "
                      "campaign's directory. Lists the runs that are missing.")
    collect.add_argument("--from", dest="world", choices=("slurm", "local", "simulation"),
                         help="which runs (default: those of SLURM, else of this machine, else simulated ones)")
    collect.add_argument("--baseline", metavar="SETTING", help="setting to compare with (default: the one in the sweep file, else the first)")
    collect.add_argument("--by", metavar="AXIS", help="group runs by the values of one axis")
    collect.add_argument("--quiet", action="store_true", help="print errors only")

    find_command.add_parser(commands, where, EPILOG)
    tune_command.add_parser(commands)
    bmwg_command.add_parser(commands, where)

    command("read", "the switch's counters, once",
            "Calls read of [switch] once and prints the counters as they would be kept: a trial of the command. Nothing is stored.")

    def packed(added):
        added.add_argument("--archive", metavar="FILE.tar.gz", type=Path, help="the archive (default: beside the campaign's directory)")
        added.add_argument("--replace-names", action="store_true",
                           help="replace names of hosts, users, accounts and commands, addresses and directories, in all files")
        added.add_argument("--replace", metavar="WORD", action="append", default=[],
                           help="another word to replace, as the name of a project or a switch; repeatable")

    packed(command("pack", "one archive for others: settings, runs, counters, answer",
                   "Packs settings, complete runs with all their files, what the switch and weir check printed, table and page into "
                   "one archive with checksums. Unpacked, it is a campaign that weir-sweep collect takes."))

    everything = command("all", "plan, check, run, collect and pack, with one command",
                         "Prints the plan, makes all runs that are left and waits for them, writes table and page, and packs "
                         "everything. The same command continues after an interruption.")
    where(everything)
    everything.add_argument("--on-change", metavar="COMMAND", help="replaces on-change of [switch]")
    packed(everything)

    # For the jobs that submit makes: not in the help.
    work = commands.add_parser("work")
    work.add_argument("sweep", type=Path)
    work.add_argument("number", type=int)
    work.add_argument("--simulate", action="store_true")
    commands._choices_actions = [action for action in commands._choices_actions if action.dest != "work"]
    return made


def main(argv=None):
    return status_of("weir-sweep", lambda: _command(list(sys.argv[1:] if argv is None else argv)))


def _command(argv):
    words, plan = find_command.split(argv)
    options = parser().parse_args(words)
    if plan:
        options.options = plan
    chosen = {"plan": _plan, "submit": _submit, "status": _status, "collect": _collect, "read": _read,
              "find": _find, "bmwg": bmwg_command.run, "tune": tune_command.run, "pack": _pack, "all": _all, "work": _work}[options.command]
    # A job that can write no file has failed; bad usage would be 2.
    return status_of("weir-sweep", lambda: chosen(options), of_files=1) if options.command == "work" else chosen(options)


def _sweep_of(options):
    """The sweep file, with --on-change in it; a campaign's directory stands for the file that it was begun with."""
    path = options.sweep
    if path.is_dir():
        path = Path(_campaign(options).plan.file or path)
        if not path.exists():
            raise ReportError(f"{path}: the sweep file of {options.sweep} no longer exists; {options.sweep / 'sweep.toml'} is a copy")
    sweep = read_sweep_file(path)
    if options.on_change is not None:
        if not sweep.switch:
            raise ReportError(f"--on-change: {sweep.path} has no [switch], so there is nothing to set")
        sweep = dataclasses.replace(sweep, switch=dataclasses.replace(sweep.switch, on_change=options.on_change))
    return sweep


def _directory_of(options):
    if options.out:
        return options.out.resolve()
    if options.sweep.is_dir():
        return options.sweep.resolve()
    if options.sweep.suffix != ".toml" and not options.sweep.exists():
        raise ReportError(f"{options.sweep}: no such file or directory; a sweep file is expected")
    return options.sweep.resolve().with_suffix("")


def _prepare(options):
    return submission.prepare(_sweep_of(options), options.world or "slurm", _directory_of(options))


def _plan(options):
    prepared = _prepare(options)
    prepared.campaign.check_continues(prepared.plan)
    search = submission.prepare_search(prepared)
    if options.json:
        print(whole_file.printed_json(sweep_text.plan_record(prepared, search)), end="")
    else:
        print("\n".join(sweep_text.plan_lines(prepared, search=search)))
    if prepared.world == "slurm" and slurm_jobs.is_here():
        sys.stdout.flush()
        submission.check_slurm(prepared)
    return 0


def _submit(options):
    simulated = options.world == "simulation"
    if options.jobs is not None and (not simulated or options.slurm or not 1 <= options.jobs <= 10000):
        raise ReportError("--jobs: it is a number of processes from 1 on, and goes with --simulate on this machine")
    if options.slurm and options.world == "local":
        raise ReportError("--slurm: it goes with --simulate; --local runs on this machine")
    prepared = _prepare(options)
    print("\n".join(sweep_text.plan_lines(prepared, with_points=False)) + "\n", flush=True)
    if prepared.world == "slurm":
        return submission.submit(prepared, options.retry_failed, print)
    if not simulated:
        return submission.run_here(prepared, options.retry_failed, print)
    if options.slurm:
        return sweep_simulate.submit(prepared, options.retry_failed, print)
    return submission.run_here(prepared, options.retry_failed, print, sweep_simulate.processes(prepared, options.jobs))


def _campaign(options):
    campaign = Campaign(_directory_of(options))
    campaign.plan = campaign.read_plan()
    if campaign.plan is None:
        raise ReportError(f"{campaign.directory}: no campaign was started here; weir-sweep submit starts one")
    return campaign


def _status(options):
    campaign = _campaign(options)
    worlds = campaign.worlds_begun()
    all_states = [(world, world.states(slurm_jobs.Jobs().is_running)) for world in worlds]
    if options.json:
        print(whole_file.printed_json({"schema": "weir-sweep-status/1", "directory": str(campaign.directory), "name": campaign.plan.name,
                                       "worlds": [sweep_text.status_record(world, states) for world, states in all_states]}), end="")
    else:
        for world, states in all_states:
            print("\n".join(sweep_text.status_lines(world, states, options.all)))
    return 1 if any(state.state in FAILED for _, states in all_states for state in states) else 0


def _collectors():
    """Modules that only `collect` needs: jobs must run without their libraries."""
    try:
        from .compare import terminal as compare_terminal
        from .sweep import collect as sweep_collect, page as sweep_page
    except ImportError as error:
        raise ReportError(f"collect needs the Python package {error.name}, as weir-report does: bench/install-dependencies "
                          "--report, or pip install") from error
    return compare_terminal, sweep_collect, sweep_page


def _collect(options, lists=True):
    """`lists`: also every setting with its limit."""
    compare_terminal, sweep_collect, sweep_page = _collectors()
    campaign = _campaign(options)
    directory = campaign.directory
    collection = sweep_collect.collect(campaign, options.world)
    report = sweep_collect.comparison(collection, options.baseline, options.by)
    all_rows = sweep_collect.rows(collection)
    written = [directory / "table.csv"]
    whole_file.replace(written[0], sweep_collect.as_csv(all_rows))
    if collection.capacity:
        written += _write_limits(directory, collection)
    parquet = sweep_collect.as_parquet(all_rows)
    if parquet is not None:
        written.append(directory / "table.parquet")
        whole_file.replace(written[-1], parquet)
    footer = f"Written by weir-sweep {VERSION}."
    complete = collection.complete()
    if report:
        written.append(directory / "comparison.html")
        whole_file.replace(written[-1], sweep_page.page_text(collection, report, footer, options.by))
    if not options.quiet:
        if report:
            print(compare_terminal.answer(report, sys.stdout.isatty() and "NO_COLOR" not in os.environ, hints=False) + "\n")
        if collection.capacity and lists:
            print("\n".join(find_text.limit_lines(collection.capacity)))
        elif not collection.capacity:
            print("\n".join(sweep_page.overview_lines(collection, options.by)))
        if not report and not collection.capacity:
            print()
            print("\n".join(collection.remarks + sweep_collect.missing(collection)))
            print(f"no page: {counted(len(complete), 'complete run')} of one setting at most; two settings are needed. "
                  "weir-report shows single runs")
        print("\n" + "\n".join(f"written  {path}" for path in written))
    return 0


def _find(options):
    """A sweep file out of the command line, its campaign, and the answer."""
    options.sweep, options.out = find_command.write_sweep_file(options)
    _collectors()  # before the runs
    options.slurm, options.baseline, options.by, options.on_change, options.quiet = False, None, None, None, False
    status = _submit(options)
    if status > 1:
        return status
    options.world = None
    return max(status, _collect(options, lists=False))


def _read(options):
    from .runs import switch_reading
    from .sweep import switch_reader
    sweep = read_sweep_file(options.sweep)
    if not sweep.switch or not sweep.switch.read:
        raise ReportError(f"{sweep.path}: no command reads the switch; add read = \"COMMAND\" to [switch]")
    variables = {"WEIR_SWITCH": "", "WEIR_SWITCH_READ": "before", "WEIR_SWEEP": sweep.name,
                 "WEIR_SWEEP_DIRECTORY": str(_directory_of(options))}
    counters, text, problem = switch_reader.read_once(sweep.switch.read, sweep.path.parent, variables, sweep.switch.read_limit_s)
    if problem:
        if text:
            print(text[:2000].rstrip())
        print(f"weir-sweep: {sweep.path}: switch.read: {problem}", file=sys.stderr)
        return 1
    width = max(len(counter.port) for counter in counters)
    for counter in counters:
        shown = "-" if counter.priority is None else counter.priority
        value = "not counted" if counter.value is None else counter.value
        print(f"{counter.port:<{width}}  {shown}  {counter.name:<28}  {value}")
    unknown = sorted({counter.name for counter in counters} - set(switch_reading.KNOWN))
    print(f"\n{counted(len(counters), 'counter')} of {counted(len({counter.port for counter in counters}), 'port')}"
          + (f"; names without a known meaning: {', '.join(unknown)}" if unknown else ""))
    return 0


def _write_limits(directory, collection):
    from .sweep import collect as sweep_collect, find_collect
    path = directory / "limits.csv"
    whole_file.replace(path, sweep_collect.as_csv(find_collect.rows(collection.capacity, collection.predicted_capacity)))
    return [path, capacity.write_capacity(directory, collection.capacity)]


def _pack(options, world=None):
    from .sweep import pack as sweep_pack
    campaign = _campaign(options)
    archive = options.archive or campaign.directory.with_name(campaign.directory.name + ".tar.gz")
    print("\n".join(sweep_pack.pack(campaign, archive, options.replace_names, options.replace,
                                    lambda directory: _collect_from(directory, world, "--quiet"))))
    return 0


def _collect_from(directory, world, *words):
    _collect(parser().parse_args(["collect", str(directory), *(["--from", world] if world else []), *words]))


def _all(options):
    _collectors()  # before hours of runs
    prepared = _prepare(options)
    options.retry_failed, options.jobs, options.slurm = False, None, False
    status = _submit(options)
    if status > 1:
        return status
    if prepared.world == "slurm":
        submission.wait(prepared, POLL_S, lambda line: print(line, flush=True))
    campaign = _campaign(options)
    world = campaign.world(prepared.world)
    states = world.states(slurm_jobs.Jobs().is_running)
    print("\n" + "\n".join(sweep_text.status_lines(world, states, False)) + "\n", flush=True)
    if not any(state.directory for state in states):
        print("weir-sweep: no run is complete, so there is nothing to compare or to pack", file=sys.stderr)
        return 1
    _collect_from(campaign.directory, prepared.world)
    options.out = campaign.directory
    _pack(options, prepared.world)
    return 1 if any(state.state != "complete" for state in states) else 0


def _work(options):
    from .sweep import processes
    campaign = Campaign(options.sweep)
    campaign.plan = campaign.read_plan()
    if campaign.plan is None:
        raise ReportError(f"{options.sweep}: no plan.json; jobs of weir-sweep submit run this")
    return processes.work_in_job(campaign.world("simulation" if options.simulate else "slurm"), options.number)


if __name__ == "__main__":
    sys.exit(main())
