"""How long a grant takes while links are full, with control packets in the queue of the data and in a class of their
own.

measure: runs, as root, three minutes of a quiet machine.

2 producers and 2 consumers on hosts of their own (bench/lab, links of 200 Mb/s), engine ucx, started without a
launcher. Each host has a second device for control packets (--control-device) on the same link. Hosts and ports of the
switch queue by class (HTB): with `own`, control packets go before data; with `shared`, all are in one queue.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import studies

HOSTS = ("ctl01", "eb01", "eb02", "fn01", "fn02")
ENVIRONMENT = {**os.environ, "WEIR_JOIN_TOKEN": "control", "UCX_TLS": "tcp,self"}
LINK_MBIT = 200
QUEUE = "256k"  # of each class, in bytes
CONTROL_NETWORK = "198.19.0"
OPTIONS = ("--producers", "2", "--generation", "steady", "--event-size", "64KiB", "--slots", "16", "--streams", "8",
           "--duration", "10s",
           "--warmup", "2s", "--idle", "nap", "--control-device", "ctl0", "--data-device", "eth0")
RATES = {"idle": "10Mb/s", "loaded": "170Mb/s"}
QUEUES = ("shared", "own")
NAMES = ("queues", "load", "round", "p50_us", "p99_us", "max_us", "grants", "goodput_mbps", "late_sets", "paths",
         "weir", "command")
EXPECTED = 1.1  # p99 loaded / idle with a class of its own, at most


def queue_lines(device, own):
    """A link's speed, shared by two classes of which the first goes before the other."""
    lines = [f"tc qdisc replace dev {device} root handle 1: htb default 20",
             f"tc class replace dev {device} parent 1: classid 1:1 htb rate {LINK_MBIT}mbit",
             f"tc class replace dev {device} parent 1:1 classid 1:10 htb rate {LINK_MBIT // 10}mbit ceil "
             f"{LINK_MBIT}mbit prio 0 quantum 3000",
             f"tc class replace dev {device} parent 1:1 classid 1:20 htb rate {LINK_MBIT * 9 // 10}mbit ceil "
             f"{LINK_MBIT}mbit prio 1 quantum 3000"]
    lines += [f"tc qdisc replace dev {device} parent 1:{leaf} handle {leaf}: bfifo limit {QUEUE}" for leaf in (10, 20)]
    if own:
        lines.append(
            f"tc filter add dev {device} parent 1: protocol ip u32 match ip dst {CONTROL_NETWORK}.0/24 flowid 1:10")
    return lines


def set_queues(lab, own):
    for host in HOSTS:
        lab.on(host, "tc qdisc del dev eth0 root", *queue_lines("eth0", own))
        lab.on("switch", f"tc qdisc del dev {host} root", *queue_lines(host, own))


def one_run(options, lab, queues, load, number):
    words = [*OPTIONS, "--rate", RATES[load]]
    with tempfile.TemporaryDirectory(prefix="weir-control-") as directory:
        out = pathlib.Path(directory) / "run"
        processes = []
        for rank, host in enumerate(HOSTS):
            more = ["--ranks", str(len(HOSTS)), "--out", str(out), "--quiet", *words] if rank == 0 else []
            processes.append(lab.process(host, options.weir, "run", "--join", "ctl01:7000", *more,
                                         env=studies.as_rank(rank, ENVIRONMENT),
                                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
        said = "".join(process.communicate(timeout=90)[0] for process in processes)
        record = json.loads((out / "run.json").read_text()) if (out / "run.json").exists() else {"status": "none"}
        if record["status"] != "complete" or not record["ledger"]["agrees"]:
            sys.exit(f"{queues} {load}: {record.get('failure')} {said}")
    latency = record["latency"]["offer_to_grant"]
    paths = record["environment"]["ucx_paths"]
    return {"queues": queues, "load": load, "round": number, "p50_us": latency["p50_us"], "p99_us": latency["p99_us"],
            "max_us": latency["max_us"], "grants": latency["count"],
            "goodput_mbps": 8e-6 * record["totals"]["received_bytes"] / (record["plan"]["resolved"]["duration_s"] + 2),
            "late_sets": record["verdict"]["late_sets"],
            "paths": "; ".join(f"{name} {' '.join(paths[name])}" for name in sorted(paths)),
            "weir": record["environment"]["weir_commit"][:12],
            "command": " ".join(["weir", "run", "--join", "ctl01:7000", "--ranks", str(len(HOSTS)), *words])}


def measure(options):
    with studies.Lab("control", "--producers", "2", "--consumers", "2", "--link", f"{LINK_MBIT}Mb/s") as lab:
        for index, host in enumerate(HOSTS, 1):
            lab.on(host, "ip link add link eth0 name ctl0 type macvlan mode bridge",
                   f"ip addr add {CONTROL_NETWORK}.{index}/24 dev ctl0",
                   "ip link set ctl0 up")
        for number in range(1, options.rounds + 1):
            for queues in QUEUES if number % 2 else reversed(QUEUES):
                set_queues(lab, queues == "own")
                for load in RATES if number % 2 else reversed(RATES):
                    line = one_run(options, lab, queues, load, number)
                    print(f"{number} {queues} {load}: " + " ".join(f"{name} {line[name]:.5g}" for name in NAMES[3:9]),
                          flush=True)
                    studies.store(options.out / "runs.csv", NAMES, line, NAMES[:3])


def values(lines, queues, load, name):
    return [float(line[name]) for line in lines if (line["queues"], line["load"]) == (queues, load)]


def page(out):
    lines = studies.stored(out / "runs.csv")
    rows, ratios = [], {}
    for queues in QUEUES:
        of = {load: values(lines, queues, load, "p99_us") for load in RATES}
        ratios[queues] = statistics.median(of["loaded"]) / statistics.median(of["idle"])
        for load in RATES:
            rows.append([queues, load, *(f"{statistics.median(values(lines, queues, load, name)):.4g}"
                                         for name in NAMES[3:9]),
                         f"{min(of[load]):.0f} .. {max(of[load]):.0f}"])
    shared, own = ratios["shared"], ratios["own"]
    parts = {"runs": studies.table(
        ["queues", "links", "median, us", "99 %, us", "longest, us", "grants", "goodput, Mb/s", "late sets",
         "99 % of the rounds, us"], rows),
        "ratios": studies.table(
            ["queues", "99 % loaded / idle", "expected", "outcome"],
            [["shared", f"{shared:.2f}", "more than with a class of its own", studies.verdict(shared > own)],
             ["own", f"{own:.2f}", f"at most {EXPECTED}", studies.outcome(own, most=EXPECTED)]])}
    return studies.about(out, "control-latency", parts, "Made by `bench/study control-latency` of runs.csv: "
                         f"{max(int(line['round']) for line in lines)} rounds with weir {studies.versions(lines)}.")


STUDY = studies.Study(page, runs={"measure": measure},
                      options=lambda parser: parser.add_argument("--rounds", type=int, default=3))
