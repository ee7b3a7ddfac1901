"""A file system that stalls when the run is over: what was measured is not lost, and the run is not called failed.

A pipe in a file's place stalls whoever opens it for writing, until somebody opens it for reading."""

import os
import signal
import socket
import sys
import time
from pathlib import Path

from weir_run import Background, check, check_status, main

OPTIONS = ["--producers", "1", "--consumers", "2", "--rate", "50Mb/s", "--event-size", "1MiB", "--warmup", "500ms",
           "--duration", "3s"]
# Longer than exchanges of small messages may take at the end.
STALLS_FOR_S = 10
ENDS_WITHIN_S = 10
# Longer than ranks wait for each other at the end.
ENDS_FOR_S = 45


def read_all(reader):
    """What is in the pipe now."""
    content = b""
    try:
        while part := os.read(reader, 65536):
            content += part
    except BlockingIOError:
        pass
    return content


def stalled(name, meanwhile=lambda run: None):
    """(how a run ended whose leader waited for this file, what was written to it)"""
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
    meanwhile(run)
    # Without waiting for whoever may never come to write.
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        while run.process.poll() is None and time.monotonic() < begin + STALLS_FOR_S + ENDS_FOR_S:
            content += read_all(reader)
            time.sleep(0.01)
        content += read_all(reader)  # what was written just before the end
    finally:
        os.close(reader)
    # The pipe has the file's name by now.
    (run.directory / name).unlink()
    (run.directory / name).write_bytes(content)
    check(content, f"nothing was written to {name}")
    return run.end(10), content


def check_undisturbed(ended):
    check(ended.status == 0, f"exit status {ended.status}: {ended.stderr}")
    check("weir run:" not in ended.stderr, ended.stderr)


def traffic_stalls():
    ended, content = stalled("traffic.csv")
    check_undisturbed(ended)
    check(content.startswith(b"producer,consumer,"), content[:100])
    check(ended.json["status"] == "complete", ended.json["status"])


def record_stalls():
    ended, content = stalled("run.json")
    check_undisturbed(ended)
    check(b'"status": "complete"' in content, content[:300])


def stopped_at_the_end():
    """A rank that does not come to the end of a run that is complete: the record stays, and one line names the rank."""
    ended, content = stalled("run.json", lambda run: run.send(3, signal.SIGSTOP))
    check(b'"status": "complete"' in content, content[:300])
    check_status(ended, 1)
    lines = [line.strip("\0") for line in ended.stderr.splitlines() if "weir run:" in line]
    check(len(lines) == 1 and "complete and recorded, but rank 3 (consumer 1 on " in lines[0], ended.stderr)


def slow_disk(rank, number, status, words):
    """What ends a run early is written and printed at once, whatever the disk has to write for others."""
    run = Background(4, *OPTIONS[:-1], "60s", "--silence-timeout", "2s", environment={"LD_PRELOAD": sys.argv[1]})
    run.wait_for_seconds(1)
    run.send(rank, number)
    ended = run.end(ENDS_WITHIN_S)
    said = f"{ended.json['failure']}\n{ended.stderr}"
    check(ended.json["status"] == status, said)
    check(all(word in ended.json["failure"]["what"] for word in words), said)
    lines = {line.strip("\0") for line in ended.stderr.splitlines() if "weir run:" in line}
    check(lines <= {f"weir run: {ended.json['failure']['what']}"}, said)


def signal_on_a_slow_disk():
    slow_disk(0, signal.SIGTERM, "interrupted", ["signal 15"])


def killed_consumer_on_a_slow_disk():
    slow_disk(3, signal.SIGKILL, "failed", ["rank 3 (consumer 1 on ", "gone"])


main(traffic_stalls, record_stalls, stopped_at_the_end, signal_on_a_slow_disk, killed_consumer_on_a_slow_disk,
     at_once=3)
