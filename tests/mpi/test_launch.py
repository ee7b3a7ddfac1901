#!/usr/bin/env python3
"""The test launcher itself: what it must fail on, it fails on."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

LAUNCH = pathlib.Path(__file__).resolve().parent / "launch"

# Seconds by which the processes of this test are told from those of another one at the same time.
LONG = f"600.{os.getpid():07}"

# A process that leaves its session and closes what it shares with its parent, as a lost rank does.
ORPHAN = f"""
import os, time
if os.fork() == 0:
    os.setsid()
    os.closerange(0, 3)
    time.sleep({LONG})
"""


class Launch(unittest.TestCase):
    def launch(self, *command, options=()):
        # The files of a failed test are kept, and these tests fail on purpose.
        with tempfile.TemporaryDirectory() as directory:
            return subprocess.run([sys.executable, LAUNCH, "--script", *options, "--", *command], capture_output=True,
                                  text=True, timeout=60, env={**os.environ, "TMPDIR": directory})

    def test_success_in_an_empty_directory(self):
        result = self.launch("bash", "-c", 'test -z "$(ls -A)" && test -x "$WEIR_MPIRUN" && touch file && pwd')
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertFalse(os.path.exists(result.stdout.strip()))

    def test_exit_status(self):
        self.assertEqual(self.launch("bash", "-c", "exit 3", options=["--expect-exit", "3"]).returncode, 0)
        result = self.launch("bash", "-c", "exit 3")
        self.assertEqual(result.returncode, 1)
        self.assertIn("exit status 3, expected 0", result.stdout)

    def test_end_by_a_signal(self):
        result = self.launch("bash", "-c", "kill -9 $$")
        self.assertIn("exit status 137, expected 0", result.stdout)

    def test_skipped(self):
        self.assertEqual(self.launch("bash", "-c", "exit 77").returncode, 77)

    def test_orphans(self):
        result = self.launch(sys.executable, "-c", ORPHAN)
        self.assertEqual(result.returncode, 1)
        self.assertIn("processes left behind", result.stdout)
        self.assert_nothing_runs(f"time.sleep({LONG})")

    def test_hang(self):
        result = self.launch("bash", "-c", f"trap '' TERM; sleep {LONG} & wait; sleep {LONG}",
                             options=["--timeout", "0.5"])
        self.assertEqual(result.returncode, 1)
        self.assertIn("not finished after 0.5 s", result.stdout)
        self.assertIn(f"sleep {LONG}", result.stdout)
        self.assert_nothing_runs(f"sleep {LONG}")

    def assert_nothing_runs(self, text):
        for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                command = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            self.assertNotIn(text, command)


if __name__ == "__main__":
    unittest.main()
