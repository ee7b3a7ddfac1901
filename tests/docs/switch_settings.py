"""results/switch-settings: its runs are complete. That the page is what they give, results.switch-settings.replay
checks."""

import shlex
import sys
import unittest

from markdown import SOURCE

sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "bench"))
import studies  # noqa: E402

DIRECTORY = studies.RESULTS / "switch-settings"


class Page(unittest.TestCase):
    def test_each_run_is_there_once_and_its_command_is_of_its_setting(self):
        runs = studies.stored(DIRECTORY / "runs.csv")
        self.assertEqual(len(runs), len({run["command"] for run in runs}))
        for run in runs:
            words = shlex.split(run["command"])
            options = dict(zip(words[2::2], words[3::2]))
            with self.subTest(command=run["command"]):
                self.assertEqual(words[:2], ["weir", "simulate"])
                self.assertEqual(options["--scenario"], f"results/switch-settings/row-{run['row']}.toml")
                self.assertEqual(options["--rate"], f"{float(run['rate_gbps']) * 1e9:.0f}b/s")
                self.assertEqual(options.get("--switch", ""), run["switch"])
                if run["setting"] != "fluid":
                    self.assertEqual((options["--pfc"], options["--ecn"]),
                                     tuple("on" if name in run["setting"] else "off" for name in ("pfc", "ecn")))
                if run["factor"]:
                    self.assertEqual(options[f"--{run['factor']}"], run["value"])


if __name__ == "__main__":
    unittest.main()
