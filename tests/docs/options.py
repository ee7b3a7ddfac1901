"""The documents against the program: options, exit statuses, and the names in the files that it writes."""

import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from markdown import SOURCE, blocks, code_spans, user_pages

WEIR = os.environ["WEIR"]
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "tools/manual"))
from description import read_python_commands  # noqa: E402

OPTION = r"(?<![\w-])--[a-z][a-z-]+"
# Options of mpirun, srun, sbatch, cmake, git, pip and others, as these pages use them.
FOREIGN = {"--mca", "--hostfile", "--mpi", "--ntasks-per-node", "--nodelist", "--partition", "--nodes", "--exclusive",
           "--mem", "--mem-per-cpu", "--signal", "--test-only", "--preset", "--build", "--install", "--print-labels",
           "--prefix", "--workflow", "--foreground", "--oversubscribe", "--enable-recovery", "--kill-on-bad-exit",
           "--no-kill", "--gc-sections", "--action", "--restoration-time"}


def weir_options():
    """Command -> its options."""
    help_text = subprocess.run([WEIR, "--help", "json"], check=True, capture_output=True, text=True).stdout
    everything = json.loads(help_text)
    return {command["name"]: {name for group in command["groups"] for option in group["options"]
                              for name in (option["name"], option["short"]) if name}
            for command in [everything, *everything["commands"]]}


def python_commands():
    return read_python_commands(SOURCE)


def python_options():
    return {command.name: {name for part in [
                               command, *command.commands] for option in part.options for name in option.names}
            for command in python_commands()}


def script_options():
    """Those that the scripts of bench/, results/, slurm/, tests/ and tools/manual mention."""
    scripts = [*(SOURCE / "bench").rglob("*"), *(SOURCE / "results").rglob("*.py"),
               *(SOURCE / "slurm/switch-readers").glob("*"), SOURCE / "tests/run",
               *(SOURCE / "tools/manual").glob("*.py")]
    return {option for script in scripts if script.is_file() and script.suffix not in (".cpp", ".png")
            for option in re.findall(OPTION, script.read_text(encoding="utf-8", errors="replace"))}


def calls(text):
    """Calls of weir's commands in a block: (command, its words)."""
    text = re.sub(r"\\\n", " ", text)
    return [(found[1], found[2]) for found in re.finditer(
                r"(?m)\b(weir (?:run|simulate|check|scenarios)|weir-[a-z]+)((?: [^\n|;#&]*)?)", text)]


class Options(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.commands = {**{f"weir {name}" if name != "weir" else name: options
                           for name, options in weir_options().items()},
                        **python_options()}

    def test_all_options_that_are_mentioned_exist(self):
        known = set().union(*self.commands.values()) | script_options() | FOREIGN
        for page in user_pages():
            texts = code_spans(page) + [block.text for block in blocks(page) if block.language in ("sh", "text")]
            for text in texts:
                for option in re.findall(OPTION, text):
                    with self.subTest(page=page.name, text=text[:80]):
                        self.assertTrue(
                                option in known, f"{option}: no command has it (of other programs: add it to FOREIGN)")

    def test_commands_are_called_with_options_of_their_own(self):
        """Also in blocks that no test runs."""
        checked = 0
        for page in user_pages():
            for block in blocks(page):
                for command, words in calls(block.text) if block.language == "sh" else []:
                    words = re.sub(r"\s:\s.*", "", words)  # the next part of an mpirun line
                    own, _, simulated = words.partition(" -- ")  # weir-traffic replay hands these on
                    for of, part in ((command, own), ("weir simulate", simulated)):
                        for option in re.findall(OPTION, part):
                            checked += 1
                            with self.subTest(place=block.place, command=of):
                                self.assertIn(option, self.commands[of])
        self.assertGreater(checked, 100)

    def test_the_page_of_options_has_them_all(self):
        page = (SOURCE / "docs/options.md").read_text(encoding="utf-8")
        for name, options in self.commands.items():
            for option in options - ({"-h", "--help", "--version"} if name.startswith("weir-") else {"-h"}):
                self.assertTrue(re.search(rf"(?m)^\| `[^`]*{option}\b|`{option}`", page), f"{name} {option}")

    def test_the_page_of_options_is_in_step_with_the_program(self):
        done = subprocess.run(
                [sys.executable, SOURCE / "tools/manual/write_options_page.py", "--weir", WEIR, "--check"],
                capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class ExitStatuses(unittest.TestCase):
    def test_those_of_the_program_are_described(self):
        header = (SOURCE / "src/participant/exit_status.hpp").read_text(encoding="utf-8")
        values = dict(re.findall(r"constexpr int exit_(\w+) = (\d+);", header))
        self.assertGreaterEqual(set(values), {"ok", "failed", "usage", "requirement", "signal_base"})
        base = int(values.pop("signal_base"))
        page = (SOURCE / "docs/files-and-exit-statuses.md").read_text(encoding="utf-8")
        table = page.split("\n## Exit statuses\n\n")[1].split("\n\n")[0]
        described = [int(number) for row in re.findall(r"(?m)^\| ([\d, ]+) \|", table) for number in row.split(", ")]
        self.assertEqual(described, [*sorted(int(value) for value in values.values()), base + 2, base + 15])


class Files(unittest.TestCase):
    RUNS = (["--duration", "1s"], ["--duration", "1s", "--row-interval", "100ms"],
            ["--duration", "1s", "--transport", "datagram", "--pattern", "build", "--initiation", "pull",
             "--reasks", "1", "--event-size", "14kB", "--rate", "20Mb/s", "--generation", "steady",
             "--result-size", "28B", "--shaping", "in-step:1ms", "--policy", "token"],
            ["--duration", "1s", "--warmup", "0s", "--network", "packet", "--pfc", "on", "--ecn", "on"],
            ["--duration", "1s", "--warmup", "0s", "--network", "packet", "--framing", "tcp"],
            ["--duration", "1s", "--groups", "2"])
    FREE = ("plan", "variables", "packet_network")  # objects whose names are those of options and variables

    def names(self, value):
        if isinstance(value, dict):
            for name, inner in value.items():
                yield name
                yield from () if name in self.FREE else self.names(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from self.names(inner)

    def test_every_field_and_column_is_described(self):
        page = (SOURCE / "docs/files-and-exit-statuses.md").read_text(encoding="utf-8")
        found = set()
        with tempfile.TemporaryDirectory() as directory:
            for number, options in enumerate(self.RUNS):
                out = Path(directory) / str(number)
                done = subprocess.run(
                    [WEIR, "simulate", *options, "--json", "--out", out], capture_output=True, text=True, check=True)
                for line in done.stdout.splitlines():
                    found |= set(self.names(json.loads(line)))
                for file in out.rglob("*"):
                    if file.suffix == ".json":
                        found |= set(self.names(json.loads(file.read_text(encoding="utf-8"))))
                    elif file.suffix == ".csv":
                        found |= set(next(csv.reader(file.read_text(encoding="utf-8").splitlines())))
        self.assertGreater(len(found), 150)
        self.assertEqual([name for name in sorted(found) if not re.search(rf"\b{name}\b", page)], [])

    def test_the_tables_of_rows_have_the_columns_of_the_program_with_their_units(self):
        header = (SOURCE / "src/record/rows.hpp").read_text(encoding="utf-8")
        page = (SOURCE / "docs/files-and-exit-statuses.md").read_text(encoding="utf-8")
        checked = 0
        for role, title in (("producer", "a producer"), ("consumer", "a consumer"), ("scheduler", "the scheduler")):
            table = header.split(f"auto {role}_columns = ")[1].split("});")[0]
            columns = dict(re.findall(r'\{\s*"(\w+)",\s*"([^"]*)"', table))
            described = {}
            for section in ("\n### Rows of every role\n", f"\n### Rows of {title}\n"):
                self.assertIn(section, page)
                for names, units in re.findall(
                        r"(?m)^\| (`[^|]*) \| ([^|]*) \|", page.split(section)[1].split("\n#")[0]):
                    names, units = re.findall(r"`(\w+)`", names), units.split(", ")
                    described |= dict(zip(names, units if len(units) > 1 else units * len(names), strict=True))
            own = {"second", "phase", "wall_time", "covered_s", "poll_gap_end_s"}
            self.assertEqual({name: unit for name, unit in described.items() if name not in own}, columns)
            checked += len(columns)
        self.assertGreater(checked, 60)

    def test_every_field_of_a_job_with_several_groups_is_described(self):
        schema = json.loads((SOURCE / "src/report/weir_runs/reading/groups.schema.json").read_text(encoding="utf-8"))
        page = (SOURCE / "docs/files-and-exit-statuses.md").read_text(encoding="utf-8")
        section = page.split("\n## A job with several groups\n")[1].split("\n## ")[0]
        own = {name
               for place in (schema,
                             *(schema["definitions"][name] for name in ("verdict", "verdict_of_the_job", "group")))
               for name in place["properties"]}
        self.assertGreater(len(own), 25)
        self.assertEqual([name for name in sorted(own) if not re.search(rf"`{name}\b", section)], [])


if __name__ == "__main__":
    unittest.main()
