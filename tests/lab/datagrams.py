"""Datagrams in a lab: they find its network by themselves, what the switch drops is in no counter of a host, and a path
that does not take them is an error that names both hosts."""

import json

from lab_command import check_nothing_left, lab, lab_or_fail, machine, skip_unless_possible, take_down
from weir_run import check, main

OPTIONS = ["--", "weir", "run", "--transport", "datagram", "--event-size", "64KiB", "--duration", "2s", "--warmup", "1s", "--out"]


def run_json(directory):
    with open(f"{directory}/run.json", encoding="utf-8") as file:
        return json.load(file)


def losses_and_a_path_that_does_not_take_them():
    before = machine()
    try:
        lab_or_fail("up", "--producers", "2", "--consumers", "1", "--link", "100Mb/s", "--buffer", "32KiB")
        # Two bursts at a time are more than the switch has room for.
        lab("run", *OPTIONS, "lossy", "--generation", "steady", "--rate", "30Mb/s", limit_s=60)
        account = run_json("lossy")["datagrams"]
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
