"""results/causes: what an answer is worth beside a known truth, how remedies are read, and that plans can be drawn
again."""

import os
import pathlib
import sys
import unittest
from unittest import mock

SOURCE = pathlib.Path(os.environ["WEIR_SOURCE_DIR"])
sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "results/causes"), str(SOURCE / "bench")]
import families  # noqa: E402
import judging  # noqa: E402
import remedies  # noqa: E402
import truth  # noqa: E402

PLAN = {"producers": 3, "consumers": 4, "seed": 1, "duration": "2000000.000us", "slots": 1, "latency": "20.000us",
        "consumer-link": "1000.000Mb/s", "producer-link": "2000.000Mb/s,2=10.000Mb/s", "busy": "fixed:9.000us",
        "fault": ["degrade:consumer=1,factor=0.1", "pause:scheduler,at=1s,for=2s"], "switch-set": []}


def truth_of(alone="", pairs=(), ranks=(), good=False):
    known = truth.Truth("weir", PLAN, {"good": good, "late": 1.0, "lost": 0.0})
    known.alone, known.pairs, known.ranks = alone.split(), list(pairs), list(ranks)
    return known


class Judged(unittest.TestCase):
    def judged(self, known, *answer, good=False, **more):
        """`good`: whether what is simulated is on time."""
        with mock.patch.object(truth, "outcome_of", return_value={"good": good, "late": 1.0, "lost": 0.0}):
            return judging.judged(known, judging.Answer(*answer, **more))

    def test_kinds(self):
        known = truth_of("slots processing")
        self.assertEqual(self.judged(known, "slots"), "right")
        self.assertEqual(self.judged(known, "streams"), "false")
        self.assertEqual(self.judged(known), "not told")
        self.assertEqual(self.judged(known, "not-told"), "not told")
        self.assertEqual(self.judged(truth_of(), "slots"), "unproved")
        self.assertEqual(self.judged(truth_of("", [("slots", "shaping")]), "shaping"), "right")

    def test_ranks(self):
        known = truth_of("consumer-links", ranks=[("consumer-links", "consumer 1")])
        self.assertEqual(self.judged(known, "consumer-links", "consumer 1"), "right")
        self.assertEqual(self.judged(known, "consumer-links", "consumer 2"), "wrong rank")
        self.assertEqual(self.judged(known, "consumer-links"), "no rank")
        self.assertEqual(self.judged(truth_of("consumer-links"), "consumer-links"), "right")

    def test_what_its_remedy_proves_is_right(self):
        more = {"remedy": "--slots 4", "good": True}
        self.assertEqual(self.judged(truth_of("shaping"), "slots", **more), "right")
        self.assertEqual(self.judged(truth_of("shaping"), "slots", together="shaping", **more), "false")

    def test_on_time(self):
        self.assertEqual(self.judged(truth_of(good=True)), "on time")
        self.assertEqual(self.judged(truth_of(good=True), "slots"), "false alarm")

    def test_relaxed_for_one_rank_it_is_as_the_others(self):
        self.assertEqual(truth.relaxed_rank(PLAN, "consumer-links", "consumer 1")["fault"], PLAN["fault"][1:])
        self.assertEqual(truth.relaxed_rank(PLAN, "consumer-links", "consumer 2"), PLAN)
        self.assertEqual(truth.relaxed_rank(PLAN, "producer-links", "producer 2")["producer-link"], "2000.000Mb/s")
        self.assertEqual(truth.suspects(PLAN, "stalled-rank"), ["scheduler"])
        self.assertEqual(truth.suspects(PLAN, "producer-links"), ["producer 2"])


class Remedies(unittest.TestCase):
    def test_as_advised_and_less(self):
        for remedy, option, exact, less in (
                ("--slots 3", "slots", 3, 2),
                ("use consumers' links of 1.500 Gb/s instead of 1.2 Gb/s (--consumer-link)", "consumer-link",
                 "1500.000Mb/s", "1455.000Mb/s"),
                ("use a link of 100.0 Mb/s for producer 2 instead of 80 Mb/s (--producer-link)", "producer-link",
                 "2000.000Mb/s,2=100.000Mb/s", "2000.000Mb/s,2=97.000Mb/s"),
                ("lower the latency from 20 us to 9.7 us (--latency)", "latency", "9.700us", "10.000us"),
                ("keep the scheduler running", "fault", PLAN["fault"][:1], None),
                ("repair the link of consumer 1", "fault", PLAN["fault"][1:], None)):
            with self.subTest(remedy=remedy):
                self.assertEqual(remedies.one(PLAN, remedy, remedies.PROOF)[option], exact)
                small = remedies.less_of(remedy)
                self.assertEqual(small and remedies.one(PLAN, small, remedies.PROOF)[option], less)

    def test_pairs_and_unknown_words(self):
        self.assertEqual(remedies.parts_of("use --slots 3 instead of 1 and leave --shaping out", "slots"),
                         ["use --slots 3 instead of 1", "leave --shaping out"])
        self.assertIsNone(remedies.one(PLAN, "pray"))
        self.assertEqual(judging.number("weir", PLAN, judging.Answer("slots", remedy="pray")), "?")


class Plans(unittest.TestCase):
    def test_each_family_is_drawn_the_same_again(self):
        self.assertGreaterEqual(len(families.FAMILIES), 60)
        for name in families.FAMILIES:
            self.assertEqual(families.draw_plan(name, 7), families.draw_plan(name, 7))

    def test_a_name_is_one_family_and_a_part_of_it_several(self):
        self.assertEqual({name for name, _ in families.chosen("on time", 1, 9)}, {"on time"})
        self.assertEqual(families.chosen("", 5, 3), families.chosen("", 4, 4)[1:])


if __name__ == "__main__":
    unittest.main()
