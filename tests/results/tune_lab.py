"""results/tune-lab: its three sweep files are of one load and one switch, ports of the lab are set to what the
simulator has, and the lines are complete. That the page is what they give, results.tune-lab.replay checks."""

import argparse
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

SOURCE = pathlib.Path(os.environ["WEIR_SOURCE_DIR"])
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "bench"))
import studies  # noqa: E402

DIRECTORY = studies.RESULTS / "tune-lab"
tune_lab = studies.load("tune-lab")
cases = tune_lab.cases


class SweepFiles(unittest.TestCase):
    def setUp(self):
        self.tuned = cases.read(DIRECTORY / cases.FILE)

    def test_campaigns_have_the_load_and_the_network_of_the_tuning(self):
        for name in cases.CAMPAIGNS.values():
            campaign = cases.read(DIRECTORY / name)
            for table in ("run", "simulation", "local"):
                self.assertEqual(campaign[table], self.tuned[table], f"{name}: [{table}]")

    def test_settings_differ_from_the_tuning_in_the_axis_alone(self):
        for name in cases.CAMPAIGNS.values():
            for setting in cases.read(DIRECTORY / name)["switch"]["settings"]:
                keys = cases.keys(setting["simulate"])
                self.assertIn(cases.AXIS, keys)
                self.assertEqual({key: keys[key] for key in keys if key != cases.AXIS},
                                 cases.keys(self.tuned["simulation"]), setting["name"])

    def test_campaigns_name_the_length_from_which_ports_mark(self):
        for name in cases.CAMPAIGNS.values():
            switch = cases.read(DIRECTORY / name)["switch"]
            self.assertEqual(switch["acts-at"], cases.keys(self.tuned["simulation"])["ecn.none-below"], name)

    def test_the_scan_is_what_its_text_is_made_of(self):
        self.assertEqual((DIRECTORY / cases.SCAN).read_text(), cases.scan(self.tuned))

    def test_on_change_sets_buffer_marks_and_tcp_of_the_simulated_port(self):
        with mock.patch.object(tune_lab, "lab") as lab:
            tune_lab.set_ports(argparse.Namespace(words=["13kB"]))
        simulated = self.tuned["simulation"]
        marks = f"{cases.keys(simulated)['ecn.none-below']}..13kB"
        lab.assert_called_once_with("set", "--buffer", simulated["port-buffer"], "--mark", marks, "--tcp", "dctcp")

    def test_on_change_refuses_a_setting_of_neither_campaign(self):
        with mock.patch.object(tune_lab, "lab") as lab, self.assertRaises(SystemExit):
            tune_lab.set_ports(argparse.Namespace(words=["9kB"]))
        lab.assert_not_called()


class Lines(unittest.TestCase):
    def test_the_longest_stall_is_that_of_any_rank_in_the_measured_seconds(self):
        with tempfile.TemporaryDirectory() as directory:
            ranks = pathlib.Path(directory) / "ranks"
            ranks.mkdir()
            for name, rows in (("rank-0", "warmup,9000\nmeasure,20.5\n"),
                               ("rank-1", "measure,\nmeasure,70250.0\ndrain,8000000\n")):
                (ranks / f"{name}.csv").write_text(f"phase,poll_gap_max_us\n{rows}")
            self.assertEqual(tune_lab.longest_stall_ms(pathlib.Path(directory)), 70.25)

    def test_each_point_of_a_campaign_is_there_once(self):
        measured = studies.stored(DIRECTORY / "measured.csv")
        points = [(line["campaign"], line["point"]) for line in measured]
        self.assertEqual(len(points), len(set(points)))

    def test_a_page_without_measured_runs_calls_what_they_would_show_void(self):
        with tempfile.TemporaryDirectory() as directory:
            page = tune_lab.page.page(pathlib.Path(directory))["README.md"]
        self.assertNotIn("| PASS |", page)
        self.assertIn("| VOID |", page)


if __name__ == "__main__":
    unittest.main()
