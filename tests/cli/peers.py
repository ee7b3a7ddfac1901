"""bench/peers: what is made of samples, without measuring anything."""

import dataclasses
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ["WEIR_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "bench"))
sys.dont_write_bytecode = True
from peer_targets import samples, tables  # noqa: E402

RATE = samples.Comparison("goodput", "memory", "goodput", "goodput", "weir", "bare", 0.9, unit="b/s")


def peers(*words):
    return subprocess.run([sys.executable, SOURCE / "bench/peers", *words], capture_output=True, text=True, check=False)


class Outcomes(unittest.TestCase):
    def store(self, *rows):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        store = samples.Samples(Path(directory.name) / "new" / "samples.csv")
        for peer, number, value in rows:
            store.rows.append({"target": "goodput", "case": "memory", "peer": peer, "quantity": "goodput", "round": str(number), "value": str(value)})
        return store

    def test_ratios_are_of_the_same_round(self):
        # The machine was ten times slower in the second round: the ratios stay the same.
        outcome = self.store(("weir", 0, 95), ("bare", 0, 100), ("weir", 1, 9.2), ("bare", 1, 10), ("weir", 2, 98), ("bare", 2, 100)).outcome(RATE)
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
        self.assertIn("|  | engine mpi | engine ucx | peer | mpi / peer | ucx / peer | rounds | asked for | outcome |", table)
        self.assertIn("| goodput | 90 b/s | 45 b/s | 100 b/s | 0.9 | 0.45 | 1 | >= 0.9 | met |", table)
        self.assertEqual(tables.summary([outcome]), "1 of 1 target values are met.")
        scheduled = samples.Comparison("goodput", "memory", "goodput", "goodput", "weir balanced", "weir none")
        store = self.store(("weir balanced", 0, 90), ("weir none", 0, 100), ("weir balanced, engine ucx", 0, 40), ("weir none, engine ucx", 0, 50))
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


class Page(unittest.TestCase):
    def test_exit_status_says_whether_something_was_missed(self):
        rows = ("weir,\"share of a core, mean\",0,{share}", "weir,goodput,0,95", "bare stream,goodput,0,100")
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory) / "samples.csv"
            for share, kept, status in (("0.5", 3, 3), ("0.01", 3, 0), ("0.01", 2, 3)):
                lines = [f"ranks,memory 1x14x72,{row.format(share=share)}" for row in rows[:kept]]
                file.write_text("\n".join(["target,case,peer,quantity,round,value", *lines]) + "\n")
                done = peers("--table", "--out", directory)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(f"## ranks\n\n{done.stdout.split('ranks:')[1].split('scale:')[0].strip()}\n", (Path(directory) / "README.md").read_text())
            self.assertIn("not measured: goodput, memory 1x14x72", done.stderr)

    def test_refusals(self):
        done = peers("speed")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no such target: speed; there are goodput, ", done.stderr)

    def test_check_finds_a_page_that_was_edited(self):
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory) / "samples.csv"
            file.write_text("target,case,peer,quantity,round,value,weir\nranks,memory 1x14x72,weir,goodput,0,95,0.1.0+g1234567\n")
            peers("--table", "--out", directory)
            page = Path(directory) / "README.md"
            self.assertIn("weir 0.1.0+g1234567 for ranks", page.read_text())
            self.assertEqual(peers("--check", "--out", directory).returncode, 0)
            page.write_text(page.read_text() + "edited\n")
            self.assertEqual(peers("--check", "--out", directory).returncode, 1)


if __name__ == "__main__":
    unittest.main()
