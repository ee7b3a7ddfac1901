"""weir check in a lab: hosts that are alike pass, and one with another MTU is named. Argument: Open MPI's path to TCP."""

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


skip_unless_possible()
main(another_mtu_is_named)
