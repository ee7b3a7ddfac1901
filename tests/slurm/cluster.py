"""A real SLURM on this machine: munged, slurmctld and some slurmd, each node with a host name of its own.

All of it lives in namespaces that end with the test: its own network (a pair of interfaces that lead nowhere), its own
process numbers (whatever is killed, the kernel takes the rest along) and host names. Nothing of the machine is changed,
and a SLURM that the machine has itself is neither used nor met.
"""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / "tests/mpi"))

from weir_run import Failed, check  # noqa: E402

SKIPPED = 77
INSIDE = "WEIR_TEST_CLUSTER"
LONG = os.environ.get("WEIR_SLURM") == "long"
NODES = ("ctl1", "eb1", "eb2", "fn1", "fn2")
ADDRESS = "198.18.0.1"  # of a range that is set aside for benchmarks
TOOLS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel", "sinfo", "srun", "unshare", "ip")
NAMESPACES = ["unshare", "--net", "--uts", "--ipc", "--pid", "--mount", "--propagation", "unchanged", "--fork",
              "--kill-child", "--mount-proc"]
CONTROL_GROUPS_OPTIONAL_FROM = 23, 11  # of SLURM
OVER = ("COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "OUT_OF_MEMORY", "BOOT_FAIL",
        "DEADLINE")


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def enter():
    """Goes on in the cluster's namespaces, or skips the test with the reason."""
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    if os.environ.get(INSIDE) == "1":
        return
    if missing := [tool for tool in TOOLS if not shutil.which(tool)]:
        skip(f"there is no {', '.join(missing)} here (bench/install-dependencies --slurm)")
    if os.geteuid() != 0:
        skip("a cluster on one machine needs root")
    if Cluster.version() < CONTROL_GROUPS_OPTIONAL_FROM and not any(Path("/sys/fs/cgroup").glob("*")):
        skip("/sys/fs/cgroup is not mounted, and this slurmd does not start without control groups")
    tried = subprocess.run([*NAMESPACES, "sh", "-c", "hostname weir-test && ip link add w0 type veth peer name w1"],
                           capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        skip(f"namespaces cannot be made here: {tried.stderr.strip()}")
    os.environ[INSIDE] = "1"
    # The first process of a namespace inherits orphans; a shell reaps them, Python does not.
    os.execvp(NAMESPACES[0], [*NAMESPACES, "sh", "-c", '"$@"; exit $?', "sh", sys.executable, *sys.argv])


def run(*command, limit_s=30, **more):
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=limit_s, check=False, **more)


def run_or_fail(*command, limit_s=30, **more):
    done = run(*command, limit_s=limit_s, **more)
    check(done.returncode == 0,
          f"{' '.join(map(str, command))} exited with {done.returncode}: {done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def processes_of(directory):
    """Command lines of weir's processes: those that name the run directory, and keepers of a record."""
    lines = run("ps", "-eo", "comm,args").stdout.splitlines()
    return [line for line in lines
            if line.startswith(("weir ", "run-record ")) or (str(directory) in line and "sbatch" not in line)]


def wait_until(holds, what, limit_s=30, every_s=0.2):
    """Also returns what `holds` found."""
    deadline = time.monotonic() + limit_s
    while not (found := holds()):
        if time.monotonic() > deadline:
            raise Failed(f"not within {limit_s} s: {what() if callable(what) else what}")
        time.sleep(every_s)
    return found


class Cluster:
    """Started by the constructor, in the namespaces of `enter`; ends with them. Nodes: NODES, and `spare` ones."""

    def __init__(self, spare=()):
        self.nodes = (*NODES, *spare)
        self.directory = Path(os.environ["TMPDIR"]).resolve() / "cluster"
        self.directory.mkdir()
        for place in (self.directory.parent.parent, self.directory.parent, self.directory):
            place.chmod(0o711)  # munge must be reachable
        for line in ("link set lo up", "link add w0 type veth peer name w1", f"addr add {ADDRESS}/24 dev w0",
                     "link set w0 up", "link set w1 up"):
            run_or_fail("ip", *line.split())
        self._munge()
        self.configuration = self.directory / "slurm.conf"
        self.configuration.write_text(self._configuration())
        # SLURM 23 and later look for control groups even if nothing needs them.
        (self.directory / "cgroup.conf").write_text(
                "CgroupPlugin=disabled\n" if self.version() >= CONTROL_GROUPS_OPTIONAL_FROM else "")
        for node in self.nodes:
            for kind in ("spool", "tmp"):
                (self.directory / f"{kind}-{node}").mkdir()
        os.environ["SLURM_CONF"] = str(self.configuration)
        self._mpi()
        self.start_controller()
        for node in self.nodes:
            run_or_fail("unshare", "--uts", "sh", "-c", f"hostname {node} && exec slurmd -N {node}")
        self.wait_for_nodes()

    @staticmethod
    def version():
        found = re.search(r"(\d+)\.(\d+)", run_or_fail("slurmctld", "-V"))
        return int(found[1]), int(found[2])

    def _munge(self):
        key = self.directory / "key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        place = self.directory
        run_or_fail("munged", "--force", f"--key-file={key}", f"--socket={place}/munge",
                    f"--pid-file={place}/munged.pid", f"--log-file={place}/munged.log",
                    f"--seed-file={place}/munged.seed")

    def _configuration(self):
        place, host = self.directory, socket.gethostname()
        lines = {
            # A requeued job waits until what it was started with has expired, 120 s by default.
            "AuthInfo": f"socket={place}/munge,cred_expire=20",
            "ClusterName": "weirtest", "SlurmctldHost": f"{host}({ADDRESS})", "SlurmUser": "root", "SlurmdUser": "root",
            "AuthType": "auth/munge", "CredType": "cred/munge",
            "StateSaveLocation": f"{place}/state", "SlurmdSpoolDir": f"{place}/spool-%n", "TmpFS": f"{place}/tmp-%n",
            "SlurmctldPidFile": f"{place}/slurmctld.pid", "SlurmdPidFile": f"{place}/slurmd-%n.pid",
            "SlurmctldLogFile": f"{place}/slurmctld.log", "SlurmdLogFile": f"{place}/slurmd-%n.log",
            "SelectType": "select/cons_tres", "SelectTypeParameters": "CR_CPU", "ProctrackType": "proctrack/linuxproc",
            "TaskPlugin": "task/none", "MpiDefault": "none", "ReturnToService": "2",
            "SlurmdParameters": "config_overrides",
            "JobAcctGatherType": "jobacct_gather/none", "AccountingStorageType": "accounting_storage/none",
            "KillWait": "10",
            # Heterogeneous jobs are started by the backfill scheduler only, every 30 s by default.
            "SchedulerParameters": "sched_min_interval=100000,batch_sched_delay=0,bf_interval=1",
        }
        (place / "state").mkdir()
        text = [f"{name}={value}" for name, value in lines.items()]
        for number, node in enumerate(self.nodes):
            text.append(f"NodeName={node} NodeHostname={node} NodeAddr={ADDRESS} Port={17001 + number} CPUs=8 "
                        "RealMemory=1000")
        text.append(f"PartitionName=all Nodes={','.join(NODES)} Default=YES MaxTime=60 State=UP")
        parts = [("ctl", "ctl1"), ("eb", "eb[1-2]"), ("fn", "fn[1-2]"), ("spare", ",".join(self.nodes[len(NODES):]))]
        for name, nodes in (part for part in parts if part[1]):
            text.append(f"PartitionName={name} Nodes={nodes} MaxTime=60 State=UP")
        return "\n".join(text) + "\n"

    @staticmethod
    def _mpi():
        """All nodes have one address, and ranks that nap leave the cores to each other."""
        os.environ.update({"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                           "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_pml": "ob1",
                           "OMPI_MCA_btl": "tcp,self", "OMPI_MCA_osc": "^ucx", "OMPI_MCA_btl_tcp_if_include": "w0",
                           "OMPI_MCA_oob_tcp_if_include": "w0", "PRTE_MCA_prte_if_include": "w0",
                           "OMPI_MCA_hwloc_base_binding_policy": "none",
                           "PRTE_MCA_hwloc_default_binding_policy": "none"})

    def start_controller(self):
        run_or_fail("slurmctld", "-f", self.configuration)
        wait_until(lambda: "UP" in run("scontrol", "ping").stdout, self._log)

    def wait_for_nodes(self):
        """After a start of the controller: until it would use all nodes."""
        wait_until(
            lambda: run("sbatch", "--test-only", f"--nodes={len(NODES)}", "--wrap=true").returncode == 0, self._log)

    def kill_controller(self, job):
        """Not before it has written down what it has of the job, which it does every few seconds."""
        saved = self.directory / "state/job_state"
        since = time.time()
        run_or_fail("scontrol", "update", f"jobid={job}", "comment=known")
        wait_until(lambda: saved.exists() and saved.stat().st_mtime > since, "the controller's own state on the disk")
        process = int((self.directory / "slurmctld.pid").read_text())
        os.kill(process, signal.SIGKILL)
        wait_until(lambda: not Path(f"/proc/{process}").exists(), "the end of slurmctld")

    def _log(self):
        parts = [run("sinfo", "-N").stdout]
        for path in sorted(self.directory.glob("*.log")):
            parts.append(f"{path.name}: {path.read_text()[-1500:]}")
        return "\n".join(parts)

    def submit(self, *arguments):
        """The job's number."""
        return run_or_fail("sbatch", "--parsable", *arguments).strip().split(";")[0]

    def state(self, *jobs):
        """The states of all parts of the jobs, as a set; those that SLURM has forgotten are complete."""
        done = run("squeue", "--noheader", "--states=all", "--format=%T", f"--jobs={','.join(map(str, jobs))}")
        return set(done.stdout.split())

    def are_over(self, *jobs):
        return all(state in OVER for state in self.state(*jobs))

    def wait(self, *jobs, limit_s=60, what=None):
        """Asks every half second, for all at once: asking takes the processors from the jobs."""
        wait_until(lambda: self.are_over(*jobs), what or (lambda: self._still_there(*jobs)), limit_s, every_s=0.5)

    def _still_there(self, *jobs):
        """Which processes and which words of SLURM jobs that do not end leave."""
        alive = run("ps", "-eo", "pid,ppid,stat,etimes,wchan:20,comm,args").stdout.splitlines()
        ours = [line[:160] for line in alive if re.search("weir|slurmstepd|srun|run-record|orted|prted", line)]
        return f"the end of {len(jobs)} jobs ({', '.join(map(str, jobs))}): {self.state(*jobs)}\n" + "\n".join(
                ours) + "\n" + self._log()

    def queue(self):
        return run_or_fail("squeue", "--noheader", "--format=%i %T").split()


@contextlib.contextmanager
def small_file_system(limits):
    """A directory in a file system of its own: limits are tmpfs's. Not seen outside of this test."""
    place = Path("small")
    place.mkdir(exist_ok=True)
    run_or_fail("mount", "-t", "tmpfs", "-o", limits, "tmpfs", place)
    try:
        yield place.resolve()
    finally:
        run_or_fail("umount", place)
