"""UCX may end a process by abort() when it loses a peer: not that process is named as the cause, but the peer on
another host. Skipped where this weir cannot use UCX."""

import re
import signal
import sys
import time
from pathlib import Path

from lab_command import TOP, skip_unless_possible
from weir_run import WEIR, check, main, skip_without_ucx

sys.dont_write_bytecode = True
sys.path.insert(0, str(TOP / "bench"))
import studies  # noqa: E402

recovery = studies.load("recovery")


def catches_abort(pid):
    """Whether the process has installed the handler that tells of an abort: on a busy machine it takes its time."""
    caught = re.search(r"^SigCgt:\s*([0-9a-f]+)$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return bool(int(caught.group(1), 16) >> (signal.SIGABRT - 1) & 1)


def named_is_the_peer():
    for begun in (lambda run: run.record() != {}, lambda run: run.seconds() >= 1):
        directory = Path(f"run{len(list(Path('.').iterdir()))}").resolve()
        directory.mkdir()
        with recovery.Lab(WEIR, directory) as run:
            run.start_all("--duration", "20s")
            run.wait(lambda begun=begun, run=run: begun(run), 30)
            run.wait(lambda run=run: catches_abort(run.pid("eb01")), 30)
            # The record is written a moment before the others go on, and UCX is used only after that.
            time.sleep(0.5)
            run.signal("eb01", signal.SIGABRT)
            time.sleep(0.02)
            run.signal("eb02", signal.SIGKILL)
            run.wait(lambda run=run: run.is_over(("eb02",)), 20)
            record = run.record()
        hosts = [rank["host"] for rank in record["ranks"]]
        check(hosts == list(recovery.HOSTS), f"{hosts}")  # a consumer on eb02 would be outlived
        check(record["failure"]["host"] == "eb02", f"{record['failure']}")


skip_unless_possible()
skip_without_ucx()
main(named_is_the_peer)
