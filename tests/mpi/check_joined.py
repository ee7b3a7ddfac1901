"""`weir check --join`: hosts without MPI, each made up and with a name of its own, are compared by rank 0. Processes of
something else are refused; one that is killed or stands still ends the check."""

import atexit
import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))
from joined import ENVIRONMENT, Joined, free_port, kill_all  # noqa: E402
from made_up_host import Host  # noqa: E402
from weir_run import WEIR, check, main

NAMED = ["unshare", "--map-root-user", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"']
PLAN = ("--producers", "1", "--rate", "100Mb/s")
ENDS_WITHIN_S = 15


class Check:
    """Rank 0 has the options, the others the address alone; all have a host of their own."""

    def __init__(self, *options):
        self.address = f"127.0.0.1:{free_port()}"
        self.processes = []
        self.options = options

    def start(self, host, command="check", own=(), variables=None):
        """`own`: options beside those of its place, `host`: (name of it, root directory), or nothing."""
        mine = own if self.processes else (*own, *self.options)
        words = [*([*NAMED, host[0]] if host else []), WEIR, command, "--join", self.address,
                 *(["--root", host[1]] if host else []), *mine]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=ENVIRONMENT | (variables or {}))
        Joined.everyone.append(process)
        self.processes.append(process)
        return process

    def wait_for_all_but(self, missing):
        """Until rank 0 says that it waits for so many."""
        while f"for {missing} of " not in (line := self.processes[0].stderr.readline()):
            check(line, "rank 0 has ended")

    def end(self):
        """The exit statuses, and what rank 0 has printed."""
        first, *_ = said = [process.communicate(timeout=ENDS_WITHIN_S) for process in self.processes]
        self.said = "\n".join(out + err for out, err in said)
        return [process.returncode for process in self.processes], *first


def hosts(directory):
    roots = {name: Host(Path(directory, name)) for name in ("ctl01", "eb01", "fn01")}
    for host in roots.values():
        host.write("sys/class/net/eth1/mtu", "9000")
    return roots


def compared(*options, variables=None):
    """Of three hosts, the last of which has another MTU, or other variables."""
    with tempfile.TemporaryDirectory() as directory:
        roots = hosts(directory)
        if variables is None:
            roots["fn01"].write("sys/class/net/eth1/mtu", "1500")
        joined = Check("--ranks", "3", *PLAN, *options)
        for name, host in roots.items():
            joined.start((name, str(host.root)), variables=variables if name == "fn01" else None)
        return joined.end()


def a_difference_is_found():
    statuses, out, err = compared()
    check(statuses == [3, 3, 3], f"{statuses}\n{out}\n{err}")
    check("weir check: 3 hosts with 1 producer, 1 consumer, 1 scheduler" in out, out)
    check("SERIOUS  fn01: MTU is 1500 B, but 9000 B on 2 hosts" in out, out)
    check(out.endswith("No probe without MPI: `weir run --join` measures the network.\n"), out)


def variables_of_ucx_count_and_those_of_mpi_do_not():
    """And UCX's device is where data go, whatever Open MPI would take."""
    statuses, out, err = compared("--json", variables={"UCX_NET_DEVICES": "eth1", "OMPI_MCA_pml": "ob1"})
    result = json.loads(out)
    check(statuses == [3, 3, 3], f"{statuses}\n{err}")
    serious = [finding["what"] for finding in result["findings"] if finding["severity"] == "serious"]
    check(any("UCX_NET_DEVICES" in what for what in serious) and "OMPI" not in out, serious)
    by_name = {host["host"]: host["expected_because_of"] for host in result["hosts"]}
    check(result["probe"] is None and sorted(by_name) == ["ctl01", "eb01", "fn01"], by_name)
    check(by_name["fn01"] == "UCX_NET_DEVICES", by_name)


def refusals():
    """A process of a run has no place in a check, and the check goes on without it."""
    joined = Check("--ranks", "3", *PLAN)
    joined.start(None)
    for command, variables, why in (
            ("run", {}, "start the same command of the same build"),
            ("check", {"WEIR_JOIN_TOKEN": "another token for tests"}, "the token is not that of rank 0")):
        stranger = joined.start(None, command=command, variables=variables)
        joined.processes.remove(stranger)
        _, err = stranger.communicate(timeout=ENDS_WITHIN_S)
        check(stranger.returncode == 1 and why in err and err.startswith(f"weir {command}: "), err)
    joined.start(None)
    joined.start(None)
    statuses, out, err = joined.end()
    check(len(set(statuses)) == 1 and statuses[0] in (0, 3) and "weir check: 1 host with" in out, joined.said)


def disturbed(victim, number, *options):
    """All but the last have joined; then one is gone, or stands still."""
    joined = Check("--ranks", "4", *PLAN, *options)
    for _ in range(3):
        joined.start(None)
    joined.wait_for_all_but(1)
    process = joined.processes[victim]
    process.send_signal(number)
    joined.start(None)
    deadline = time.monotonic() + ENDS_WITHIN_S
    others = [other for other in joined.processes if other is not process]
    statuses = [other.wait(max(0.1, deadline - time.monotonic())) for other in others]
    process.kill()
    said = [other.stderr.read() for other in others]
    check(all(status == 1 for status in statuses), f"{statuses}: {said}")
    return said[0]


def a_member_that_is_killed():
    said = disturbed(1, signal.SIGKILL)
    check("weir check: rank 0: rank " in said and "has closed its connection" in said, said)


def a_member_that_stands_still():
    said = disturbed(2, signal.SIGSTOP, "--silence-timeout", "2s")
    check("has had no sign of life of rank " in said, said)


def without_names():
    return subprocess.run([*NAMED, "fn01", "true"], capture_output=True, check=False).returncode != 0


atexit.register(kill_all)
NEED_NAMES = () if without_names() else (a_difference_is_found, variables_of_ucx_count_and_those_of_mpi_do_not)
main(*NEED_NAMES, refusals, a_member_that_is_killed, a_member_that_stands_still, at_once=2)
