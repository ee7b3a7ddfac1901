"""What is left of a command that took too long is ended, too."""

import os
import signal
import subprocess

from weir_report.basics.child import Child


def test_a_child_that_ignores_term_is_ended(tmp_path):
    words = ["/bin/sh", "-c", "(trap '' TERM; echo $$; sleep 60; sleep 60) & wait"]
    child = Child(words, subprocess.DEVNULL, tmp_path, {}, own_session=True)
    child.wait(0.3)
    assert child.too_long
    assert child.end_group(grace_s=0.3)
    alive = [name for name in os.listdir("/proc") if name.isdigit() and _lives_in(name, child._process.pid)]
    assert alive == []


def test_what_outlives_kill_is_told(tmp_path, monkeypatch):
    child = Child(["/bin/sh", "-c", "trap '' TERM; sleep 60 & wait; wait"], subprocess.DEVNULL, tmp_path, {}, own_session=True)
    kill = os.killpg
    monkeypatch.setattr(os, "killpg", lambda group, number: kill(group, 0))
    assert not child.end_group(grace_s=0.1)
    kill(child._process.pid, signal.SIGKILL)
    assert child.wait(5.0) == -signal.SIGKILL and child.end_group(grace_s=0.1)


def _lives_in(process, group):
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            state, _, of_group = file.read().rpartition(")")[2].split()[:3]
    except OSError:
        return False
    return int(of_group) == group and state != "Z"
