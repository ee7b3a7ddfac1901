"""Campaigns that follow from each other, as of weir-sweep bmwg and tune: each is made, or read if it is complete. So
whoever makes them is simply run again after an interruption, and comes to the same next one."""

from weir_runs.basics import whole_file
from weir_runs.basics.errors import ReportError
from weir_runs.basics.input_file import read_object
from . import simulate as sweep_simulate, submission
from .campaign import Campaign

# Below so much processor time, another process costs more than it saves.
ALONE_BELOW_S = 1.0
POLL_S = 5.0
# What a run and a campaign cost besides what is simulated: 1.3 s for 12 runs were measured.
RUN_S, CAMPAIGN_S = 0.06, 0.6


class Interrupted(Exception):
    """By a signal: the exit status."""


def begin(directory, file_name, record, changed, check=lambda: None):
    """Writes into `directory` what is made there, or checks that it continues what is there. `changed`: {key of the
    record: how it was begun}; `check`: called before anything is written into the directory. Raises ReportError."""
    path = directory / file_name
    if path.exists():
        before = read_object(path, "a record of weir-sweep (or name another directory with --out)")
        different = next((key for key in record if before.get(key) != record[key]), None)
        if different:
            raise ReportError(f"{directory} was begun {changed.get(different, f'with another {different}')}. Undo "
                              "that, or name another directory with --out")
    directory.mkdir(parents=True, exist_ok=True)
    check()
    whole_file.replace(path, whole_file.json_text(record))


def complete(sweep, world, directory, settled=False):
    """The campaign of this sweep file, if all its runs are there: nothing is prepared then. Else None. `settled`: what
    is missing in it stays missing."""
    campaign = Campaign(directory)
    campaign.plan = campaign.read_plan()
    if campaign.plan is None or not (directory / world / "settings.json").exists():
        return None
    if (directory / "sweep.toml").read_text(encoding="utf-8") != sweep.text:
        return None
    if settled or campaign.plan.find:
        return campaign if settled else None
    return campaign if all(state.state == "complete" for state in campaign.world(world).states()) else None


def seconds_of_runs(campaign, world):
    """How long each run of a campaign took that is complete, by the files of its last claim, which one file system has
    dated."""
    claims = [state.last for state in campaign.world(world).states() if state.state == "complete"
              and state.last.end is not None]
    return [claim.path.with_suffix(".end.json").stat().st_mtime - claim.path.stat().st_mtime for claim in claims]


def make(prepared, say, jobs=None, as_array=False):
    """Makes the runs that are missing, and waits for them. `jobs`: simulations at a time; `as_array`: simulations as a
    SLURM array. The campaign. Raises Interrupted."""
    if prepared.world == "slurm" or as_array:
        submit = sweep_simulate.submit if as_array else submission.submit
        if submit(prepared, True, say) <= 1:
            submission.wait(prepared, POLL_S, say)
        return prepared.campaign
    count = 1
    if prepared.world == "simulation" and (sweep_simulate.expected_cpu_s(prepared) or ALONE_BELOW_S) >= ALONE_BELOW_S:
        count = sweep_simulate.processes(prepared, jobs)
    status = submission.run_here(prepared, True, lambda *_, **__: None, count, quiet=True)
    if status >= 128:
        raise Interrupted(status)
    return prepared.campaign
