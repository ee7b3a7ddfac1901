"""Values of a switch file in the words of the switch that it was imported from, and the words that go back. Where a
value stands in the configuration, the comment of its key says.

- SONiC: `config apply-patch` takes a JSON patch (RFC 6902) of CONFIG_DB, whose values are texts (sonic-utilities,
  generic_config_updater); scripts/ecnconfig of sonic-utilities@0ed3461e has -gmin, -gmax and -gdrop of a WRED_PROFILE.
- NVUE: NVIDIA, Cumulus Linux 5.10, "Quality of Service": `nv set qos congestion-control PROFILE traffic-class CLASS
  min-threshold BYTES`; shared-alpha is alpha_1_128 to alpha_64 in powers of two ("NVUE Commands, QoS").
- EOS: the line of `random-detect ecn`, with `bytes` from 1 to 256000000 (aristanetworks/avd, qos_profiles)."""

import json
import math
import re
import shlex
from dataclasses import dataclass, field

from weir_runs.basics import quantities, toml_file

MADE = re.compile(r"# Made by weir-sweep \S+ from (.*) \((SONiC|NVUE|EOS)\)\.")
LEFT_OUT = re.compile(r"^# not in the configuration: \[([a-z]+)\] (.*?): (.*)$", re.MULTILINE)
COMMENTED = re.compile(r"([a-z-]+) = .*?  # (.*)")
# What the note of a key says that the configuration has, where the key has another number.
CONFIGURED = re.compile(r"; (\d+) B (?:of a port of (\d+) Gb/s|are above)")
ECN_CONFIG = {"green_min_threshold": "-gmin", "green_max_threshold": "-gmax", "green_drop_probability": "-gdrop"}
LANE_RATE, RATE_OF_HEADROOM = 25, 100  # Gb/s, see switch_keys
EOS_MOST = 256_000_000
EOS_ECN = re.compile(r"line \d+\|(.*) (random-detect ecn .*)")
EOS_NUMBERS = {"ecn.none-below": r"(?<=minimum-threshold )\d+ \w+", "ecn.all-above": r"(?<=maximum-threshold )\d+ \w+",
               "ecn.probability": r"(?<=max-mark-probability )\d+"}

KEPT = {"SONiC": "sudo config save -y keeps it over a restart",
        "EOS": "typed after configure; write memory keeps it over a restart"}


class CannotBeWritten(Exception):
    """Why not, in words."""


@dataclass
class Words:
    """`apply`, `back`: lines to type; `patch`, `patch_back`: for `config apply-patch` of SONiC; `unwritten`: values
    that have no words, and why."""
    family: str
    source: str
    apply: list = field(default_factory=list)
    back: list = field(default_factory=list)
    patch: list = field(default_factory=list)
    patch_back: list = field(default_factory=list)
    unwritten: list = field(default_factory=list)

    @property
    def sides(self):
        """[(what to do, lines)]: what is proposed, and back."""
        found = []
        for name, patch, lines in (("to set it", self.patch, self.apply), ("to go back", self.patch_back, self.back)):
            patched = [f"echo {shlex.quote(json.dumps(patch))} | sudo config apply-patch /dev/stdin"] if patch else []
            found.append((name, [*patched, *(["# or"] if patched and lines else []), *lines]))
        return found if self.patch or self.apply else []

    @property
    def _whose(self):
        """What else the lines are for."""
        if self.back and self.back[0].startswith("interface "):
            return f"these lines are of {self.back[0]} alone: type them for each interface that has its own"
        if self.family == "NVUE" and " default-global " in self.apply[0]:
            return "default-global is that of all ports that name no profile"
        return "a profile is that of all ports and queues that name it"

    @property
    def notes(self):
        shared = [self._whose] if self.patch or self.apply else []
        asics = ["on a switch with several ASICs, /asic0 and so on stands before each path of the patch"]
        kept = [KEPT[self.family]] if shared and self.family in KEPT else []
        return [*shared, *(asics if self.patch else []), *kept,
                *(f"not in the switch's words: {name}: {why}" for name, why in self.unwritten)]


def of_change(text, values):
    """The Words for {key of the switch: value as weir takes it} in a switch file's `text`, of those that differ from
    it; None: it was not imported from a configuration."""
    made = MADE.match(text)
    if not made:
        return None
    words, comments = Words(made[2], made[1]), _comments(text)
    tables = toml_file.parse("the switch file", text)
    for name, value in values.items():
        section, _, key = name.rpartition(".")
        before = tables.get(section, {}).get(key)
        if name not in comments:
            words.unwritten.append((f"{name}={value}", "the configuration did not have it"))
        elif _number(value) != _number(before):
            try:
                _WRITERS[words.family](words, name, comments[name], str(before), value)
            except CannotBeWritten as cannot:
                words.unwritten.append((f"{name}={value}", str(cannot)))
    if words.family == "SONiC":
        words.apply, words.back = (_ecn_config(patch) for patch in (words.patch, words.patch_back))
    elif words.family == "NVUE" and words.apply:
        words.apply, words.back = ([*lines, "nv config apply"] for lines in (words.apply, words.back))
    return words


def left_out(text):
    """{key: why} of what a switch file of an import lacks, but for keys that somebody added; nothing of other files."""
    if not MADE.match(text):
        return {}
    mine = toml_file.parse("the switch file", text)
    lacks = {f"{section}.{name}": why for section, names, why in LEFT_OUT.findall(text) for name in names.split(", ")}
    return {name: why for name, why in lacks.items()
            if name.partition(".")[2] not in mine.get(name.partition(".")[0], {})}


def assumed(text):
    """What a switch file of an import lacks of memory and thresholds, as a sentence; nothing of other files."""
    lacks = [name.partition(".")[2] for name in left_out(text) if name.startswith("switch.")]
    return (f"{', '.join(lacks)}: not in the configuration, so simulated as in the built-in switch shallow"
            if lacks else "")


def _comments(text):
    """{key: its comment}"""
    found, section = {}, ""
    for line in text.splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif commented := COMMENTED.fullmatch(line):
            found[f"{section}.{commented[1]}"] = commented[2]
    return found


def _number(value):
    """In the base unit, or a text as it is."""
    if isinstance(value, bool):
        return str(value).lower()
    number = quantities.number_of(str(value))
    return float(number[0]) if number else value


# --- Values as the field of a configuration has them.


def _bytes(value):
    return f"{_number(value):.0f}"


def _percent(value):
    percent = 100.0 * _number(value)
    if abs(percent - round(percent)) > 1e-6:
        raise CannotBeWritten(f"{percent:g} %; the switch takes whole percents")
    return f"{percent:.0f}"


def _exponent(value):
    exponent = math.log2(_number(value)) if _number(value) > 0 else math.nan
    if not exponent.is_integer():
        raise CannotBeWritten("the switch takes powers of two; a list of them as the axis finds the best")
    return f"{exponent:.0f}"


def _alpha(value):
    exponent = int(_exponent(value))
    return f"alpha_{2 ** exponent}" if exponent >= 0 else f"alpha_1_{2 ** -exponent}"


def _xoff(value, rate):
    """That of a port of `rate` Gb/s."""
    return f"{math.floor(_number(value) * max(rate, LANE_RATE) / RATE_OF_HEADROOM):.0f}"


_FIELDS = {"green_min_threshold": _bytes, "green_max_threshold": _bytes, "green_drop_probability": _percent,
           "ecn_green_min_threshold": _bytes, "ecn_green_max_threshold": _bytes, "ecn_green_mark_probability": _percent,
           "dynamic_th": _exponent, "static_th": _bytes, "xon_offset": _bytes,
           "min-threshold": _bytes, "max-threshold": _bytes, "probability": _percent, "shared-alpha": _alpha,
           "shared-bytes": _bytes}


def _place(comment):
    """(the first place of a comment, its last word, whether the value stands there)"""
    place, _, how = comment.partition("; ")[0].partition(": ")
    return place, place.rpartition(" ")[2], not how.startswith(("not set", "no ", "RoCE"))


# --- Families.


def _sonic(words, _, comment, before, value):
    place, name, is_there = _place(comment)
    table, _, key = place.rpartition(" ")[0].partition("|")
    configured = CONFIGURED.search(comment)
    if table == "PFC_WD":
        raise CannotBeWritten("each port has its own; pfcwd start sets them")
    if table == "pg_profile_lookup.ini":
        raise CannotBeWritten(f"it stands in {table}; name a profile of its own in BUFFER_PG")
    if name == "xoff" and configured and configured[2]:
        old, new = configured[1], _xoff(value, int(configured[2]))
    elif name in _FIELDS:
        old, new = configured[1] if configured else _FIELDS[name](before), _FIELDS[name](value)
    else:
        raise CannotBeWritten(f"weir does not write {name or 'this'}: other settings follow from it")
    path = "/" + "/".join(part.replace("~", "~0").replace("/", "~1") for part in (table, key, name))
    words.patch.append({"op": "replace" if is_there else "add", "path": path, "value": new})
    words.patch_back.append({"op": "replace", "path": path, "value": old} if is_there else
                            {"op": "remove", "path": path})


def _ecn_config(patch):
    """The same as lines of ecnconfig; none, if it cannot do all of it."""
    profiles = {}
    for one in patch:
        key, name = one["path"].split("/")[2:]
        key = key.replace("~1", "/").replace("~0", "~")
        if name not in ECN_CONFIG or "value" not in one:
            return []
        profiles.setdefault(key, []).append(f"{ECN_CONFIG[name]} {one['value']}")
    return [f"sudo ecnconfig -p {shlex.quote(key)} {' '.join(options)}" for key, options in profiles.items()]


def _nvue(words, _, comment, before, value):
    place, name, is_there = _place(comment)
    if name not in _FIELDS:
        raise CannotBeWritten(f"weir does not write {place}")
    typed = shlex.join(place.split())
    words.apply.append(f"nv set {typed} {_FIELDS[name](value)}")
    words.back.append(f"nv set {typed} {_FIELDS[name](before)}" if is_there else f"nv unset {typed}")


def _eos(words, name, comment, _, value):
    """Keys of one line change it together."""
    found = EOS_ECN.fullmatch(comment.partition("; ")[0])
    if not found or name not in EOS_NUMBERS:
        raise CannotBeWritten("weir writes the numbers of random-detect ecn only")
    pattern, new = EOS_NUMBERS[name], _percent(value) if name == "ecn.probability" else f"{_bytes(value)} bytes"
    if name != "ecn.probability" and not 1 <= _number(value) <= EOS_MOST:
        raise CannotBeWritten(f"the switch takes 1 to {EOS_MOST} bytes")
    if not words.back:
        lines = [*found[1].split(" > "), found[2]]
        words.back = [f"{'   ' * depth}{line}" for depth, line in enumerate(lines)]
        words.apply = list(words.back)
    words.apply[-1] = re.sub(pattern, new, words.apply[-1])


_WRITERS = {"SONiC": _sonic, "NVUE": _nvue, "EOS": _eos}
