"""The report of a large run, 500 x 4000 for 20 s: time, memory, size of the page, and how long a browser needs for
it."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import time

from . import running
from .samples import Comparison

CASE = "500 x 4000, 20 s"
# No sandbox as root, no network, no profile of anybody.
BROWSER = ("--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
           "--disable-component-update",
           "--disable-sync", "--disable-dev-shm-usage", "--virtual-time-budget=30000",
           *(("--no-sandbox",) if os.geteuid() == 0 else ()), "--dump-dom")

COMPARISONS = [
    Comparison("report", CASE, f"`weir-report` of a run of {CASE}: elapsed", "elapsed", "weir", bound=3, at_least=False,
               unit="s"),
    Comparison("report", CASE, "memory of its largest process", "memory", "weir", bound=400e6, at_least=False,
               unit="B"),
    Comparison("report", CASE, "size of the page", "size", "weir", bound=1.5e6, at_least=False, unit="B"),
    Comparison("report", CASE, "until a browser has drawn the page, without its start", "drawn", "weir", bound=2,
               at_least=False, unit="s",
               optional=True),
]


def measure(options, samples):
    browser = next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path),
                   None)
    with tempfile.TemporaryDirectory(prefix="weir-peers-") as directory:
        run = pathlib.Path(directory) / "run"
        running.program([options.weir, "simulate", "--producers", 500, "--consumers", 4000, "--rate", "1Gb/s",
                         "--duration", "20s", "--quiet",
                         "--out", run])
        empty = pathlib.Path(directory) / "empty.html"
        empty.write_text("<!doctype html><title>empty</title>")
        for number in range(options.rounds):
            elapsed_s, _, memory_bytes = running.spent([options.weir.parent / "weir-report", "--quiet", run])
            samples.add("report", CASE, "weir", "elapsed", number, elapsed_s)
            samples.add("report", CASE, "weir", "memory", number, memory_bytes)
            samples.add("report", CASE, "weir", "size", number, (run / "report.html").stat().st_size)
            if browser:
                profile = pathlib.Path(directory) / f"profile-{number}"
                show(browser, profile, empty)  # which makes the profile
                start_s = show(browser, profile, empty)
                samples.add("report", CASE, "weir", "drawn", number,
                            show(browser, profile, run / "report.html", "data-figures-drawn=") - start_s)


def show(browser, profile, page, sign="</html>"):
    """Seconds until the browser has shown a page, in whose document `sign` must then be."""
    begin = time.monotonic()
    done = subprocess.run([browser, *BROWSER, f"--user-data-dir={profile}", f"file://{page}"], capture_output=True,
                          text=True, timeout=120,
                          check=False, env={**os.environ, "HOME": str(profile)})
    if sign not in done.stdout:
        raise SystemExit(f"peers: {browser} did not show {page}: {done.stderr}")
    return time.monotonic() - begin
