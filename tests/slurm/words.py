"""slurm/weir.sbatch with stand-ins for scontrol and mpirun: which words it starts a run with, and what it refuses."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.append(str(TOP / "tests/mpi"))

from weir_run import check, main  # noqa: E402

SCRIPT = TOP / "slurm/weir.sbatch"
OPTIONS = ["--producers", "2", "--consumers", "1", "--rate", "10Gb/s"]  # 1.27 GB for each producer


def program(name, text):
    path = Path("bin", name).resolve()
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def batch(*words, version="mpirun (Open MPI) 4.1.4", nodes=("n1",), command="", script=SCRIPT, **variables):
    """What it prints. mpirun prints its words, a line each. `command`: as SLURM has it of the job."""
    program("scontrol", f"""if [ "$2" = hostnames ]; then echo "{chr(10).join(nodes)}"
else cat <<'END'\nJobId=7 JobName=x Command=y\n   Command={command}\nEND\nfi""")
    program("mpirun", f"""[ "$1" != --version ] || exec echo "{version}"\nprintf '%s\\n' "$@" """)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
    done = subprocess.run(["bash", script, *OPTIONS, *words], capture_output=True, text=True, timeout=60, check=False,
                          env={**kept, "PATH": f"{Path('bin').resolve()}:{os.environ['PATH']}", "SLURM_JOB_ID": "7",
                               "SLURM_JOB_NODELIST": "n", **variables})
    return done.stdout + done.stderr


def a_requeued_job_has_a_run_directory_of_its_own():
    Path("a & b").mkdir()
    for words, restarts, expected in (
        ((), "", "--out\nweir-7\n"), ((), "2", "--out\nweir-7-restart-2\n"),
        (("--out", "a & b"), "", "--out\na & b\n"), (("--out", "a & b"), "1", "--out\na & b-restart-1\n"),
        (("--out=a & b/",), "2", "\n--out=a & b-restart-2\n"),
        (("--out", "new"), "1", "--out\nnew\n")):  # its first run made none
        said = batch(*words, **({"SLURM_RESTART_COUNT": restarts} if restarts else {}))
        check(expected in said and said.count("--out") == 1, f"{words}, {restarts}: {said}")


def weir_is_found_beside_the_script():
    """Of the job, or if that is another one, which runs weir.sbatch."""
    place = Path("it's $HOME, \"in\" 日本").resolve()
    (place / "build/release/bin").mkdir(parents=True)
    (place / "build/release/bin/weir").symlink_to(os.environ["WEIR"])
    copy = shutil.copy(SCRIPT, "slurm_script")
    own = place / "slurm/weir.sbatch"
    own.parent.mkdir()
    shutil.copy(SCRIPT, own)
    for script, command in ((copy, own), (copy, f"{own} --out a/weir.sbatch"), (own, "/a/job.sh"),
                            (own, f"/a/job.sh {own}"), (own, "(null)")):
        said = batch(script=script, command=command, WEIR="")
        check(os.path.realpath(os.environ["WEIR"]) in said, f"{script}, {command}: {said}")
    check("no weir here" in batch(script=copy, command="/a/job.sh", WEIR=""), "found from nowhere")


def only_open_mpi_starts_runs():
    for version in ("HYDRA build details:\n    Version:    4.0.2", "Intel(R) MPI Library for Linux* OS, Version 2021.9",
                    ""):
        said = batch(version=version)
        check(said.startswith("weir.sbatch: ") and said.count("\n") == 1 and "is not that of Open MPI" in said, said)
    check("\n--out\n" in batch(version="mpirun (Open MPI) 5.0.3"), "Open MPI 5 is refused")


def a_job_asks_for_the_memory_that_its_plan_needs():
    nodes = ("n1", "n2", "n3")
    for variables, asked_for in (
        ({"SLURM_MEM_PER_NODE": "1200"}, "1200"), ({"SLURM_MEM_PER_NODE": "1300"}, ""),
        ({"SLURM_MEM_PER_NODE": "0"}, ""), ({}, ""),
        ({"SLURM_MEM_PER_CPU": "100", "SLURM_JOB_CPUS_PER_NODE": "4,8(x2)"}, "800"),
        ({"SLURM_MEM_PER_CPU": "200", "SLURM_JOB_CPUS_PER_NODE": "8(x3)"}, "")):
        said = batch(nodes=nodes, **variables)
        check(f"for data, and the job asked for {asked_for} MiB" in said if asked_for else "--out" in said,
              f"{variables}: {said}")
    check("the ranks of n1 need 2" in batch(SLURM_MEM_PER_NODE="2000"), "two producers on one node do not need 2.5 GB")


main(a_requeued_job_has_a_run_directory_of_its_own, weir_is_found_beside_the_script, only_open_mpi_starts_runs,
     a_job_asks_for_the_memory_that_its_plan_needs)
