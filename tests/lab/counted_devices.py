"""Counters of devices that are made up, on two hosts: the names of drivers, names that nobody knows, and devices that
vanish or are renamed in mid-run. A host is a network namespace with a /sys/class/infiniband of its own; what its
interface's driver counts is answered by ethtool_shim.c."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lab_command import SKIPPED, skip_unless_possible
from weir_run import WEIR, check, main, skip_without_ucx

NAMES = [f"weir-test-{os.getpid()}-{host}" for host in "ab"]
ADDRESS = "10.77.1.1:7101"
OPTIONS = ["--producers", "1", "--consumers", "1", "--rate", "20Mb/s", "--interval", "500ms", "--event-size", "100kB",
           "--idle", "nap", "--duration", "4s", "--warmup", "500ms", "--drain", "5s"]
# $1: the host's name, $2: counters of the RDMA device $DEVICE that rise by 20000 a second, $3: after how many quarters
# of a second $4 is done.
HOST = r"""
set -e
hostname $1
mkdir net && cp -a /sys/class/net/. net/ && mount -t tmpfs none /sys/class && mkdir /sys/class/infiniband
cp -a net /sys/class/net
port=/sys/class/infiniband/$DEVICE/ports/1
mkdir -p $port/hw_counters
echo '4: ACTIVE' > $port/state; echo Ethernet > $port/link_layer; echo '400 Gb/sec (4X NDR)' > $port/rate
(for i in $(seq 0 60); do
    kill -0 $$ || break  # the rank has ended
    [ $i != $3 ] || eval "$4"
    for name in $2; do echo $((100 + i * 5000)) > $port/hw_counters/$name; done
    sleep .25
done) > /dev/null 2>&1 &
sleep .2
shift 4
exec "$@"
"""


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


def make_hosts():
    for name in NAMES:
        ip("netns", "add", name)
    ip("link", "add", "eth0", "netns", NAMES[0], "type", "veth", "peer", "name", "eth0", "netns", NAMES[1])
    for number, name in enumerate(NAMES):
        ip("-n", name, "addr", "add", f"10.77.1.{number + 1}/24", "dev", "eth0")
        for interface in ("eth0", "lo"):
            ip("-n", name, "link", "set", interface, "up")
    time.sleep(2)  # until addresses of IPv6 are no longer tentative


def remove_hosts():
    for name in NAMES:
        subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)


def network(device, counters, quarter=1000, what="true", ethtool=""):
    """run.json's `network` and `hosts` of a run on both hosts."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "ethtool").write_text(ethtool)
        token = Path(directory, "token")
        token.write_text("a token of more than sixteen bytes\n")
        token.chmod(0o600)
        environment = dict(os.environ, UCX_TLS="tcp", DEVICE=device, ETHTOOL_SHIM=f"{directory}/ethtool")
        if ethtool:
            environment["LD_PRELOAD"] = SHIM
        processes = []
        for number, host in ((0, "hA"), (1, "hB"), (0, "hA")):
            own = Path(directory, str(len(processes)))
            own.mkdir()
            words = ["ip", "netns", "exec", NAMES[number], "unshare", "--uts", "--mount", "bash", "-c", HOST, "bash",
                     host, counters, str(quarter), what, WEIR, "run", "--join", ADDRESS, "--join-token", str(token),
                     "--out", f"{directory}/run", *OPTIONS, *([] if processes else ["--ranks", "3"])]
            processes.append(subprocess.Popen(words, cwd=own, env=environment, text=True, stdout=subprocess.PIPE,
                                              stderr=subprocess.STDOUT))
            time.sleep(0.5)
        printed = [process.communicate(timeout=60)[0] for process in processes]
        check(processes[0].returncode == 0, f"exit status {processes[0].returncode}: {printed}")
        record = json.loads(Path(directory, "run/run.json").read_text())
    return record["network"], record["hosts"]


def says(found, mechanism, *parts):
    judged, _ = found
    if mechanism != "lossy" and judged["mechanism"] == "lossy" and "retransmitted: " in judged["evidence"]:
        print(f"not checked: the machine is so busy that TCP sent again: {judged['evidence']}")
        return
    check(judged["mechanism"] == mechanism, judged)
    for part in parts:
        check(part in judged["evidence"], f"{part} in {judged['evidence']}")


def known_names():
    found = network("ionic_0", "tx_rdma_retx_pkts req_rx_pkt_seq_err rx_rdma_ecn_pkts")
    says(found, "lossy", "req_rx_pkt_seq_err", "tx_rdma_retx_pkts", "ECN slowed senders: ", "rx_rdma_ecn_pkts")
    for host in found[1]:
        check(min(host["families"][family] for family in ("rdma_retransmissions", "ecn_marked_packets")) > 40000, host)


def names_that_nobody_knows():
    says(network("nic9_0", "rx_foo rx_bar"), "nothing_counted", " known counters of 2 hosts",
         "2 counters of nic9_0 on 2 hosts moved whose meaning is not known: ")
    says(network("nic9_0", "tx_pkts_retx rx_foo"), "unknown", "unknown: no loss", " tx_pkts_retx")


def what_drivers_count():
    found = network("none", "", ethtool="rx_drops_no_pbuf 4294960000 5000\nrx_address_filtered 0 900\n"
                                        "frames_rx_pripause 0 14\nrx_pripause_3_1us_count 0 14000\n"
                                        "rx_prio3_pause 0 0\nrx_prio3_pause 0 400\n")
    says(found, "lossy", "hosts dropped ", "rx_drops_no_pbuf", "PFC paused senders: ", " rx_prio3_pause",
         " frames_rx_pripause", "s of rx_pripause_3_1us_count")
    check("address_filtered" not in found[0]["evidence"], found[0])
    says(network("none", "", ethtool="odd thing dropped 0 500\n"), "unknown", "odd_thing_dropped")


def devices_that_vanish():
    found = network("mlx5_0", "out_of_sequence packet_seq_err", 18,
                    "rm -rf /sys/class/infiniband/mlx5_0 /sys/class/net/eth0")
    says(found, "lossy", " out_of_sequence (", "in part of the run", "the counters of mlx5_0 on ",
         " counters of eth0 on ", " and 1 other host are missing, first from second ")
    check(all(gap["what"] == "gone" for host in found[1] for gap in host["gaps"]), found[1])


skip_unless_possible()
skip_without_ucx()
if shutil.which("cc") is None:
    print("skipped: there is no C compiler")
    sys.exit(SKIPPED)
with tempfile.TemporaryDirectory() as built:
    SHIM = f"{built}/ethtool_shim.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", SHIM, Path(__file__).with_name("ethtool_shim.c"), "-ldl"],
                   check=True)
    try:
        make_hosts()
        main(known_names, names_that_nobody_knows, what_drivers_count, devices_that_vanish)
    finally:
        remove_hosts()
