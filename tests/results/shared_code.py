"""bench/provenance.py and bench/replay.py: which programs may store lines, and what `check` finds."""

import argparse
import contextlib
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["WEIR_SOURCE_DIR"])
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "bench"))
import commits  # noqa: E402
import provenance  # noqa: E402
import replay  # noqa: E402
import studies  # noqa: E402


@unittest.skipUnless(shutil.which("git"), "git is not installed")
class Repository(unittest.TestCase):
    """A repository with two commits on main, and one on a branch."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.top = pathlib.Path(directory.name) / "origin"
        (self.top / "bench").mkdir(parents=True)
        subprocess.run(["git", "init", "--quiet", "--initial-branch", "main", self.top], check=True)
        self.first, self.second = self.commit("one"), self.commit("two")
        self.git("checkout", "--quiet", "-b", "side", self.first)
        self.side = self.commit("three")

    def git(self, *words):
        return subprocess.run(["git", "-C", self.top, "-c", "user.name=n", "-c", "user.email=e@e", *words], check=True,
                              capture_output=True, text=True).stdout.strip()

    def commit(self, text):
        (self.top / "bench/program").write_text(text)
        self.git("add", "-A")
        self.git("commit", "--quiet", "-m", text)
        return self.git("rev-parse", "HEAD")

    def test_a_commit_of_main_is_published_from_every_branch(self):
        for commit in (self.first, self.second, self.second[:7]):
            self.assertEqual(provenance.obstacle("0.1.0+gabc", commit, self.top), "")

    def test_a_commit_beside_main_is_not(self):
        self.assertIn("does not contain", provenance.obstacle("0.1.0+gabc", self.side, self.top))
        self.assertIn("does not contain", provenance.obstacle("0.1.0", "unknown", self.top))

    def test_changed_files_are_an_obstacle(self):
        self.assertIn("changed files", provenance.obstacle("0.1.0+gabc.dirty", self.first, self.top))
        (self.top / "bench/program").write_text("changed")
        self.assertIn("bench/program", provenance.obstacle("0.1.0+gabc", self.first, self.top))

    def test_a_clone_of_one_branch_without_main_is_judged_by_head(self):
        clone = self.top.parent / "clone"
        subprocess.run(["git", "clone", "--quiet", "--single-branch", "--branch", "side", self.top, clone], check=True)
        self.assertEqual(provenance.published_heads(clone), ["HEAD"])
        self.assertTrue(provenance.is_published(self.side, clone))
        self.assertFalse(provenance.is_published(self.second, clone))

    def test_a_clone_has_main_of_its_origin(self):
        clone = self.top.parent / "clone"
        subprocess.run(["git", "clone", "--quiet", self.top, clone], check=True)
        self.assertEqual(provenance.published_heads(clone), ["refs/remotes/origin/main"])
        self.assertFalse(provenance.is_published(self.side, clone))

    def test_an_archive_cannot_be_judged(self):
        archive = self.top / "archive"
        archive.mkdir()
        self.assertFalse(provenance.is_repository(archive))
        self.assertIn("no git repository", provenance.obstacle("0.1.0+gabc", self.first, archive))

    def test_a_shallow_clone_is_known(self):
        clone = self.top.parent / "clone"
        subprocess.run(["git", "clone", "--quiet", "--depth", "1", f"file://{self.top}", clone], check=True)
        self.assertTrue(provenance.is_shallow(clone))
        self.assertFalse(provenance.is_shallow(self.top))


class Refusal(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.weir = pathlib.Path(directory.name) / "weir"
        self.weir.write_text("#!/bin/sh\necho 'weir 0.1.0+g1234567.dirty'\necho 'commit    " + 40 * "1" + "'\n")
        self.weir.chmod(0o755)
        self.elsewhere = directory.name

    def test_a_trial_writes_outside_of_results_only(self):
        results = SOURCE / "results/lhcb2021"
        for out, allowed in ((results, False), (results, True), (SOURCE / "results", True), (self.elsewhere, False)):
            with self.subTest(out=out, allowed=allowed), self.assertRaises(SystemExit) as end:
                provenance.require(self.weir, out, allowed)
            self.assertNotEqual(end.exception.code, 0)
        with contextlib.redirect_stderr(io.StringIO()) as remark:
            provenance.require(self.weir, self.elsewhere, True)
        self.assertIn("a trial only", remark.getvalue())


class Store(unittest.TestCase):
    def test_lines_take_the_place_of_those_that_are_alike(self):
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "new/runs.csv"
            for row, value in (("a", 1), ("b", 2), ("c", 3.123456789), ("b", 4)):
                studies.store(file, ("row", "value"), {"row": row, "value": value}, ("row",))
            self.assertEqual(file.read_text(), "row,value\na,1\nb,4\nc,3.12346\n")
            studies.store_lines(file, ("row", "value"), [{"row": "a", "value": value} for value in (7, 8)], ("row",))
            studies.store_lines(file, ("row", "value"), [{"row": "a", "value": 9}], ("row",))
            self.assertEqual(file.read_text(), "row,value\na,9\nb,4\nc,3.12346\n")


class Commits(unittest.TestCase):
    def test_versions_and_commits_are_found_in_pages_and_data(self):
        text = ("Made with weir 0.1.0+g1234567, weir 0.2.0+5.gabcdef1.dirty; before commit `7654321`.\n"
                "row,seed,weir\n1,2,0123456789ab\n1,2,123456789012\n1,500000000000000,x\n")
        self.assertEqual(commits.commits_of(text),
                         {"1234567": False, "abcdef1": True, "7654321": False, "0123456789ab": False})


class Check(unittest.TestCase):
    """A page with two lines and a text that has their sum."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.options = argparse.Namespace(out=pathlib.Path(directory.name))
        self.names = ("row", "late", "weir", "command")
        for row, late in ((1, 0), (2, 7)):
            self.run_row(self.options, row, late, "0.1.0")
        studies.write(studies.Study(self.page), self.options.out)

    def run_row(self, options, row, late, version):
        studies.store(options.out / "runs.csv", self.names,
                         {"row": row, "late": late, "weir": version, "command": f"weir simulate --row {row}"}, ("row",))

    @staticmethod
    def page(out):
        return {"README.md": f"{sum(int(line['late']) for line in studies.stored(out / 'runs.csv'))} late\n"}

    def check(self, again):
        study = studies.Study(self.page, keys={"runs.csv": ("row",)}, replay=again)
        with contextlib.redirect_stdout(io.StringIO()) as text:
            return replay.check(self.options, study), text.getvalue()

    def test_equal_numbers_of_another_program_pass(self):
        status, text = self.check(lambda trial: self.run_row(trial, 2, 7, "0.2.0"))
        self.assertEqual(status, 0, text)
        self.assertIn("PASS: 1 stored line", text)

    def test_another_number_is_shown_beside_the_stored_one_with_its_command(self):
        status, text = self.check(lambda trial: self.run_row(trial, 2, 8, "0.1.0"))
        self.assertEqual(status, 1)
        self.assertIn("late: stored 7, now 8", text)
        self.assertIn("weir simulate --row 2", text)

    def test_a_line_that_is_not_stored_fails(self):
        self.assertIn("no such line", self.check(lambda trial: self.run_row(trial, 3, 0, "0.1.0"))[1])

    def test_a_check_that_runs_nothing_fails(self):
        self.assertEqual(self.check(lambda trial: None)[0], 1)

    def test_a_page_that_was_edited_by_hand_fails(self):
        (self.options.out / "README.md").write_text("6 late\n")
        status, text = self.check(lambda trial: self.run_row(trial, 2, 7, "0.1.0"))
        self.assertEqual(status, 1)
        self.assertIn("README.md: not what", text)

    def test_the_stored_files_stay_as_they_are(self):
        before = {file.name: file.read_bytes() for file in self.options.out.iterdir()}
        self.check(lambda trial: self.run_row(trial, 2, 8, "0.1.0"))
        self.assertEqual(before, {file.name: file.read_bytes() for file in self.options.out.iterdir()})


if __name__ == "__main__":
    unittest.main()
