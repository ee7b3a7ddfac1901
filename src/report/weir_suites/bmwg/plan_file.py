"""PLAN.toml: what is tested, where, and which tests. Checked, and refused with file and key."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from weir_compare.sweep import sweep_file
from weir_runs.basics import quantities, toml_file, toml_table
from weir_runs.basics.errors import ReportError
from weir_runs.basics.input_file import read_text
from weir_runs.basics.toml_table import Place, choice, content, is_number, quantity, shown, table, text, texts, whole
from . import catalogue
from .arithmetic import Framing, ROCE

WHAT = "a plan of tests in TOML (weir-sweep bmwg --template)"
# What section 1 of a report names. What a plan leaves out is named missing.
DEVICE = ("vendor", "model", "asic", "operating-system", "port-speed", "buffers", "optics-and-cables")
HOST = ("nic", "nic-firmware", "driver", "operating-system", "collective-library", "firmware-settings")
HOSTS_MAX = 65536
CLASSES = ("data", "control")
# Handed on to the sweep files as they are.
HANDED_ON = ("run", "environment", "local", "slurm", "switch")
SIZES, TIMES = ("sizes", "bytes", "reorder", "thresholds"), ("gaps", "compute", "convergence", "ack-timeout", "window",
                                                             "detection")
FREE = ("settings",)  # texts that weir checks


def _empty(keys):
    return "".join(f'{key} = ""\n' for key in keys)


TEMPLATE = f"""# These tests load a network to its limit. Never run them on a production network (RFC 6815):
# is this one? Write false if it is not.
production-network = "?"
name = "my-fabric"

[device]                              # printed in the report; what is left out is named missing
{_empty(DEVICE)}
[host]
{_empty(HOST)}
[fabric]
hosts = 32                            # that can take part
link = "100Gb/s"                      # line rate of a host
packet-payload = "4096B"              # of RoCE v2 with an MTU of 4096; of TCP with 1500: 1448B and 90B
packet-overhead = "82B"               # headers, preamble and gap
switch = "shallow"                    # for --simulate: a built-in one, or a switch file (docs/simulating-a-switch.md)
pfc = "on"                            # tests of a section set it as their procedure says
ecn = "off"
# Of a real fabric; a simulated one is drawn by weir.
#topology = "4 leaves, 2 spines, 2 x 100 Gb/s from each leaf to each spine"

#[classes]                            # priorities: set for simulated packets, else printed in the report
#data = 3
#control = 6

[tests]
#only = ["5.3", "8.1"]                # without it, all that can be run

#[parameters."5.3"]                   # in the place of the draft's; the report lists what differs
#senders = [2, 4, 8]

# [run] (options of all runs, as engine = "ucx"), [local], [slurm], [switch] and [environment] are handed on to the
# campaigns: slurm/README.md
"""


@dataclasses.dataclass(frozen=True)
class PlanFile:
    path: Path
    text: str
    name: str
    device: dict
    host: dict
    hosts: int
    link: int  # b/s
    switch: str  # as --switch takes it
    framing: Framing
    topology: str
    pfc: str | None  # on, off; None: as the switch file has it
    ecn: str | None
    classes: dict  # {kind of message: its priority}, of CLASSES
    only: tuple  # numbers of sections; empty: all
    parameters: dict  # {section: {name: values}}
    handed_on: dict  # {table: content}
    run: tuple  # (option, text) pairs of [run]

    def missing(self):
        """Keys of [device] and [host] without a text."""
        return [f"{table}.{key}" for table, keys, given in (("device", DEVICE, self.device), ("host", HOST, self.host))
                for key in keys if not given.get(key)]


def _not_production(place, value):
    """RFC 6815 asks for it."""
    if value is True:
        place.refuse("these tests must not be run on a production network (RFC 6815)")
    return value if value is False else place.refuse("write false if this is no production network; these tests load a "
                                                     "network to its limit and must never be run on one (RFC 6815)")


def _only(place, value):
    numbers = texts(place, value)
    for number in numbers:
        if number not in catalogue.BY_NUMBER:
            place.refuse(f"there is no section '{number}'; weir-sweep bmwg --list has them")
    return numbers


def _parameters(place, value):
    return {number: _of_section(place / f'"{number}"', number, one) for number, one in content(place, value).items()}


def _of_section(place, number, given):
    section = catalogue.BY_NUMBER.get(number)
    if section is None or not isinstance(given, dict):
        place.refuse("it is not a table of a section that exists, such as [parameters.\"5.3\"]")
    return {name: _values(place / name, section, name, values) for name, values in given.items()}


def _values(place, section, name, values):
    parameter = section.parameter(name)
    if parameter is None:
        known = ", ".join(one.name for one in section.parameters)
        place.refuse(f"{section.number} has no such parameter" + (f"; known are: {known}" if known else ""))
    values = tuple(values) if isinstance(values, list) else (values,)
    if not 0 < len(values) <= 64:
        place.refuse(f"one to 64 values are expected, such as [{parameter.quick[0]}]")
    return tuple(_value(place, parameter, value) for value in values)


def _value(place, parameter, value):
    example = parameter.quick[-1]
    if isinstance(example, str):
        if not isinstance(value, str):
            place.refuse(f"{shown(value)} is not a text such as \"{example}\"")
        _check_text(place, parameter, value)
    elif not is_number(value) or not 0 <= value <= 10**6 or isinstance(example, int) and value != int(value):
        place.refuse(f"{shown(value)} is not a number such as {example}")
    elif value == 0 and 0 not in parameter.quick:
        place.refuse(f"0 is not above 0, such as {example}")
    elif parameter.least is not None and value < parameter.least:
        place.refuse(f"{value} is below {parameter.least}, the least with which the test has a meaning, such as "
                     f"{example}")
    return value


def _check_text(place, parameter, value):
    if parameter.name in SIZES:
        return value == "0B" or quantity(quantities.size)(place, value)
    if parameter.name in TIMES:
        return quantity(quantities.time_ns)(place, value)
    allowed = dict.fromkeys((*parameter.draft, *parameter.quick))
    if parameter.name in FREE or parameter.name == "balancing" and value == "adaptive":
        return value
    return choice(*allowed)(place, value)


def _handed_on(name):
    """Checked as a sweep file has it, so that messages name the plan and no file that is made of it."""
    def read_table(place, value):
        sweep_file.kind_of(name)(place, value)
        return value
    return read_table


_OR_OFF = choice("on", "off")
KEYS = {
    "production-network": _not_production,
    "name": text,
    "device": table(dict.fromkeys(DEVICE, text)),
    "host": table(dict.fromkeys(HOST, text)),
    "fabric": table({"hosts": whole(2, HOSTS_MAX), "link": quantity(quantities.rate),
                     "packet-payload": quantity(quantities.size), "packet-overhead": quantity(quantities.size),
                     "switch": text, "topology": text, "pfc": _OR_OFF, "ecn": _OR_OFF}),
    "classes": table(dict.fromkeys(CLASSES, whole(0, 7))),
    "tests": table({"only": _only}),
    "parameters": _parameters,
    **{name: _handed_on(name) for name in HANDED_ON},
}


def read(path):
    """Raises ReportError."""
    path, place = Path(path), Place(path)
    whole_text = read_text(path, WHAT)
    document = {"production-network": None, **toml_file.parse(path, whole_text, WHAT)}
    found = toml_table.read_keys(KEYS, place, document)
    fabric = found.get("fabric", {})
    if "hosts" not in fabric:
        (place / "fabric" / "hosts").refuse("missing; the number of hosts that can take part is expected, such as 32")
    switch = fabric.get("switch", "shallow")
    return PlanFile(
        path=path.resolve(), text=whole_text, name=found.get("name", path.stem), device=found.get("device", {}),
        host=found.get("host", {}), hosts=fabric["hosts"], link=fabric.get("link", 100 * 10**9),
        # a file is found from the plan's directory
        switch=str(path.resolve().parent / switch) if switch.endswith(".toml") else switch,
        framing=Framing(fabric.get("packet-payload", ROCE.mtu), fabric.get("packet-overhead", ROCE.overhead)),
        topology=fabric.get("topology", ""), pfc=fabric.get("pfc"), ecn=fabric.get("ecn"),
        classes=found.get("classes", {}), only=found.get("tests", {}).get("only", ()),
        parameters=found.get("parameters", {}), handed_on={name: document.get(name, {}) for name in HANDED_ON},
        run=sweep_file.kind_of("run")(place / "run", document.get("run", {})))


def chosen(plan, only, world):
    """The sections that are run: those asked for, or all that can be. `only`: of --only, in the place of the plan's.
    Raises ReportError."""
    wanted, where = (tuple(only), "--only") if only else (plan.only, f"{plan.path}: tests.only")
    for number in wanted:
        section = catalogue.BY_NUMBER.get(number)
        if section is None:
            raise ReportError(f"{where}: there is no section '{number}'; weir-sweep bmwg --list has them")
        if section.why_not(world):
            raise ReportError(f"{where}: {number} {section.title} cannot be run here: {section.why_not(world)}")
    return [section for section in catalogue.SECTIONS if (section.number in wanted
                                                          if wanted else not section.why_not(world))]
