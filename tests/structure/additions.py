#!/usr/bin/env python3
"""What src/README.md ("How to add") says of adding a thing holds: so many files, and it shows up everywhere.

    tests/structure/additions.py SOURCE

Always: the change can be made in a copy, and touches no more files than it may. With WEIR_ADDITIONS=long the copy is built too
(minutes of a core), and a simulation must have the new thing wherever its like are.
"""

import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(sys.argv.pop(1)).resolve()
LONG = os.environ.get("WEIR_ADDITIONS") == "long"
# File: (a line, what follows it). A count of consumers.
COLUMN = {
    "src/telemetry/rows.hpp": [
        ("    std::uint64_t duplicate_events = 0;\n", "    std::uint64_t noticed_transfers = 0;\n"),
        ('    {"duplicate_events", "events", at<&Row::duplicate_events>, SumsIn::totals_and_live},\n',
         '    {"noticed_transfers", "transfers", at<&Row::noticed_transfers>, SumsIn::totals_and_live},\n')],
    "src/telemetry/consumer_recorder.cpp": [
        ("        case Observation::Kind::transfer_noticed:\n", "            ++current_.noticed_transfers;\n")],
}


def change(copy, additions):
    for file, lines in additions.items():
        path = copy / file
        text = path.read_text(encoding="utf-8")
        for line, added in lines:
            assert text.count(line) == 1, f"{file}: no single line {line!r}"
            text = text.replace(line, line + added)
        path.write_text(text, encoding="utf-8")


class Additions(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.copy = Path(directory.name) / "weir"
        shutil.copytree(SOURCE, self.copy, ignore=lambda folder, names: {"build", ".git", "results", "tests"} & set(names)
                        if Path(folder) == SOURCE else set())

    def build(self):
        """The program of the changed copy."""
        build = self.copy / "build"
        for command in (["cmake", "--preset", "quick", "-B", build, "-DWEIR_TESTS=OFF"], ["cmake", "--build", build, "--target", "weir"]):
            done = subprocess.run(command, cwd=self.copy, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
        return build / "bin/weir"

    def test_a_column_that_is_summed(self):
        self.assertLessEqual(len(COLUMN), 2)
        change(self.copy, COLUMN)
        if LONG:
            self.see_the_column(self.build())

    def see_the_column(self, weir):
        out = self.copy / "run"
        done = subprocess.run([weir, "simulate", "--duration", "2s", "--json", "--out", out], capture_output=True, text=True, check=True)
        counted = 0
        for path in out.glob("ranks/*-consumer.csv"):
            counted += sum(int(row["noticed_transfers"]) for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
        self.assertGreater(counted, 0)
        self.assertEqual(json.loads((out / "run.json").read_text(encoding="utf-8"))["totals"]["noticed_transfers"], counted)
        seconds = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([second["noticed_transfers"] for second in seconds if second["type"] == "second"][-1], counted)


if __name__ == "__main__":
    unittest.main()
