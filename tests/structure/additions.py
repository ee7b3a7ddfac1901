#!/usr/bin/env python3
"""What src/README.md ("How to add") says of adding a thing holds: so many files, and it shows up everywhere.

    tests/structure/additions.py SOURCE

Always: a column, an option, a policy and a key figure can be added by lines that follow known ones, in no more files
than it may take. With WEIR_ADDITIONS=long all four are added in one copy, which is built (minutes of a core), and a
simulation must have each of them wherever its like are.
"""

import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(sys.argv.pop(1)).resolve()
LONG = os.environ.get("WEIR_ADDITIONS") == "long"

# File: (a line, what follows it); of a new file, its text. A count of consumers.
COLUMN = {
    "src/record/rows.hpp": [
        ("    std::uint64_t duplicate_events = 0;\n", "    std::uint64_t noticed_transfers = 0;\n"),
        ('    {"duplicate_events", "events", at<&Row::duplicate_events>, SumsIn::totals_and_live},\n',
         '    {"noticed_transfers", "transfers", at<&Row::noticed_transfers>, SumsIn::totals_and_live},\n')],
    "src/record/consumer_recorder.cpp": [
        ("        case Observation::Kind::transfer_noticed:\n", "            ++current_.noticed_transfers;\n")],
}
# The page of options is written by tools/manual/write_options_page.py.
OPTION = {
    "src/core/plan.hpp": [("    SetPhase set_phase = SetPhase::same;\n", "    Duration spare_time;\n")],
    "src/config/data_options.cpp": [
        ('     preset("same"), as::word<&Plan::set_phase, set_phases>},\n', """\
    {"spare-time", "TIME", "a time that nothing needs", preset("1s"),
     as::quantity<&Plan::spare_time, Duration{1}, longest_duration>},
""")],
    "docs/options.md": [("| `--set-phase same\\|spread\\|random` | same | all producers' sets at one instant, evenly "
                         "spread, or random |\n",
                         "| `--spare-time TIME` | 1s | a time that nothing needs |\n")],
    "tests/explorer/random_scenario.cpp": [('            draw_.add("time-scale", "{}", draw_.one_of({"1/2", "0.37", '
                                            '"9/10", "1/3"}));\n        }\n',
                                            '        draw_.add("spare-time", "{}ms", draw_.one_of({"1", "20"}));\n')],
    "tests/cli/screens.py": [('"generation": "steady", "set-phase": "same", ', '"spare-time": "2s", ')],
}
POLICY = {
    "src/core/plan.hpp": [("enum class PolicyKind : std::uint8_t {\n    balanced,\n    token,\n    round_robin,\n"
                           "    random,\n", "    lowest,\n")],
    "src/core/policies/policy_table.hpp": [
        ("std::unique_ptr<Policy> make_random_policy(const Plan& plan, std::uint64_t seed);\n",
         "std::unique_ptr<Policy> make_lowest_policy(const Plan& plan, std::uint64_t seed);\n"),
        ('    PolicyRow{PolicyKind::random, "random", make_random_policy, ConsumerRule::none, false},\n',
         '    PolicyRow{PolicyKind::lowest, "lowest", make_lowest_policy, ConsumerRule::none, false},\n')],
    "src/core/policies/policy_table.cpp": [
        ('#include "core/policies/pairing_policies.hpp"\n', '#include "core/policies/lowest_policy.hpp"\n'),
        ("    return std::make_unique<RoundRobinPolicy>(sources(plan), plan.consumers);\n}\n", """
std::unique_ptr<Policy> make_lowest_policy(const Plan& plan, std::uint64_t /*seed*/) {
    return std::make_unique<LowestPolicy>(sources(plan), plan.consumers);
}
""")],
    "src/core/policies/lowest_policy.hpp": """\
// The lowest of all that can: for a test.
#pragma once

#include <set>

#include "core/policy.hpp"

namespace weir::core {

class LowestPolicy final : public Policy {
  public:
    LowestPolicy(std::uint32_t /*producers*/, std::uint32_t /*consumers*/) {}
    void update(ProducerId producer, const ProducerStanding& standing) override {
        set(producers_, producer.value, standing.eligible);
    }
    void update(ConsumerId consumer, const ConsumerStanding& standing) override {
        set(consumers_, consumer.value, standing.free_slots > 0);
    }
    std::optional<Pairing> choose() override {
        return producers_.empty() || consumers_.empty()
                   ? std::nullopt
                   : std::optional(Pairing{{*producers_.begin()}, {*consumers_.begin()}});
    }
    [[nodiscard]] bool producer_available() const override { return !producers_.empty(); }
    [[nodiscard]] bool consumer_available() const override { return !consumers_.empty(); }

  private:
    static void set(std::set<std::uint32_t>& all, std::uint32_t one, bool in) {
        in ? static_cast<void>(all.insert(one)) : static_cast<void>(all.erase(one));
    }
    std::set<std::uint32_t> producers_;
    std::set<std::uint32_t> consumers_;
};

}  // namespace weir::core
""",
    "docs/options.md": [("| `--policy balanced\\|token\\|round-robin\\|random\\|", "lowest\\|")],
    "docs/how-data-travel.md": [("| `random` | any with a free slot | any with data |\n",
                                 "| `lowest` | the first with a free slot | the first with data |\n")],
}
FIGURE = {
    "src/report/weir_runs/reading/key_figures.py": [
        ('SCORED_FIGURES = (\n',
         '    KeyFigure("noticed_transfers", "transfers noticed", "events", "lower", does="notices {} transfers"),\n'),
        ('    figures["lost_events"] = totals.get("lost_events")\n',
         '    figures["noticed_transfers"] = totals.get("noticed_transfers")\n')],
}
# How many files each may take.
ADDITIONS = {"column": (COLUMN, 2), "option": (OPTION, 5), "policy": (POLICY, 6), "figure": (FIGURE, 1)}


def added(text, file, lines):
    """The text of a file with what is added to it; a new file has none."""
    if isinstance(lines, str):
        assert text is None, f"{file}: is there already"
        return lines
    for line, more in lines:
        assert text.count(line) == 1, f"{file}: no single line {line!r}"
        text = text.replace(line, line + more)
    return text


class Additions(unittest.TestCase):
    def test_how_many_files_an_addition_takes(self):
        for what, (additions, most) in ADDITIONS.items():
            with self.subTest(what):
                self.assertLessEqual(len(additions), most)
                for file, lines in additions.items():
                    path = SOURCE / file
                    added(path.read_text(encoding="utf-8") if path.exists() else None, file, lines)

    @unittest.skipUnless(LONG, "needs minutes: WEIR_ADDITIONS=long")
    def test_what_is_added_shows_up_everywhere(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.copy = Path(directory.name) / "weir"
        shutil.copytree(SOURCE, self.copy, ignore=lambda folder, names: {"build", ".git", "results"} & set(names)
                        if Path(folder) == SOURCE else set())
        for additions, _ in ADDITIONS.values():
            for file, lines in additions.items():
                path = self.copy / file
                path.write_text(added(path.read_text(encoding="utf-8") if path.exists() else None, file, lines),
                                encoding="utf-8")
        build = self.copy / "build"
        self.succeeds("cmake", "--preset", "quick", "-B", build, "-DWEIR_TESTS=OFF")
        self.succeeds("cmake", "--build", build, "--target", "weir")
        self.weir = build / "bin/weir"
        for see in (self.see_the_column, self.see_the_option, self.see_the_policy, self.see_the_figure):
            with self.subTest(see.__name__):
                see()

    def succeeds(self, *command):
        done = subprocess.run(
            [str(word) for word in command], cwd=self.copy, capture_output=True, text=True, check=False, env=os.environ
            | {"PYTHONPATH": str(self.copy / "src/report"), "WEIR": str(self.weir)} if hasattr(self, "weir") else None)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
        return done.stdout

    def simulate(self, name, *options):
        """What it prints, and its run.json."""
        out = self.copy / name
        printed = self.succeeds(self.weir, "simulate", "--duration", "2s", "--json", "--out", out, *options)
        return printed, json.loads((out / "run.json").read_text(encoding="utf-8"))

    def see_the_column(self):
        printed, record = self.simulate("run")
        counted = 0
        for path in (self.copy / "run").glob("ranks/*-consumer.csv"):
            counted += sum(int(row["noticed_transfers"])
                           for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
        self.assertGreater(counted, 0)
        self.assertEqual(record["totals"]["noticed_transfers"], counted)
        seconds = [json.loads(line) for line in printed.splitlines()]
        self.assertEqual([second["noticed_transfers"] for second in seconds if second["type"] == "second"][-1], counted)

    def see_the_option(self):
        scenario = self.copy / "spare.toml"
        scenario.write_text('spare-time = "5ms"\n', encoding="utf-8")
        for name, options in (("given", ("--spare-time", "5ms")), ("of-scenario", ("--scenario", scenario))):
            self.assertEqual(self.simulate(name, *options)[1]["plan"]["spare-time"], "5ms")
        self.assertIn("--spare-time TIME", self.succeeds(self.weir, "simulate", "--help", "data"))
        self.succeeds(sys.executable, "-B", "tools/manual/write_options_page.py", "--weir", self.weir, "--check")
        self.succeeds(sys.executable, "-B", "tests/cli/screens.py", self.weir, "Scenarios")

    def see_the_policy(self):
        record = self.simulate("lowest", "--policy", "lowest")[1]
        self.assertEqual((record["plan"]["policy"], record["ledger"]["agrees"]), ("lowest", True))

    def see_the_figure(self):
        groups = [[self.copy / f"{name}-{seed}" for seed in (1, 2, 3)] for name in ("one", "other")]
        for paths, policy in zip(groups, ("lowest", "balanced")):
            for seed, path in enumerate(paths, start=1):
                self.simulate(path.name, "--policy", policy, "--seed", seed, "--explain", "off")
        printed = self.succeeds(sys.executable, "-B",
                                "-c", "import sys; from weir_compare.compare_command import main; sys.exit(main())",
                                *groups[0], "--against", *groups[1], "--allow-different-plans", "--table",
                                "--csv", "figures.csv", "--decide-by", "noticed_transfers")
        self.assertIn("transfers noticed", printed)
        self.assertIn("noticed_transfers", (self.copy / "figures.csv").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
