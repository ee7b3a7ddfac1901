"""What is left of a command that took too long is ended, too."""

import os
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

from weir_compare.sweep.worker import Worker
from weir_runs.basics.child import Child
from weir_runs.basics.errors import ReportError


def test_a_child_that_ignores_term_is_ended(tmp_path):
    words = ["/bin/sh", "-c", "(trap '' TERM; echo $$; sleep 60; sleep 60) & wait"]
    child = Child(words, subprocess.DEVNULL, tmp_path, {}, own_session=True)
    child.wait(0.3)
    assert child.too_long
    assert child.end_group(grace_s=0.3)
    alive = [name for name in os.listdir("/proc") if name.isdigit() and _lives_in(name, child._process.pid)]
    assert alive == []


def test_what_outlives_kill_is_told(tmp_path, monkeypatch):
    child = Child(["/bin/sh", "-c", "trap '' TERM; sleep 60 & wait; wait"], subprocess.DEVNULL, tmp_path, {},
                  own_session=True)
    kill = os.killpg
    monkeypatch.setattr(os, "killpg", lambda group, number: kill(group, 0))
    assert not child.end_group(grace_s=0.1)
    kill(child._process.pid, signal.SIGKILL)
    assert child.wait(5.0) == -signal.SIGKILL and child.end_group(grace_s=0.1)


def refuse(*_):
    raise PermissionError(1, "Operation not permitted")


def test_what_another_user_has_cannot_be_ended(tmp_path, monkeypatch):
    child = Child(["/bin/sleep", "60"], subprocess.DEVNULL, tmp_path, {}, own_session=True)
    with monkeypatch.context() as patched:
        patched.setattr(os, "killpg", refuse)
        assert not child.end_group(grace_s=0.1)
        child.end(signal.SIGKILL)
        child.wait(5.0)
        assert child.end_group(grace_s=0.1)


@pytest.mark.parametrize("refuses", [(os, "killpg"), (subprocess.Popen, "send_signal")])
def test_no_run_is_made_while_a_switch_command_of_another_user_goes_on(tmp_path, monkeypatch, refuses):
    (tmp_path / "hooks").mkdir()
    world = SimpleNamespace(directory=tmp_path, campaign=SimpleNamespace(directory=tmp_path),
                            plan=SimpleNamespace(name="some"))
    worker = Worker(world, 1,
                    {"hook": "trap 'exit 1' TERM; sleep 5 & wait; true", "base": tmp_path, "change_limit_s": 0.2})
    monkeypatch.setattr(*refuses, refuse)
    with pytest.raises(ReportError, match="cannot be ended, .* no more runs"):
        worker._call_hook(SimpleNamespace(switch="a"), None)


def test_a_process_whose_name_is_no_utf_8_disturbs_nobody(tmp_path):
    name = "import ctypes; ctypes.CDLL(None).prctl(15, b'caf\\xc3', 0, 0, 0); print(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", name], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        other.stdout.readline()
        child = Child(["/bin/true"], subprocess.DEVNULL, tmp_path, {}, own_session=True)
        child.wait(5.0)
        assert not child._group_lives()
        other.communicate(b"\n")


def _lives_in(process, group):
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            state, _, of_group = file.read().rpartition(")")[2].split()[:3]
    except OSError:
        return False
    return int(of_group) == group and state != "Z"
