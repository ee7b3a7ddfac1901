"""weir-sweep tune: the sub-command. What it needs is loaded when it is used: jobs of campaigns run without."""

from weir_runs.basics import whole_file
from weir_runs.basics.errors import ReportError
from weir_runs.basics.short_answer import paragraph
from weir_runs.basics.terminal_text import is_coloured
from weir_runs.version import VERSION

SWITCH_BYTES_MAX = 1 << 20


def run(options):
    """The exit status. Raises ReportError."""
    if options.jobs is not None and (options.slurm or not 1 <= options.jobs <= 10000):
        raise ReportError("--jobs: it is a number of processes from 1 on, and goes with runs on this machine")
    if options.file.suffix != ".toml":
        raise ReportError(f"tune: {options.file}: the name of a sweep file ends with .toml")
    from weir_compare.sweep import continued
    from weir_runs.basics import programs
    from . import from_run, tune_file, tune_text, tuning
    tune = tune_file.read(options.file, options.budget, options.of_run
                          and from_run.tables(options.of_run, programs.find_weir()))
    if options.slurm and tune.budget_s:
        raise ReportError("--slurm: how many jobs go on at a time is not known before, so the budget is a number of "
                          "runs there, and not a time")
    _refuse_unread(tune)
    made = tuning.Tuning(tune, options.out or tune.path.with_suffix(""), lambda line: print(line, flush=True),
                         options.jobs, options.slurm)
    try:
        print("\n".join(tune_text.plan_lines(tune, made.forecast())) + ("" if options.plan else "\n"), flush=True)
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


def _switch_text(tune):
    """The switch file of [simulation]; empty: a built-in switch."""
    from weir_runs.basics.input_file import read_text
    file = tune.path.parent / (tune.given("switch") or "")
    return read_text(file, "a switch file", SWITCH_BYTES_MAX) if file.is_file() else ""


def _refuse_unread(tune):
    """Raises ReportError of an axis whose present value the switch's configuration did not give: a proposal would be
    compared with that of a built-in switch."""
    from weir_suites.switches import switch_words
    lacks = switch_words.left_out(_switch_text(tune))
    for axis in tune.axes:
        if axis.name in lacks and axis.name not in tune.present and tune.given(axis.name) is None:
            raise ReportError(f"{tune.path}: tune.axes.{axis.name}: its present value was not read from the "
                              f"configuration: {lacks[axis.name]}; write it into [tune.present], or into "
                              f"{tune.given('switch')}")


def _add_words(tune, found):
    """What the configuration that the switch file of [simulation] was imported from does not have, the proposal in the
    words of that switch, and what the audit finds in it."""
    from weir_suites.switches import proposal_audit, switch_words
    from .tune_file import is_key_of_switch
    text = _switch_text(tune)
    found.assumed = switch_words.assumed(text)
    if found.chosen is None or found.overloaded:
        found.words = None
        return
    found.words = switch_words.of_change(text, {
        axis.name: axis.text(best) for axis, best in zip(found.axes, found.best) if is_key_of_switch(axis.name)})
    hosts = [found.plan.get("resolved", {}).get(role) for role in ("producers", "consumers")]
    if all(found.in_force) and all(hosts):
        found.audited = proposal_audit.new_findings(*found.in_force, hosts, found.plan.get("consumer-link"))


def _write(made, found):
    from . import confirm_file, tune_page, tune_record, tune_text
    tune, path, changed = made.tune, None, False
    _add_words(tune, found)
    if found.chosen is not None and not found.overloaded:
        path, changed = confirm_file.write(tune.path.with_name(f"{tune.path.stem}-confirm.toml"), made.directory,
                                           confirm_file.text(
            tune, found, lambda candidate: made.campaigns.of_setting(found, candidate),
            confirm_file.only_simulated(made.campaigns.weir)))
    then = tune_text.next_words(found, path, path and confirm_file.PLACEHOLDER in path.read_text(encoding="utf-8"))
    lines = [*tune_text.answer_lines(tune, found, then, is_coloured()), *tune_text.switch_lines(found.words),
             *(paragraph("unchanged", [f"{path.name}: it was edited since it was written, and the proposal is the "
                                       "same"]) if changed else [])]
    written = [made.directory / tune_record.FILE, made.directory / tune_record.PAGE, *([path] if path and not changed
                                                                                      else [])]
    whole_file.replace(written[0], whole_file.json_text(tune_record.make(tune, found, then)))
    whole_file.replace(written[1], tune_page.page_text(tune, found, f"Written by weir-sweep {VERSION}.", then))
    print("\n" + "\n".join(lines))
    print("\n" + "\n".join(f"written  {path}" for path in written))
