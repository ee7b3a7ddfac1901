"""results/best-settings: what tables say of changes that matter, that do not, and that are not told apart; which runs are kept."""

import os
import pathlib
import sys
import unittest

SOURCE = pathlib.Path(os.environ["WEIR_SOURCE_DIR"])
sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "results/best-settings"), str(SOURCE / "bench")]
import page  # noqa: E402
import study  # noqa: E402


class Page(unittest.TestCase):
    def test_brackets_are_of_what_is_not_told_apart_alone(self):
        decide = page.decide
        matters = decide.Change(0.1, 0.08, 0.12, decide.BETTER, relevant=True)
        little = decide.Change(0.016, 0.005, 0.019, decide.BETTER)
        same = decide.Change(0.0, -0.001, 0.001, decide.NO_DIFFERENCE)
        unsure = decide.Change(0.27, -1.25, 1.79, "inconclusive", relevant=True)
        self.assertEqual([page.gain(one, False) for one in (matters, little, same, unsure)], ["+10 %", "≈ +1.6 %", "≈ 0 %", "[+27 %]"])

    def test_why_a_setting_was_not_run_is_what_weir_said(self):
        said = "refused: weir simulate: --switch: [ecn] none-below: 1MB is more than all-above, 200kB; make it at most that"
        self.assertEqual(page.why_not([{"status": said}] * 5), "refused: [ecn] none-below: 1MB is more than all-above, 200kB")
        self.assertEqual(page.why_not([{"status": "complete"}, {"status": "longer than 300 s"}]), "longer than 300 s")

    def test_what_was_interrupted_is_run_again(self):
        known = [status for status in ("complete", "refused: no", "longer than 300 s", "interrupted", "failed", "") if study.is_known(status)]
        self.assertEqual(known, ["complete", "refused: no", "longer than 300 s"])


if __name__ == "__main__":
    unittest.main()
