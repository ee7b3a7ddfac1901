"""A lab of six hosts: ranks run on hosts of their own, their bytes take the lab's links, and nothing is left of it."""

import json
import subprocess

from lab_command import check_nothing_left, lab, lab_or_fail, machine, skip_unless_possible, take_down
from weir_run import Run, check, check_complete, main

HOSTS = {"ctl01": "scheduler", "eb01": "producer", "eb02": "producer", "fn01": "consumer", "fn02": "consumer",
         "fn03": "consumer"}


def hosts_links_and_bytes():
    before = machine()
    # Like a container of somebody else's: not in the lab.
    nested = ["unshare", "--pid", "--fork", "--kill-child"]
    other = subprocess.Popen([*nested, *nested, "sleep", "600"])
    try:
        lab_or_fail("up", "--producers", "2", "--consumers", "3", "--link", "100Mb/s")
        up = machine()
        check(up["interfaces"] == before["interfaces"] and up["settings"] == before["settings"],
              "the lab shows in the machine's own network")
        status = json.loads(lab_or_fail("status", "--json"))
        check([host["name"] for host in status[0]["hosts"]] == ["login", *HOSTS], status)
        check(status[0]["state"] == "up" and status[0]["processes"] == 0, status)

        again = lab("up")
        check(again.returncode == 1 and "is up already" in again.stderr, again.stderr)

        verified()
        no_faster_than_the_link()
        check(json.loads(lab_or_fail("status", "--json"))[0]["processes"] == 0, "processes are left after a run")
        other.kill()
        other.wait()
        lab_or_fail("down")
        check_nothing_left(before)
        lab_or_fail("down")
    finally:
        other.kill()
        take_down()


def run_weir(directory, *options):
    done = lab("run", "--", "weir", "run", "--out", directory, *options)
    return Run(directory, done.returncode, done.stdout, done.stderr, 0)


def verified():
    run = run_weir("verified", "--rate", "40Mb/s", "--event-size", "512KiB", "--duration", "2s", "--warmup", "1s",
                   "--verify", "full", "--require", "lossless")
    check(run.status == 0, f"exit status {run.status}\n{run.stdout[-3000:]}\n{run.stderr[-3000:]}")
    check_complete(run, len(HOSTS))
    found = {rank["host"]: rank["role"] for rank in run.json["ranks"]}
    check(found == HOSTS, f"hosts and roles of the ranks: {found}")

    counters = json.loads(lab_or_fail("counters", "--json"))
    sent = sum(row["sent_bytes"] for row in counters.values() if row["role"] == "producer")
    received = sum(row["received_bytes"] for row in counters.values() if row["role"] == "consumer")
    for what, wire, payload in (("sent", sent, run.json["totals"]["sent_bytes"]),
                                ("received", received, run.json["totals"]["received_bytes"])):
        # Before the measurement the buffers travel once more: a set per producer, four slots per consumer.
        check(1.02 * payload < wire < 2.5 * payload, f"{what}: {wire} bytes on the links, {payload} bytes of payload")
    for name, row in counters.items():
        check(row["segments_sent"] > 0, f"{name} has sent nothing")


def no_faster_than_the_link():
    run = run_weir("ceiling", "--generation", "saturate", "--event-size", "1MiB", "--chunk-size", "64KiB",
                   "--duration", "3s", "--warmup", "1s", "--drain", "1s", "--buffer", "4MiB")
    check(run.status == 0, f"exit status {run.status}\n{run.stdout[-3000:]}\n{run.stderr[-3000:]}")
    for rank in run.json["ranks"]:
        if rank["role"] == "producer":
            # 94.1 of 100 Mb/s are payload at MTU 1500; how much of it a busy machine reaches is not judged here.
            rate = mean_rate(run, rank["rank"])
            check(1e6 < rate < 98e6, f"{rank['host']} sent {rate:.0f} b/s over a link of 100 Mb/s")


def mean_rate(run, rank):
    rows = next(rows for name, rows in run.rows().items() if name.startswith(f"rank-{rank:05d}"))
    bits = [8 * int(row["sent_bytes"]) for row in rows if row["phase"] == "measure"]
    return sum(bits) / len(bits)


def refusals():
    for words, said in ((("up", "--link", "200"), "'200' is not a number above 0 with one of the units"),
                        (("up", "--buffer", "1KiB"), "--buffer: 1024 B holds less than two packets"),
                        (("up", "--producers", "0"), "'0' is not a whole number above 0"),
                        (("up", "--producers", "5000"), "a software switch carries at most"),
                        (("run", "--", "hostname"), "is up; `bench/lab up` makes one"),
                        (("with",), "nothing to run after `--`"),
                        (("up", "--", "hostname"), "this command runs nothing")):
        done = lab(*words)
        check(done.returncode in (1, 2) and said in done.stderr,
              f"{words}: exit status {done.returncode}, {done.stderr}")


skip_unless_possible()
main(hosts_links_and_bytes, refusals)
