"""results/causes/refutation.py: what rows refute, and what they do not."""

import copy
import csv
import os
import pathlib
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["WEIR_SOURCE_DIR"])
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "results/causes"))
import refutation  # noqa: E402

ROWS = {"rank-00000-scheduler": {"waiting_for_slot_s": 0, "handling_s": 0.1, "poll_gap_max_us": 100},
        "rank-00001-producer": {"sent_bytes": 1000000, "late_sets": 2, "waiting_for_slot_s": 0, "all_streams_s": 0,
                                "backlogged_s": 1, "poll_gap_max_us": 250000},
        "rank-00002-consumer": {"received_bytes": 1000000, "processing_s": 0, "withheld_slot_s": 0,
                                "poll_gap_max_us": 100}}
LATE = {"on_time": False, "sustained": False, "late_sets": 2, "causes": []}


def cause(what, text="", where=None):
    return {"what": what, "text": text, "where": where}


class Refuted(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        (self.directory / "ranks").mkdir()
        for name, row in ROWS.items():
            with (self.directory / f"ranks/{name}.csv").open("w", newline="") as file:
                writer = csv.DictWriter(file, ["phase", *row])
                writer.writeheader()
                writer.writerow({"phase": "measure", **row})

    def against(self, *causes, **verdict):
        record = {"verdict": copy.deepcopy(LATE) | verdict, "plan": {"shaping": "none"}}
        record["verdict"]["causes"] = list(causes)
        return refutation.refuted(record, self.directory)

    def test_what_rows_show_stands(self):
        producer = {"rank": 1, "role": "producer", "name": "producer 0"}
        self.assertEqual(self.against(cause("consumer-links", "consumers moved 8.000 Mb/s each while data waited")), "")
        self.assertEqual(self.against(cause("producer-links", where=producer)), "")
        self.assertEqual(self.against(cause("stalled-rank", "for up to 250 ms at once", producer)), "")

    def test_what_they_do_not_show_is_refuted(self):
        producer = {"rank": 1, "role": "producer", "name": "producer 0"}
        for what in ("slots", "processing", "streams", "high-water", "shaping"):
            self.assertIn(what, self.against(cause(what)))
        self.assertIn("8.0 Mb/s",
                      self.against(cause("consumer-links", "consumers moved 16.00 Mb/s each while data waited")))
        self.assertIn("producer 0", self.against(cause("stalled-rank", "for up to 500 ms at once", producer)))
        self.assertIn("link of a consumer", self.against(cause("consumer-links", where=producer)))

    def test_late_sets_are_those_of_the_rows(self):
        self.assertIn("late sets", self.against(on_time=True, sustained=True, late_sets=0))


if __name__ == "__main__":
    unittest.main()
