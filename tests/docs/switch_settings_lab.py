"""results/switch-settings-lab: the lines are complete. That the page is what they give,
results.switch-settings-lab.replay checks."""

import re
import sys
import unittest

from markdown import SOURCE

sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "bench"))
import studies  # noqa: E402

DIRECTORY = studies.RESULTS / "switch-settings-lab"
lab = studies.load("switch-settings-lab")


class Page(unittest.TestCase):
    def test_each_point_is_there_once_and_was_complete(self):
        for campaign in lab.CAMPAIGNS:
            rows = studies.stored(DIRECTORY / f"{campaign}.csv")
            self.assertEqual(len(rows), len({row["point"] for row in rows}), campaign)
            self.assertEqual({row["state"] for row in rows} - {"complete"}, set(), campaign)

    def test_settings_are_those_of_the_sweep_files(self):
        for campaign in ("saturated",):
            text = (DIRECTORY / f"{campaign}.toml").read_text()
            names = re.findall(r'^name = "([^"]*kB[^"]*)"', text, re.MULTILINE)
            self.assertEqual([name for name in lab.page.SETTINGS if name in names], names, campaign)
            files = re.findall(r'switch = "\./([^"]+)"', text)
            self.assertEqual([name for name in files if not (DIRECTORY / name).exists()], [], campaign)


if __name__ == "__main__":
    unittest.main()
