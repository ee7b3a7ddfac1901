"""The cause at the end of a measured run: from what was observed and from its twins, unless --explain off; weir explain
says the same of its directory, and with --confirm makes the run again."""

import json
import subprocess

from weir_run import WEIR, check, check_complete, main, weir

LATE = ["--producers", "2", "--consumers", "2", "--rate", "400Mb/s", "--event-size", "1MB", "--busy", "fixed:30ms",
        "--slots", "1", "--duration", "3s", "--warmup", "500ms", "--interval", "200ms"]


def late(*options):
    """On a machine that has other things to do something else may hold the run up: then once more."""
    for attempt in range(4):
        run = weir(5, *LATE, *options, directory=f"run-{attempt}")
        check(run.status == 0, f"exit status {run.status}\n{run.stderr}")
        check_complete(run, 5)
        verdict = run.json["verdict"]
        if verdict["cause"] == "processing":
            break
    check(verdict["on_time"] is False and verdict["cause"] == "processing", verdict)
    return verdict, run


def with_twins():
    verdict, run = late()
    first = verdict["causes"][0]
    check(first["evidence"] == "observed+twin" and "In a simulation of this run, " in first["text"], first)
    check(first["remedy"].startswith("shorten processing of an event from "), first)
    check([one["what"] for one in verdict["observed"]] == ["processing"], verdict["observed"])
    shown, answer = " ".join(run.stdout.split()), verdict["answer"]
    check(f"Why {answer['because']} (likely) Do {answer['do']} " in shown, run.stdout)
    check(first["text"][first["text"].index("In a simulation of this run, "):] in shown, run.stdout)
    done = subprocess.run([WEIR, "explain", str(run.directory), "--json"], capture_output=True, text=True, check=False)
    check(done.returncode == 0, f"{done}")
    check(json.loads(done.stdout)["causes"][0]["what"] == "processing", done.stdout)


def with_what_was_observed_alone():
    verdict, _ = late("--explain", "off")
    check({one["evidence"] for one in verdict["causes"]} == {"observed"} and verdict["observed"] == [], verdict)


def refused():
    run = weir(5, *LATE, "--explain", "some")
    check(run.status == 2 and run.stderr.count("--explain: 'some' is not one of: off, fast, full") == 1, run.stderr)


def confirmed():
    """Producers that are held at three quarters of their rate are late on every machine, and on time without that."""
    run = weir(5, "--producers", "2", "--consumers", "2", "--rate", "400Mb/s", "--event-size", "1MB", "--shaping",
               "bucket:300Mb/s", "--warmup", "500ms", "--interval", "400ms", "--duration", "2s",
               "--explain", "off")
    check(run.status == 0, f"exit status {run.status}\n{run.stderr}")
    done = subprocess.run([WEIR, "explain", str(run.directory), "--confirm"], capture_output=True, text=True,
                          check=False, timeout=200)
    check(done.returncode == 0 and "\nConfirmed: with --" in done.stdout, f"{done}")
    kept = json.loads((run.directory / "explain.json").read_text())["confirmation"]
    check(kept["outcome"] == "confirmed" and (run.directory / kept["page"]).exists(), kept)
    check(kept["options"] == [{"option": "shaping", "value": "none"}], kept)
    runs = [json.loads(path.read_text()) for path in run.directory.glob("confirm/local/runs/*/run.json")]
    found = sorted((made["verdict"]["on_time"], made["plan"]["shaping"]) for made in runs)
    check(found == [(False, run.json["plan"]["shaping"])] * 3 + [(True, "none")] * 3, found)


main(with_twins, with_what_was_observed_alone, refused, confirmed)
