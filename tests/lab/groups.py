"""Three groups of 3 x 4 on hosts of their own: by lists of hosts, and every group is measured by itself."""

import json
from pathlib import Path

from lab_command import check_nothing_left, lab_or_fail, machine, skip_unless_possible, take_down
from weir_run import Run, check, check_complete, main

LISTS = ("ctl01,eb[01-03],fn[01-04]", "eb[04-07],fn[05-08]", "eb[08-11],fn[09-12]")


def three_groups():
    before = machine()
    try:
        lab_or_fail("up", "--producers", "11", "--consumers", "12", "--link", "100Mb/s")
        lists = [word for hosts in LISTS for word in ("--group-hosts", hosts)]
        lab_or_fail("run", "--", "weir", "run", *lists, "--producers", "3", "--consumers", "4", "--rate", "8Mb/s",
                    "--event-size", "100kB", "--duration", "3s", "--warmup", "1s", "--silence-timeout", "15s",
                    "--out", "run", limit_s=90)
        job = json.loads(Path("run/run.json").read_text(encoding="utf-8"))
        check(job["status"] == "complete", f"{job['failure']}")
        check([len(group["hosts"]) for group in job["groups"]] == [8, 8, 8],
              f"{[group['hosts'] for group in job['groups']]}")
        check(job["groups"][1]["hosts"] == [f"eb0{i}" for i in range(4, 8)] + [f"fn0{i}" for i in range(5, 9)],
              f"{job['groups'][1]['hosts']}")
        check(job["clock"]["error_us"] > 0, f"{job['clock']}")
        for group in range(3):
            check_complete(Run(f"run/group-0{group}", 0, "", "", 0), 8)
        check(job["totals"]["received_bytes"] == sum(group["totals"]["received_bytes"] for group in job["groups"]),
              f"{job['totals']}")
        lab_or_fail("down")
        check_nothing_left(before)
    finally:
        take_down()


skip_unless_possible()
main(three_groups)
