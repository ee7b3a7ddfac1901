"""Runs the fenced `sh` blocks of the README and of docs/ as they stand, each page in a directory of its own that looks
like a clone of the repository. The line above a block can say

    <!-- not run: REASON -->     it needs a cluster, root, or much time; the test lists it
    <!-- exits with N -->        its exit status, if that is not 0

and a `text` block below it with <!-- output --> must be what it printed; a line `...` in it stands for any number of
lines.

    commands.py [--mpi|--no-mpi] [PAGE...]    only blocks that call mpirun, or only the others; only these pages
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from markdown import SOURCE, blocks, user_pages

LIMIT_S = 300  # of one block, on a machine that has other things to do
PROGRAMS = Path(os.environ["WEIR"]).resolve().parent
LAUNCHERS = ("OMPI_", "PMIX_", "PMI_", "SLURM_")
NEEDS_LIBRARIES = ("weir-report", "weir-compare", "weir-sweep collect", "weir-sweep bmwg", "weir-sweep tune",
                   "--confirm")


def environment():
    clean = {name: value for name, value in os.environ.items() if not name.startswith(LAUNCHERS)}
    return {**clean, "PATH": f"{PROGRAMS}:{clean['PATH']}", "NO_COLOR": "1"}


def libraries_are_missing():
    return subprocess.run([PROGRAMS / "weir-report", "--version"], capture_output=True, check=False).returncode != 0


def campaigns(directory, names):
    """What was made from a sweep file lies beside it."""
    return [name for name in names if Path(directory).name in ("sweeps", "sites") and Path(directory, name).is_dir()]


def look_like_a_clone(directory):
    """Scripts are those of the repository; sweep files are copied, because campaigns lie beside them."""
    for name in ("bench", "src", "results", "README.md"):
        (directory / name).symlink_to(SOURCE / name)
    shutil.copytree(SOURCE / "slurm", directory / "slurm", ignore=campaigns)
    (directory / "build/release").mkdir(parents=True)
    (directory / "build/release/bin").symlink_to(PROGRAMS)


def matches(quoted, printed):
    """Whether the runs of lines between `...` come in this order, the first and the last at the ends unless there is a
    `...`."""
    parts = [[line.rstrip() for line in part.strip("\n").splitlines()]
             for part in ("\n" + quoted + "\n").split("\n...\n")]
    position = 0
    for number, part in enumerate(parts):
        starts = range(position, len(printed) - len(part) + 1)
        if number == 0 and part:
            starts = starts[:1]
        if number == len(parts) - 1 and part:
            starts = [start for start in starts if start == len(printed) - len(part)]
        start = next((start for start in starts if printed[start:start + len(part)] == part), None)
        if start is None:
            return False
        position = start + len(part)
    return True


class Commands(unittest.TestCase):
    pages = user_pages()
    mpi = None  # None: all blocks; else only those that call mpirun, or only the others

    def test_every_block_runs_or_says_why_not(self):
        skipped, spent = [], 0.0
        without_libraries = libraries_are_missing()
        for page in self.pages:
            with tempfile.TemporaryDirectory() as name:
                directory = Path(name)
                look_like_a_clone(directory)
                before = None
                for block in blocks(page):
                    if block.language == "text" and block.remark("output") is not None and before is not None:
                        with self.subTest(place=block.place):
                            self.assertTrue(
                                matches(block.text, before),
                                f"{block.place} is not what was printed; change it to:\n" + "\n".join(before))
                    if block.language not in ("sh", "bash"):
                        continue
                    before = None
                    reason = block.remark("not run:")
                    if reason is None and self.mpi not in (None, "mpirun" in block.text):
                        continue
                    if reason is None and without_libraries and any(word in block.text for word in NEEDS_LIBRARIES):
                        reason = "the libraries of weir-report are missing"
                    if reason is not None:
                        self.assertNotEqual(reason, "", block.place)
                        skipped.append(f"{block.place}: not run: {reason}")
                        continue
                    start = time.monotonic()
                    with self.subTest(place=block.place):
                        before = self.run_block(block, directory)
                    spent += time.monotonic() - start
                    print(f"{block.place}: {time.monotonic() - start:.1f} s", flush=True)
        print(*skipped, f"{spent:.0f} s in all", sep="\n", flush=True)

    def run_block(self, block, directory):
        """What it printed on standard output, by lines."""
        done = subprocess.run(["bash", "-e", "-c", block.text], cwd=directory, env=environment(), capture_output=True,
                              text=True, timeout=LIMIT_S, check=False)
        self.assertEqual(done.returncode, int(block.remark("exits with") or 0),
                         f"{block.place}: {done.stdout}{done.stderr}")
        return [line.rstrip() for line in done.stdout.strip("\n").splitlines()]


class Quotes(unittest.TestCase):
    def test_dots_stand_for_lines(self):
        printed = ["a", "b", "c", "d"]
        for quoted in ("a\nb\nc\nd", "a\n...\nd", "...\nb\nc\n...", "...\nd", "a\n..."):
            self.assertTrue(matches(quoted, printed), quoted)
        for quoted in ("a\nb", "b\n...", "...\nc", "a\nc\n...", "...\nc\n...\nb\n..."):
            self.assertFalse(matches(quoted, printed), quoted)


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        if argument in ("--mpi", "--no-mpi"):
            Commands.mpi = argument == "--mpi"
    named = [Path(argument).resolve() for argument in sys.argv[1:] if argument.endswith(".md")]
    Commands.pages = named or Commands.pages
    unittest.main(argv=sys.argv[:1])
