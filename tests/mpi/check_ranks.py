"""`weir check` under mpirun: roles as in the run, a probe between the planned pairs, the transport that MPI took."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))
from made_up_host import Host  # noqa: E402
from weir_run import MPIRUN, WEIR, check, main


def weir_check(ranks, *options):
    return subprocess.run([MPIRUN, "-np", str(ranks), WEIR, "check", *options], capture_output=True, text=True,
                          timeout=90, check=False)


def result_of(done):
    check(done.returncode == 0, f"exit status {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return json.loads(done.stdout)


def all_pairs_are_probed():
    result = result_of(weir_check(
                           6, "--producers", "2", "--consumers", "3", "--rate", "10Mb/s", "--probe", "300ms", "--json"))
    check(result["schema"] == "weir-check/1", result["schema"])
    pairs = {(pair["producer"], pair["consumer"]) for pair in result["probe"]["pairs"] if pair["reached"]}
    check(pairs == {(producer, consumer) for producer in range(2) for consumer in range(3)}, pairs)
    for pair in result["probe"]["pairs"]:
        check(pair["bytes"] > 0 and pair["bits_per_second"] > 0 and pair["round_trip_us"] > 0, pair)
    check(len(result["hosts"]) == 1 and result["hosts"][0]["versions"]["weir"], result["hosts"])


def the_message_layer_is_named():
    result = result_of(weir_check(3, "--probe", "100ms", "--json"))
    layers = {host["message_layer"] for host in result["probe"]["hosts"]}
    check(layers == {"ob1"} or layers == {"ucx"}, layers)
    for host in result["probe"]["hosts"]:
        check(all(socket.startswith(("tcp ", "udp ")) for socket in host["listening"]), host["listening"])


def ranks_that_share_cores_are_told():
    done = weir_check(8, "--probe", "0s")
    check("8 hosts" not in done.stdout and "1 host with 3 producers, 4 consumers, 1 scheduler" in done.stdout,
          done.stdout)
    check("Probe:" not in done.stdout, done.stdout)


def refusals():
    done = weir_check(4, "--producers", "5", "--consumers", "4")
    check(done.returncode == 2, f"exit status {done.returncode}: {done.stderr}")
    lines = [line for line in done.stderr.splitlines() if line.startswith("weir")]
    check(len(lines) == 1 and "--producers" in lines[0], lines)


def settings_without_which_mpi_cannot_start():
    """UCX would hang, or end the process with another message: the check ends before."""
    for variable, locked_memory, said in (("UCX_IB_GID_INDEX=9", "unlimited", "GID index 9"),
                                          ("UCX_NET_DEVICES=mlx5_7:1", "unlimited", "mlx5_7"),
                                          ("UCX_TLS=rc", "65536", "a process may lock 64 KiB")):
        with tempfile.TemporaryDirectory() as directory:
            name, _, value = variable.partition("=")
            root = Host(directory, locked_memory).root
            command = [MPIRUN, "--mca", "pml", "ucx", "-np", "4", WEIR, "check", "--root", root, "--json"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False,
                                  env=os.environ | {name: value})
        lines = [line for line in done.stderr.splitlines() if line.startswith("weir check:")]
        check(done.returncode == 3, f"{variable}: exit status {done.returncode}\n{done.stderr[-3000:]}")
        check(len(lines) == 1 and said in lines[0], f"{variable}: {done.stderr}")
        findings = json.loads(done.stdout)["findings"]
        check(any(said in finding["what"] for finding in findings if finding["severity"] == "serious"), findings)


def a_run_keeps_the_settings():
    for engine, because in (("mpi", "MPI runs without UCX"), ("ucx", "there is no active RDMA port")):
        done = subprocess.run([MPIRUN, "-np", "3", WEIR, "run", "--engine", engine, "--out", f"run-{engine}", "--rate",
                               "10Mb/s", "--event-size", "64KiB", "--duration", "1s", "--warmup", "0s", "--output",
                               "quiet"], capture_output=True, text=True, timeout=60, check=False)
        check(done.returncode == 0, done.stderr)
        with open(f"run-{engine}/run.json", encoding="utf-8") as file:
            hosts = json.load(file)["hosts"]
        settings = hosts[0]["settings"]
        check(settings["host"] == hosts[0]["name"] and settings["kernel"] and settings["cores"] > 0, settings)
        # Of data over UCX it is not asked what Open MPI would take.
        check("expected_paths" in settings and (settings["rdma_ports"] or because in settings["expected_because_of"]),
              settings)


main(all_pairs_are_probed, the_message_layer_is_named, ranks_that_share_cores_are_told, refusals,
     settings_without_which_mpi_cannot_start, a_run_keeps_the_settings, at_once=3)
