"""Runs commands on the hosts of a lab, and weir under mpirun."""

import ctypes
import os
import pathlib
import shlex
import signal
import sys
import time

import open_mpi
from lab_machine.children import child_that_dies_with_us, exit_status, wait_and_hand_on
from lab_machine.keeper import need_keeper
from lab_machine.kernel_calls import (CLONE_NEWIPC, CLONE_NEWNET, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWUTS, MS_NODEV,
                                      MS_NOEXEC, MS_NOSUID, MS_REC, MS_SLAVE, PR_SET_TIMERSLACK, enter, mount,
                                      system_call, unshare)
from lab_machine.plan import LOGIN, host_list
from soft_roce.problem import Problem


SLACK_US_PER_RANK_AND_CORE = 75
# An emulated processor takes ten times as long to look for news.
EMULATED_SLACK_US_PER_RANK_AND_CORE = 1000
EMULATED = "WEIR_LAB_EMULATED"  # set in virtual machines


def set_timer_slack(lab):
    """Makes naps longer, for this process and all that it starts. A rank that waits naps for 20 us, because weir finds
    it alone on its host. 87 ranks that look for news every 20 us take more time than two cores have; with this slack,
    some 3 ms for them, they look some hundred times a second, and the kernel wakes several at once. It must stay far
    below the time that a window of chunks lasts: 4 chunks of 1 MiB last 67 ms on a link of 500 Mb/s."""
    per_rank = EMULATED_SLACK_US_PER_RANK_AND_CORE if os.environ.get(EMULATED) else SLACK_US_PER_RANK_AND_CORE
    slack_us = per_rank * len(lab.ranks()) / len(os.sched_getaffinity(0))
    system_call("prctl", PR_SET_TIMERSLACK, ctypes.c_ulong(round(slack_us * 1000)), 0, 0, 0)


ENDING_S = 5  # how long processes in the lab may take to end after mpirun has


def run_in_lab(lab, host_name, words, environment):
    """Runs a command on a host and returns its exit status. All that it starts is gone when it returns.

    Three processes: this one stays outside; one enters the lab's PID namespace and makes another below it, for this
    command alone; the third is the first process in that, and buries what mpirun's daemons leave. If any of them is
    killed, the kernel ends those below.
    """
    keeper = need_keeper(lab.name)
    directory = os.getcwd()

    def enter_lab():
        mounts = os.open(f"/proc/{keeper}/ns/mnt", os.O_RDONLY)
        ipc = os.open(f"/proc/{keeper}/ns/ipc", os.O_RDONLY)
        pid = os.open(f"/proc/{keeper}/ns/pid", os.O_RDONLY)
        root = os.open(f"/proc/{keeper}/root", os.O_RDONLY)
        for descriptor, kind in ((ipc, CLONE_NEWIPC), (pid, CLONE_NEWPID), (mounts, CLONE_NEWNS)):
            system_call("setns", descriptor, kind)
            os.close(descriptor)
        # The keeper's root is not that of its mount namespace if the lab was made in a changed root (chroot).
        os.fchdir(root)
        os.chroot(".")
        os.close(root)
        # Entering a PID namespace holds for children only, hence one more process.
        return wait_and_hand_on(child_that_dies_with_us(make_own_world))

    def make_own_world():
        unshare(CLONE_NEWPID)
        return wait_and_hand_on(child_that_dies_with_us(
            lambda: first_process(lab, host_name, words, environment, directory)))

    sys.stdout.flush()
    sys.stderr.flush()
    return wait_and_hand_on(child_that_dies_with_us(enter_lab))


def first_process(lab, host_name, words, environment, directory):
    """Of the PID namespace of one command: starts it, and waits for all that it leaves."""
    unshare(CLONE_NEWNS | CLONE_NEWUTS)
    mount("none", "/", flags=MS_REC | MS_SLAVE)
    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    # Temporary files of this command alone: Open MPI names its own by process ids, which begin at 1 again each
    # time.
    mount("weir-lab", lab.inside / "tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777")
    enter(lab.namespace(host_name), CLONE_NEWNET)
    mount("weir-lab", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    pathlib.Path("/proc/sys/kernel/hostname").write_text(host_name)
    os.chdir(directory)
    set_timer_slack(lab)
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and what is executed would as well
        try:
            os.execvpe(words[0], words, environment)
        except OSError as error:
            print(f"lab: {words[0]}: {error.strerror}", file=sys.stderr)
        os._exit(127)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: os.kill(child, number))
    return buried(child, words[0])


def buried(child, name):
    """The exit status of `child`, once all else has ended too, or has had time for it."""
    status = None
    while status is None:
        ended, wait_status = os.wait()
        status = exit_status(wait_status) if ended == child else None
    limit = time.monotonic() + ENDING_S
    while time.monotonic() < limit:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.01)
        except ChildProcessError:
            return status
    print(f"lab: processes that were left {ENDING_S} s after the end of {name} are killed", file=sys.stderr)
    return status


def mpirun_command(lab, pml, arguments):
    """mpirun with what it needs to start ranks on the hosts of the lab, and the environment for it."""
    open_mpi.find()
    version = open_mpi.version()
    environment = open_mpi.clean_environment()
    environment["TMPDIR"] = str(lab.inside / "tmp")
    launch = {"agent": str(lab.inside / "agent"), "no_tree_spawn": "1", "num_concurrent": "128"}
    if version >= 5:
        words = [open_mpi.launcher(version, arguments), "--prtemca", "plm", "ssh"]
        for name, value in launch.items():
            words += ["--prtemca", f"plm_ssh_{name}", value]
        words += ["--prtemca", "prte_if_include", "eth0", "--prtemca", "prte_tmpdir_base", environment["TMPDIR"]]
    else:
        words = ["mpirun", "--mca", "plm", "rsh"]
        for name, value in launch.items():
            words += ["--mca", f"plm_rsh_{name}", value]
        words += ["--mca", "oob_tcp_if_include", "eth0", "--mca", "orte_tmpdir_base", environment["TMPDIR"]]
    words += ["--hostfile", str(lab.inside / "hostfile"), "--bind-to", "none"]
    # By environment, so that it holds for every part of an mpirun line with several.
    environment["OMPI_MCA_mpi_yield_when_idle"] = "1"
    if pml == "ucx":
        # Open MPI takes UCX by itself only where it finds RDMA devices, and without this none for one-sided transfers.
        environment |= {"OMPI_MCA_pml": "ucx", "OMPI_MCA_osc": "ucx", "OMPI_MCA_pml_ucx_tls": "any",
                        "OMPI_MCA_pml_ucx_devices": "any"}
        environment.setdefault("UCX_TLS", "tcp,self")
        environment.setdefault("UCX_NET_DEVICES", "eth0")
    else:
        environment |= {"OMPI_MCA_pml": "ob1", "OMPI_MCA_osc": "^ucx", "OMPI_MCA_btl": "tcp,self",
                        "OMPI_MCA_btl_tcp_if_include": "eth0"}
    return words, environment


def rank_command(lab, words):
    """`weir run` and `weir check` as they must be called here: which hosts play which part, and how ranks wait."""
    program, *rest = words
    program = open_mpi.weir_program(program)
    if pathlib.Path(program).name != "weir" or rest[:1] not in (["run"], ["check"]):
        return [program, *rest]
    options = rest[1:]
    if not open_mpi.has_option(options, "--idle"):
        # Every rank is alone on its host and would spin, but all hosts share the cores of this machine.
        options += ["--idle", "nap"]
    if not open_mpi.has_option(options, "--role", "--scheduler-host", "--scheduler-rank", "--producer-hosts",
                               "--consumer-hosts"):
        for role, option in (("scheduler", "--scheduler-host"), ("producer", "--producer-hosts"),
                             ("consumer", "--consumer-hosts")):
            options += [option, host_list(lab.named(role))]
    return [program, rest[0], *options]


def need_words(options, usage):
    if not options.words:
        raise Problem(f"nothing to run after `--`; right would be {usage}", 2)
    return options.words


def run_weir(lab, options, words):
    launcher, environment = mpirun_command(lab, options.pml, words)
    words = launcher + ["-np", str(len(lab.ranks()))] + rank_command(lab, words)
    if not options.quiet:
        print(f"lab: {shlex.join(words)}", file=sys.stderr)
    return run_in_lab(lab, LOGIN, words, environment)
