"""results/best-settings: what tables say of changes that matter, that do not, and that are not told apart; which runs
are kept."""

import os
import pathlib
import sys
import tempfile
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
        self.assertEqual([page.gain(one, False) for one in (matters, little, same, unsure)],
                         ["+10 %", "≈ +1.6 %", "≈ 0 %", "[+27 %]"])

    def test_why_a_setting_was_not_run_is_what_weir_said(self):
        said = ("refused: weir simulate: --switch: [ecn] none-below: 1MB is more than all-above, 200kB; make it at "
                "most that")
        self.assertEqual(page.why_not([{"status": said}] * 5),
                         "refused: [ecn] none-below: 1MB is more than all-above, 200kB")
        self.assertEqual(page.why_not([{"status": "complete"}, {"status": "longer than 300 s"}]), "longer than 300 s")

    def test_what_was_interrupted_is_run_again(self):
        known = [status
                 for status in ("complete", "refused: no", "longer than 300 s", "interrupted", "failed", "")
                 if study.is_known(status)]
        self.assertEqual(known, ["complete", "refused: no", "longer than 300 s"])

    def test_what_the_page_needs_of_a_tuning_is_stored(self):
        change = {"gain": 0.2, "low": 0.1, "high": 0.3, "call": "better", "relevant": True}
        document = {"runs": {"search": 3, "confirmation": 2}, "flat": {"settings": 2, "tried": 3},
                    "present_values": [0.5, 0.25], "lines": ["Use b=3."], "present": {"a": "1", "b": "2"},
                    "proposed": {"a": "1", "b": "3"}, "change": change, "loads": [{"load": "half", **change}],
                    "axes": [{"name": name,
                              "neighbours": [{"words": words, **change} for words in ("present", "twice")]}
                             for name in "ab"]}
        with tempfile.TemporaryDirectory() as directory:
            out = pathlib.Path(directory)
            study.keep(out, "row-2", "pfc", document, {"weir": "1.0", "cpu_s": 1.5})
            study.keep(out, "row-1", "ecn", None, {"weir": "1.0", "cpu_s": 0.5})
            data, answers = page.Data(out), (out / page.ANSWERS).read_text()
        tuning = data.tuning("row-2", "pfc")
        self.assertEqual((tuning["proposed"], tuning["runs"], tuning["within"]), (document["proposed"], "5", "2"))
        self.assertEqual([list(data.found("row-2", "pfc", part)) for part in ("together", "back", "load")],
                         [[""], ["b"], ["half"]])
        self.assertEqual(page.proposal(data.tuning("row-1", "ecn")), "no axis can act")
        self.assertEqual(data.tuning("row-3", "pfc"), {})
        self.assertLess(answers.index("## row-1"), answers.index("## row-2"))


if __name__ == "__main__":
    unittest.main()
