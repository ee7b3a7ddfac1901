"""The queue's length from which ports mark: weir-sweep tune looks for it in the simulator; what it proposes is measured
with Debian's kernel.

    bench/study tune-lab tune
    bench/study tune-lab measure [confirm] [scan] [--minutes 40]
    bench/study tune-lab collect

tune: weir-sweep tune with ports.toml. What it found goes to found.json, the sweep file that it wrote to
ports-confirm.toml, and a scan of the same axis to ports-scan.toml; its settings are simulated with the seeds of
simulated.csv. A tuning that was stopped goes on where it was.

measure: the present and the proposed setting in turns, then the settings of the scan in turns, both by weir-sweep, on
hosts and a switch in a virtual machine (bench/lab machine). Each run is a line of measured.csv. A campaign that was
stopped goes on where it was, with the same command; run directories stay in build/tune-lab (--work). collect makes
measured.csv of them, also if a campaign is not complete.

    bench/study tune-lab set SETTING

is `on-change` of the campaigns, and works in the virtual machine only. Needs QEMU, and two cores that have nothing else
to do: a run without limits at the ports, before the first campaign, shows what the virtual machine can carry.
bench/install-dependencies --soft-roce.
"""

import json
import os
import pathlib
import subprocess
import sys

import cases
import page
import provenance
import studies
from cases import FIGURES, SHARES
from lab_campaigns import answer, in_machine, lab, sustains_unshaped, sweep

KEPT = ("budget", "confirm", "pairs", "runs", "axes", "answer", "lines", "present", "proposed", "change", "flat",
        "observed")
SIMULATED = ("threshold", "seed", "status", *FIGURES, *SHARES, "weir", "command")
SIMULATED_KEYS = ("threshold", "seed")
MEASURED = ("campaign", "point", "setting", "threshold", "repetition", "started_at", *FIGURES, *SHARES,
            "longest_stall_ms", "weir")
LIMIT_S = 60
BUSY = 3


# --------------------------------------------------------------------------------------------------------- simulated


def tune(options):
    os.nice(10)
    work = options.work.resolve() / "tune"
    work.mkdir(parents=True, exist_ok=True)
    file = work / cases.FILE
    file.write_text((options.out / cases.FILE).read_text())
    spent = studies.children_cpu_s()
    environment = {**os.environ, "WEIR": options.weir, "PYTHONPATH": str(studies.TOP / "src/report"),
                   "PYTHONDONTWRITEBYTECODE": "1"}
    status = subprocess.run([sys.executable, "-m", "weir_suites.sweep_command", "tune", str(file)], check=False,
                            env=environment).returncode
    if status != 0:
        return status
    found = json.loads((work / file.stem / "tune.json").read_text())
    record = {"weir": provenance.program_version(options.weir)[0], "cpu_s": round(studies.children_cpu_s() - spent, 1),
              **{name: found[name] for name in KEPT}}
    (options.out / page.FOUND).write_text(json.dumps(record, indent=1) + "\n")
    (options.out / cases.CONFIRM).write_text(cases.measured(file.with_name(cases.CONFIRM).read_text()))
    (options.out / cases.SCAN).write_text(cases.scan(cases.read(options.out / cases.FILE)))
    make_lines(options, [(threshold, seed) for threshold in cases.thresholds(options.out) for seed in cases.SEEDS])


def make_lines(options, wanted):
    file = cases.read((getattr(options, "stored", None) or options.out) / cases.FILE)
    for threshold, seed in wanted:
        command = cases.command(file, threshold, seed)
        found = studies.attempted(options.weir, command, LIMIT_S, lambda _, out: figures(out))
        studies.store(options.out / "simulated.csv", SIMULATED,
                      {"threshold": threshold, "seed": seed, "command": command, **found}, SIMULATED_KEYS)


def figures(directory):
    """{column: value} of a run directory."""
    from judging import key_figures, read_run  # here, so that `set` in the emulated machine needs no numpy
    run = read_run(directory)
    found = key_figures(run)
    return {**{name: found[key] for name, key in FIGURES.items()},
            "marked_share": share(run, ("consumer", "fn"), "ecn_marked_packets", "received_packets"),
            "again_share": share(run, ("producer", "eb"), "tcp_retransmissions", "sent_packets"),
            "grant_wait_share": share_of_time(run, "producer", "waiting_for_grant_s"),
            "data_wait_share": share_of_time(run, "consumer", "waiting_for_data_s")}


def share(run, names, part, whole):
    """Of what hosts with these names have counted in the measured seconds, as run.json has it."""
    counted = [host.get("families") or {} for host in run.record["hosts"] if host["name"].startswith(names)]
    return sum(host.get(part, 0) for host in counted) / sum(host[whole] for host in counted)


def share_of_time(run, role, part):
    """Of the measured time of all ranks of a role."""
    ranks = run.ranks(role)
    return sum(rank["time"][part] for rank in ranks) / sum(rank["measured_s"] for rank in ranks)


def replay(trial):
    stored = studies.stored(trial.stored / "simulated.csv")
    make_lines(trial, [(line["threshold"], line["seed"]) for line in stored if line["seed"] == str(cases.SEEDS[0])])


# ---------------------------------------------------------------------------------------------------------- measured


def set_ports(options):
    [setting] = options.words
    known = cases.settings(studies.RESULTS / "tune-lab")
    if setting not in known:
        raise SystemExit(f"tune-lab: set: '{setting}' is not one of {', '.join(known)}")
    lab("set", *cases.port_options(cases.read(studies.RESULTS / "tune-lab" / cases.FILE), known[setting]))


def inside(options):
    """In the virtual machine: a run without limits, then the campaigns. options.runs: one of their directories."""
    work = options.runs.parent
    if not sustains_unshaped(cases.HOSTS, cases.UNSHAPED_RUN, work / "unshaped"):
        print("tune-lab: without limits at the ports the machine does not carry what they do, so it would be measured "
              "and not they: it has other work, or is too slow", file=sys.stderr)
        return BUSY
    file = cases.read(studies.RESULTS / "tune-lab" / cases.FILE)
    lab("up", *cases.NETWORK, "--link", file["simulation"]["consumer-link"])
    statuses = [sweep("submit", str(studies.RESULTS / "tune-lab" / cases.CAMPAIGNS[name]), "--local", "--retry-failed",
                      "--out", str(work / name))
                for name in options.words]
    lab("down", "-q")
    return max(statuses)


def measure(options):
    os.environ["WEIR"] = options.weir
    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    status = in_machine("tune-lab", campaigns_of(options), work / "runs", options.minutes)
    if status == 1:
        print("tune-lab: a campaign is not complete; the same command continues it", file=sys.stderr)
    collect(options)
    return status if status > 1 else 0


def collect(options):
    os.environ["WEIR"] = options.weir
    for campaign, file in cases.CAMPAIGNS.items():
        directory = options.work.resolve() / campaign
        if not directory.exists():
            continue
        sweep("collect", str(studies.RESULTS / "tune-lab" / file), "--out", str(directory))
        known = cases.settings(options.out)
        rows = [row for row in studies.stored(directory / "table.csv") if row["state"] == "complete"]
        for row in rows:
            line = {**row, "campaign": campaign, "setting": row["switch"], "threshold": known[row["switch"]],
                    "weir": row["weir_version"],
                    **figures(pathlib.Path(row["run_directory"])),
                    "longest_stall_ms": longest_stall_ms(pathlib.Path(row["run_directory"]))}
            studies.store(options.out / "measured.csv", MEASURED, line, ("campaign", "point"))
        if rows and campaign == "confirm":
            (options.out / "confirm-answer.txt").write_text(answer([row["run_directory"] for row in rows]))


def longest_stall_ms(directory):
    """Of any rank in the measured seconds."""
    return max(float(row["poll_gap_max_us"]) / 1000 for file in (directory / "ranks").glob("*.csv")
               for row in studies.rows(file)
               if row["phase"] == "measure" and row["poll_gap_max_us"])


def campaigns_of(options):
    unknown = [name for name in options.words if name not in cases.CAMPAIGNS]
    if unknown:
        raise SystemExit(f"tune-lab: '{unknown[0]}' is not one of {', '.join(cases.CAMPAIGNS)}")
    return options.words or list(cases.CAMPAIGNS)


def add_options(parser):
    parser.add_argument("words", nargs="*", metavar="CAMPAIGN", help=f"of {', '.join(cases.CAMPAIGNS)}; set: a setting")
    parser.add_argument("--work", type=pathlib.Path, default=studies.TOP / "build/tune-lab",
                        help="where runs are (default build/tune-lab)")
    parser.add_argument("--runs", type=pathlib.Path, help="inside: beside which run directories are")
    parser.add_argument("--minutes", type=int, default=40, help="stop the virtual machine after so long (default 40)")


STUDY = studies.Study(page.page, runs={"tune": tune, "measure": measure, "collect": collect},
                      others={"set": set_ports, "inside": inside},
                      keys={"simulated.csv": SIMULATED_KEYS}, replay=replay, options=add_options)
