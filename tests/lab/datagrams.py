"""Datagrams in a lab: they find its network by themselves, what the switch drops is in no counter of a host, and a path
that does not take them is an error that names both hosts. Hosts that have one name are told apart."""

import json

from lab_command import check_nothing_left, lab, lab_or_fail, machine, skip_unless_possible, take_down
from weir_run import WEIR, check, main

RUN = ["run", "--transport", "datagram", "--event-size", "64KiB", "--duration", "2s", "--warmup", "1s", "--out"]
OPTIONS = ["--", "weir", *RUN]
# For `weir run` alone the lab passes which hosts are producers.
WITH_ONE_NAME = ["--", "bash", "-c", 'hostname same && exec "$@"', "bash", WEIR, RUN[0], "--producers", "2", *RUN[1:]]


def run_json(directory):
    with open(f"{directory}/run.json", encoding="utf-8") as file:
        return json.load(file)


def losses_and_a_path_that_does_not_take_them():
    before = machine()
    try:
        lab_or_fail("up", "--producers", "2", "--consumers", "1", "--link", "100Mb/s", "--buffer", "32KiB")
        # Two bursts at a time are more than the switch has room for.
        lab("run", *WITH_ONE_NAME, "lossy", "--generation", "steady", "--rate", "30Mb/s", limit_s=60)
        record = run_json("lossy")
        names = ["same", "same-2", "same-3", "same-4"]
        check([rank["host"] for rank in record["ranks"]] == names, f"{record['ranks']}")
        check([host["name"] for host in record["hosts"]] == names, f"{record['hosts']}")
        check("4 machines have the host name same" in record["environment"]["hosts_told_apart"][0],
              f"{record['environment']}")
        account = record["datagrams"]
        check(account["missing"] > 0, f"{account}")
        check(account["sent"] == account["received"] + account["missing"] + account["late"], f"{account}")
        check(account["unexplained"] + sum(account["explained"].values()) >= account["missing"], f"{account}")
        check(account["unexplained"] > 0, f"{account}")
        check(account["wire"]["mtu_bytes"] == 1500, f"{account}")

        lab_or_fail("exec", "fn01", "--", "ip", "link", "set", "dev", "eth0", "mtu", "1400")
        stuck = lab("run", *OPTIONS, "stuck", "--rate", "1Mb/s", limit_s=60)
        check(stuck.returncode == 1, f"exit status {stuck.returncode}: {stuck.stderr}")
        for words in ("no datagram of 1472 bytes from eb0", "has been received by fn01 at 198.18.", "MTUs"):
            check(words in stuck.stderr, f"'{words}' is not in: {stuck.stderr}")
            check(words in run_json("stuck")["failure"]["what"], f"{run_json('stuck')['failure']}")
        lab_or_fail("down")
        check_nothing_left(before)
    finally:
        take_down()


skip_unless_possible()
main(losses_and_a_path_that_does_not_take_them)
