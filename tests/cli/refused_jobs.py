"""Refusals under mpirun: exactly one line of weir's, exit status 2, no hang, whoever finds the error."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from weir_command import WEIR, environment

sys.path.append(str(Path(__file__).resolve().parents[1] / "mpi"))
from weir_run import MPIRUN, Run, check_status  # noqa: E402


class RefusedJobs(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def refused(self, command, *parts):
        done = subprocess.run([MPIRUN, *command], capture_output=True, text=True, timeout=60, check=False,
                              env=environment(), cwd=self.directory)
        report = f"{command}: {done}"
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("weir")]
        self.assertEqual(len(lines), 1, report)
        check_status(Run(self.directory, done.returncode, done.stdout, done.stderr, seconds=None), 2)
        for part in parts:
            self.assertIn(part, lines[0], report)

    def job(self, ranks, *options):
        return ["-np", str(ranks), WEIR, "run", *options]

    def test_a_bad_option(self):
        self.refused(self.job(8, "--rate", "2"), "weir run: --rate: '2' has no unit")

    def test_a_bad_option_with_many_ranks(self):
        self.refused(self.job(33, "--rate", "2"), "--rate: '2' has no unit")

    def test_too_few_and_too_many_ranks(self):
        for ranks in (7, 9):
            self.refused(self.job(ranks, "--producers", "3", "--consumers", "4"),
                         f"--producers 3 + --consumers 4 + 1 scheduler need 8 ranks, but {ranks} ranks were started")
        self.refused(self.job(2), "need at least 3 ranks, but 2 ranks were started")

    def test_a_host_list_that_matches_nobody(self):
        self.refused(self.job(3, "--producer-hosts", "no[1-3]"),
                     "--producer-hosts: no rank runs on no[1-3]; ranks run on")

    def test_a_bad_option_in_one_part_of_the_command_line(self):
        self.refused([*self.job(1, "--role", "scheduler"), ":", *self.job(2, "--role", "producer"), ":",
                      *self.job(2, "--role", "consumer", "--rate", "2")], "--rate: '2' has no unit")

    def test_a_bad_option_in_all_parts(self):
        self.refused([*self.job(1, "--role", "scheduler", "--rate", "2"), ":",
                      *self.job(2, "--role", "producer", "--rate", "2"), ":",
                      *self.job(2, "--role", "consumer", "--rate", "2")], "--rate: '2' has no unit")

    def test_parts_that_contradict_each_other(self):
        self.refused([*self.job(1, "--role", "scheduler", "--rate", "1Gb/s"), ":", *self.job(1, "--role", "producer"),
                      ":", *self.job(1, "--role", "consumer", "--rate", "2Gb/s")],
                     "--rate: 1Gb/s on rank 0, but 2Gb/s on rank 2")

    def test_a_run_directory_that_exists(self):
        self.refused(self.job(3, "--out", str(self.directory)), f"--out: '{self.directory}' exists already")

    def test_a_run_directory_that_exists_is_refused_before_mpi_starts(self):
        # As the first rank, with an MPI that does not start.
        done = subprocess.run([WEIR, "run", "--out", str(self.directory)], capture_output=True, text=True, timeout=60,
                              check=False, cwd=self.directory,
                              env={**environment(), "OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "3",
                                   "OMPI_MCA_pml": "none-such"})
        self.assertEqual((done.returncode, done.stdout), (2, ""), done)
        self.assertEqual(done.stderr,
                         f"weir run: --out: '{self.directory}' exists already; name a directory that does not\n")

    def test_a_run_directory_that_cannot_be_made(self):
        (self.directory / "file").write_text("")
        self.refused(self.job(3, "--out", "file/run"), "--out: ", "is not a directory")

    def test_more_memory_than_there_is(self):
        self.refused(self.job(3, "--scenario", "lhcb2021-farm", "--producers", "1", "--consumers", "1",
                              "--slots", "1000", "--chunk-size", "64MiB"),
                     "--slots: ", "available")


if __name__ == "__main__":
    unittest.main(verbosity=2)
