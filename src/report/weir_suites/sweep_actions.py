"""What the commands of weir-sweep do: one function for each. Jobs of SLURM run some of them, so that only Python's own
library is loaded here."""

import argparse
import dataclasses
import sys
from pathlib import Path

from weir_compare.sweep import campaign_text, find_command, find_text, run_plan, simulate, slurm_jobs, submission
from weir_compare.sweep.campaign import Campaign, FAILED
from weir_compare.sweep.sweep_file import read_sweep_file
from weir_runs.basics import whole_file
from weir_runs.basics.errors import ReportError
from weir_runs.basics.short_answer import paragraph
from weir_runs.basics.terminal_text import is_coloured
from weir_runs.basics.units import counted
from weir_runs.reading import capacity
from weir_runs.version import VERSION
from .bmwg import bmwg_command
from .switches import switch_import_command
from .tune import tune_command

NOT_CONFIRMED = 3  # exit status of weir explain --confirm, as of weir explain where no cause is told
POLL_S = 5.0  # how often `all` looks whether SLURM has finished the jobs


def _sweep_of(options):
    """The sweep file, with --on-change in it; a campaign's directory stands for the file that it was begun with."""
    path = options.sweep
    if path.is_dir():
        path = Path(_campaign(options).plan.file or path)
        if not path.exists():
            raise ReportError(f"{path}: the sweep file of {options.sweep} no longer exists; "
                              f"{options.sweep / 'sweep.toml'} is a copy")
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
        print(whole_file.printed_json(campaign_text.plan_record(prepared, search)), end="")
    else:
        print("\n".join(campaign_text.plan_lines(prepared, search=search)))
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
    print("\n".join(campaign_text.plan_lines(prepared, with_points=False)) + "\n", flush=True)
    if prepared.world == "slurm":
        return submission.submit(prepared, options.retry_failed, print)
    if not simulated:
        return submission.run_here(prepared, options.retry_failed, print)
    if options.slurm:
        return simulate.submit(prepared, options.retry_failed, print)
    return submission.run_here(prepared, options.retry_failed, print, simulate.processes(prepared, options.jobs))


def _campaign(options):
    campaign = Campaign(_directory_of(options))
    campaign.plan = campaign.read_plan()
    if campaign.plan is None:
        raise ReportError(f"{campaign.directory}: no campaign was started here; weir-sweep submit starts one")
    return campaign


def _status(options):
    campaign = _campaign(options)
    worlds = campaign.worlds_begun()
    all_states = [(world, world.states()) for world in worlds]
    if options.json:
        print(whole_file.printed_json({"schema": "weir-sweep-status/1", "directory": str(campaign.directory),
                                       "name": campaign.plan.name,
                                       "worlds": [campaign_text.status_record(world, states)
                                                  for world, states in all_states]}), end="")
    else:
        for world, states in all_states:
            print("\n".join(campaign_text.status_lines(world, states, options.all)))
    return 1 if any(state.state in FAILED for _, states in all_states for state in states) else 0


def _collectors():
    """Modules that only `collect` needs: jobs must run without their libraries."""
    try:
        from weir_compare.comparison import comparison_text as compare_terminal
        from weir_compare.sweep import campaign_page as sweep_page, collect as sweep_collect
    except ImportError as error:
        raise ReportError(f"collect needs the Python package {error.name}, as weir-report does: "
                          "bench/install-dependencies --report, or pip install") from error
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
        written += _write_limits(directory, collection, report)
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
            print(compare_terminal.answer(report, is_coloured(), hints=False)
                  + _assumed(campaign, [one.run for one in complete]) + "\n")
        if collection.capacity and lists:
            print("\n".join(find_text.limit_lines(collection.capacity)))
        elif not collection.capacity:
            print("\n".join(sweep_page.overview_lines(collection, options.by)))
        if not report and not collection.capacity:
            print()
            print("\n".join(collection.remarks + sweep_collect.missing(collection) + sweep_collect.not_set(collection)))
            print(f"no page: {counted(len(complete), 'complete run')} of one setting at most; two settings are needed. "
                  "weir-report shows single runs")
        print("\n" + "\n".join(f"written  {path}" for path in written))
    return 0


def _assumed(campaign, runs):
    """What simulated runs had of the built-in switch, for the imported configuration lacks it: a line of the answer."""
    from .switches import switch_words
    names = {run.plan.get("switch") for run in runs if run.world == "simulation"} - {None, ""}
    files = [path for name in names if (path := Path(campaign.plan.file).parent / name).is_file()]
    words = {switch_words.assumed(path.read_text(encoding="utf-8", errors="replace")) for path in files} - {""}
    return "".join(f"\n{line}" for line in paragraph("assumed", sorted(words)))


def _find(options):
    """A sweep file out of the command line, its campaign, and the answer."""
    options.sweep, options.out = find_command.write_sweep_file(options)
    _collectors()  # before the runs
    options.retry_failed, options.slurm, options.on_change = True, False, None
    options.baseline, options.by, options.quiet = None, None, False
    status = _submit(options)
    if status > 1:
        return status
    options.world = None
    return max(status, _collect(options, lists=False))


def _confirm(options):
    """What `weir explain --confirm` goes on as."""
    from weir_compare.sweep import confirm
    from weir_runs.reading.run import read_run
    try:
        subject = confirm.read(options.directory)
    except confirm.CannotTry as why:
        print(f"Nothing is run: {why}.")
        return NOT_CONFIRMED
    _collectors()  # before the runs
    path = confirm.write_sweep_file(subject)
    prepared = submission.prepare(read_sweep_file(path), "simulation" if subject.simulated else "local",
                                  path.with_suffix(""))
    campaign = prepared.campaign
    if (begun := campaign.read_plan()) and (why := run_plan.difference(begun, prepared.plan)):
        raise ReportError(f"{campaign.directory}: it has runs with another remedy ({why}); remove it")
    at_a_time = simulate.processes(prepared) if subject.simulated else 1
    print(confirm.cost_text(subject, prepared, at_a_time), flush=True)
    status = submission.run_here(prepared, True, print, at_a_time)
    if status > 1:
        return status
    made = [(prepared.plan.setting_of(state.point).values[0][1], read_run(state.directory))
            for state in campaign.world(prepared.world).states() if state.directory]
    good = {setting: [confirm.is_good(run) for one, run in made if one == setting]
            for setting in (confirm.PRESENT, confirm.REMEDIED)}
    outcome, sentence = confirm.judged(subject.words, good[confirm.PRESENT], good[confirm.REMEDIED])
    print("\n" + "\n".join(confirm.table_lines(made)) + "\n")
    page = None
    if all(good.values()):
        _collect_from(campaign.directory, prepared.world, quiet=True)
        page = f"{confirm.NAME}/comparison.html"
        print(f"{campaign.directory / 'comparison.html'} has both.")
    print(sentence)
    confirm.keep(subject, outcome, sentence, page)
    return 0 if outcome == confirm.CONFIRMED else status or NOT_CONFIRMED


def _read(options):
    from weir_runs.reading import switch_reading
    from weir_compare.sweep import switch_reader
    sweep = read_sweep_file(options.sweep)
    if not sweep.switch or not sweep.switch.read:
        raise ReportError(f"{sweep.path}: no command reads the switch; add read = \"COMMAND\" to [switch]")
    variables = {"WEIR_SWITCH": "", "WEIR_SWITCH_READ": "before", "WEIR_SWEEP": sweep.name,
                 "WEIR_SWEEP_DIRECTORY": str(_directory_of(options))}
    counters, text, problem, said = switch_reader.read_once(sweep.switch.read, sweep.path.parent, variables,
                                                            sweep.switch.read_limit_s)
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
    twice = sorted({port for port, _, _ in switch_reading.aggregates([counter.key for counter in counters
                                                                      if counter.value is not None])})
    print(f"\n{counted(len(counters), 'counter')} of {counted(len({counter.port for counter in counters}), 'port')}"
          + (f"; names without a known meaning: {', '.join(unknown)}" if unknown else "")
          + (f"; made of other ports, and not added to them: {', '.join(twice)}" if twice else ""))
    print("".join(f"its command said: {line}\n" for line in said), end="", file=sys.stderr)
    return 0


def _write_limits(directory, collection, report):
    from weir_compare.sweep import collect as sweep_collect
    path = directory / "limits.csv"
    rows = sweep_collect.limit_rows(collection.capacity, collection.predicted_capacity)
    whole_file.replace(path, sweep_collect.as_csv(rows))
    return [path, capacity.write_capacity(directory, collection.capacity,
                                          report.answer.short.record() if report else None)]


def _pack(options, world=None):
    from weir_compare.sweep import pack as sweep_pack
    campaign = _campaign(options)
    archive = options.archive or campaign.directory.with_name(campaign.directory.name + ".tar.gz")
    print("\n".join(sweep_pack.pack(campaign, archive, options.replace_names, options.replace,
                                    lambda directory: _collect_from(directory, world, quiet=True))))
    return 0


def _collect_from(directory, world, quiet=False):
    _collect(argparse.Namespace(sweep=directory, out=None, world=world, baseline=None, by=None, quiet=quiet))


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
    states = world.states()
    print("\n" + "\n".join(campaign_text.status_lines(world, states, False)) + "\n", flush=True)
    if not any(state.directory for state in states):
        print("weir-sweep: no run is complete, so there is nothing to compare or to pack", file=sys.stderr)
        return 1
    _collect_from(campaign.directory, prepared.world)
    options.out = campaign.directory
    _pack(options, prepared.world)
    return 1 if any(state.state != "complete" for state in states) else 0


def work(options):
    """What one of the workers of a submission does."""
    from weir_compare.sweep import find_worker
    campaign = Campaign(options.sweep)
    campaign.plan = campaign.read_plan()
    if campaign.plan is None:
        raise ReportError(f"{options.sweep}: no plan.json; jobs of weir-sweep submit run this")
    return find_worker.work_in_job(campaign.world("simulation" if options.simulate else "slurm"), options.number)


ACTIONS = {"plan": _plan, "submit": _submit, "status": _status, "collect": _collect, "read": _read, "find": _find,
           "pack": _pack, "all": _all, "confirm": _confirm, "bmwg": bmwg_command.run,
           "tune": tune_command.run, "switch-import": switch_import_command.run}
