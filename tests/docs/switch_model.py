"""results/switch-model: verdicts follow from the bands, and every miss is explained."""

import csv
import unittest

from markdown import SOURCE

RESULTS = SOURCE / "results/switch-model"


class SwitchModel(unittest.TestCase):
    def setUp(self):
        with open(RESULTS / "values.csv", newline="") as stream:
            self.values = list(csv.DictReader(stream))

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
