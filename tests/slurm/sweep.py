"""weir-sweep under SLURM: an array that is disturbed and goes on, a failing hook, heterogeneous jobs, what is
refused."""

import concurrent.futures
import csv
import json
import os
import re
import signal
import subprocess
import tarfile
from pathlib import Path

import cluster
from cluster import run, run_or_fail, wait_until
from weir_run import WEIR, check, main

SWEEP = str(Path(WEIR).parent / "weir-sweep")
# Ranks that nap, each on a node of its own; a run takes some 2 s.
RUN = """
[run]
producers = {number}
consumers = {number}
rate = "10Mb/s"
event-size = "64KiB"
duration = "1s"
warmup = "0s"
idle = "nap"
"""


def sweep(*words, expect=0, limit_s=60):
    done = run(SWEEP, *words, limit_s=limit_s, env={**os.environ, "WEIR": WEIR})
    check(done.returncode == expect, f"weir-sweep {' '.join(map(str, words))} exited with {done.returncode}: "
          f"{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout + done.stderr


def write(name, keys="", tables="", directory=".", number=1):
    """A sweep file: keys of the file itself, tables besides [run], the number of producers and of consumers."""
    path = Path(directory) / f"{name}.toml"
    path.write_text(f'start = "5s"\n{keys}\n{RUN.format(number=number)}\n{tables}')
    return path


def states(path):
    """State by point, of the runs in SLURM; the exit status is whether any failed."""
    done = run(SWEEP, "status", path, "--json")
    check(done.stderr == "", f"weir-sweep status: {done.stderr}")
    points = next(world for world in json.loads(done.stdout)["worlds"] if world["world"] == "slurm")["points"]
    return {point["point"]: point for point in points}


def number_of(path, state):
    return sum(point["state"] == state for point in states(path).values())


def everything(path):
    """For messages: the output of SLURM, the jobs and the runs."""
    directory = path.with_suffix("")
    texts = [run("squeue", "--states=all").stdout, run(SWEEP, "status", path, "--all").stdout]
    for file in [*directory.glob("slurm/submissions/*.txt"), *directory.glob("slurm/output/*.txt")]:
        texts.append(f"{file}: {file.read_text()[-600:]}")
    return "\n".join(texts)


def records(path):
    """run.json of all runs in SLURM, also of those that are under way."""
    return [json.loads(file.read_text()) for file in path.with_suffix("").glob("slurm/runs/*/run.json")]


def wait_for_runs(path, number, limit_s=90):
    """Looks at the files: asking weir-sweep all the time would take the cores from the runs."""
    wait_until(lambda: sum(record["status"] == "complete" for record in records(path)) >= number,
               lambda: f"{number} complete runs:\n{everything(path)}", limit_s)


def wait_for_jobs(path, limit_s=150):
    """Until none of the sweep's jobs is queued or running."""
    ends = path.with_suffix("").glob("slurm/submissions/*.end.json")
    jobs = [job for file in ends for job in json.loads(file.read_text())["jobs"]]
    CLUSTER.wait(*jobs, limit_s=limit_s, what=lambda: f"the end of all jobs:\n{everything(path)}")


def check_each_ran_once(path):
    """One complete run for each point, and whatever was begun besides was interrupted."""
    found = {}
    for record in records(path):
        found.setdefault(record["labels"]["point"], []).append(record["status"])
    for point, of_point in found.items():
        check(of_point.count("complete") == 1, f"run {point} is there as {of_point}")
    return found


def disturbed_and_resumed():
    """Four settings, three repetitions. The controller is killed, later the job; in the end there is one page."""
    path = write("disturbed", "repetitions = 3", """
[axes]
policy = ["balanced", "token"]
[switch]
settings = ["shallow", "deep"]
on-change = "sh ./set-switch"
change = "1s"
read = "echo $WEIR_SWITCH 3 pauses_sent $(date +%s)"
[slurm]
launcher = "mpirun"
""")
    Path("set-switch").write_text('''echo "setting $1, after $WEIR_SWITCH_BEFORE"
echo $1 >>switch-log
test "$(wc -l <switch-log)" != 2 || while test -e hold; do sleep 0.1; done
''')
    Path("hold").touch()
    said = sweep("plan", path)
    for part in ("4 settings x 3 repetitions = 12 runs in SLURM",
                 "3 jobs, one after the other (a job array), 4 runs each on 3 nodes", "node hours",
                 "for data on the node that needs most"):
        check(part in said, said)
    check("submitted 12 runs" in sweep("submit", path), "not submitted")

    # The controller is killed while a job is between two runs; the job waits for it.
    wait_for_runs(path, 2)
    wait_until(lambda: len(Path("switch-log").read_text().split()) == 2, "the second call of set-switch")
    job = json.loads((path.with_suffix("") / "slurm/submissions/submission-1.end.json").read_text())["jobs"][0]
    CLUSTER.kill_controller(job)
    check(number_of(path, "complete") == 2 and number_of(path, "unknown") == 1, lambda: everything(path))
    said = sweep("submit", path, expect=2)
    check("SLURM's controller does not respond (scontrol ping). Nothing was submitted" in said, said)
    Path("hold").unlink()
    printed = path.with_suffix("") / "slurm/submissions"
    wait_until(lambda: any("controller does not respond or" in file.read_text() for file in printed.glob("*.txt")),
               lambda: everything(path))
    CLUSTER.start_controller()
    CLUSTER.wait_for_nodes()
    check("is queued or running" in sweep("submit", path), "a second submission was not refused")

    # The second job is cancelled in the middle, with all that come after it.
    wait_for_runs(path, 5)
    wait_until(lambda: any(record["status"] == "failed" for record in records(path)), "a run that is under way")
    run_or_fail("scancel", job)
    wait_for_jobs(path)
    done = number_of(path, "complete")
    check(5 <= done < 12 and number_of(path, "running") == 0, lambda: everything(path))

    said = sweep("submit", path)
    check(f"submitted {12 - done} runs" in said, lambda: said + everything(path))
    wait_for_jobs(path)
    check("nothing to do: all runs are complete" in sweep("submit", path), "something was left to do")
    check_each_ran_once(path)
    check_order(path)
    check_readings(path)

    sweep("submit", path, "--simulate")
    sweep("collect", path)
    rows = list(csv.DictReader((path.with_suffix("") / "table.csv").open()))
    check(len(rows) == 12 and all(row["state"] == "complete" and row["job"] for row in rows), f"table.csv: {rows}")
    check(all(float(row["goodput_bits_per_second"]) > 0 and float(
                  row["predicted_goodput_bits_per_second"]) > 0 for row in rows),
          "table.csv: no goodput")
    page = (path.with_suffix("") / "comparison.html").read_text()
    for setting in ("switch=shallow policy=balanced", "switch=deep policy=token", "Measured beside predicted"):
        check(setting in page, f"comparison.html does not speak of {setting}")


def check_readings(path):
    """The switch was read before and after each run, in the setting that the run is of."""
    for file in path.with_suffix("").glob("slurm/runs/*/run.json"):
        record = json.loads(file.read_text())
        if record["status"] == "complete":
            rows = list(csv.DictReader((file.parent / "switch/read.csv").open()))
            check([(row["when"], row["port"])
                   for row in rows] == [(when, record["labels"]["switch"]) for when in ("before", "after")],
                  f"{file.parent}: read {rows}")
            check(int(rows[1]["value"]) - int(rows[0]["value"]) >= 1, f"{file.parent}: read at {rows}")


def check_order(path):
    """Runs were made in the order of the plan, the switch was set before the first of each stay."""
    complete = sorted((record["started_at"], record["labels"]["point"], record["labels"]["switch"])
                      for record in records(path) if record["status"] == "complete")
    points = [point for _, point, _ in complete]
    check(points == sorted(points), f"order of the runs: {points}")
    stays = [switch for position, (_, _, switch) in enumerate(complete)
             if position == 0 or switch != complete[position - 1][2]]
    log = Path("switch-log").read_text().split()
    # Each job sets it at its start; so it was set at least once for each stay, in this order.
    remaining = iter(log)
    check(all(stay in remaining for stay in stays), f"stays {stays}, but set were {log}")
    check(len(list(path.with_suffix("").glob("slurm/hooks/*.txt"))) == len(log), "output of the hook was not kept")


def failing_hook():
    path = write("hook", "repetitions = 2", """
[switch]
settings = ["good", "bad"]
on-change = "sh ./set-switch"
""")
    Path("set-switch").write_text('echo "asked for $1"\ntest $1 = good\n')
    sweep("submit", path)
    wait_for_jobs(path)
    points = states(path)
    check(sorted(point["state"] for point in points.values()) == ["complete"] * 2 + ["hook failed"] * 2,
          lambda: everything(path))
    bad = next(point for point in points.values() if point["state"] == "hook failed")
    check("set-switch bad exited with 1" in bad["reason"], bad["reason"])
    output = bad["reason"].rpartition("its output: ")[2]
    check(Path(output).read_text() == "$ sh ./set-switch bad\nasked for bad\n-> exited with 1\n",
          f"{output} is not what the hook printed")
    check("hook failed" in sweep("status", path, expect=1), "status does not say it")
    check("2 runs failed; --retry-failed repeats them" in sweep("submit", path), "failed runs were repeated")

    sweep("submit", path, "--retry-failed", "--on-change", "true")
    wait_for_jobs(path)
    check(number_of(path, "complete") == 4, lambda: everything(path))
    check_each_ran_once(path)


def heterogeneous():
    path = write("parts", "repetitions = 2", """
[slurm]
launcher = "srun"
launcher-options = "--mpi=pmix"
runs-per-job = 1
[slurm.scheduler]
partition = "ctl"
[slurm.producers]
partition = "eb"
[slurm.consumers]
partition = "fn"
""", number=2)
    said = sweep("plan", path)
    check("5 nodes (1 for the scheduler, 2 for producers, 2 for consumers)" in said, said)
    check("submitted 2 runs as job" in sweep("submit", path), "not submitted")
    wait_for_jobs(path)
    for record in records(path):
        hosts = {role: [rank["host"] for rank in record["ranks"] if rank["role"] == role]
                 for role in ("producer", "consumer")}
        check(hosts == {"producer": ["eb1", "eb2"], "consumer": ["fn1", "fn2"]}, f"{hosts}")
    check_each_ran_once(path)


def refusals():
    """One message, exit status 2, nothing in the queue, no campaign begun."""
    for name, keys, tables, part in (
        ("axis", "", "[axes]\npolcy = [\"token\"]\n",
         "every setting is refused: weir run: --polcy: there is no such option"),
        ("partition", "", "[slurm]\npartition = \"nowhere\"\n",
         "SLURM would not accept the jobs: invalid partition specified"),
        ("nodes", "", "[slurm]\nnodes = 99\n", "Requested node configuration is not available"),
        ("long", "repetitions = 1000", "[slurm]\nruns-per-job = 1000\n", "but the partition allows 1 h."),
        ("time", "", "[slurm]\ntime = \"30s\"\n", "slurm.time: 30 s is too short for a run of 6 s")):
        path = write(name, keys, tables)
        said = sweep("submit", path, expect=2)
        check(part in said and len([line for line in said.splitlines() if line.startswith("weir-sweep")]) == 1,
              f"{name}: {said}")
        check(not path.with_suffix("").exists(), f"{name}: {path.with_suffix('')} was made")
    with cluster.small_file_system("size=64k") as small:
        said = sweep("submit", write("full", "repetitions = 50", directory=small), expect=2)
        check("its file system has" in said and "Make room" in said, said)
    with cluster.small_file_system("size=1m,nr_inodes=8") as small:
        said = sweep("submit", write("full", directory=small), expect=2)
        check("No space left on device" in said, said)
    check(not CLUSTER.queue(), f"jobs were submitted: {CLUSTER.queue()}")


def submit_killed():
    """A weir-sweep submit that was killed between writing and hearing of the job is found again, not doubled."""
    path = write("killed", "repetitions = 1")
    Path("bin").mkdir()
    fake = Path("bin/sbatch").resolve()
    real = run_or_fail("sh", "-c", "command -v sbatch").strip()
    fake.write_text(f"#!/bin/sh\ncase \"$*\" in *--test-only*) exec {real} \"$@\" ;; esac\n{real} \"$@\" >/dev/null; "
                    "kill -9 $PPID\n")
    fake.chmod(0o755)
    done = subprocess.run([SWEEP, "submit", path], capture_output=True, text=True, timeout=60, check=False,
                          env={**os.environ, "WEIR": WEIR, "PATH": f"{fake.parent}:{os.environ['PATH']}"})
    check(done.returncode == -signal.SIGKILL, f"{done}")
    submissions = path.with_suffix("") / "slurm/submissions"
    check((submissions / "submission-1.json").exists() and not (submissions / "submission-1.end.json").exists(),
          "not killed there")
    said = sweep("submit", path)
    wait_for_jobs(path)
    # It was still queued, or is through by now.
    check("is queued or running" in said or "nothing to do" in said, said)
    check(number_of(path, "complete") == 1, lambda: everything(path))
    check_each_ran_once(path)


def packed_with_one_command():
    """`weir-sweep all`: waits for the jobs, has `weir check` run on their nodes, and leaves no node's name in the
    archive."""
    path = write("whole", "repetitions = 1\ncheck = '200ms'", """
[switch]
settings = ["pfc", "ecn"]
on-change = "echo"
[slurm]
partition = "eb"
scheduler = "producers"
""")
    said = sweep("all", path, "--replace-names", limit_s=150)
    check("2 runs complete" in said and "packed   2 complete runs" in said, said)
    checks = [json.loads(file.read_text()) for file in path.with_suffix("").glob("slurm/check/*.json")]
    hosts = {host for record in checks for fact in record["facts"] for value in fact[
                 "values"] for host in value["hosts"]}
    check(len(checks) == 2 and hosts and hosts <= {"eb1", "eb2"}, f"checked on {hosts}:\n{everything(path)}")
    with tarfile.open(path.with_suffix(".tar.gz")) as archive:
        for entry in archive:
            text = archive.extractfile(
                entry).read().decode() if entry.isfile() and entry.name != "whole/SHA256SUMS" else ""
            check(not re.search(r"(?<![A-Za-z0-9_])(eb1|eb2)(?![A-Za-z0-9_])", entry.name + text),
                  f"a node is named in {entry.name}")


def limit_searched():
    """Jobs that each make two runs of a search: where one ends, or is cancelled, the next goes on; those that are left
    over find nothing to do. A consumer gets 19 events/s, so it cannot work on one for longer than 52 ms."""
    path = write("limit", "repetitions = 1", """
[find]
what = "busy"
least = "10ms"
most = "200ms"
resolution = "50%"
[slurm]
runs-per-job = 2
""")
    text = path.read_text().replace("[run]",
                                    '[run]\nbusy = "20ms"\nbuffer = "256KiB"\ninterval = "200ms"\ndrain = "1s"')
    path.write_text(text.replace('duration = "1s"', 'duration = "2s"'))
    check("2 runs each on 3 nodes" in sweep("plan", path), sweep("plan", path))
    check("submitted at most " in sweep("submit", path), "not submitted")
    wait_for_runs(path, 1)
    job = json.loads((path.with_suffix("") / "slurm/submissions/submission-1.end.json").read_text())["jobs"][0]
    run_or_fail("scancel", f"{job}_1")
    wait_for_jobs(path)
    check("nothing to do: all is found" in sweep("submit", path), lambda: everything(path))
    found = json.loads((path.with_suffix("") / "capacity.json").read_text())["settings"][0]["searches"][0]
    check(found["complete"] and found["low"] < 0.052 < found["high"] < 2 * found["low"], f"{found}: {everything(path)}")
    check_each_ran_once(path)


def requeued():
    """The job's run is ended and made again, by this job or the next one, each run once. In a directory whose name is
    no UTF-8 and has what a shell would replace."""
    directory = Path(os.fsdecode(b"caf\xe9 $HOME"))
    directory.mkdir()
    path = write("requeued", "repetitions = 2", "[slurm]\nruns-per-job = 1\n", directory)
    path.write_text(path.read_text().replace('duration = "1s"', 'duration = "5s"'))
    sweep("submit", path)
    wait_until(lambda: any(path.with_suffix("").glob("slurm/runs/0001-*/ranks/*")), lambda: everything(path), 90)
    job = json.loads((path.with_suffix("") / "slurm/submissions/submission-1.end.json").read_text())["jobs"][0]
    run_or_fail("scontrol", "requeue", f"{job}_1")
    wait_for_jobs(path)
    check(number_of(path, "complete") == 2, lambda: everything(path))
    found = check_each_ran_once(path)
    check(sorted(found["0001"]) == ["complete", "interrupted"], f"{found}")


def simulated_array():
    """Simulations as tasks of one core each, whatever nodes the runs need."""
    path = write("simulated", "repetitions = 3", """
[axes]
policy = ["balanced", "token"]
[slurm]
options = ["--exclusive"]
""")
    said = sweep("submit", path, "--simulate", "--slurm")
    check("submitted 6 simulations as job" in said and "an array of 6 tasks with one core each" in said, said)
    [end] = path.with_suffix("").glob("simulation/submissions/*.end.json")
    jobs = json.loads(end.read_text())["jobs"]
    CLUSTER.wait(*jobs, limit_s=150, what=lambda: f"the end of all jobs:\n{everything(path)}")
    worlds = json.loads(sweep("status", path, "--json"))["worlds"]
    check([world["world"] for world in worlds] == ["simulation"] and worlds[0]["states"] == {"complete": 6},
          lambda: f"{worlds}\n" + "\n".join(
              file.read_text() for file in path.with_suffix("").glob("simulation/*/*.txt")))
    check("nothing to do: all runs are complete" in sweep("submit", path, "--simulate", "--slurm"), "submitted again")


def side_by_side():
    """Sweeps that have nothing to do with each other share the nodes, to be through sooner."""
    tests = (failing_hook, heterogeneous, submit_killed, packed_with_one_command, limit_searched, requeued,
             simulated_array)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        problems = [(test.__name__, future.exception())
                    for test, future in [(test, pool.submit(test)) for test in tests]]
    failed = [f"{name}: {type(problem).__name__}: {problem}" for name, problem in problems if problem]
    check(not failed, "\n".join(failed))


cluster.enter()
CLUSTER = cluster.Cluster()
main(refusals, disturbed_and_resumed, side_by_side)
