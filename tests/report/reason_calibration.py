"""How often the reason that weir-compare gives is right: pairs of simulated settings whose reason is planted, because
they are the same but for it, or but for it and something that does not matter. For docs/statistics.md:

    PYTHONPATH=src/report python3 tests/report/reason_calibration.py --weir build/release/bin/weir

The cases are whole simulations of a second and less; the test of the reasons makes some of them."""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SEEDS = (1, 2, 3, 4, 5)
BASE = {"network": "packet", "producers": "6", "consumers": "4", "rate": "5Gb/s", "interval": "100ms",
        "event-size": "10MB", "producer-link": "10Gb/s", "consumer-link": "10Gb/s", "duration": "500ms",
        "warmup": "100ms"}


@dataclasses.dataclass(frozen=True)
class Case:
    """`good`, `bad`: options beside BASE. `truth`: the option that makes the difference, or two of which each does;
    None: there is none. `seeds`: of the bad one, where they are not the same."""

    name: str
    truth: str | None
    good: dict
    bad: dict
    common: dict = dataclasses.field(default_factory=dict)
    seeds: tuple = SEEDS


_ECN = {"ecn": "on"}
_PFC = {"pfc": "on"}
CASES = (
    Case("ports of 7 Gb/s, ECN on in both", "consumer-link", {}, {"consumer-link": "7Gb/s"}, _ECN),
    Case("ports of 7 Gb/s, PFC on in both", "consumer-link", {}, {"consumer-link": "7Gb/s"}, _PFC),
    Case("ports of 7 Gb/s, and ECN instead of PFC", "consumer-link", _PFC, {"consumer-link": "7Gb/s", **_ECN}),
    Case("ports of 7 Gb/s, and PFC instead of ECN", "consumer-link", _ECN, {"consumer-link": "7Gb/s", **_PFC}),
    Case("PFC off", "pfc", _PFC, {}),
    Case("ECN off", "ecn", _ECN, {}),
    Case("PFC off, and half of the memory", "pfc", _PFC, {"switch-set": "switch.pool=8MB"}),
    Case("ECN marks every packet from 10 kB on", "ecn.all-above", {"switch-set": "ecn.probability=1 ecn.all-above=2MB"},
         {"switch-set": "ecn.probability=1 ecn.all-above=10kB"}, {**_ECN, "rate": "6Gb/s"}),
    Case("a tenth of the memory", "switch.pool", {"switch-set": "switch.pool=160MB"}, {}),
    Case("loses 10 % instead of 0.3 %", "switch.pool", {"switch-set": "switch.pool=50MB"},
         {"switch-set": "switch.pool=24MB"}),
    Case("loses 10 % instead of 6 %", "switch.pool", {"switch-set": "switch.pool=30MB"},
         {"switch-set": "switch.pool=24MB"}),
    Case("processing of 20 ms instead of 2 ms", "busy", {"busy": "exponential:2ms"}, {"busy": "exponential:20ms"},
         _PFC),
    Case("one slot instead of four, with processing", "slots", {}, {"slots": "1"}, {**_PFC, "busy": "exponential:6ms"}),
    Case("a scheduler that needs 3 ms for a message", "scheduler-time", {}, {"scheduler-time": "3ms"}, _PFC),
    Case("messages that take 20 ms", "latency", {}, {"latency": "20ms"}, _PFC),
    Case("one consumer's link degraded", "fault", {}, {"fault": "degrade:consumer=0,factor=0.3"}, _PFC),
    Case("one stream for each producer, and another switch memory", "streams", {},
         {"streams": "1", "switch-set": "switch.pool=20MB"}, {**_PFC, "latency": "1ms", "rate": "6.5Gb/s"}),
    Case("a scheduler that needs 3 ms for a message, and ECN instead of PFC", "scheduler-time", _PFC,
         {"scheduler-time": "3ms", **_ECN}),
    Case("one slot, with processing, and a larger window", "slots", {}, {"slots": "1", "window": "16"},
         {**_PFC, "busy": "exponential:6ms"}),
    Case("ports of 7 Gb/s, and processing of 20 ms", "consumer-link busy", {},
         {"consumer-link": "7Gb/s", "busy": "exponential:20ms"}, _PFC),
    Case("nothing differs but the seeds", None, {}, {}, _PFC, (6, 7, 8, 9, 10)),
)


def make_runs(weir, case, top, seeds=None):
    """Directories of the runs of a case, by the tag 'setting': good, bad."""
    words = []
    for name, own, of_side in (("good", case.good, SEEDS), ("bad", case.bad, case.seeds)):
        for seed in seeds or of_side:
            out = Path(top) / f"{name}-{seed}"
            options = {**BASE, **case.common, **own, "seed": str(seed), "tag": f"setting={name}", "out": str(out),
                       "explain": "off"}
            words.append([weir, "simulate", "--quiet",
                          *(word for key, value in options.items() for one in
                            (value.split() if key == "switch-set" else [value]) for word in (f"--{key}", one))])
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for done in pool.map(lambda command: subprocess.run(command, capture_output=True, text=True, check=False),
                             words):
            if done.returncode not in (0, 3):
                raise SystemExit(f"{case.name}: {done.stderr.strip()}")
    return sorted(Path(top).iterdir())


def compared(runs, weir, prove, package=None):
    """The reason that weir-compare gives. `package`: the directory of another version's packages."""
    command = [sys.executable, "-m", "weir_compare.compare_command", "--by", "setting", "--baseline", "good",
               "--allow-different-plans", "--json", "-", *(["--prove"] if prove else []), *map(str, runs)]
    variables = {**os.environ, "WEIR": weir,
                 "PYTHONPATH": str(package or Path(__file__).resolve().parents[2] / "src/report")}
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False,
                          cwd=tempfile.gettempdir())
    if done.returncode:
        raise SystemExit(done.stderr)
    answer = json.loads(done.stdout)["answer"]
    return answer["because"] if answer["verdict"].startswith("Use ") else ""


def short(words):
    """Without numbers and the use of ports."""
    return re.sub(r" ?\((?!to)[^()]*(?:\([^()]*\)[^()]*)*\)", "", words.split("; the fullest")[0])


def judged(case, words):
    """`words`: the reason as the answer has it. 'proved': the truth, and said to be; 'named': the truth stands
    first; 'wrong': because of something else, or something that does not matter stands alone; 'beside': a mechanism
    only; 'nothing'; 'none': nothing is said where there is nothing."""
    if case.truth is None:
        return "right" if not words else "wrong"
    if not words:
        return "nothing"
    truths = case.truth.split()
    if " (proved)" in words:
        return "proved" if truths == [words.partition(", ")[2].lower().split()[0]] else "wrong"
    if words.startswith("bad has "):
        options = words.split("; ")[0].lower()
        if not all(re.search(rf"(has |, | and ){re.escape(truth)} ", options) for truth in truths):
            return "wrong"
        return "proved" if len(truths) > 1 and "none of which alone" in words else "named"
    return "beside"


def main(argv=None):
    parser = argparse.ArgumentParser(prog="reason_calibration", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--weir", required=True)
    parser.add_argument("--package",
                        help="judge another version: the directory that holds its packages; it does not know --prove")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases with this in their name")
    options = parser.parse_args(argv)
    ways = (False,) if options.package else (False, True)
    weir, counts = str(Path(options.weir).resolve()), {}
    print(f"| planted | {' | '.join('with --prove' if prove else 'reason' for prove in ways)} |\n"
          f"|---|{'---|' * len(ways)}")
    for case in CASES:
        if options.only not in case.name:
            continue
        with tempfile.TemporaryDirectory() as top:
            runs, cells = make_runs(weir, case, top), []
            for prove in ways:
                reason = compared(runs, weir, prove, options.package) or ""
                verdict = judged(case, reason)
                counts.setdefault(prove, []).append(verdict)
                cells.append(f"**{verdict}**: {short(reason) or '-'}")
        print(f"| {case.name} | {' | '.join(cells)} |", flush=True)
    for prove, verdicts in counts.items():
        print(f"\n{'With --prove' if prove else 'Without'}: "
              + ", ".join(f"{name} {verdicts.count(name)}" for name in dict.fromkeys(verdicts)))


if __name__ == "__main__":
    main()
