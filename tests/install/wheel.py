"""The wheel, made with this build's weir-offline, in an environment that has nothing else: simulation, report,
comparison and sweep without MPI. The argument is the build directory."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BUILD = Path(sys.argv.pop(1))
SOURCE = Path(os.environ["WEIR_SOURCE_DIR"])
OFFLINE = BUILD / "libexec/weir/weir-offline"
PLAN = ("--producers", "2", "--consumers", "2", "--rate", "1Gb/s", "--duration", "1s", "--warmup", "0s")
SWEEP = """
repetitions = 2
[run]
producers = 2
consumers = 2
rate = "1Gb/s"
duration = "1s"
warmup = "0s"
[axes]
slots = [1, 2]
"""


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not OFFLINE.is_file():
            raise unittest.SkipTest("this build has no weir-offline")
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.here = Path(directory.name)
        cls.pip("wheel", SOURCE, "--no-deps", "--wheel-dir", cls.here)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", cls.here / "bare"], check=True, timeout=60)
        cls.bin = cls.here / "bare/bin"
        cls.pip("--python", cls.bin / "python", "install", *cls.here.glob("weir_bench-*.whl"))

    @classmethod
    def pip(cls, *words):
        """Skips all where pip is not there or fetches nothing."""
        environment = {**os.environ, "SKBUILD_CMAKE_DEFINE": f"WEIR_OFFLINE_PROGRAM={OFFLINE}"}
        done = subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", *map(str, words)],
                              env=environment, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode and re.search("No module named pip|No matching distribution|Failed to establish|Max retries",
                                         done.stderr):
            raise unittest.SkipTest(f"pip cannot fetch: {done.stderr.strip().splitlines()[-1]}")
        if done.returncode:
            raise AssertionError(f"pip {words}: {done.stderr}")

    def there(self, command, *words, status=0):
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.here)}
        done = subprocess.run([str(self.bin / command), *map(str, words)], cwd=self.here, env=environment,
                              capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(done.returncode, status, f"{command} {words}: {done}")
        return done.stdout + done.stderr

    def test_simulations_and_their_comparison(self):
        for name, seed in (("one", 1), ("two", 2)):
            self.there("weir", "simulate", *PLAN, "--seed", seed, "--quiet", "--out", name)
        self.there("weir-report", "--quiet", "one")
        self.assertIn("SUSTAINED", (self.here / "one/report.html").read_text(encoding="utf-8"))
        self.assertIn("baseline", self.there("weir-compare", "one", "--against", "two"))

    def test_a_sweep(self):
        (self.here / "slots.toml").write_text(SWEEP, encoding="utf-8")
        self.there("weir-sweep", "submit", "slots.toml", "--simulate", "--out", "sweep")
        status = json.loads(self.there("weir-sweep", "status", "sweep", "--json"))
        self.assertEqual({point["state"] for point in status["worlds"][0]["points"]}, {"complete"})

    def test_traffic(self):
        self.there("weir-traffic", "mixture-of-experts", "--help")

    def test_what_needs_mpi_is_refused_and_the_version_is_that_of_the_program(self):
        self.assertIn("has no MPI", self.there("weir", "run", status=2))
        version = self.there("weir", "--version").split()[1]
        for command in ("weir-report", "weir-compare", "weir-sweep", "weir-traffic"):
            self.assertEqual(self.there(command, "--version").split(), [command, version])


if __name__ == "__main__":
    unittest.main(verbosity=2, argv=sys.argv)
