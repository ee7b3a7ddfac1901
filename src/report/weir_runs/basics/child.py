"""A program that the worker waits for: a run, or the hook. It is ended when it takes too long or the worker gets a
signal, and it ends when the worker dies for whatever reason."""

import contextlib
import ctypes
import os
import signal
import subprocess
import time

from . import processes

_PR_SET_PDEATHSIG = 1
KILL_AFTER_S = 45.0


@contextlib.contextmanager
def handling(numbers, handler):
    """Calls `handler` of the signals `numbers` meanwhile."""
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, former in before.items():
            signal.signal(number, former)


class Stop:
    """Whether the worker got a signal to stop, and which; passes it on to the program that runs."""

    def __init__(self):
        self.signal = None
        self._child = None

    def listening(self):
        """SIGUSR1 is what SLURM sends near the time limit (sbatch --signal). Afterwards signals end a command that has
        more to do, as before."""
        return handling((signal.SIGTERM, signal.SIGINT, signal.SIGUSR1), self._caught)

    def _caught(self, number, _):
        if self.signal is None:
            self.signal = number
            if self._child is not None:
                self._child.end(number)

    def __bool__(self):
        return self.signal is not None

    @property
    def reason(self):
        return {signal.SIGUSR1: "the time limit of the job was reached", signal.SIGINT: "by SIGINT",
                signal.SIGTERM: "by SIGTERM"}.get(self.signal, "")

    @contextlib.contextmanager
    def while_running(self, child):
        self._child = child
        if self.signal is not None:  # it came between the last look and now
            child.end(self.signal)
        try:
            yield
        finally:
            self._child = None


class Child:
    """`own_session`: Ctrl-C, which a terminal sends to a whole group, reaches it through `end` only. `end_with`: the
    signal that ends it; None: the one that the worker got. `errors`: where its error messages go, beside the output."""

    def __init__(self, words, output, directory, variables, *, own_session, end_with=signal.SIGTERM,
                 errors=subprocess.STDOUT, kill_after_s=KILL_AFTER_S):
        self._end_with, self._kill_after_s = end_with, kill_after_s
        self._own_session = own_session
        self._process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=errors,
                                         cwd=directory, env={**os.environ, **variables}, preexec_fn=die_with_parent,
                                         start_new_session=own_session)
        self._kill_at = None
        self.too_long = False

    def end(self, number):
        """Sends a signal; the program is killed if it does not end."""
        self._kill_at = time.monotonic() + self._kill_after_s
        self._send(number if self._end_with is None else self._end_with)

    def wait(self, limit_s, tick=lambda: None):
        """Its exit status; negative for a signal. `tick` is called twice a second meanwhile, and must not wait."""
        deadline = time.monotonic() + limit_s
        while True:
            try:
                return self._process.wait(timeout=0.5)
            except subprocess.TimeoutExpired:
                tick()
                now = time.monotonic()
                if self._kill_at is not None and now > self._kill_at:
                    self._send(signal.SIGKILL, group=self._own_session)
                elif self._kill_at is None and now > deadline:
                    self.too_long = True
                    self.end(signal.SIGTERM)

    def end_group(self, grace_s=2.0):
        """Ends what it has left behind in its session: TERM, after a grace KILL. Whether nothing of it is left."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            until = time.monotonic() + grace_s
            try:
                os.killpg(self._process.pid, number)
                while time.monotonic() < until:
                    time.sleep(0.02)
                    os.killpg(self._process.pid, 0)
            except ProcessLookupError:
                return True
            except PermissionError:  # all that is left is another user's, as what sudo starts
                break
        return not self._group_lives()

    def _group_lives(self):
        """Whether a process of the group is there that is not only waiting for its parent to notice its end."""
        found = (processes.stat_fields(pid) for pid in filter(str.isdigit, os.listdir("/proc")))
        return any(fields and int(fields[2]) == self._process.pid and fields[0] not in ("Z", "X") for fields in found)

    def _send(self, number, group=False):
        with contextlib.suppress(ProcessLookupError):
            if group:
                os.killpg(self._process.pid, number)
            else:
                self._process.send_signal(number)


def die_with_parent():
    """In the child: SIGTERM when the worker is gone, so that no run continues without its worker (Linux)."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
