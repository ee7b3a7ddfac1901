"""A file system without room for the run directory: the run ends soon, with one message that names file and reason."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from weir_run import Background, check, check_status, main

OPTIONS = ["--producers", "3", "--consumers", "4", "--rate", "50Mb/s", "--event-size", "1MiB", "--warmup", "1s",
           "--duration", "60s"]
ENDS_WITHIN_S = 10
SKIPPED = 77


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def full_disk():
    if os.geteuid() != 0:
        skip("only root can mount a small file system")
    place = Path(tempfile.mkdtemp(prefix="weir-full-", dir="."))
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "weir-test", str(place)], check=False,
                             capture_output=True, text=True)
    if mounted.returncode != 0:
        skip(f"cannot mount a small file system here ({mounted.stderr.strip()})")
    try:
        # Room for the directories, none for what run.json and the logs hold.
        with open(place / "filler", "wb", buffering=0) as filler:
            filler.write(b"\0" * 56 * 1024)
        ended = Background(8, *OPTIONS, directory=place / "run").end(3 * ENDS_WITHIN_S)  # its start is in it
        check_status(ended, 1)
        check("No space left on device" in ended.stderr and str(place) in ended.stderr,
              f"stderr does not name the file and the reason: {ended.stderr}")
        check(ended.stderr.count("weir run:") == 1, f"said more than once: {ended.stderr}")
    finally:
        subprocess.run(["umount", "-l", str(place)], check=False)


main(full_disk)
