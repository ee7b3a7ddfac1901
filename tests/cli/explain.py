"""`weir explain`: of simulated runs with a planted limit, explained from their directory alone, the remedy puts every
set on time; what was observed stands where no twin has it; what is no run is refused."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

from weir_command import CommandTest, weir

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "results/causes"))
sys.dont_write_bytecode = True
import remedies  # noqa: E402

COMMON = {"producers": 2, "consumers": 2, "duration": "3s", "warmup": "1s", "rate": "800Mb/s", "event-size": "4MB",
          "producer-link": "3000Mb/s", "consumer-link": "3000Mb/s", "fault": []}


SHORT = {"producers": 2, "consumers": 2, "duration": "100ms", "warmup": "20ms", "interval": "10ms", "rate": "5Gb/s",
         "event-size": "250kB", "producer-link": "10Gb/s", "consumer-link": "10Gb/s", "fault": []}


class ExplainTest(CommandTest):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def simulate(self, plan, out, status=0):
        words = [word for name, value in plan.items() for one in (value if name == "fault" else [value])
                 for word in (f"--{name}", str(one))]
        done = weir("simulate", *words, "--explain", "off", "--quiet", "--out", str(self.directory / out),
                    "--require", "on-time")
        self.assertEqual(done.returncode, status, f"{plan}: {done}")

    def explain(self, out, status=0):
        done = weir("explain", str(self.directory / out), "--json")
        self.assertEqual(done.returncode, status, f"{out}: {done}")
        found = json.loads(done.stdout)
        self.assertEqual(json.loads((self.directory / out / "explain.json").read_text()), found)
        named = [(one["what"], (one["where"] or {}).get("name"), one["together_with"]) for one in found["causes"]]
        self.assertEqual(len(named), len(set(named)), found["text"])
        return found

    def remedied(self, planted, cause):
        plan = {**COMMON, **planted}
        self.simulate(plan, "late", status=3)
        found = self.explain("late")
        self.assertIn(cause, [one["what"] for one in found["causes"]], found["text"])
        changed = remedies.applied(plan, remedies.parts_of(found["remedy"], found["causes"][0]["together_with"]))
        self.assertIsNotNone(changed, found["remedy"])
        self.assertNotEqual(changed, plan, found["remedy"])
        self.simulate(changed, "remedied")

    def test_slots(self):
        self.remedied({"busy": "exponential:30ms", "slots": 1}, "slots")

    def test_processing(self):
        self.remedied({"busy": "fixed:50ms"}, "processing")

    def test_a_slow_link(self):
        self.remedied({"fault": ["degrade:consumer=1,factor=0.02"]}, "consumer-links")

    def test_a_stall(self):
        self.remedied({"fault": ["pause:scheduler,at=900ms,for=1200ms"]}, "stalled-rank")

    def test_on_time(self):
        self.simulate(COMMON, "good")
        found = self.explain("good")
        self.assertEqual((found["near"], found["causes"], found["remedy"]), (True, [], None), found["text"])

    def test_a_link_that_becomes_slow_within_the_run(self):
        self.simulate(
            {**COMMON, "duration": "4s", "fault": ["degrade:consumer=1,at=2s,factor=0.004"]}, "changes", status=3)
        found = self.explain("changes")
        first = found["causes"][0]
        self.assertEqual((found["near"], first["what"], first["where"]["name"], first["evidence"]),
                         (True, "consumer-links", "consumer 1", "observed+twin"), found["text"])

    def test_a_link_that_becomes_slow_in_a_short_run_is_named_though_the_load_fills_what_is_left(self):
        # Warm-up and drain show its speed, too; what it carried before was as much as was generated.
        self.simulate({**COMMON, "producers": 2, "consumers": 5, "rate": "704.908Mb/s", "interval": "200ms",
                       "generation": "steady", "event-size": "1762269B", "slots": 7, "streams": 8, "warmup": "400ms",
                       "producer-link": "2236.9Mb/s", "consumer-link": "680.985Mb/s",
                       "fault": ["degrade:producer=1,at=1030ms,factor=0.2769"]}, "later", status=3)
        found = self.explain("later")
        first = found["causes"][0]
        self.assertEqual((found["near"], first["what"], first["where"]["name"]),
                         (True, "producer-links", "producer 1"), found["text"])
        slowed = found["assumptions"]["slowed_links"]
        self.assertEqual([one["rank"] for one in slowed], ["producer 1"])
        self.assertAlmostEqual(slowed[0]["factor"], 0.2769, delta=0.003)
        self.assertAlmostEqual(slowed[0]["begin_s"], 1.03, delta=0.02)

    def test_of_a_network_that_is_slower_than_interfaces_say_the_role_is_told_if_one_fits_better(self):
        plan = {**COMMON, "producers": 5, "consumers": 2, "rate": "1.2Gb/s", "interval": "500ms", "event-size": "3.9MB",
                "producer-link": "3Gb/s", "consumer-link": "9Gb/s", "warmup": "400ms"}
        for role, count, factor in (("consumer", 2, 0.3), ("producer", 5, 0.37)):
            with self.subTest(role=role):
                self.simulate({**plan, "fault": [f"degrade:{role}={index},factor={factor}" for index in range(count)]},
                              role, status=3)
                found = self.explain(role)
                self.assertEqual([one["what"] for one in found["causes"]], [f"{role}-links"], found["text"])
                self.assertIn("where interfaces have", " ".join(found["text"].split()))

    def test_of_a_network_that_is_slower_than_interfaces_say_the_role_is_not_told_if_both_fit(self):
        self.simulate({**COMMON, "producers": 4, "consumers": 4, "rate": "971.352Mb/s", "interval": "200ms",
                       "generation": "steady", "event-size": "2428379B", "slots": 8, "streams": 6,
                       "producer-link": "2081.578Mb/s", "consumer-link": "4127.521Mb/s", "chunk-size": "151773B",
                       "fault": [f"degrade:producer={index},factor=0.3503" for index in range(4)]}, "both", status=3)
        found = self.explain("both", status=3)
        self.assertEqual([one["what"] for one in found["causes"]], ["not-told"], found["text"])
        self.assertIn("of producers or of consumers", " ".join(found["text"].split()))

    def test_what_others_moved_over_an_interface_is_their_traffic_and_not_a_bad_link(self):
        self.simulate({**COMMON, "policy": "round-robin", "consumer-link": "1Gb/s",
                       "fault": ["degrade:consumer=1,factor=0.6"]}, "others", status=3)
        file = self.directory / "others" / "run.json"
        record = json.loads(file.read_text())  # as of a measured run, whose interfaces were counted
        record["environment"]["world"] = "hosts"
        for rank in record["ranks"]:
            rank["host"] = f"{rank['role'][:2]}{rank['index']}"
        received = record["ranks"][-1]["mean_bits_per_second"] / 8 * 3
        record["hosts"] = [{"name": "co1", "totals": {"eth0.rx_bytes": int(1.06 * received + 150e6)}}]
        file.write_text(json.dumps(record))
        found = self.explain("others")
        first = found["causes"][0]
        self.assertEqual((first["what"], first["where"]["name"]), ("other-traffic", "consumer 1"), found["text"])
        self.assertIn("the 400 Mb/s that others moved over its interface", " ".join(found["text"].split()))
        self.assertTrue(found["remedy"].startswith("move that traffic away"), found["remedy"])

    def test_a_link_that_is_to_be_mended_or_made_faster_is_one_cause(self):
        self.simulate({**COMMON, "duration": "4s", "fault": ["degrade:producer=1,at=2s,factor=0.1"]}, "once", status=3)
        first = self.explain("once")["causes"][0]
        self.assertEqual((first["what"], first["where"]["name"]), ("producer-links", "producer 1"))
        self.assertIn("with full links of producer 1", first["text"])

    def test_a_simulated_run_is_not_held_against_counters_that_its_twin_lacks(self):
        plans = {"healthy": ({}, 0), "small": ({"rate": "100Mb/s", "event-size": "2kB"}, 0),
                 "full": ({"rate": "9.9Gb/s"}, 3),
                 "slots": ({"rate": "4Gb/s", "slots": 1, "busy": "exponential:1ms"}, 3)}
        for network in ("fluid", "packet"):
            for name, (planned, status) in plans.items():
                with self.subTest(network=network, plan=name):
                    out = f"{network}-{name}"
                    self.simulate({**SHORT, **planned, "network": network}, out, status=status)
                    found = self.explain(out)
                    self.assertTrue(found["near"], found["text"])
                    self.assertEqual("Every set was on time" in found["text"], status == 0, found["text"])

    def test_a_run_of_packets_has_a_twin_of_packets_with_its_switch(self):
        plan = {**SHORT, "network": "packet", "producers": 4, "consumers": 3, "duration": "240ms", "warmup": "40ms",
                "interval": "20ms", "event-size": "500kB", "rate": "2Gb/s", "consumer-link": "8Gb/s",
                "producer-link": "8Gb/s"}
        marks = {"ecn": "on", "switch-set": "dcqcn.additive-increase=2Mb/s", "rate": "4Gb/s"}
        window = {"window": 1, "streams": 1, "chunk-size": "64kB", "latency": "250us"}
        file = self.directory / "marks.toml"
        file.write_text('base = "shallow"\n[ecn]\non = true\n[dcqcn]\nadditive-increase = "2Mb/s"\n')
        for name, planted, cause, remedy in (("window", window, "window", "--window [2-9]"),
                                             ("marks", marks, "ecn", "--ecn off"),
                                             ("file", {"rate": "4Gb/s", "switch": file}, "ecn", "--ecn off")):
            with self.subTest(planted=name):
                self.simulate({**plan, **planted}, name, status=3)
                file.unlink() if name == "file" else None  # what the run says of it is enough
                found = self.explain(name)
                self.assertEqual((found["near"], found["causes"][0]["what"]), (True, cause), found["text"])
                self.assertRegex(" ".join(one["remedy"] for one in found["causes"]), remedy, found["text"])

    def test_a_twin_of_packets_does_not_read_what_was_planted(self):
        self.simulate({**SHORT, "network": "packet", "rate": "4Gb/s", "switch-set": "background.rate=1Gb/s",
                       "fault": ["degrade:consumer=1,factor=0.3"]}, "planted", status=3)
        found = self.explain("planted")
        given = {(one["option"], one["value"]) for one in found["twin"]}
        self.assertIn(("network", "packet"), given)
        self.assertFalse([value for option, value in given if "degrade" in value or "background" in value])
        self.assertFalse(given & {("consumer-link", "10Gb/s")})

    def test_without_a_twin_what_was_observed_stands(self):
        self.simulate({**SHORT, "network": "packet", "transport": "datagram", "rate": "500Mb/s",
                       "consumer-link": "400Mb/s"}, "datagrams", status=3)
        file = self.directory / "datagrams" / "run.json"
        measured = json.loads(file.read_text())
        del measured["plan"]["network"]
        file.write_text(json.dumps(measured))
        found = self.explain("datagrams")
        self.assertEqual({one["evidence"] for one in found["causes"]}, {"observed"}, found["text"])
        self.assertRegex(found["text"], "it has no twin, since .* no datagrams")

    def test_refusals(self):
        self.refused(["explain"], "is missing", command="weir explain")
        self.refused(["explain", str(self.directory / "none")], "run.json", command="weir explain")
        (self.directory / "run.json").write_text(
                '{"schema": "weir-run/1", "status": "complete", "verdict": {"judged": true}}')
        self.refused(["explain", str(self.directory)], "'verdict.sets'", command="weir explain")
        self.refused(["explain", str(self.directory), "--rate", "1Gb/s"], "no such option", command="weir explain")


if __name__ == "__main__":
    unittest.main()
