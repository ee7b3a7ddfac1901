"""weir over real RDMA verbs: what is sent arrives and is checked, the RDMA device counts it, and UCX took no other way.

One virtual machine runs one of the one-sided transports and `weir check` with a setting that is wrong. It is computed
instruction by instruction, so that little is done by default.
WEIR_SOFT_ROCE=long: also `get`, `send`, damaged data, more settings, two machines and the packets on the link between
them, more ranks for longer, and a link that loses packets.
"""

import csv
import json
import os
import re
import shlex
from pathlib import Path

from soft_roce_command import LONG, skip_unless_possible, soft_roce
from soft_roce import capture
from weir_run import WEIR, Run, check, check_complete, main

# What --transport takes, and which operations carry the data over the link. How `send` does it is UCX's choice: 1.13
# lets the receiver read, 1.18 sends.
TRANSPORTS = {"send": ("RDMA READ response", "RDMA WRITE", "SEND"), "put": ("RDMA WRITE",),
              "get": ("RDMA READ response",)}
PACKET_BYTES = 4096  # of payload, at most
CONSUMERS = 2 if LONG else 1
LAYOUT = ("--producers", "1", "--consumers", str(CONSUMERS))
# Two events per set, each large enough for RDMA: smaller messages are copied, and sent by UCX's eager protocol.
DATA = ("--rate", "8Mb/s", "--event-size", "250kB", "--interval", "500ms", "--warmup", "3s", "--drain", "60s",
        "--verify", "full")
RANKS = 2 + CONSUMERS


def transport_options(transport):
    return () if transport == "send" else ("--transport", transport)


def report(run):
    return f"\nexit status {run.status}\n{run.stdout[-3000:]}\n{run.stderr[-3000:]}"


def counted(run, host, counter):
    """What a host counted in the whole run: run.json has the measured seconds only, and a busy machine may be late."""
    rows = host_rows(run, host)
    measured = sum(int(row[counter] or 0) for row in rows if row["phase"] == "measure")
    check(measured == host["totals"].get(counter, 0),
          f"{host['file']}: {counter} sums to {measured}, run.json: {host['totals']}")
    return sum(int(row[counter] or 0) for row in rows)


def counted_payload(run):
    """What consumers received in the seconds in which all hosts counted: on a busy machine one may have begun late."""
    begins = [min(int(row["second"]) for row in host_rows(run, host) if row["rxe0.rcvd_pkts"])
              for host in run.json["hosts"]]
    payload = sum(int(row["received_bytes"]) for name, rows in run.rows().items() if "consumer" in name
                  for row in rows if int(row["second"]) >= max(begins))
    check(payload > 0, f"counting began with the seconds {begins}")
    return payload


def host_rows(run, host):
    return list(csv.DictReader((run.directory / host["file"]).read_text().splitlines()))


def check_verbs(run, ranks, hosts):
    """The run is right, and its data went through RDMA devices."""
    check(run.status == 0, "a run that must succeed" + report(run))
    check_complete(run, ranks)
    check(run.json["plan"]["verify"] == "full", run.json["plan"]["verify"])
    check([host["name"] for host in run.json["hosts"]] == hosts, f"hosts {run.json['hosts']}")
    check_transports_of_ucx(run, ranks)

    payload = counted_payload(run)
    for host in run.json["hosts"]:
        check(counted(run, host, "rxe0.sent_pkts") > 0, f"{host['name']} sent no RDMA packets")
        # mpirun's own connections are TCP.
        through_ip = counted(run, host, "ip.received_bytes")
        check(through_ip < payload / 10, f"{host['name']}: {through_ip} bytes through IP, {payload} of payload")
    packets = sum(counted(run, host, "rxe0.rcvd_pkts") for host in run.json["hosts"])
    check(packets * PACKET_BYTES >= payload, f"{packets} RDMA packets received, with {payload} bytes of payload")
    # On a busy machine acknowledgements come late, and are asked for again; and the counters of a second may be read
    # too late to be those of a second.
    network = run.json["network"]
    if all(host["seconds"] > 0 for host in run.json["hosts"]):
        check(network["mechanism"] in ("nothing_counted", "lossy"), f"the word on the network: {network}")


def check_transports_of_ucx(run, ranks):
    """What UCX chose, by its log (UCX_LOG_LEVEL=info)."""
    text = run.stdout + run.stderr
    chosen = re.findall(r"(?:ep_cfg\[\d+\]|cfg#\d+).*?tag\(([^)]*)\)", text)
    check(len(chosen) >= ranks, f"UCX names {len(chosen)} choices, {ranks} ranks" + report(run))
    for lanes in chosen:
        others = [lane
                  for lane in lanes.split() if not lane.startswith(("self/", "rc_verbs/rxe0:1", "ud_verbs/rxe0:1"))]
        check("rc_verbs/rxe0:1" in lanes and not others, f"UCX chose {lanes}")
    if run.json["plan"]["transport"] != "send":
        one_sided = re.findall(r"(?:ep_cfg\[\d+\]|cfg#\d+).*?rma\(([^)]*)\)", text)
        lanes = {lane for chosen in one_sided for lane in chosen.split() if not lane.startswith("self/")}
        check(lanes == {"rc_verbs/rxe0:1"}, f"for one-sided transfers UCX chose {lanes}" + report(run))


# To a user whose memory may not be locked the kernel applies the limit; to root it does not.
AS_USER = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--bounding-set=-all",
           "--inh-caps=-all")
CHECKS = {
    "little_locked_memory": f"ulimit -l 64; cd /run/tmp; {shlex.join(AS_USER)}",
    **({"right": "", "wrong_gid": "UCX_IB_GID_INDEX=7", "wrong_device": "UCX_NET_DEVICES=rxe7:1"} if LONG else {}),
}


def one_machine():
    """Transports, proof that damage would be found, and what `weir check` finds in right and wrong settings."""
    transports = tuple(transport for transport in TRANSPORTS if LONG or transport == "put")
    # On a busy machine the counters' first rows are empty, up to the fourth second, and so may one second be.
    cases = {transport: (RANKS, *LAYOUT, *DATA, "--duration", "6s", *transport_options(transport))
             for transport in transports}
    if LONG:
        cases["damaged"] = (3, *DATA, "--duration", "1s", "--inject", "corrupt-payload:producer=0,event=3,chunk=0")
    # All in one boot.
    # A user may not be let into the directory of the program.
    lines = [shlex.join(["cp", WEIR, "/run/tmp/weir"])]
    for name, (ranks, *options) in cases.items():
        words = ["mpirun", "-np", str(ranks), WEIR, "run", "--out", name, "--idle", "nap", "--silence-timeout", "30s",
                 *options]
        lines.append(f"{shlex.join(words)} > {name}.stdout 2> {name}.stderr; echo $? > {name}.status")
    for name, before in CHECKS.items():
        words = ["mpirun", "-np", "3", "/run/tmp/weir", "check", "--idle", "nap", "--probe", "500ms", *DATA[:6],
                 "--json"]
        lines.append(f"({before} {shlex.join(words)}) > {name}.stdout 2> {name}.stderr; echo $? > {name}.status")
    Path("cases.sh").write_text("\n".join(lines) + "\n")
    done = soft_roce("exec", "--", "sh", "cases.sh")
    check(done.returncode == 0, f"exit status {done.returncode}: {done.stdout}{done.stderr}")

    def run_of(name):
        return Run(name, int(Path(f"{name}.status").read_text()), Path(f"{name}.stdout").read_text(),
                   Path(f"{name}.stderr").read_text(), 0)

    for transport in transports:
        check_verbs(run_of(transport), RANKS, ["roce1"])
    if LONG:
        damaged = run_of("damaged")
        check(damaged.status == 1 and damaged.json["status"] == "failed", "damage was not found" + report(damaged))
        check([fault["kind"] for fault in damaged.json["faults"]] == ["corrupt_payload"], f"{damaged.json['faults']}")
    for name in CHECKS:
        check_settings(name, run_of(name))


def check_settings(name, run):
    check(run.status == (0 if name == "right" else 3), f"weir check, {name}" + report(run))
    # UCX writes its log there, too.
    result = json.loads("".join(line for line in run.stdout.splitlines() if not line.startswith("[")))
    serious = [finding for finding in result["findings"] if finding["severity"] == "serious"]
    if name == "right":
        check(not serious, serious)
        check(result["probe"]["hosts"][0]["message_layer"] == "ucx", result["probe"]["hosts"])
        check(all(pair["reached"] for pair in result["probe"]["pairs"]), result["probe"]["pairs"])
        return
    said = {"wrong_gid": "UCX_IB_GID_INDEX", "wrong_device": "rxe7",
            "little_locked_memory": "a process may lock 64 KiB"}[name]
    check(any(said in finding["what"] and "roce1" in finding["hosts"] for finding in serious), f"{name}: {serious}")


def over_the_link(transport, *more, seconds=2, layout=LAYOUT, ranks=RANKS):
    """A run on two machines, and the packets of its capture by operation."""
    name = Path.cwd() / f"{transport}{len(more)}"
    done = soft_roce("run", "--machines", "2", "--capture", f"{name}.pcap", *more, "--", "weir", "run",
                     "--out", str(name), *layout, *DATA, "--duration", f"{seconds}s", *transport_options(transport))
    run = Run(name, done.returncode, done.stdout, done.stderr, 0)
    check_verbs(run, ranks, ["roce1", "roce2"])
    check({(rank["role"], rank["host"]) for rank in run.json["ranks"]}
          == {("scheduler", "roce1"), ("producer", "roce1"), ("consumer", "roce2")}, f"{run.json['ranks']}")
    packets = capture.read(f"{name}.pcap")
    carried = sum(packets[operation] for operation in TRANSPORTS[transport]) * PACKET_BYTES
    payload = run.json["totals"]["received_bytes"]
    check(carried >= payload, f"{payload} bytes of payload, on the link {packets}")
    of_consumers = counted(run, run.json["hosts"][1], "rxe0.rcvd_pkts")
    check(of_consumers * PACKET_BYTES >= counted_payload(run), f"roce2 received {of_consumers} RDMA packets")
    return run, packets


def two_machines():
    for transport in TRANSPORTS:
        _, packets = over_the_link(transport)
        check(packets["SEND"] > 0 and packets["acknowledgement"] > 0, f"{packets}")


def lossy_link():
    """What the link loses is sent again, and the verdict on the network has it."""
    run, _ = over_the_link("send", "--loss", "1%", seconds=10)
    network = run.json["network"]
    check(network["mechanism"] == "lossy", network)
    check("completer_retry_err" in network["evidence"], network)


def many_ranks():
    over_the_link("send", seconds=20, layout=("--producers", "2", "--consumers", "3"), ranks=6)


skip_unless_possible()
os.environ["UCX_LOG_LEVEL"] = "info"
main(one_machine, *((two_machines, lossy_link, many_ranks) if LONG else ()))
