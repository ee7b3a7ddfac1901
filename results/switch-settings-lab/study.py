"""Seven settings of a switch with Debian's kernel, measured: drop-tail shallow and deep, ECN with DCTCP at three
thresholds, and ECN with one port that was left without; and over Soft-RoCE, a lossy link beside a clean one.

    bench/study switch-settings-lab measure [saturated] [soft-roce] [--minutes 120]
    bench/study switch-settings-lab collect
    bench/study switch-settings-lab predict

measure: runs what is missing of the campaigns in results/switch-settings-lab (default: both), the first beside its
prediction by the simulator. Hosts and switch are in a virtual machine (bench/lab machine); the order A B B A, the
counters of the ports, the repetitions and the answer are those of weir-sweep. A campaign that was stopped goes on where
it was, with the same command. Run directories stay in build/switch-settings-lab (--runs); what the page needs of them
is written to --out.

collect does the latter alone, also of a campaign that is not complete. predict simulates the measured runs of
`saturated` once more, with the program as it is, and replaces the predictions beside them; that takes no machine.

    bench/study switch-settings-lab set SETTING

is `on-change` of the campaigns, and works in the virtual machine only; `roce` is the launcher of soft-roce.

Needs QEMU and a machine with two cores that has nothing else to do: a run without limits at the ports, before each
campaign, shows what the virtual machine could carry. bench/install-dependencies --soft-roce.
"""

import os
import pathlib
import shutil
import sys

import open_mpi
import page
import provenance
import studies
from lab_campaigns import BENCH, in_machine, lab, sustains_unshaped, sweep
from page import BUT_ONE, CAMPAIGNS

HERE = studies.RESULTS / "switch-settings-lab"
NETWORK = ("--producers", "3", "--consumers", "3", "--delay", "40ms", "--bundle", "3040B")
BUSY = 3
LINK = "5Mb/s"
# In a setting with BUT_ONE, the port to fn02 is as in drop-tail-6kB.
# What each port of the switch is, and the TCP of all hosts.
SETTINGS = {
    "drop-tail-6kB": ("--buffer", "6kB", "--mark", "none", "--tcp", "cubic"),
    "drop-tail-15kB": ("--buffer", "15kB", "--mark", "none", "--tcp", "cubic"),
    "drop-tail-128kB": ("--buffer", "128kB", "--mark", "none", "--tcp", "cubic"),
    "ecn-1.5kB": ("--buffer", "128kB", "--mark", "1.5kB", "--tcp", "dctcp"),
    "ecn-6kB": ("--buffer", "128kB", "--mark", "6kB", "--tcp", "dctcp"),
    "ecn-24kB": ("--buffer", "128kB", "--mark", "24kB", "--tcp", "dctcp"),
}
# Three producers to one consumer: its port is full. --tcp and port as in drop-tail-128kB.
FULL_PORT_RUN = ("run", "--producers", "3", "--consumers", "1", "--generation", "saturate", "--event-size", "128kB",
                 "--slots", "16", "--streams", "2",
                 "--duration", "20s", "--warmup", "4s", "--drain", "10s", "--buffer", "4MB", "--idle", "nap", "--seed",
                 "1")
UNSHAPED_RUN = ("run", "--rate", "4.5Mb/s", "--event-size", "64kB", "--interval", "1s", "--duration", "8s", "--warmup",
                "3s", "--idle", "nap",
                "--seed", "1")


def campaigns_of(options):
    unknown = [name for name in options.words if name not in CAMPAIGNS]
    if unknown:
        raise SystemExit(f"switch-settings-lab: '{unknown[0]}' is not one of {', '.join(CAMPAIGNS)}")
    return options.words or CAMPAIGNS


def set_ports(options):
    [setting] = options.words
    name = setting.removesuffix(BUT_ONE)
    if name not in SETTINGS:
        raise SystemExit(f"switch-settings-lab: set: '{setting}' is not one of {', '.join(SETTINGS)}, or one of these "
                         f"and {BUT_ONE}")
    lab("set", *SETTINGS[name])
    if name != setting:
        lab("set", "--buffer", "6kB", "--mark", "none", "fn02")


def inside(options):
    """In the virtual machine: a lab without limits for the unshaped run, then one with the campaign."""
    [campaign], out = options.words, options.runs
    if not sustains_unshaped(NETWORK, UNSHAPED_RUN, out.parent / f"{out.name}-unshaped"):
        print("switch-settings-lab: the machine does not carry 4.5 Mb/s per producer without limits at the ports, so "
              "it would be measured and not they: it has other work, or is too slow", file=sys.stderr)
        return BUSY
    lab("up", *NETWORK, "--link", LINK)
    status = sweep("submit", str(HERE / f"{campaign}.toml"), "--local", "--retry-failed", "--out", str(out))
    full = out.parent / f"{out.name}-full-port"
    if status == 0 and not full.exists():
        lab("set", *SETTINGS["drop-tail-128kB"])
        lab("mpirun", "--", "-np", "5", open_mpi.weir_program("weir"), *FULL_PORT_RUN, "--out", str(full))
    lab("down", "-q")
    return status


def launch_over_roce(words):
    """`mpirun` of the campaign soft-roce: -np N weir run OPTIONS, in two virtual machines with a link between them."""
    count, ranks, *command = words
    if count != "-np":
        raise SystemExit("switch-settings-lab: roce: it is called by weir-sweep, with -np N and a command")
    runs = pathlib.Path(command[command.index("--out") + 1]).parent
    loss = os.environ.get("WEIR_LINK_LOSS", "0%")
    os.execv(BENCH / "soft-roce", ["soft-roce", "run", "-q", "--machines", "2", "--limit", "3min", "--write", str(runs),
                                   "-n", ranks,
                                   *(["--loss", loss] if loss != "0%" else []), "--", *command])


def measure(options):
    if not shutil.which(open_mpi.weir_program("weir")):
        raise SystemExit("switch-settings-lab: there is no program weir; build it, or name it in $WEIR")
    provenance.require(open_mpi.weir_program("weir"), options.out, options.allow_unpublished)
    out = options.runs.resolve()
    out.mkdir(parents=True, exist_ok=True)
    for campaign in campaigns_of(options):
        directory = out / campaign
        file = str(HERE / f"{campaign}.toml")
        if campaign == "soft-roce":
            status = sweep("submit", file, "--local", "--retry-failed", "--out", str(directory))
        else:
            if sweep("submit", file, "--simulate", "--out", str(directory)) != 0:
                return 1
            status = in_machine("switch-settings-lab", [campaign], directory, options.minutes)
        if status not in (0, 1):
            return status
        if status:
            print(f"switch-settings-lab: {campaign} is not complete; the same command continues it", file=sys.stderr)
        keep(campaign, directory, options)
    return 0


def collect(options):
    for campaign in campaigns_of(options):
        directory = options.runs.resolve() / campaign
        if directory.exists():
            keep(campaign, directory, options)
    return 0


def keep(campaign, directory, options):
    """What the page needs, out of a campaign's directory."""
    sweep("collect", str(HERE / f"{campaign}.toml"), "--out", str(directory))
    page.keep(campaign, directory, options.out)


def predict(options):
    """Simulates the campaigns that have a simulation, and puts the predictions beside the stored runs."""
    provenance.require(open_mpi.weir_program("weir"), options.out, options.allow_unpublished)
    directory = options.runs.resolve() / "saturated-predicted"
    file = str(HERE / "saturated.toml")
    if sweep("submit", file, "--simulate", "--out", str(directory)) != 0:
        return 1
    sweep("collect", file, "--out", str(directory))
    page.replace_predictions("saturated", directory, options.out)
    return 0


def add_options(parser):
    parser.add_argument("words", nargs="*", metavar="CAMPAIGN", help=f"of {', '.join(CAMPAIGNS)}; set: a setting")
    parser.add_argument("--runs", type=pathlib.Path, default=studies.TOP / "build/switch-settings-lab",
                        help="where run directories are (default build/switch-settings-lab)")
    parser.add_argument("--minutes", type=int, default=120,
                        help="stop the virtual machine of a campaign after so long (default 120)")


STUDY = studies.Study(page.page, options=add_options, raw={"roce": launch_over_roce}, others={
    "measure": measure, "collect": collect, "predict": predict, "set": set_ports, "inside": inside})
