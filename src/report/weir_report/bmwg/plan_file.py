"""PLAN.toml: what is tested, where, and which tests. Checked, and refused with file and key."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from ..basics import quantities, toml_file
from ..basics.errors import ReportError
from ..basics.input_file import read_text
from ..sweep.file import Table, check_tables
from . import catalogue
from .arithmetic import ROCE, Framing

WHAT = "a plan of tests in TOML (weir-sweep bmwg --template)"
# What section 1 of a report names. What a plan leaves out is named missing.
DEVICE = ("vendor", "model", "asic", "operating-system", "port-speed", "buffers", "optics-and-cables")
HOST = ("nic", "nic-firmware", "driver", "operating-system", "collective-library", "firmware-settings")
HOSTS_MAX = 65536
CLASSES = ("data", "control")
# Handed on to the sweep files as they are.
HANDED_ON = ("run", "environment", "local", "slurm", "switch")
SIZES, TIMES = ("sizes", "bytes", "reorder", "thresholds"), ("gaps", "compute", "convergence", "ack-timeout", "window", "detection")
FREE = ("settings",)  # texts that weir checks

TEMPLATE = f"""# These tests load a network to its limit. Never run them on a production network (RFC 6815): is this one? Write false if it is not.
production-network = "?"
name = "my-fabric"

[device]                              # printed in the report; what is left out is named missing
vendor = ""
model = ""
asic = ""
operating-system = ""
port-speed = ""
buffers = ""
optics-and-cables = ""

[host]
nic = ""
nic-firmware = ""
driver = ""
operating-system = ""
collective-library = ""
firmware-settings = ""

[fabric]
hosts = 32                            # that can take part
link = "100Gb/s"                      # line rate of a host
packet-payload = "4096B"              # of RoCE v2 with an MTU of 4096; of TCP with 1500: 1448B and 90B
packet-overhead = "82B"               # headers, preamble and gap
switch = "shallow"                    # for --simulate: a built-in switch, or a switch file (docs/simulating-a-switch.md)
pfc = "on"                            # tests of a section set it as their procedure says
ecn = "off"
#topology = "4 leaves, 2 spines, 2 x 100 Gb/s from each leaf to each spine"   # of a real fabric; a simulated one is drawn by weir

#[classes]                            # priorities; those of simulated packets are set, of others they are printed in the report
#data = 3
#control = 6

[tests]
#only = ["5.3", "8.1"]                # without it, all that can be run

#[parameters."5.3"]                   # in the place of the draft's; the report lists what differs
#senders = [2, 4, 8]

# [run] (options of all runs, as engine = "ucx"), [local], [slurm], [switch] and [environment] are handed on to the campaigns: slurm/README.md
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


def read(path):
    """Raises ReportError."""
    path = Path(path)
    text = read_text(path, WHAT)
    top = Table(path, "", toml_file.parse(path, text, WHAT))
    _ask_rfc6815(top)
    fabric = top.table("fabric")
    tests = top.table("tests")
    classes = top.table("classes")
    handed_on = {key: top.read(key, {}, dict, f"a table ([{key}])") for key in HANDED_ON}
    made = PlanFile(
        path=path.resolve(), text=text, name=top.text("name", path.stem),
        device=_texts(top.table("device"), DEVICE), host=_texts(top.table("host"), HOST),
        hosts=_needed(fabric, "hosts", fabric.integer("hosts", None, 2, HOSTS_MAX)),
        link=_link(fabric), framing=_framing(fabric), switch=_switch(path, fabric.text("switch", "shallow")), topology=fabric.text("topology", ""),
        pfc=fabric.choice("pfc", ("on", "off")), ecn=fabric.choice("ecn", ("on", "off")),
        classes={key: value for key in CLASSES if (value := classes.integer(key, None, 0, 7)) is not None},
        only=_only(tests), parameters=_parameters(top.table("parameters")),
        handed_on=handed_on, run=check_tables(path, handed_on))  # here, so that messages name the plan and no file that is made of it
    for table in (top, fabric, tests, classes):
        table.no_others()
    return made


def chosen(plan, only, world):
    """The sections that are run: those asked for, or all that can be. `only`: of --only, in the place of the plan's. Raises ReportError."""
    wanted, where = (tuple(only), "--only") if only else (plan.only, f"{plan.path}: tests.only")
    for number in wanted:
        section = catalogue.BY_NUMBER.get(number)
        if section is None:
            raise ReportError(f"{where}: there is no section '{number}'; weir-sweep bmwg --list has them")
        if section.why_not(world):
            raise ReportError(f"{where}: {number} {section.title} cannot be run here: {section.why_not(world)}")
    return [section for section in catalogue.SECTIONS if (section.number in wanted if wanted else not section.why_not(world))]


def _ask_rfc6815(top):
    answer = top.content.get("production-network")
    top.known.append("production-network")
    top.content.pop("production-network", None)
    if answer is True:
        raise ReportError(f"{top.where('production-network')}: these tests must not be run on a production network (RFC 6815)")
    if answer is not False:
        raise ReportError(f"{top.where('production-network')}: write false if this is no production network; these tests load a network to its "
                          "limit and must never be run on one (RFC 6815)")


def _texts(table, keys):
    found = {key: table.text(key, "") for key in keys}
    table.no_others()
    return found


def _needed(table, key, value):
    if value is None:
        raise ReportError(f"{table.where(key)}: missing; the number of hosts that can take part is expected, such as 32")
    return value


def _link(table):
    text = table.text("link", "100Gb/s")
    try:
        return quantities.rate(text)
    except quantities.QuantityError as error:
        raise ReportError(f"{table.where('link')}: {error}") from error


def _framing(table):
    sizes = []
    for key, default in (("packet-payload", ROCE.mtu), ("packet-overhead", ROCE.overhead)):
        try:
            sizes.append(quantities.size(table.text(key, f"{default}B")))
        except quantities.QuantityError as error:
            raise ReportError(f"{table.where(key)}: {error}") from error
    return Framing(*sizes)


def _switch(path, text):
    """A file is found from the plan's directory."""
    beside = path.resolve().parent / text
    return str(beside) if text.endswith(".toml") else text


def _only(table):
    numbers = table.texts("only")
    for number in numbers:
        if number not in catalogue.BY_NUMBER:
            raise ReportError(f"{table.where('only')}: there is no section '{number}'; weir-sweep bmwg --list has them")
    return numbers


def _parameters(table):
    return {number: _of_section(table, number, content) for number, content in table.content.items()}


def _of_section(table, number, content):
    section = catalogue.BY_NUMBER.get(number)
    where = table.where(f'"{number}"')
    if section is None or not isinstance(content, dict):
        raise ReportError(f"{where}: it is not a table of a section that exists, such as [parameters.\"5.3\"]")
    return {name: _values(f"{where}.{name}", section, name, values) for name, values in content.items()}


def _values(where, section, name, values):
    parameter = section.parameter(name)
    if parameter is None:
        known = ", ".join(one.name for one in section.parameters)
        raise ReportError(f"{where}: {section.number} has no such parameter" + (f"; known are: {known}" if known else ""))
    values = tuple(values) if isinstance(values, list) else (values,)
    example = parameter.quick[0]
    if not values or len(values) > 64:
        raise ReportError(f"{where}: one to 64 values are expected, such as [{example}]")
    return tuple(_value(where, parameter, value) for value in values)


def _value(where, parameter, value):
    example = parameter.quick[-1]
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if isinstance(example, str):
        if not isinstance(value, str):
            raise ReportError(f"{where}: {value!r} is not a text such as \"{example}\"")
        _check_text(where, parameter, value)
    elif not number or value < 0 or value > 10**6 or isinstance(example, int) and value != int(value):
        raise ReportError(f"{where}: {value!r} is not a number such as {example}")
    elif value == 0 and 0 not in parameter.quick:
        raise ReportError(f"{where}: 0 is not above 0, such as {example}")
    elif parameter.least is not None and value < parameter.least:
        raise ReportError(f"{where}: {value} is below {parameter.least}, the least with which the test has a meaning, such as {example}")
    return value


def _check_text(where, parameter, value):
    try:
        if parameter.name in SIZES and value != "0B":
            quantities.size(value)
        elif parameter.name in TIMES:
            quantities.time_ns(value)
        elif parameter.name not in (*SIZES, *TIMES, *FREE):
            allowed = dict.fromkeys((*parameter.draft, *parameter.quick))
            if value not in (*allowed, *(("adaptive",) if parameter.name == "balancing" else ())):
                raise ReportError(f"{where}: '{value}' is not one of {', '.join(allowed)}")
    except quantities.QuantityError as error:
        raise ReportError(f"{where}: {error}") from error
