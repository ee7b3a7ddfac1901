"""Calls `weir` as a user would and checks how it refuses. The executable: the variable WEIR, or the first argument."""

import os
import subprocess
import sys
import unittest

if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
    os.environ["WEIR"] = sys.argv.pop(1)
WEIR = os.path.abspath(os.environ["WEIR"])
# What starts in a twentieth of the time; the same code, where no MPI is needed.
OFFLINE = os.path.join(os.path.dirname(WEIR), "../libexec/weir/weir-offline")

# What launchers set: a test inside mpirun or SLURM must look as if it were not.
LAUNCHERS = ("OMPI_", "PMIX_", "PMI_", "SLURM_")


def environment(**more):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(LAUNCHERS)}
    return {**clean, **more}


def weir(*arguments, **variables):
    return _run(WEIR, arguments, variables)


def quick_weir(*arguments, **variables):
    """For tests that call it hundreds of times: weir-offline, where it was built and has the command."""
    needs_mpi = {"run", "check", "version", "--version"}.intersection(arguments)
    return _run(WEIR if needs_mpi or not os.access(OFFLINE, os.X_OK) else OFFLINE, arguments, variables)


def _run(program, arguments, variables):
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60, check=False,
                          env=environment(**variables))


class CommandTest(unittest.TestCase):
    weir = staticmethod(weir)

    def succeeds(self, *arguments, **variables):
        """Standard output of a command that must succeed and print nothing on stderr."""
        done = self.weir(*arguments, **variables)
        self.assertEqual((done.returncode, done.stderr), (0, ""), f"{arguments}: {done}")
        return done.stdout

    def refused(self, arguments, *parts, command="weir run", **variables):
        """Exit status 2, nothing on stdout, one line on stderr that begins with the command and has all parts."""
        done = self.weir(*arguments, **variables)
        report = f"{arguments}: {done}"
        self.assertEqual(done.returncode, 2, report)
        self.assertEqual(done.stdout, "", report)
        self.assertEqual(done.stderr.count("\n"), 1, report)
        self.assertTrue(done.stderr.startswith(command + ": "), report)
        for part in parts:
            self.assertIn(part, done.stderr, report)
        return done.stderr
