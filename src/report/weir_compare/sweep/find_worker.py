"""Runs the points of a campaign with `find`: each next value follows from the outcomes so far.

A run that fails (a crash, a lost rank, a launcher) has no outcome: it is made again, and a setting whose run fails
TRIES times in one submission stops with a message, while the others go on."""

import math
import os
import sys
import time
from types import SimpleNamespace

from weir_runs.basics.child import Child, Stop
from weir_runs.basics.errors import ReportError
from weir_runs.basics.programs import PACKAGE_ROOT
from weir_runs.basics.units import counted
from . import claim_files, find_plan, find_text
from .campaign import FAILED, NOT_SET, now_text
from .find_state import FindState, try_record
from .worker import TRIES, Worker


class FindWorker(Worker):
    def _work(self):
        self.find = FindState(self.world)
        self.bad_switches = self._failed_hooks()
        self._began_s, self._known = time.monotonic(), self._decided()
        begun = 0
        while not self.stop and begun < self.job["runs_per_job"]:
            busy = self._busy()
            run = self.find.searches.next_run({*self._stopped(), *busy})
            if run is None and not busy:
                break
            if run is None:
                time.sleep(0.1)
            elif not self._one_run(*run):
                self.say("the job has no time left for another run; the next job continues", flush=True)
                break
            else:
                begun += 1
            if self.world.name == "simulation":
                self.find.refresh()
        self._finish()

    def _busy(self):
        """Settings of which another worker makes a run: simulations go side by side, one of each setting."""
        if self.world.name != "simulation":
            return []
        return [tried.state.point.setting for tried in self.find.tried if tried.state.state == "running"]

    def _finish(self):
        self.find.write_capacity(self._retries())
        self.outcomes += ["failed"] * len(self._stopped())

    def announce(self):
        self.find = FindState(self.world)
        path = self.find.write_capacity(self._retries())
        stopped = self._stopped()
        for setting, reason in stopped.items():
            self.say(f"stopped  {self.world.plan.settings[setting].name}: {reason}", flush=True)
        if self.find.searches.next_run(stopped) is None:
            self.say("\n" + "\n".join(find_text.limit_lines(self.find.capacity())), flush=True)
            self.say(f"written  {path}", flush=True)

    def _one_run(self, setting, round_, value):
        """False if the job has no time for it."""
        opened = self.find.open(setting)
        point = opened.state.point if opened else self.find.new_point(setting, round_, value, self._expected)
        claims = claim_files.claims(self.world.directory / "claims", point.name)
        if claims and claims[-1].end is None and \
                claim_files.is_alive(claims[-1].holder) is not False:
            if self.world.name == "simulation":  # another worker was first
                time.sleep(0.1)
                self.find.refresh()
                return True
            raise ReportError(f"run {point.name}: claimed by {claim_files.holder_text(claims[-1].holder)}, which may "
                              "still be running")
        tries = sum(claim.record.get("submission") == self.number for claim in claims) + 1
        if not self._wait_for_slurm(point, doubtful=tries > 1):
            return False
        claim = claim_files.create_claim(self.world.directory / "claims", point.name, len(claims),
                                         submission=self.number, begun=now_text(), **{"try": try_record(point)})
        if claim is None:  # another worker has this number
            self.find.refresh()
            return True
        made = self._do(point, claim, last_try=tries >= TRIES)
        self.find.refresh()
        tried = self.find.tried[point.number - 1]
        if made == "complete":
            self.outcomes.append("complete" if tried.held is not None else "failed")
        self.find.write_capacity(self._retries())
        # Several simulations go on side by side: which one this is.
        number = f"{point.name}  " if self.world.name == "simulation" else " " * 6
        self.say(number + find_text.progress(self.find, tried, self._seconds_per_run(), self._stopped()), flush=True)
        return True

    def _decided(self):
        return sum(tried.held is not None for tried in self.find.tried)

    def _seconds_per_run(self):
        """From the runs so far, with changes of the switch, on as many cores as there are workers; first as planned."""
        made = self._decided() - self._known
        return (time.monotonic() - self._began_s) / made if made >= 3 else \
            find_text.planned_seconds_per_run(self.find, self.job)

    def _expected(self, setting, options):
        """The options in force, from a dry run. Raises ReportError if weir refuses the value."""
        runs = find_plan.DryRuns(self.job["weir"], self.world.name == "simulation",
                                 tuple(map(tuple, self.job["options"])), self.job["base"])
        document, message = runs.of_options(setting, options)
        if message:
            raise ReportError(message)
        return document["plan"]

    def _retries(self):
        return bool(self.job.get("retry_failed"))

    def _stopped(self):
        """Settings of which no more runs are made in this submission, and why."""
        found = {}
        for setting in self.find.settings:
            tried = self.find.open(setting.index)
            if tried is not None and (reason := self._why_stopped(tried)):
                found[setting.index] = reason
            elif setting.switch in self.bad_switches:
                found[setting.index] = self.bad_switches[setting.switch][1]
        return found

    def _failed_hooks(self):
        """Settings of the switch that could not be set in this submission, by an earlier job, as bad_switches."""
        failed = {}
        for point in self.world.points() if self.job.get("hook") else ():
            claim = next(iter(claim_files.claims(self.world.directory / "claims", point.name)[-1:]), None)
            if claim and claim.record.get("submission") == self.number and (claim.end
                                                                            or {}).get("outcome") == "hook failed":
                failed[self.world.plan.setting_of(point).switch] = point.repetition, claim.end.get("reason", "")
        return failed

    def _why_stopped(self, tried):
        reason = f"run {tried.state.point.name}: {tried.reason}"
        if tried.state.state == "complete":  # and not judged: another attempt would not be either
            return reason
        if tried.state.state not in FAILED:
            return None
        here = [claim for claim in tried.state.attempts if claim.record.get("submission") == self.number]
        if not here:
            return None if self._retries() else reason
        # A run of another plan than the point's is complete, and yet not one of this point.
        failed = sum(claim.end is not None and claim.end.get("outcome") != "interrupted" for claim in here)
        return reason if tried.state.state in NOT_SET or failed >= TRIES else None


# --- The worker of a submission: in a job, here, or several as processes of this machine that share its claims.


def worker_for(world, number, job, say=print):
    if world.plan.find:
        return FindWorker(world, number, job, say)
    return Worker(world, number, job, say)


def work(world, number, job, count, say, quiet=False):
    """Works on a submission with `count` processes; `quiet`: they print nothing. Exit status as Worker.work."""
    if count == 1:
        return worker_for(world, number, job, say).work()
    stop = Stop()
    with stop.listening():
        statuses = _statuses(world, number, count, quiet, stop)
        worker_for(world, number, job, say).announce()
    return 128 + int(stop.signal) if stop else max(1 if status else 0 for status in statuses)


def _statuses(world, number, count, quiet, stop):
    """Exit statuses of so many processes that share the submission."""
    words = [sys.executable, "-m", "weir_suites.sweep_command", "work", str(world.campaign.directory), str(number),
             "--simulate"]
    variables = {"PYTHONPATH": os.pathsep.join(filter(None, (str(PACKAGE_ROOT), os.environ.get("PYTHONPATH"))))}
    with open(os.devnull, "wb") as nowhere:
        children = [Child(words, nowhere if quiet else None, None, variables, own_session=True) for _ in range(count)]
    with stop.while_running(SimpleNamespace(end=lambda number: [child.end(number) for child in children])):
        return [child.wait(math.inf) for child in children]


def work_in_job(world, number):
    """What one of the workers of a submission does: a job, or a process beside others."""
    claims = world.submissions()
    if not 1 <= number <= len(claims):
        raise ReportError(f"{world.directory / 'submissions'}: there is no submission {number}")
    worker = worker_for(world, number, claims[number - 1].record["job"])
    worker.announces = world.name == "slurm"
    status = worker.work()
    if worker.announces:
        print(f"{counted(len(worker.outcomes), 'run')}, {worker.outcomes.count('complete')} complete", file=sys.stderr)
    return status
