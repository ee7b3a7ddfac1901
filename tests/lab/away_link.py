"""A link that is away for a while, and is back before anyone is given up: the network is named as the cause, with the
consumer that was cut off, and not a rank that stood still, on hosts whose idle ranks nap."""

import sys
import time

from lab_command import LAB, NAME, check_nothing_left, lab_or_fail, machine, skip_unless_possible, take_down
from weir_run import Background, check, main

AWAY_S = 1.5
OPTIONS = ("--rate", "60Mb/s", "--event-size", "256KiB", "--interval", "500ms", "--duration", "9s", "--warmup", "1s",
           "--drain", "20s", "--idle", "nap", "--silence-timeout", "30s")


def the_network_is_named():
    before = machine()
    try:
        lab_or_fail("up", "--producers", "2", "--consumers", "2", "--link", "200Mb/s")
        run = Background(0, command=[LAB, "run", "--name", NAME, "--", "weir", "run", "--out", "run", *OPTIONS])
        run.wait_for_seconds(1, limit_s=30)
        lab_or_fail("exec", "switch", "--", "ip", "link", "set", "dev", "fn01", "down")
        time.sleep(AWAY_S)
        lab_or_fail("exec", "switch", "--", "ip", "link", "set", "dev", "fn01", "up")
        ended = run.end(60)
        check(ended.json["status"] == "complete", f"{ended.json['failure']}")
        verdict = ended.json["verdict"]
        check([cause["what"] for cause in verdict["causes"]] == ["network-failure"], verdict["text"])
        check("at consumer 0 on fn01. Nothing came to it from " in verdict["text"], verdict["text"])
    finally:
        take_down()
    check_nothing_left(before)


skip_unless_possible()
sys.exit(main(the_network_is_named))
