"""What is left of a command that took too long is ended, too."""

import os
import subprocess

from weir_report.basics.child import Child


def test_a_child_that_ignores_term_is_ended(tmp_path):
    words = ["/bin/sh", "-c", "(trap '' TERM; echo $$; sleep 60; sleep 60) & wait"]
    child = Child(words, subprocess.DEVNULL, tmp_path, {}, own_session=True)
    child.wait(0.3)
    assert child.too_long
    child.end_group(grace_s=0.3)
    alive = [name for name in os.listdir("/proc") if name.isdigit() and _lives_in(name, child._process.pid)]
    assert alive == []


def _lives_in(process, group):
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            state, _, of_group = file.read().rpartition(")")[2].split()[:3]
    except OSError:
        return False
    return int(of_group) == group and state != "Z"
