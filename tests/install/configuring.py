"""Configuring a build on machines that lack something: a ccache that does not start, no Catch2, no Google Benchmark."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]


class Configuring(unittest.TestCase):
    def test_what_is_missing_is_done_without(self):
        with tempfile.TemporaryDirectory() as name:
            ccache = Path(name) / "ccache"
            ccache.write_text("#!/bin/sh\nexit 127\n")
            ccache.chmod(0o755)
            done = subprocess.run(
                ["cmake", "-S", SOURCE, "-B", name, f"-DCCACHE_PROGRAM={ccache}", "-DCMAKE_CXX_COMPILER_LAUNCHER=",
                 "-DWEIR_TESTS=OFF", "-DWEIR_BENCHMARKS=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_benchmark=ON",
                 "-DCMAKE_DISABLE_FIND_PACKAGE_Catch2=ON"], capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("does not start", done.stdout)
            self.assertIn("Google Benchmark is missing", done.stdout)
            commands = json.loads((Path(name) / "compile_commands.json").read_text())
            self.assertFalse([one for one in commands if str(ccache) in one["command"]])
            self.assertTrue([one for one in commands if one["file"].endswith("packet_benchmark.cpp")])


if __name__ == "__main__":
    unittest.main(verbosity=2, argv=sys.argv)
