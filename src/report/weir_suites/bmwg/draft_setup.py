"""What a test gets to make its campaigns: the plan, its parameters, the world, and what the simulated fabric is."""

from __future__ import annotations

import dataclasses
import math
import subprocess

from weir_compare.sweep import dry_runs
from weir_runs.basics import programs, quantities, whole_file
from weir_runs.basics.errors import ReportError
from weir_runs.figures import network_drawing
from weir_runs.reading.run_record import read_record

# The least interval of a simulated campaign; sets of a measured one are a hundred times as long, as hosts are less
# punctual.
INTERVAL_NS = 2_000_000
MEASURED_INTERVAL_NS = 200_000_000
RECEIVERS_KEEP = "1MiB"  # simulated: what comes ahead of a missing packet


@dataclasses.dataclass(frozen=True)
class Fabric:
    """Of the simulated switches. `keys`: all keys of the switch file, by section."""

    is_star: bool  # one switch
    leaves: int
    parallel: int  # links of a leaf of which it takes any for the same host
    keys: dict
    drawn: tuple  # lines
    links: tuple  # of each port of a switch (switch, port, peer, b/s)
    nics: int = 1  # of a host


@dataclasses.dataclass(frozen=True)
class Setup:
    plan: object  # PlanFile
    section: object  # Section
    world: str  # simulation, local or slurm
    quick: bool
    fabric: Fabric | None  # None: measured
    results: dict = dataclasses.field(default_factory=dict)  # {number: Outcome} of what it needs

    @property
    def simulated(self):
        return self.world == "simulation"

    @property
    def framing(self):
        return self.plan.framing

    @property
    def interval_ns(self):
        return INTERVAL_NS if self.simulated else MEASURED_INTERVAL_NS

    def values(self, name):
        given = self.plan.parameters.get(self.section.number, {}).get(name)
        parameter = self.section.parameter(name)
        if given or self.quick:
            return given or parameter.quick
        return self.simulated and parameter.simulated or parameter.draft

    def value(self, name):
        return self.values(name)[0]

    @property
    def repetitions(self):
        return int(self.value("repetitions"))

    def fitting(self, name, most):
        """Values that this fabric has hosts for; if none does, the largest that would. Raises ReportError if that is
        below 2."""
        kept = [int(value) for value in self.values(name) if value <= most] or [most]
        if kept[0] < 2:
            raise ReportError(f"{self.plan.path}: fabric.hosts: {self.plan.hosts} are too few for "
                              f"{self.section.number} {self.section.title}")
        return kept

    def left_out(self, name, most):
        """A sentence on values of the draft that do not fit; none if all do."""
        gone = [value for value in self.values(name) if value > most]
        instead = f"; {most} in their place" if len(gone) == len(self.values(name)) else ""
        return () if not gone else (f"{name} {', '.join(map(str, gone))}: left out, the fabric has {self.plan.hosts} "
                                    f"hosts{instead}.",)

    # --- Options.

    def simulation(self, *pairs):
        """Options of `weir simulate` for the plan's fabric, with `pairs` ('section.key=value') set in its switch
        file."""
        return {"switch-set": [f"topology.hosts={self.plan.hosts}", *_classes(self.plan), *pairs],
                **dict(fabric_options(self.plan))}

    def spread(self, count):
        """Hosts of `count` ranks or workers, the leaves in turn: 0 of the first, 0 of the second, ..."""
        leaves = self.fabric.leaves
        each = math.ceil(self.plan.hosts / leaves)
        order = [leaf * each + place for place in range(each) for leaf in range(leaves)
                 if leaf * each + place < self.plan.hosts]
        return order[:count]

    def pair_hosts(self, pairs):
        """Hosts of so many pairs, first one side, then the other: both sides of a pair are at different leaves, if
        there are several."""
        order = self.spread(2 * pairs)
        other = order[pairs:]
        return order[:pairs] + (other[1:] + other[:1] if pairs % self.fabric.leaves == 0 else other)

    def incast_hosts(self, senders):
        """Hosts of so many senders, then of their receiver."""
        order = self.spread(senders + 1)
        return order[1:] + order[:1]

    def only_simulated(self, hosts_of, count, *keys, **options):
        """The `simulate` of a setting whose ranks sit on hosts_of(count), with more keys of the switch file and
        options; nothing of a measured one."""
        if not self.simulated:
            return {}
        placed = ("placement.kind=explicit", "placement.hosts=" + ",".join(map(str, hosts_of(count))))
        return {"simulate": {**self.simulation(*placed, *keys), **options}}

    def ranks(self, producers, consumers):
        """Options of a measured setting: a simulation has them from its traffic."""
        return {} if self.simulated else {"producers": producers, "consumers": consumers}


def _classes(plan):
    return [f"classes.{kind}={priority}" for kind, priority in plan.classes.items()]


def fabric_options(plan):
    """(option, text) pairs of the simulated fabric, but for what is set in its switch file."""
    link = quantities.rate_text(plan.link)
    return [("network", "packet"), ("switch", plan.switch), ("producer-link", link), ("consumer-link", link),
            ("mtu", f"{plan.framing.mtu}B"), ("packet-overhead", f"{plan.framing.overhead}B"),
            *((name, value) for name, value in (("pfc", plan.pfc), ("ecn", plan.ecn)) if value)]


def check_run(plan, world, directory):
    """Raises ReportError that names the plan where weir refuses options of [run]. `directory`: where weir is called."""
    if not plan.run:
        return
    given = {key for key, _ in plan.run}
    ranks = [(key, "2") for key in ("producers", "consumers") if key not in given]
    _, message = dry_runs.dry_run(programs.find_weir(), "simulate" if world == "simulation" else "run",
                                  [*plan.run, *ranks], directory)
    if message:
        raise ReportError(f"{plan.path}: run: {message}")


def fabric_of(plan, weir, directory):
    """Simulates the plan's fabric for a moment, in the new directory `directory`: weir writes all keys of the switch
    and draws it. Raises ReportError."""
    options = [*fabric_options(plan), *(("switch-set", key) for key in (f"topology.hosts={plan.hosts}",
                                                                        "placement.kind=by-worker", *_classes(plan))),
               ("producers", str(plan.hosts)), ("consumers", str(plan.hosts)), ("duration", "1ms"), ("warmup", "0s"),
               ("interval", "1ms"), ("explain", "off")]
    words = [programs.simulator(weir), "simulate", *dry_runs.option_words(options)]
    drawn = _printed(plan, [*words, "--dry-run"])
    if not directory.exists():
        with whole_file.directory(directory) as part:
            _printed(plan, [*words, "--quiet", "--out", str(part)])
    _, record = read_record(directory)
    keys = record["environment"]["packet_network"]
    topology = keys["topology"]
    tree = topology["kind"] in ("leaf-spine", "three-tier")
    return Fabric(is_star=topology["kind"] == "star", leaves=int(topology["leaves"]) if tree else 1,
                  parallel=int(topology["spines"]) * int(topology["uplinks"]) if tree else 1,
                  keys=keys, drawn=tuple(_drawing(drawn)), nics=int(topology["nics"]),
                  links=tuple(dict.fromkeys(tuple(port[name] for name in network_drawing.LINK)
                                            for port in record["switch"]["ports"])))


def _printed(plan, words):
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ReportError(f"{plan.path}: fabric: {error}") from error
    if done.returncode:
        raise ReportError(f"{plan.path}: fabric: {(done.stderr.strip() or 'weir simulate failed').splitlines()[-1]}")
    return done.stdout


def _drawing(text):
    """The lines of a dry run about switch and topology."""
    inside = False
    for line in text.splitlines():
        if line[:2] == "  " and line[2:3].strip():
            inside = line.split()[0] in ("topology", "capacity", "switch")
        if inside and not line.strip():
            break
        if inside:
            yield line[2:]
