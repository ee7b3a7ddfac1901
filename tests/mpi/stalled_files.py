"""A file system that stalls when the run is over: what was measured is not lost, and the run is not called failed.

A pipe in a file's place stalls whoever opens it for writing, until somebody opens it for reading."""

import os
import socket
import time
from pathlib import Path

from weir_run import Background, check, main

OPTIONS = ["--producers", "1", "--consumers", "2", "--rate", "50Mb/s", "--event-size", "1MiB", "--warmup", "500ms",
           "--duration", "3s"]
# Longer than exchanges of small messages may take at the end.
STALLS_FOR_S = 10


def stalled(name):
    run = Background(4, *OPTIONS)
    run.wait_for_seconds(1)
    # Files that are written as a whole get this name first.
    pipe = Path(f"{run.directory}/{name}.{socket.gethostname()}-{run.pids()[0]}.tmp")
    os.mkfifo(pipe)
    content = b""
    begin = time.monotonic()
    while time.monotonic() < begin + 2 + STALLS_FOR_S:
        check(run.process.poll() is None, "the run did not wait: " + run.text())
        time.sleep(0.05)
    # Without waiting for whoever may never come to write.
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        while run.process.poll() is None and time.monotonic() < begin + STALLS_FOR_S + 20:
            try:
                content += os.read(reader, 65536)
            except BlockingIOError:
                pass
            time.sleep(0.01)
    finally:
        os.close(reader)
    # The pipe has the file's name by now.
    (run.directory / name).unlink()
    (run.directory / name).write_bytes(content)
    ended = run.end(10)
    check(ended.status == 0, f"exit status {ended.status}: {ended.stderr}")
    check("weir run:" not in ended.stderr, ended.stderr)
    check(content, f"nothing was written to {name}")
    return ended, content


def traffic_stalls():
    ended, content = stalled("traffic.csv")
    check(content.startswith(b"producer,consumer,"), content[:100])
    check(ended.json["status"] == "complete", ended.json["status"])


def record_stalls():
    _, content = stalled("run.json")
    check(b'"status": "complete"' in content, content[:300])


main(traffic_stalls, record_stalls)
