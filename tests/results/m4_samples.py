"""results/m4: what its study takes from a clone of the data set, and the traces that it makes."""

import contextlib
import io
import os
import pathlib
import sys
import tempfile
import types
import unittest

SOURCE = pathlib.Path(os.environ["WEIR_SOURCE_DIR"])
sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "bench"), str(SOURCE / "results/m4")]
import studies  # noqa: E402
import study  # noqa: E402

# Lines of the data set: real_world.txt and server.txt of 500_1.
LINES = """[ud] client=0 id=2814749767106560 dur_ns=880539807
[rdma] client=0 id=2814749767106560 dur_ns=452038
[ud] client=0 id=281474976710656 dur_ns=84300
[rdma] client=0 id=281474976710656 dur_ns=451988
[rdma] client=10 id=1407374883553280 dur_ns=452018
"""
SERVER = """event=req_recv ts_ns=1758095036644277917 clt=0 wrkr=10 slot=0 \
flow_id=2814749767106560 size=17 src=client:0 dst=worker:10
event=resp_send ts_ns=1758095036644886626 clt=0 wrkr=10 slot=0 \
flow_id=2814749767106560 wire_bytes=41 src=worker:10 dst=client:0
"""


class Samples(unittest.TestCase):
    def test_a_sample_begins_with_a_whole_line(self):
        self.assertEqual(study.sample_of(LINES, 0), "0:452038 0:451988 10:452018")
        inside = LINES.index("dur_ns=452038")
        self.assertEqual(study.sample_of(LINES, inside), "0:451988 10:452018")
        self.assertEqual(study.sample_of(LINES, LINES.index("[rdma]")), "0:452038 0:451988 10:452018")

    def test_a_sample_has_no_more_flows_than_it_should(self):
        self.assertEqual(len(study.flows(study.sample_of(LINES * 40, 0))), study.SAMPLE)

    def test_a_clone_gives_the_lines_of_the_study(self):
        with tempfile.TemporaryDirectory() as directory, contextlib.redirect_stderr(io.StringIO()) as said:
            out, clone = pathlib.Path(directory) / "out", pathlib.Path(directory) / "clone"
            options = types.SimpleNamespace(out=out, clone=clone)
            self.assertEqual(study.take_samples(options), 2)
            self.assertIn("real_world.txt is missing", said.getvalue())
            for line in studies.stored(SOURCE / "results/m4/measured.csv"):
                of_scenario = clone / "testbed/eval_test/testbed" / line["scenario"]
                of_scenario.mkdir(parents=True, exist_ok=True)
                (of_scenario / "real_world.txt").write_text(LINES)
                (of_scenario / "server.txt").write_text(SERVER)
            self.assertEqual(study.take_samples(options), 0)
            found = studies.stored(out / "measured.csv")
        self.assertEqual({line["flows"] for line in found if line["part"] == "alone"}, {"0:452038 0:451988 10:452018"})
        self.assertEqual({line["application_ns"] for line in found}, {"", str(1644886626 - 1644277917)})


class Traces(unittest.TestCase):
    def test_each_step_waits_for_the_one_before(self):
        lines = [line.split(",") for line in study.trace(100, 2, 1, 2, 5).splitlines()[1:]]
        self.assertEqual(len(lines), 2 * 2 * 4)
        for number, (_, sender, _, size, after, _) in enumerate(lines):
            if after:
                self.assertLess(int(after), number)
                self.assertEqual(lines[int(after)][2], sender)  # what a worker waits for, it receives
            else:
                self.assertEqual((size, int(sender) > 0), ("17", True))
        self.assertEqual(sum(not line[4] for line in lines), 2)

    def test_a_window_lets_more_requests_begin(self):
        self.assertEqual(sum(line.split(",")[4] == "" for line in study.trace(100, 11, 4, 8, 5).splitlines()), 11 * 4)

    def test_predictions_are_of_the_same_client_in_the_same_order(self):
        self.assertEqual(study.predictions([(1, 9.0), (0, 8.0), (1, 7.0)], [(0, 1.0), (1, 2.0), (1, 3.0), (0, 4.0)]),
                         [2.0, 1.0, 3.0])


if __name__ == "__main__":
    unittest.main()
