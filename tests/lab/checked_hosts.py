"""weir check in a lab: hosts that are alike pass, and one with another MTU is named. Argument: Open MPI's path to
TCP."""

import json
import sys

from lab_command import check_nothing_left, lab, lab_or_fail, machine, skip_unless_possible, take_down
from weir_run import check, main

PML = sys.argv[1]


def weir_check():
    return lab("run", "--pml", PML, "--", "weir", "check", "--rate", "10Mb/s", "--probe", "1s", limit_s=60)


def another_mtu_is_named():
    before = machine()
    try:
        lab_or_fail("up", "--producers", "2", "--consumers", "2", "--link", "100Mb/s")
        clean = weir_check()
        check(clean.returncode == 0, f"exit status {clean.returncode} of equal hosts: {clean.stdout}{clean.stderr}")
        check("4 of 4 pairs of the plan tried, 4 answered" in clean.stdout, clean.stdout)
        check("MTU is" not in clean.stdout, clean.stdout)

        lab_or_fail("exec", "fn02", "--", "ip", "link", "set", "dev", "eth0", "mtu", "1400")
        differs = weir_check()
        check(differs.returncode == 3, f"exit status {differs.returncode}: {differs.stdout}{differs.stderr}")
        check("SERIOUS  fn02: MTU is 1400 B, but 1500 B on 4 hosts" in differs.stdout, differs.stdout)
        check(differs.stdout.count("SERIOUS") == 1, differs.stdout)
        lab_or_fail("down")
        check_nothing_left(before)
    finally:
        take_down()


def a_probe_is_never_faster_than_the_link():
    before = machine()
    try:
        for speed_mbps in (10, 50, 100):
            lab_or_fail("up", "--producers", "2", "--consumers", "2", "--link", f"{speed_mbps}Mb/s")
            done = lab("run", "--pml", PML, "--", "weir", "check", "--rate", "1Mb/s", "--probe", "80ms",
                       "--json", limit_s=60)
            pairs = json.loads(done.stdout)["probe"]["pairs"]
            check(len(pairs) == 4 and all(pair["reached"] for pair in pairs), pairs)
            rates_mbps = [pair["bits_per_second"] / 1e6 for pair in pairs]
            print(f"{speed_mbps} Mb/s: {min(rates_mbps):.1f} to {max(rates_mbps):.1f} Mb/s")
            check(0.2 * speed_mbps < min(rates_mbps) and max(rates_mbps) <= speed_mbps,
                  f"{rates_mbps} on {speed_mbps} Mb/s")
            lab_or_fail("down")
        check_nothing_left(before)
    finally:
        take_down()


skip_unless_possible()
main(another_mtu_is_named, *((a_probe_is_never_faster_than_the_link,) if PML == "ob1" else ()))
