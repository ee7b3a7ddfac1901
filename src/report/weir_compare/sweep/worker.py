"""Runs the points of a submission one after the other, in the order of the plan: in a job of SLURM, or here.

A worker takes the next point that has no claim. So the order holds whatever happens to single jobs, the next job runs
what a killed one left, and no point runs twice. It needs Python's own library only: it runs on the nodes."""

import json
import os
import time
from types import SimpleNamespace

from weir_runs.basics import whole_file
from weir_runs.basics.child import Child, Stop
from weir_runs.basics.errors import ReportError
from weir_runs.basics.units import counted
from weir_runs.reading.run_state import RUNNING, is_here, with_state
from . import claim_files, in_force, launch, slurm_jobs
from .campaign import FAILED, NOT_SET, now_text
from .switch_reader import Call, SwitchReader

TURN_LIMIT_S = 180.0
# For `weir check` beside its probe, which finds its own end.
CHECK_LIMIT_S = 300.0
# For the record of a run whose launcher has ended.
RECORD_LIMIT_S = 5.0
# How often a run that could not be started for SLURM's sake is tried again by the same job.
TRIES = 3
# So often the switch command is called in one turn of its setting, with a pause: a login that was refused may work a
# moment later.
SWITCH_TRIES = 3
SWITCH_PAUSE_S = 1.0
# A switch command that ignores SIGTERM is killed after so long.
SWITCH_KILL_AFTER_S = 3.0
# A job that has less left than this beyond a run's expected time leaves the run to the next.
TIME_RESERVE_S = 75.0


class Worker:
    """Works on one submission. `job`: the record of the submission (submission.py)."""

    def __init__(self, world, number, job, say=print):
        self.world = world
        self.number = number
        self.job = job
        self.say = say
        self.stop = Stop()
        self.switch = None  # the setting that the hook set last
        self.checked = set()  # switch settings for which `weir check` was called
        self.bad_switches = {}  # settings that could not be set: (the round in which they were tried, why)
        self.refused = {}  # {setting: what verify printed when it was refused}
        self.outcomes = []
        self.announces = True  # what was found in the end; one of several that share a submission does
        self._ends_at = None

    def work(self):
        """Exit status: 0 all that was done is complete, 1 something failed, 130 or 143 stopped by a signal."""
        with self.stop.listening():
            self._work_in_turn()
        if self.stop:
            return 128 + int(self.stop.signal)
        return 0 if all(outcome == "complete" for outcome in self.outcomes) else 1

    def _work_in_turn(self):
        in_slurm = self.world.name == "slurm"
        if in_slurm and (left := slurm_jobs.seconds_left(os.environ.get("SLURM_JOB_ID", ""))) is not None:
            self._ends_at = time.monotonic() + left
        turn = self._wait_for_turn() if self.job["exclusive"] else None
        try:
            self._work()
            if self.announces:
                self.announce()
        finally:
            if turn is not None:
                turn.finish(at=now_text())

    def _work(self):
        points = {point.name: point for point in self.world.plan.points}
        begun = 0
        for name in self.job["points"]:
            for tries in range(1, TRIES + 1):
                if self.stop or begun >= self.job["runs_per_job"]:
                    return
                claims = claim_files.claims(self.world.directory / "claims", name)
                if self._is_taken(points[name], claims):
                    break
                if why := self._why_all_failed():
                    self.say(f"stopped: a run of every setting failed, and each as this one: {why}. Mend that; then "
                             "weir-sweep submit --retry-failed makes these and the others", flush=True)
                    return
                if not self._wait_for_slurm(points[name], doubtful=tries > 1):
                    self.say("the job has no time left for another run; the next job continues", flush=True)
                    return
                claim = claim_files.create_claim(self.world.directory / "claims", name, len(claims),
                                                 submission=self.number, begun=now_text())
                if claim is None:  # another worker has it
                    break
                outcome = self._do(points[name], claim, last_try=tries == TRIES)
                if outcome != "interrupted" or self.stop or tries == TRIES:
                    self.outcomes.append(outcome)
                    begun += 1
                    break

    def _why_all_failed(self):
        """Why a run of each setting failed in this submission, if all failed for one reason and no run of the campaign
        is complete; so the next ones would, too."""
        if "complete" in self.outcomes and not self.job.get("verify"):  # which may take it back
            return None
        states = self.world.states()
        if any(state.state == "complete" for state in states):
            return None
        ended = [state for state in states if state.last and state.last.end
                 and state.last.record.get("submission") == self.number]
        of_all = {state.point.setting for state in ended} == {state.point.setting for state in states}
        if len(ended) < 2 or len(set(map(self._kind, ended))) != 1 or ended[0].state not in FAILED or not of_all:
            return None
        return ended[-1].reason.rstrip(".")

    def _kind(self, state):
        """Its reason, without what is of this run or setting alone."""
        reason = state.reason.replace(self.world.run_directory(state.point, state.last.number).name, "")
        if state.state not in NOT_SET:
            return state.state, reason
        reason = reason.partition("; its output")[0].partition(": ")[0].rpartition("ended with 0, but ")[2]
        names = {setting.switch for setting in self.world.plan.settings}
        return "", " ".join(word for word in reason.partition(", and which")[0].split() if word not in names)

    def announce(self):
        """Prints what the campaign has found, if there is more than its runs."""

    def _is_taken(self, point, claims):
        """Complete already, tried in this submission, or claimed by a worker that may be alive."""
        if not claims:
            return False
        last = claims[-1]
        if last.end is None and claim_files.is_alive(last.holder) is not False:
            return True
        if last.record.get("submission") == self.number and last.end is not None:
            # Interrupted: its job was stopped; the point did not fail.
            if last.end.get("outcome") != "interrupted":
                return True
        return self.world.state(point).state == "complete"

    def _time_for(self, point):
        if self._ends_at is None:
            return True
        needed = self.job["expected_s"][self.world.plan.setting_of(point).name] + TIME_RESERVE_S
        return self._ends_at - time.monotonic() >= needed

    def _wait_for_slurm(self, point, doubtful):
        """SLURM starts the programs of a run on the job's nodes: while it does not, a run cannot start. False if
        there is no time left for this run. `doubtful`: the last one was not started."""
        announced = False
        while self._time_for(point):
            if self.world.name != "slurm" or self.stop:
                return True
            if slurm_jobs.is_responding() and (not doubtful or slurm_jobs.starts_steps()):
                return True
            doubtful = True
            if not announced:
                self.say("SLURM's controller does not respond or starts nothing; waiting for it", flush=True)
                announced = True
            time.sleep(2.0)
        return False

    # --- One point.

    def _do(self, point, claim, last_try):
        setting = self.world.plan.setting_of(point)
        what = f"  {point.options[0][0]}={point.options[0][1]}" if point.options else ""
        self.say(f"{point.name}  {'round' if what else 'repetition'} {point.repetition}  {setting.name}{what}",
                 flush=True)
        try:
            problem = self._set_switch(setting, point.repetition) or self._check(setting)
            outcome, reason, status = problem or self._run(point, claim, last_try)
        except OSError as error:
            outcome, reason, status = "failed", f"{error.filename}: {error.strerror}", None
        except ReportError as error:
            claim.finish(outcome="hook failed", reason=str(error), exit_status=None, at=now_text())
            raise
        claim.finish(outcome=outcome, reason=reason, exit_status=status, at=now_text())
        if outcome == "complete" and self.job.get("verify"):
            state = self.world.state(point)
            outcome, reason = state.state, state.reason
        if outcome != "complete":
            self.say(f"      {outcome}: {reason}", flush=True)
        return outcome

    def _run(self, point, claim, last_try):
        """(outcome, reason, exit status)."""
        words, variables = launch.command(self.world, point, claim.number, self.job)
        setting, directory = self.world.plan.setting_of(point), self.world.run_directory(point, claim.number)
        before = self._verified()
        if self.stop or before.problem:
            return self._unverified(before)
        reader = self._reader(setting, point, claim)
        if reader:
            reader.before()
            if self.stop:
                return "interrupted", self.stop.reason, None
        limit_s = self.job["limit_s"][setting.name]
        with open(self.world.output_file(point, claim.number), "wb") as output:
            child, status = self._child(words, output, variables, limit_s, reader.tick if reader else lambda: None)
        if reader:
            reader.after()
            reader.move_to(directory)
        try:
            record = self._record(directory, self.world.is_simulated_here(claim))
        except ReportError as error:
            return "failed", str(error), status
        if record.get("status") == "complete":
            other = self.world.not_this_point(point, directory, record, self.world.expected_plans())
            return ("failed", other, status) if other else self._verify_again(directory, before, status)
        if self.stop:
            return "interrupted", self.stop.reason, status
        if child.too_long:
            return "failed", f"it did not end within {limit_s:.0f} s", status
        return (*self._why_incomplete(point, claim, record, last_try), status)

    def _child(self, words, output, variables, limit_s, tick=lambda: None, **more):
        """(the program, which has ended; its exit status). In SLURM, weir.sbatch handles each signal."""
        in_slurm = self.world.name == "slurm"
        child = Child(words, output, self.job["base"], variables, own_session=not in_slurm, **more,
                      **({"end_with": None} if in_slurm else {}))
        with self.stop.while_running(child):
            return child, child.wait(limit_s, tick)

    def _verified(self):
        """What the command printed that prints what the switch has. Nothing where there is none."""
        verify = self.job.get("verify")
        if not verify:
            return SimpleNamespace(text="", problem=None)
        call = Call(verify["command"], self.job["base"], {}, verify["limit_s"])
        with self.stop.while_running(call):
            call.wait()
        text = call.output.decode("utf-8", "replace")
        return SimpleNamespace(text=text, problem=call.problem or (None if text.strip() else "it printed nothing"))

    def _unverified(self, verified):
        if self.stop:
            return "interrupted", self.stop.reason, None
        return "not in force", f"what the switch has could not be read by {self.job['verify']['command']}: " \
                               f"{verified.problem}", None

    def _verify_again(self, directory, before, status):
        """(outcome, reason, exit status) of a run that is complete, whose texts are kept: see in_force.py."""
        after = self._verified() if self.job.get("verify") else None
        if after is None:
            return "complete", "", status
        if self.stop or after.problem:
            return self._unverified(after)
        for when, verified in zip(in_force.WHEN, (before, after)):
            path = in_force.text_file(directory, when)
            path.parent.mkdir(exist_ok=True)
            path.write_text(verified.text, encoding="utf-8", errors="replace")
        return "complete", "", status

    def _why_incomplete(self, point, claim, record, last_try):
        """(outcome, reason) of a run that ended by itself before it was complete. `record`: run.json; empty: none."""
        if record.get("status") == "interrupted":
            return "interrupted", (record.get("failure") or {}).get("what", "it was ended from outside")
        if record.get("status") == RUNNING:
            return "failed", ("it goes on without its launcher, which has ended"
                              if is_here(self.world.run_directory(point, claim.number), record) else "its launcher "
                              "ended and no end was recorded; whether ranks on other hosts still run is not known")
        if record:
            return "failed", (record.get("failure") or {}).get("what", "no reason is recorded")
        refusal, printed = self._last_output(point, claim)
        # It was not started. If weir did not refuse it, that was SLURM or the launcher, and may be over soon.
        again = self.world.name == "slurm" and not refusal and not last_try
        return "interrupted" if again else "failed", refusal or printed

    def _record(self, directory, simulated_here):
        """run.json as it is when the run is over: what writes the end of a run that was killed can take a moment longer
        than the launcher."""
        deadline = time.monotonic() + RECORD_LIMIT_S
        while True:
            record = with_state(directory, claim_files.record_in(directory / "run.json") or {}, simulated_here)
            if record.get("status") != RUNNING or self.stop or time.monotonic() > deadline:
                return record
            time.sleep(0.2)

    def _last_output(self, point, claim):
        """For a run that left no record: (weir's error message, what else was printed)."""
        path = self.world.output_file(point, claim.number)
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        errors = [line for line in lines if line.startswith(("weir run: ", "weir simulate: ", "weir.sbatch: "))]
        # Open MPI puts its messages between lines of dashes.
        printed = [line.strip() for line in lines if line.strip("- ") and not line.startswith("== ")]
        return errors[-1] if errors else "", " ".join(printed)[:200] or f"it ended without a message; see {path}"

    # --- The switch.

    def _set_switch(self, setting, round_):
        """(outcome, reason, exit status) if the setting's runs cannot be made in this round, else None."""
        if not self.job.get("hook") or setting.switch == self.switch:
            return None
        tried_in, why = self.bad_switches.get(setting.switch, (None, ""))
        if tried_in == round_:
            return "hook failed", why, None
        before, self.switch = self.switch, None
        for tries in range(1, SWITCH_TRIES + 1):
            status, why, again = self._call_hook(setting, before)
            if self.stop:
                return "interrupted", self.stop.reason, status
            if not why:
                self.switch = setting.switch
                self.bad_switches.pop(setting.switch, None)
                self.say(f"      switch set to {setting.switch}", flush=True)
                return None
            if not again:
                break
            if tries < SWITCH_TRIES:
                time.sleep(SWITCH_PAUSE_S)
        self.bad_switches[setting.switch] = round_, why
        return "hook failed", why, status

    def _call_hook(self, setting, before):
        """(exit status, why the switch is not set, whether to try it again). Raises ReportError if it cannot be
        ended."""
        hook, path = self.job["hook"], self._hook_file(setting.switch)
        with open(path, "wb", buffering=0) as output:
            output.write(f"$ {hook} {setting.switch}\n".encode())
            variables = {"WEIR_SWITCH": setting.switch, "WEIR_SWITCH_BEFORE": before or "",
                         "WEIR_SWEEP": self.world.plan.name, "WEIR_SWEEP_DIRECTORY": str(self.world.campaign.directory)}
            child = Child(["/bin/sh", "-c", f'{hook} "$@"', "sh", setting.switch], output, self.job["base"], variables,
                          own_session=True, kill_after_s=SWITCH_KILL_AFTER_S)
            try:
                with self.stop.while_running(child):
                    status = child.wait(self.job["change_limit_s"])
                # What is left of it could set the switch in the middle of a later run.
                is_left = (child.too_long or self.stop) and not child.end_group()
            except PermissionError:  # the shell itself has become another user's
                is_left = True
            if is_left:
                raise ReportError(f"{hook} {setting.switch} cannot be ended, not even by SIGKILL: no more runs, whose "
                                  f"switch it could change. Its output: {path}")
            how, again = self._why_not_set(setting.switch, status, child.too_long, path)
            output.write(f"-> {how or 'set'}\n".encode())
        return status, how and f"{hook} {setting.switch} {how}; its output: {path}", again

    def _why_not_set(self, switch, status, too_long, path):
        """(what is against it that the command has set the switch, empty: nothing; whether to try it again)"""
        if too_long:
            return f"took more than {self.job['change_limit_s']:g} s", False
        if status:
            return f"exited with {status}" if status > 0 else f"was killed by signal {-status}", True
        if refused := in_force.refusal_in(path.read_text(encoding="utf-8", errors="replace")):
            return f"ended with 0, but the switch answered: {refused}", True
        self._settle()
        verified = self._verified()
        if self.stop or not self.job.get("verify"):
            return "", False
        if verified.problem:
            return f"ended with 0, but what the switch has could not be read: {verified.problem}", False
        lines = in_force.lines_of(verified.text, self.world.plan.verify_ignores)
        twin = in_force.same_as(switch, lines, {**self.refused, **in_force.known_texts(self.world, self.number)})
        if not twin:
            return "", False
        self.refused[switch] = lines
        path.with_name(f"{path.stem}-shows.txt").write_text(verified.text, encoding="utf-8", errors="replace")
        return f"ended with 0, but the switch showed the same as with {twin}", True

    def _settle(self):
        until = time.monotonic() + self.job.get("settle_s", 0.0)
        while not self.stop and (left := until - time.monotonic()) > 0.0:
            time.sleep(min(left, 0.2))

    def _check(self, setting):
        """Calls `weir check` before the first run with this setting of the switch; its findings are printed and kept,
        and stop nothing. None unless the worker is to stop."""
        if not self.job.get("check_s") or setting.switch in self.checked:
            return None
        self.checked.add(setting.switch)
        words, variables = launch.check_command(self.world, setting, self.job)
        number = sum(1 for _ in (self.world.directory / "check").glob("*.json")) + 1
        path = (self.world.directory / "check"
                / f"{number:04d}{'-' + in_force.safe(setting.switch) if setting.switch else ''}.json")
        with open(path, "wb") as output, open(path.with_suffix(".txt"), "wb") as errors:
            _, status = self._child(words, output, variables, CHECK_LIMIT_S + self.job["check_s"], errors=errors)
        if self.stop:
            return "interrupted", self.stop.reason, status
        self.say(f"      weir check: {_findings_text(path, status)}", flush=True)
        return None

    def _reader(self, setting, point, claim):
        """Reads the switch's counters for one run; None if there is nothing to call."""
        if not self.job.get("read"):
            return None
        directory = self.world.directory / "switch" / self.world.run_directory(point, claim.number).name
        variables = {"WEIR_SWITCH": setting.switch, "WEIR_SWEEP": self.world.plan.name,
                     "WEIR_SWEEP_DIRECTORY": str(self.world.campaign.directory)}
        return SwitchReader(self.job["read"], directory, self.job["base"], variables, self.stop, self.say)

    def _hook_file(self, switch):
        """A new file for what the hook prints; sorted by time."""
        number = sum(1 for _ in (self.world.directory / "hooks").iterdir()) + 1
        return self.world.directory / "hooks" / f"{number:04d}-{in_force.safe(switch)}.txt"

    # --- One worker at a time.

    def _wait_for_turn(self):
        """Waits until no other worker has the network. Raises ReportError if that takes too long."""
        directory = self.world.directory / "turns"
        deadline = time.monotonic() + (TURN_LIMIT_S if self.world.name == "slurm" else 0.0)
        while not self.stop:
            turns = claim_files.claims(directory, "turn")
            last = turns[-1] if turns else None
            if last is None or last.end is not None or \
                    claim_files.is_alive(last.holder) is False:
                turn = claim_files.create_claim(directory, "turn", len(turns))
                if turn is not None:
                    return turn
            elif time.monotonic() >= deadline:
                raise ReportError(f"{claim_files.holder_text(last.holder)} is running on {self.world.directory}; runs "
                                  "of a campaign run one after the other")
            else:
                time.sleep(1.0)
        return None


def _findings_text(path, status):
    """One line about the findings of `weir check`, the first of them in full."""
    text = path.read_text(encoding="utf-8", errors="replace")
    try:
        # weir.sbatch prints lines of its own; hosts with a serious finding each print theirs, of which the first is
        # shown.
        record, _ = json.JSONDecoder().raw_decode(text, max(text.find("{"), 0))
        findings = [finding for finding in record["findings"] if finding["severity"] in ("serious", "warning")]
    except (ValueError, KeyError, TypeError):
        return f"it did not finish (exit status {status}); what it printed: {path}"
    whole_file.replace(path, whole_file.json_text(record))
    if not findings:
        return "no serious finding, no warning"
    first = findings[0]
    return (f"{counted(record['serious'], 'serious finding')}, {counted(record['warnings'], 'warning')}; the first: "
            f"{first['what']} ({first['advice']}). All: {path}")
