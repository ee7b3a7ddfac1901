"""weir-offline, which simulates without MPI: the same answers, and no library that it does not need."""

import subprocess
import tempfile
import unittest
from pathlib import Path

from weir_command import OFFLINE, CommandTest, quick_weir, weir

PLAN = ("simulate", "--producers", "2", "--consumers", "2", "--rate", "1Gb/s", "--duration", "1s", "--warmup", "0s",
        "--explain", "off")


class Offline(CommandTest):
    weir = staticmethod(quick_weir)

    def test_needs_no_mpi(self):
        needed = subprocess.run(["ldd", OFFLINE], capture_output=True, text=True, check=True).stdout
        self.assertNotRegex(needed, r"libmpi|libucp|libpsm|not found")

    def test_simulates_the_same(self):
        with tempfile.TemporaryDirectory() as name:
            printed = {}
            for program, call in (("weir", weir), ("offline", quick_weir)):
                done = call(*PLAN, "--out", f"{name}/{program}")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                printed[program] = [line for line in done.stdout.splitlines() if name not in line]
            self.assertEqual(printed["weir"], printed["offline"])
            one, other = (sorted(path.relative_to(Path(name, program)) for path in Path(name, program).rglob("*.csv"))
                          for program in ("weir", "offline"))
            self.assertTrue(one)
            self.assertEqual(one, other)
            for path in one:
                self.assertEqual(Path(name, "weir", path).read_bytes(), Path(name, "offline", path).read_bytes(), path)

    def test_refuses_what_needs_mpi(self):
        for command in ("run", "check"):
            done = subprocess.run([OFFLINE, command], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(
                (done.returncode, done.stdout, done.stderr),
                (2, "", f"weir {command}: this is weir-offline, which has no MPI; `{command}` needs the weir of an "
                 "installation with MPI\n"))


if __name__ == "__main__":
    unittest.main()
