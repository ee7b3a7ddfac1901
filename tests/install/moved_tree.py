"""Installs, moves the tree, and works with it from there, knowing nothing of source and build. Arguments: cmake, and
the build directory."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CMAKE, BUILD = sys.argv.pop(1), Path(sys.argv.pop(1))
SOURCE = Path(os.environ["WEIR_SOURCE_DIR"])
MPIRUN = os.environ["WEIR_MPIRUN"]


def minimal_environment(home):
    """What a login has: programs, MPI's among them, and a home."""
    programs = ["/usr/bin", "/bin"]
    mpirun = shutil.which("mpirun")
    if mpirun and os.path.dirname(mpirun) not in programs:
        programs.insert(0, os.path.dirname(mpirun))
    passed_on = ("LD_LIBRARY_PATH", "WEIR_PYTHON", "WEIR_TEST_ID", "TMPDIR", "ASAN_OPTIONS", "LSAN_OPTIONS",
                 "UBSAN_OPTIONS")
    return {"PATH": ":".join(programs), "HOME": str(home), "LC_ALL": "C.UTF-8",
            **{name: os.environ[name] for name in passed_on if name in os.environ}}


class MovedTree(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)
        here = Path(cls.directory.name)
        installed = here / "where it was installed"
        subprocess.run([CMAKE, "--install", str(BUILD), "--prefix", str(installed)], check=True, capture_output=True)
        cls.tree = here / "and where it lies now"
        installed.rename(cls.tree)
        cls.environment = minimal_environment(here)
        cls.work = here / "work"
        cls.work.mkdir()
        cls.bin = next(path.parent for path in cls.tree.rglob("weir") if path.is_file() and os.access(path, os.X_OK))
        cls.share = next(path.parents[2] for path in cls.tree.rglob("weir_runs"))

    def run_there(self, *command, status=0):
        done = subprocess.run([str(part) for part in command], cwd=self.work, env=self.environment, capture_output=True,
                              text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, status, f"{command}: {done}")
        return done.stdout

    def help(self):
        return json.loads(self.run_there(self.bin / "weir", "--help", "json"))

    def test_all_parts_are_there(self):
        commands = {path.name for path in self.bin.iterdir()}
        self.assertLessEqual({"weir", "weir-report", "weir-compare", "weir-sweep", "weir-traffic"}, commands)
        declared = re.findall(r"(?m)^(weir-[a-z]+) = ", (SOURCE / "pyproject.toml").read_text())
        self.assertEqual(commands, {"weir", *declared})
        scenarios = self.run_there(self.bin / "weir", "scenarios").split("\n\n")[0].splitlines()[1:]
        self.assertEqual({path.stem for path in (self.share / "weir/scenarios").iterdir()},
                         {line.split()[0] for line in scenarios})
        for name in ("LICENSE", "README.md", *(f"docs/{page.name}" for page in (SOURCE / "docs").glob("*.md"))):
            self.assertEqual((self.share / "doc/weir" / name).read_bytes(), (SOURCE / name).read_bytes())
        # Deeper in the source lie campaigns, which are not installed.
        installed, source = ({path.relative_to(top): path.stat().st_mode & 0o111 for path in top.rglob("*")
                              if path.is_file() and (top != SOURCE / "slurm" or len(path.relative_to(top).parts) <= 2)}
                             for top in (self.share / "weir/slurm", SOURCE / "slurm"))
        self.assertEqual(installed, source)
        self.assertLessEqual(
                {Path("weir.sbatch"), Path("switch-readers/sonic"), Path("switch-readers/reader.py")}, set(installed))
        for name in ("grafana/weir.json", "prometheus/weir.rules.yml"):
            self.assertEqual((self.share / "weir" / name).read_bytes(), (SOURCE / "packaging" / name).read_bytes())
        if (BUILD / "share").is_dir():  # else the build has printed that it leaves them out
            pages = {"weir", *(f"weir-{command['name']}" for command in self.help()["commands"]), *declared}
            self.assertEqual({path.stem for path in (self.tree / "share/man/man1").iterdir()}, pages)
            for completions in ("bash-completion/completions/{}", "zsh/site-functions/_{}"):
                for command in commands:
                    self.assertTrue((self.share / completions.format(command)).is_file(), completions.format(command))

    def test_no_text_names_the_source_or_the_build(self):
        looked_at = 0
        for path in self.tree.rglob("*"):
            if path.is_file() and b"\0" not in path.read_bytes():
                looked_at += 1
                text = path.read_text(encoding="utf-8")
                for place in (SOURCE, BUILD, "where it was installed"):
                    self.assertNotIn(str(place), text, path)
        self.assertGreater(looked_at, 40)

    def test_a_run(self):
        version = self.run_there(self.bin / "weir", "--version").splitlines()
        self.assertRegex(version[0], r"\Aweir \d+\.\d+")
        self.run_there(MPIRUN, "-np", "3", self.bin / "weir", "run", "--rate", "100Mb/s", "--event-size", "1MiB",
                       "--duration", "2s", "--warmup", "0s",
                       "--scenario", self.share / "weir/scenarios/quickstart.toml", "--producers", "1",
                       "--consumers", "1", "--busy", "none", "--quiet", "--out", "run")
        run = json.loads((self.work / "run/run.json").read_text())
        self.assertEqual(run["status"], "complete")
        self.assertTrue(run["ledger"]["agrees"])
        self.assertEqual(f"weir {run['environment']['weir_version']}", version[0])
        # bench/mpirun-local, which starts these ranks, leaves UCX out; Open MPI 5 has loaded it all the same.
        ucx = next(line.split()[1] for line in version if line.startswith("UCX "))
        self.assertIn(run["environment"]["ucx_version"], (None, ucx))

    def test_the_python_commands(self):
        version = self.run_there(self.bin / "weir", "--version").split()[1]
        for command in sorted(path for path in self.bin.iterdir() if path.name != "weir"):
            done = subprocess.run(
                [command, "--version"], env=self.environment, capture_output=True, text=True, check=False)
            if done.returncode == 2 and "no Python here has what it needs" in done.stderr:
                self.skipTest(done.stderr.strip())
            self.assertEqual((done.returncode, done.stdout), (0, f"{command.name} {version}\n"), done)
        self.run_there(self.bin / "weir", "simulate", "--duration", "2s", "--quiet", "--out", "simulated")
        self.run_there(self.bin / "weir-report", "--figures", "none", "--quiet", "simulated")
        page = (self.work / "simulated/report.html").read_text()
        self.assertIn("SUSTAINED", page)
        self.assertNotIn(str(SOURCE), page)

    def test_a_sweep(self):
        sweep = self.share / "weir/slurm/sweeps/quickstart.toml"
        said = self.run_there(self.bin / "weir-sweep", "submit", sweep, "--simulate", "--out", "sweep")
        self.assertIn("4 settings x 3 repetitions = 12 runs in the simulator", said)
        states = json.loads(self.run_there(self.bin / "weir-sweep", "status", "sweep", "--json"))["worlds"][0]["points"]
        self.assertEqual({point["state"] for point in states}, {"complete"})

    def test_through_a_link(self):
        """As /usr/local/bin/weir-report -> ../stow/weir/bin/weir-report."""
        link = self.work / "a link"
        link.symlink_to(self.bin / "weir-report")
        done = subprocess.run([link, "--version"], env=self.environment, capture_output=True, text=True, check=False)
        if done.returncode == 2 and "no Python here has what it needs" in done.stderr:
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, 0, done)


if __name__ == "__main__":
    unittest.main(verbosity=2)
