"""Collectives step by step, as weir-traffic writes them and weir simulates them: times in closed form, two at once, and
what is refused."""

import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path

from weir_command import CommandTest, weir

sys.path.insert(0, str(Path(__file__).parents[2] / "src" / "report"))
from weir_runs.basics.errors import ReportError  # noqa: E402
from weir_suites import traffic_command  # noqa: E402
from weir_suites.traffic import traffic_files  # noqa: E402

LINK = 10e9  # b/s
UNSCHEDULED = ("--policy", "none", "--latency", "20us")
LATENCY = 20e-6  # s: of a byte, and of the message that an input has arrived
WORDS = ("--packet-overhead", "0B", "--mtu", "4000B", "--producer-link", "10Gb/s", "--consumer-link", "10Gb/s",
         "--scheduler-time", "0ns", "--slots", "16", "--streams", "16")


def weir_traffic(*words, status=0):
    """What it prints; in this process, for it is called often."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        done = traffic_command.main(words)
    assert done == status, f"{words}: {done}"
    return out.getvalue()


class Collectives(CommandTest):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def write(self, name, *words):
        weir_traffic("collective", *words, "--link", "10Gb/s", "--out", str(self.directory / name))

    def simulate(self, name, *words, out="run", intervals=2):
        """run.json of a simulation of the collectives in a directory."""
        file = self.directory / name / "collectives.toml"
        interval = file.read_text().split('interval = "')[1].split('"')[0]
        number, unit = interval.rstrip("nusm"), interval.lstrip("0123456789.")
        out = self.directory / out
        done = weir("simulate", "--pattern", f"collectives:{file}",
                    "--duration", f"{float(number) * intervals:g}{unit}", "--warmup", f"{number}{unit}", *WORDS, *words,
                    "--quiet", "--out", str(out))
        self.assertEqual(done.returncode, 0, done.stderr)
        run = json.loads((out / "run.json").read_text())
        self.assertEqual((run["status"], run["totals"]["lost_events"], run["ledger"]["agrees"]), ("complete", 0, True))
        for collective in run["collectives"]:
            self.assertEqual(collective["complete_iterations"], intervals)
        return run

    def jct(self, kind, algorithm, *words, size="8MB", workers=4, network="fluid"):
        name = f"{kind}-{algorithm}-{network}"
        self.write(name, "--kind", kind, "--algorithm", algorithm, "--workers", str(workers), "--size", size, *words)
        run = self.simulate(name, "--network", network, "--event-size", size, *UNSCHEDULED, *PFC[network],
                            out=f"{name}-run")
        return run["collectives"][0]

    def near(self, found, expected, share=0.02):
        self.assertLess(abs(found / expected - 1), share, f"{found} s, expected {expected} s")
        self.assertGreater(found, expected * (1 - 1e-3), f"{found} s, expected at least {expected} s")

    def test_closed_forms(self):
        """A step is its bytes over the link, the latency, and the message to the producer of the worker: 8 S f / B and
        the latencies."""
        size, workers = 8e6, 4
        step = 8 * size / workers / LINK + LATENCY  # of a ring, and of a pair
        for network in ("fluid", "packet"):
            for kind, algorithm, steps in (
                ("all-reduce", "ring", 2 * (workers - 1)), ("reduce-scatter", "ring", workers - 1),
                ("all-gather", "ring", workers - 1), ("all-to-all", "pairwise", workers - 1)):
                with self.subTest(kind=kind, network=network):
                    found = self.jct(kind, algorithm, network=network)
                    # Packet by packet a worker is one host, so that the message stays there.
                    message = LATENCY if network == "fluid" else 0
                    expected = steps * step + (steps - 1) * message
                    self.near(found["jct_s_p50"], expected)
                    self.assertAlmostEqual(found["jct_ratio_p50"],
                                           found["jct_s_p50"] / (8 * size * found["bus_factor"] / LINK), delta=1e-9)
                    self.assertAlmostEqual(
                        found["busbw_bps_p50"], 8 * size * found["bus_factor"] / found["jct_s_p50"], delta=1e3)
                    self.assertEqual(found["fabric_bytes_mean"], size * found["bus_factor"])
            with self.subTest(kind="all-to-all", algorithm="at-once", network=network):
                self.near(self.jct("all-to-all", "at-once", network=network)["jct_s_p50"],
                          8 * size * 3 / 4 / LINK + LATENCY)
        with self.subTest(algorithm="tree"):
            # 7 workers: two levels up and two down; at each, two transfers share the link of a parent.
            found = self.jct("all-reduce", "tree", workers=7)
            self.near(found["jct_s_p50"], 4 * (2 * 8 * size / LINK + LATENCY) + 3 * LATENCY)

    def test_a_time_to_compute_goes_before_and_between(self):
        found = self.jct("all-gather", "ring", "--compute", "5ms", "--step-compute", "1ms")
        communication = 3 * (8 * 2e6 / LINK + LATENCY) + 2 * (LATENCY + 1e-3)
        self.near(found["jct_s_p50"], 5e-3 + communication, 0.01)
        self.near(8 * 8e6 * 0.75 / found["busbw_bps_mean"], communication, 0.02)

    def test_a_step_arrives_after_its_inputs(self):
        """In the record of each policy and network: completions.csv has when the last byte of each transfer was
        there."""
        self.write("ring", "--kind", "all-reduce", "--workers", "4", "--size", "1MB", "--step-compute", "10us",
                   "--interval", "20ms")
        for words in ((*UNSCHEDULED, "--network", "packet", "--pfc", "on"),
                      ("--policy", "balanced", "--event-size", "100kB"),
                      ("--policy", "longest-queue", "--initiation", "pull", "--event-size", "64kB")):
            with self.subTest(words=words):
                self.simulate("ring", *words, out=f"run-{len(list(self.directory.iterdir()))}")
                newest = max(self.directory.glob("run-*"), key=lambda path: path.stat().st_mtime_ns)
                order = json.loads(weir_traffic("check-order", str(self.directory / "ring"), str(newest), "--json"))
                self.assertEqual((order["checked"], order["incomplete"], order["violation_count"]), (2 * 20, 0, 0))
        # The same record against a longer time to compute, which it cannot have kept.
        trace = self.directory / "ring" / "all-reduce-ring.csv"
        trace.write_text(trace.read_text().replace(",10\n", ",1000\n"))
        self.assertIn("arrived after what waited for them",
                      weir_traffic("check-order", str(self.directory / "ring"), str(newest), status=1))

    def test_two_share_their_links_evenly(self):
        """Interference by max-min: half of each link, until the shorter one is over."""
        ring = ("--kind", "all-reduce", "--workers", "4", "--size", "8MB", "--name", "a", "--interval", "60ms")
        short = ("--kind", "all-gather", "--workers", "4", "--size", "8MB", "--name", "b", "--at", "1us",
                 "--interval", "60ms")
        self.write("a", *ring)
        self.write("b", *short)
        self.write("both", *ring)
        self.write("both", *short, "--add")
        runs = {name: self.simulate(name, "--event-size", "8MB", "--policy", "none", "--latency", "1us",
                                    out=f"{name}-run") for name in ("a", "b", "both")}
        alone = {name: runs[name]["collectives"][0]["jct_s_p50"] for name in ("a", "b")}
        factors = json.loads(weir_traffic(
                                 "interference", *(str(self.directory / f"{name}-run") for name in ("both", "a", "b")),
                                 "--json"))
        found = {one["name"]: one["factor"] for one in factors["collectives"]}
        self.near(found["b"], 2)
        self.near(found["a"], 1 + alone["b"] / alone["a"])

    def test_an_input_that_never_comes_ends_in_bounded_time(self):
        """Producers with half a buffer drop the later steps: what waits for these is lost at the end of the drain, by
        name."""
        self.write("ring", "--kind", "all-reduce", "--workers", "4", "--size", "8MB", "--interval", "30ms")
        out, pattern = self.directory / "run", f"collectives:{self.directory / 'ring' / 'collectives.toml'}"
        words = ("simulate", "--pattern", pattern, "--event-size", "1MB", "--producer-link", "10Gb/s",
                 "--consumer-link", "10Gb/s")
        done = weir(*words, "--duration", "60ms", "--warmup", "30ms", "--drain", "50ms", "--overflow", "drop",
                    "--buffer", "6.5MB", "--explain", "off", "--quiet", "--out", str(out))
        self.assertEqual(done.returncode, 0, done.stderr)
        run = json.loads((out / "run.json").read_text())
        self.assertEqual((run["status"], run["ledger"]["agrees"]), ("complete", True))
        self.assertIn("overflow", {lost["reason"] for lost in run["lost"]})
        self.assertEqual(run["collectives"][0]["complete_iterations"], 0)
        self.refused((*words, "--duration", "60ms", "--warmup", "30ms", "--transport", "datagram", "--dry-run"),
                     "whose transfers wait for others", command="weir simulate")

    def test_bad_files_are_refused_in_one_line(self):
        trace = self.directory / "trace.csv"

        def refused(text, *parts):
            trace.write_text(text)
            self.refused(("simulate", "--pattern", f"trace:{trace}", "--interval", "1ms", "--dry-run"), *parts,
                         command="weir simulate")
            with self.assertRaisesRegex(ReportError, "line"):
                traffic_files.read(trace)

        header = "time_us,producer,consumer,bytes,after\n"
        refused(header + "0,0,1,10,0\n", "trace.csv:2", "transfer 0 waits for transfer 0, which is not above it")
        refused(header + "0,0,1,10,\n1,1,0,10,2\n2,0,1,10,1\n", "trace.csv:3", "which is not above it")
        refused(header + "0,0,1,10,\n1,0,1,10,0\n", "trace.csv:3", "goes to consumer 1", "what consumer 0 receives")
        refused(header + "0,0,1,10,\n0,0,1,10,\n", "trace.csv:3", "1 ns later")
        refused(header + "0,0,1,10,\n1,1,0,10,0 0\n", "trace.csv:3", "twice")
        refused(header + "0,0,1,10,\n1,1,0,10,x\n", "trace.csv:3", "'x' is no number of a transfer")
        refused(header + "0,0,1,10\n", "trace.csv:2", "4 fields")
        refused(header[:-1] + ",compute_us\n0,0,1,10,,5\n", "trace.csv:2", "without a transfer to wait for")
        self.write("one", "--kind", "all-gather", "--workers", "2", "--size", "1MB")
        file = self.directory / "one" / "collectives.toml"
        good = file.read_text()
        for old, new, part in (('kind = "all-gather"', 'kind = "gather"', "is none of all-reduce"),
                               ("workers = 2", "workers = 1", "from 2"), ('size = "1000000B"', 'size = "0B"', "size"),
                               ("interval", "intervall", "interval"), ('name = "', 'nom = "', "no key of a collective"),
                               ("workers = 2", "workers = 2\nfirst_worker = -1", "from 0"),
                               ("[[collective]]", good.split("\n\n")[1] + "[[collective]]", "called all-gather-ring")):
            with self.subTest(new=new):
                file.write_text(good.replace(old, new, 1))
                self.refused(("simulate", "--pattern", f"collectives:{file}", "--dry-run"), part,
                             command="weir simulate")
                with self.assertRaises(ReportError):
                    traffic_files.read(file)


PFC = {"fluid": (), "packet": ("--pfc", "on")}


if __name__ == "__main__":
    unittest.main()
