"""The version that weir prints: `weir --version`, and where the version comes from, in clones, archives and bare
copies. The first argument is a directory that holds a libucp.so.0 that says 98.7.6, the second one is cmake."""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FAKE_UCX, CMAKE = sys.argv[1:3]
del sys.argv[1:3]

from weir_command import CommandTest  # noqa: E402  (takes its own argument)

SOURCE = Path(os.environ["WEIR_SOURCE_DIR"])
VERSION = r"\d+\.\d+\.\d+([-+~.][0-9A-Za-z.+~-]+)?"


class Facts(CommandTest):
    def facts(self, **variables):
        first, *others = self.succeeds("--version", **variables).splitlines()
        return first, dict(line.split(maxsplit=1) for line in others)

    def test_one_fact_per_line(self):
        first, facts = self.facts()
        self.assertEqual(self.succeeds("version"), self.succeeds("--version"))
        self.assertRegex(first, rf"\Aweir {VERSION}\Z")
        self.assertEqual(list(facts), ["commit", "compiler", "MPI", "UCX"])
        self.assertRegex(facts["commit"], r"\A([0-9a-f]{40}|unknown)\Z")
        self.assertRegex(facts["compiler"], r"\A\w+ \d+\.\d+.*, \w+\Z")
        self.assertRegex(facts["MPI"], r"\d+\.\d+")

    def test_the_library_itself_says_which_ucx_it_is(self):
        _, facts = self.facts(LD_LIBRARY_PATH=FAKE_UCX)
        self.assertEqual(facts["UCX"], f"98.7.6 ({FAKE_UCX}/libucp.so.0)")

    def test_without_ucx(self):
        needed = subprocess.run(["ldd", os.environ["WEIR"]], capture_output=True, text=True, check=True).stdout
        if "libucp.so" in needed:
            self.skipTest("no program starts without UCX where the MPI library itself needs it, as Open MPI 5 does")
        with tempfile.TemporaryDirectory() as directory:
            Path(directory, "libucp.so.0").write_text("not a library: the loader gives up here\n")
            _, facts = self.facts(LD_LIBRARY_PATH=directory)
            self.assertEqual(facts["UCX"], "not found (libucp.so.0)")

    def test_a_library_that_is_no_ucx(self):
        with tempfile.TemporaryDirectory() as directory:
            maths = next(line.split()[2] for line in subprocess.run(
                ["ldd", os.environ["WEIR"]], capture_output=True, text=True, check=True).stdout.splitlines()
                if "libm.so" in line)
            Path(directory, "libucp.so.0").symlink_to(maths)
            _, facts = self.facts(LD_LIBRARY_PATH=directory)
            self.assertEqual(facts["UCX"], "not found (libucp.so.0)")


def git(directory, *arguments):
    settings = ["-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "init.defaultBranch=main",
                "-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false"]
    done = subprocess.run(["git", "-C", str(directory), *settings, *arguments], capture_output=True, check=True,
                          env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"})
    return done.stdout


class Origin(unittest.TestCase):
    """WriteVersion.cmake in little repositories that have what it looks at."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.repository = self.directory / "repository"
        (self.repository / "cmake").mkdir(parents=True)
        for file in (".gitattributes", "cmake/archive.txt"):
            (self.repository / file).write_bytes((SOURCE / file).read_bytes())

    def commit(self, text):
        (self.repository / "file").write_text(text)
        git(self.repository, "add", ".")
        git(self.repository, "commit", "-m", text)

    def version(self, tree=None):
        """Version, commit and date of the tree."""
        out = self.directory / "out"
        subprocess.run([CMAKE, f"-DSOURCE_DIR={tree or self.repository}", f"-DOUTPUT_DIR={out}",
                        "-DPROJECT_VERSION=0.9.0", "-DCOMPILER=Some 1.0", "-DBUILD_TYPE=Release",
                        "-P", str(SOURCE / "cmake" / "WriteVersion.cmake")], check=True, capture_output=True)
        header = (out / "weir_version.hpp").read_text()
        values = [re.search(rf'{name} = "(.*?)"', header)[1] for name in ("version", "git_commit", "commit_date")]
        # The other files have the same.
        self.assertEqual((out / "version.txt").read_text(), values[0] + "\n")
        self.assertIn(f'VERSION = "{values[0]}"\n', (out / "version.py").read_text())
        return values

    def archive(self):
        tree = self.directory / "archive"
        tree.mkdir()
        subprocess.run(["tar", "-x", "-C", str(tree)], input=git(self.repository, "archive", "HEAD"), check=True)
        return tree

    def test_a_clone(self):
        git(self.repository, "init")
        self.commit("one")
        head = git(self.repository, "rev-parse", "HEAD").decode().strip()
        version, commit, date = self.version()
        self.assertRegex(version, rf"\A0\.9\.0\+g{head[:7]}[0-9a-f]*\Z")
        self.assertEqual(commit, head)
        self.assertRegex(date, r"\A\d{4}-\d\d-\d\d\Z")
        git(self.repository, "tag", "v1.2.3")
        git(self.repository, "tag", "some-other-tag")
        self.assertEqual(self.version()[0], "1.2.3")
        self.commit("two")
        self.assertRegex(self.version()[0], r"\A1\.2\.3\+1\.g[0-9a-f]{7,}\Z")
        (self.repository / "file").write_text("three")
        self.assertRegex(self.version()[0], r"\A1\.2\.3\+1\.g[0-9a-f]{7,}\.dirty\Z")
        git(self.repository, "checkout", "file")
        git(self.repository, "tag", "v2.0.0-rc.1")
        self.assertEqual(self.version()[0], "2.0.0-rc.1")

    def test_changed_files_without_any_tag(self):
        git(self.repository, "init")
        self.commit("one")
        (self.repository / "file").write_text("two")
        self.assertRegex(self.version()[0], r"\A0\.9\.0\+g[0-9a-f]{7,}\.dirty\Z")

    def test_an_archive_knows_its_commit(self):
        git(self.repository, "init")
        self.commit("one")
        head = git(self.repository, "rev-parse", "HEAD").decode().strip()
        version, commit, date = self.version(self.archive())
        self.assertEqual((version, commit), (f"0.9.0+g{head[:7]}", head))
        self.assertRegex(date, r"\A\d{4}-\d\d-\d\d\Z")

    def test_an_archive_of_a_tag(self):
        git(self.repository, "init")
        self.commit("one")
        git(self.repository, "tag", "v1.2.3")
        if not re.search(r"describe v", (self.archive() / "cmake/archive.txt").read_text()):
            self.skipTest("this git is older than 2.35 and does not describe in archives")
        self.assertEqual(self.version(self.directory / "archive")[0], "1.2.3")

    def test_a_copy_without_history(self):
        self.assertEqual(self.version(), ["0.9.0", "unknown", ""])

    def test_the_package_has_the_version_of_the_project(self):
        project = re.search(r"project\(weir VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text())[1]
        package = (SOURCE / "src/report/weir_runs/version.py").read_text()
        self.assertIn(f'VERSION = "{project}"', package)


if __name__ == "__main__":
    unittest.main(verbosity=2)
