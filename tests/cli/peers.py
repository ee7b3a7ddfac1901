"""bench/peers: what is made of samples, without measuring anything."""

import argparse
import contextlib
import dataclasses
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

SOURCE = Path(os.environ["WEIR_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "bench"))
sys.dont_write_bytecode = True
from peer_targets import overview, running, samples, tables  # noqa: E402

RATE = samples.Comparison("goodput", "memory", "goodput", "goodput", "weir", "bare", 0.9, unit="b/s")


def peers(*words):
    return subprocess.run([sys.executable, SOURCE / "bench/peers", *words], capture_output=True, text=True, check=False)


class Outcomes(unittest.TestCase):
    def store(self, *rows):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        store = samples.Samples(Path(directory.name) / "new" / "samples.csv")
        for peer, number, value in rows:
            store.rows.append({"target": "goodput", "case": "memory", "peer": peer, "quantity": "goodput",
                               "round": str(number), "value": str(value)})
        return store

    def test_ratios_are_of_the_same_round(self):
        # The machine was ten times slower in the second round: the ratios stay the same.
        outcome = self.store(("weir", 0, 95), ("bare", 0, 100), ("weir", 1, 9.2), ("bare", 1, 10), ("weir", 2, 98),
                             ("bare", 2, 100)).outcome(RATE)
        self.assertAlmostEqual(outcome.median, 0.95)
        self.assertAlmostEqual(outcome.least, 0.92)
        self.assertAlmostEqual(outcome.most, 0.98)
        self.assertEqual(outcome.rounds, 3)
        self.assertTrue(outcome.met)

    def test_a_worse_ratio_is_a_miss_and_has_its_reason(self):
        outcome = self.store(("weir", 0, 50), ("bare", 0, 100)).outcome(RATE)
        self.assertIs(outcome.met, False)
        table = tables.table([outcome], {RATE.name: "because"})
        self.assertIn("| 1 | >= 0.9 | **missed** (1) |", table)
        self.assertIn("\n1. By 44 %: because", table)
        self.assertIn("no reason known", tables.table([outcome], {}))

    def test_bounds_from_above(self):
        bound = samples.Comparison("goodput", "memory", "time", "goodput", "weir", bound=50, at_least=False, unit="ns")
        outcome = self.store(("weir", 0, 50), ("weir", 1, 49), ("weir", 2, 1000)).outcome(bound)
        self.assertTrue(outcome.met)
        self.assertIn("| time | 50 ns (49 ns .. 1000 ns) | 3 | <= 50 ns | met |", tables.table([outcome], {}))

    def test_engine_ucx_stands_beside_mpi_and_is_compared_with_its_own(self):
        store = self.store(("weir", 0, 90), ("weir, engine ucx", 0, 45), ("bare", 0, 100))
        outcome = store.outcome(RATE)
        self.assertTrue(outcome.met)
        self.assertAlmostEqual(outcome.ucx.median, 0.45)
        table = tables.table([outcome], {})
        self.assertIn(
            "|  | engine mpi | engine ucx | peer | mpi / peer | ucx / peer | rounds | asked for | outcome |", table)
        self.assertIn("| goodput | 90 b/s | 45 b/s | 100 b/s | 0.9 | 0.45 | 1 | >= 0.9 | met |", table)
        self.assertEqual(tables.summary([outcome]), "1 of 1 target values are met.")
        scheduled = samples.Comparison("goodput", "memory", "goodput", "goodput", "weir balanced", "weir none")
        store = self.store(("weir balanced", 0, 90), ("weir none", 0, 100), ("weir balanced, engine ucx", 0, 40),
                           ("weir none, engine ucx", 0, 50))
        self.assertAlmostEqual(store.outcome(scheduled).ucx.median, 0.8)

    def test_without_samples_of_both_there_is_no_line(self):
        self.assertIsNone(self.store(("weir", 0, 50)).outcome(RATE))
        self.assertIsNone(self.store(("weir", 0, 50), ("bare", 1, 50)).outcome(RATE))
        unasked = dataclasses.replace(RATE, bound=None)
        self.assertIsNone(self.store(("bare", 0, 50)).outcome(unasked))
        self.assertIn("| goodput | 50 b/s | 1 |  |", tables.table([self.store(("weir", 0, 50)).outcome(unasked)], {}))

    def test_samples_are_kept_and_a_target_measured_again_replaces_its_own(self):
        store = self.store(("weir", 0, 50), ("bare", 0, 100))
        store.write()
        again = samples.Samples(store.file)
        self.assertAlmostEqual(again.outcome(RATE).median, 0.5)
        again.forget("scheduler")
        self.assertIsNotNone(again.outcome(RATE))
        again.forget("goodput")
        self.assertIsNone(again.outcome(RATE))


class Overview(unittest.TestCase):
    def test_a_line_has_the_figures_of_one_question(self):
        line = overview.Line("How fast?",
                             (overview.part("few", "1 rank", "grants", "/s", at_least=10e6),
                              overview.ratio("many", "87 ranks", "bare", 0.9),
                              overview.part("few", "added", "added", "ns")))
        outcomes = {each: samples.Outcome(each, ours, theirs, median, median, median, 1)
                    for each, ours, theirs, median in (
                        (line.parts[0], 2e6, None, 2e6), (line.parts[1], 9e9, 1e10, 0.9))}
        table = tables.overview([line], outcomes.get, {"overview/few/grants/weir": "because"})
        self.assertIn("| How fast? | 1 rank<br>87 ranks<br>added | 2 M/s<br>0.9 of 10 Gb/s<br>not measured |  | >= 10 "
                      "M/s<br>>= 0.9<br> | **missed** (1)<br>met<br> |",
                      table)
        self.assertIn("\n1. By a factor of 5: because", table)

    def test_each_figure_has_samples_and_each_sample_a_figure(self):
        def run_json(*_words):
            return {"ranks": [{"role": "consumer", "mean_bits_per_second": 8e9}]}

        lines = [{"million_per_cpu_s": "10", "cpu_s_per_simulated_s": "3"}]
        with contextlib.ExitStack() as stack:
            for where, name, value in (
                (running, "run_weir", run_json),
                (running, "run_bare", lambda *_: {"bytes_per_s": 1e9, "events_per_s": 1e6}),
                (running, "spent", lambda *_, **__: (1.0, 1.0, 1e6)), (running, "program", lambda *_: ""),
                (overview.simulations.earlier, "program", lambda _: Path("weir-before")),
                (overview.ranks, "idle_shares", lambda *_: [0.01]), (overview.packets, "costs", lambda *_: lines),
                (overview.scheduler, "decisions", lambda _, nodes: {each: (100, 0) for each in nodes}),
                (overview.scheduler, "handling_s", lambda _: 1e-6)):
                stack.enter_context(mock.patch.object(where, name, value))
            stack.enter_context(mock.patch.object(
                overview.scheduler, "granting", lambda *_, look: look(None) or run_json()))
            found = []
            options = argparse.Namespace(weir=Path("weir"), bare=Path("bare/x"), seconds=1, rounds=1)
            overview.measure_once(lambda case, peer, quantity, value: found.append((case, peer, quantity)))
            overview.measure_round(options, lambda case, peer, quantity, value: found.append((case, peer, quantity)))
        self.assertEqual(len(found), len(set(found)))
        asked = {(each.case, peer, each.quantity) for each in overview.COMPARISONS
                 for peer in (each.ours, each.theirs) if peer}
        self.assertEqual(asked, {each for each in found if not each[1].endswith(samples.UCX)})
        self.assertEqual(len(overview.LINES), 15)


class Page(unittest.TestCase):
    def test_exit_status_says_whether_something_was_missed(self):
        rows = ("rows,weir,share of a core,0,{share}", "verify,weir,payload producer,0,2e10",
                "verify,weir,payload consumer,0,2e10", "verify,weir header,goodput,0,99",
                "verify,weir none,goodput,0,100")
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory) / "samples.csv"
            for share, kept, status in (("0.5", 5, 3), ("0.001", 5, 0), ("0.001", 4, 3)):
                lines = [f"costs,{row.format(share=share)}" for row in rows[:kept]]
                file.write_text("\n".join(["target,case,peer,quantity,round,value", *lines]) + "\n")
                done = peers("--table", "--out", directory)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(f"## costs\n\n{done.stdout.split('costs:')[1].split('simulator:')[0].strip()}\n",
                              (Path(directory) / "README.md").read_text())
            self.assertIn("not measured: goodput, memory 1x1x1, 16 MiB: `--verify header`", done.stderr)

    def test_refusals(self):
        done = peers("speed")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no such target: speed; there are overview, goodput, ", done.stderr)
        done = peers("overview", "goodput")
        self.assertEqual(done.returncode, 2)
        self.assertIn("docs/performance.md has no table of goodput; add --out DIRECTORY", done.stderr)

    def test_check_finds_a_page_that_was_edited(self):
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory) / "samples.csv"
            file.write_text("target,case,peer,quantity,round,value,weir\nranks,memory "
                            "1x14x72,weir,goodput,0,95,0.1.0+g1234567\n")
            peers("--table", "--out", directory)
            page = Path(directory) / "README.md"
            self.assertIn("weir 0.1.0+g1234567 for ranks", page.read_text())
            self.assertEqual(peers("--check", "--out", directory).returncode, 0)
            page.write_text(page.read_text() + "edited\n")
            self.assertEqual(peers("--check", "--out", directory).returncode, 1)


if __name__ == "__main__":
    unittest.main()
