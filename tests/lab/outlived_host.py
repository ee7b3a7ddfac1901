"""A run goes on without a consumer whose host is cut off, and takes it in when it is back: one case of bench/study
recovery, which starts a process on each host without MPI. Skipped where this weir cannot use UCX. Argument: what
happens to the consumer."""

import csv
import subprocess
import sys

from lab_command import TOP, check_nothing_left, machine, skip_unless_possible
from weir_run import WEIR, check, main, skip_without_ucx

WHAT = sys.argv[1]


def goes_on_and_takes_it_in():
    before = machine()
    done = subprocess.run([TOP / "bench/study", "recovery", "kills", "--only", f"{WHAT} consumer measurement yes",
                           "--weir", WEIR, "--out", ".", "--allow-unpublished"],
                          capture_output=True, text=True, timeout=100, check=False)
    check(done.returncode == 0, f"exit status {done.returncode}: {done.stdout[-3000:]}{done.stderr[-3000:]}")
    with open("runs.csv", encoding="utf-8") as file:
        [line] = csv.DictReader(file)
    expected = {"what": WHAT, "returns": "yes", "status": "complete", "ledger": "agrees", "losses": "1", "left": ""}
    check(expected.items() <= line.items(), f"{line}")
    # It is disturbed for 4 s, and given up 2 s after its last sign of life or when its process ends.
    check(float(line["unnoticed_s"]) < 3.5 and 0.5 < float(line["away_s"]) < 10, f"{line}")
    check_nothing_left(before)


skip_unless_possible()
skip_without_ucx()
main(goes_on_and_takes_it_in)
