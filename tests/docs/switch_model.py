"""results/switch-model: the page is what the data say, verdicts follow from the bands, and every miss is explained."""

import csv
import importlib.machinery
import importlib.util
import pathlib
import sys
import tempfile
import unittest

from markdown import SOURCE

sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "bench"))
RESULTS = SOURCE / "results/switch-model"


def program():
    loader = importlib.machinery.SourceFileLoader("switch_reference", str(SOURCE / "bench/switch-reference"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


class SwitchModel(unittest.TestCase):
    def setUp(self):
        with open(RESULTS / "values.csv", newline="") as stream:
            self.values = list(csv.DictReader(stream))

    def test_the_page_is_made_of_the_data(self):
        with tempfile.TemporaryDirectory() as directory:
            out = pathlib.Path(directory)
            (out / "about.md").write_text((RESULTS / "about.md").read_text())
            made = program()
            made.paper_runs.write_page(out, made.page(self.values))
            self.assertEqual((out / "README.md").read_text(), (RESULTS / "README.md").read_text(), "run bench/switch-reference table")

    def test_verdicts_follow_from_the_bands(self):
        self.assertGreater(len(self.values), 150)
        for value in self.values:
            inside = float(value["low"]) <= float(value["found"]) <= float(value["high"])
            self.assertEqual(value["verdict"], "PASS" if inside else "MISS", value)

    def test_every_miss_is_explained_and_nothing_else(self):
        reasons = (RESULTS / "about.md").read_text().split("## Why values miss")[1]
        for case in {value["case"] for value in self.values}:
            missed = any(value["verdict"] == "MISS" for value in self.values if value["case"] == case)
            self.assertEqual(f"`{case}`" in reasons, missed, case)


if __name__ == "__main__":
    unittest.main()
