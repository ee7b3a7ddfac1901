"""results/switch-settings-lab: the page is what bench/switch-settings-lab makes of what its campaigns left, and the lines are complete."""

import re
import sys
import unittest

from markdown import SOURCE

sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "bench"))
import switch_settings_lab_page as lab_page  # noqa: E402

DIRECTORY = SOURCE / "results/switch-settings-lab"
CAMPAIGNS = ("saturated", "soft-roce")


class Page(unittest.TestCase):
    def test_page_agrees_with_the_runs(self):
        self.assertEqual((DIRECTORY / "README.md").read_text(), lab_page.page(DIRECTORY, CAMPAIGNS), "run bench/switch-settings-lab page")

    def test_each_point_is_there_once_and_was_complete(self):
        for campaign in CAMPAIGNS:
            rows = lab_page.read_csv(DIRECTORY / f"{campaign}.csv")
            self.assertEqual(len(rows), len({row["point"] for row in rows}), campaign)
            self.assertEqual({row["state"] for row in rows} - {"complete"}, set(), campaign)

    def test_settings_are_those_of_the_sweep_files(self):
        for campaign in ("saturated",):
            text = (DIRECTORY / f"{campaign}.toml").read_text()
            names = re.findall(r'^name = "([^"]*kB[^"]*)"', text, re.MULTILINE)
            self.assertEqual([name for name in lab_page.SETTINGS if name in names], names, campaign)
            files = re.findall(r'switch = "\./([^"]+)"', text)
            self.assertEqual([name for name in files if not (DIRECTORY / name).exists()], [], campaign)


if __name__ == "__main__":
    unittest.main()
