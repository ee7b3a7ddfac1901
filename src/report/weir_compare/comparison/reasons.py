"""Why one setting is worse than another: the options that differ, first; then what was counted more with it, with its
size; then how full its ports were. What lies beside a difference need not be its cause: "(proved)" is said of what is
one, in simulations: by runs that differ in one option alone, or by counterfactuals (proofs.py)."""

import dataclasses

from weir_runs.basics import units
from weir_runs.basics.quantities import spaced
from . import network_mechanisms
from .run_groups import plan_differences

# By what the network did to the worse setting: what is said of it, and what was counted: the first of these that is
# larger there.
_MECHANISMS = (
    ("lossy", "packets are lost", ("switch_dropped_packets", "missing_datagrams", "tcp_retransmissions",
                                   "dropped_by_hosts", "rdma_retransmissions", "out_of_sequence")),
    ("held_back_by_pfc", "PFC stops its senders", ("pause_time_received", "switch_pausing_s")),
    ("pauses_sent", "its hosts send pauses", ("pause_time_sent",)),
    ("controlled_by_ecn", "ECN slows its senders", ("ecn_marked_packets", "switch_marked_packets", "ecn_echoes",
                                                    "cnp_handled")),
    ("slowed_by_cnp", "CNPs slow its senders", ("cnp_handled",)),
)
# A counter is no reason if it is not so much larger than that of the better setting.
LARGER_FROM = 1.5
BLOCKED_FROM = 0.05
DIFFERENCES_MAX = 3
PROVED_MAX = 2
# What follows from another option, unless it was asked for: of a search, too, whose runs have many rates.
_FOLLOWS = {"buffer": ("rate", "interval"), "slot-size": ("event-size",)}
_OF_SWITCH = ("switch", "switch-set")
# Options that beat a key of the switch.
_BEATS = {"pfc": "pfc.on", "ecn": "ecn.on", "loss-recovery": "nic.recovery", "control-priority": "classes.control"}


@dataclasses.dataclass(frozen=True)
class Difference:
    """An option, or a key of the switch, with one value in all runs of a setting."""

    option: str
    worse: str
    better: str
    follows: tuple = ()  # (option, value of the better one): what this one brings about

    @property
    def name(self):
        """PFC, ECN; others as they are written on a command line."""
        return self.option.upper() if self.option in ("pfc", "ecn") else self.option

    @property
    def text(self):
        """slots 2 instead of 8; PFC off"""
        return self._of(self.worse, self.better)

    @property
    def reason(self):
        """slots is 2 instead of 8; PFC is off"""
        return self._of(self.worse, self.better, " is")

    @property
    def opposite(self):
        """The worse setting with this value of the better one."""
        return self._of(self.better, self.worse)

    def _of(self, value, other, verb=""):
        instead = "" if {value, other} == {"on", "off"} else f" instead of {spaced(other, value)}"
        return f"{self.name}{verb} {spaced(value, other)}{instead}"

    @property
    def changes(self):
        """{option: value} that make the worse setting like the better one in this."""
        return {option: None if value == "not given" else value
                for option, value in ((self.option, self.better), *self.follows)}


def differences(worse, better, searched=False):
    """[Difference] of two groups of runs. `searched`: what also differs inside of a group follows the rate that was
    searched for."""
    found = {option: values for option, values in plan_differences([worse, better]).items()
             if not (searched and (option in ("rate", "buffer") or any(" or " in value for value in values)))}
    follows = {option: cause for option, causes in _FOLLOWS.items() if option in found for cause in causes
               if cause in found}
    made = [Difference(option, *values, tuple((one, found[one][1]) for one, why in follows.items() if why == option))
            for option, values in found.items() if option not in _OF_SWITCH and option not in follows]
    return made + (_of_switch(worse, better, found) if any(option in found for option in _OF_SWITCH) else [])


def _of_switch(worse, better, found):
    """Keys of the switch that differ, beyond those that other options set; else the names of the files."""
    sides = [{} if not group.runs else _keys(group.runs[0]) for group in (worse, better)]
    beaten = [key for option, key in _BEATS.items() if option in found]
    keys = [key for key in sides[0] if key in sides[1] and sides[0][key] != sides[1][key] and key not in beaten]
    if keys:
        return [Difference(key, *(str(side[key]) for side in sides)) for key in keys]
    return [Difference(option, *found[option]) for option in _OF_SWITCH if option in found]


def _keys(run):
    """{'ecn.none-below': '50kB'} of the switch that was simulated."""
    sections = run.record["environment"].get("packet_network") or {}
    return {f"{section}.{key}": value for section, keys in sections.items() if isinstance(keys, dict)
            for key, value in keys.items()}


def is_experiment(worse, better, found, searched=False):
    """Whether runs are simulations that are the same but for one option: what differs between them, it does.
    `searched`: so are the searches that made them, and seeds are those of the values that were tried."""
    if len(found) != 1 or not worse.runs or not better.runs:
        return False
    runs = [*worse.runs, *better.runs]
    same = {(run.record["environment"].get("weir_version"), run.record["environment"].get("weir_commit"))
            for run in runs}
    seeds = [sorted(str(run.plan.get("seed")) for run in group.runs) for group in (worse, better)]
    return len(same) == 1 and (searched or seeds[0] == seeds[1]) and all(run.world == "simulation" for run in runs)


def because(found, worse, better):
    """A sentence: 'With none, PFC is off (proved); packets are lost (dropped by the switch 14 % of packets; none with
    a).'; '' if nothing is known. `worse`, `better`: rows of the ranking of answer.Findings."""
    groups = found.groups[worse.index], found.groups[better.index]
    searched = found.capacity is not None
    options, counted = differences(*groups, searched), mechanism(found, worse, better)
    trials = found.prover.of(found, worse, better, options, counted) if found.prover else ()
    if any(trial.mechanism and trial.is_none for trial in trials):
        counted = None
    proved = [trial for trial in trials if trial.is_cause]
    if any(trial.mechanism for trial in proved):
        counted = None
    beside = counted[1] if counted else _port(found, worse, better)
    experiment = is_experiment(*groups, options, searched)
    # its name says so
    options = [option for option in options if f"{option.option}={option.worse}" not in groups[0].name.split()]
    if proved:
        return _sentence(f"With {worse.setting}, {_proved(proved)} (proved)", beside)
    if experiment and options:
        return _sentence(f"With {worse.setting}, {_because(found, worse, better, options[0], searched)} (proved)",
                         beside)
    if not options:
        return f"With {worse.setting}, {beside}." if beside else ""
    named = f"{worse.setting} has {units.listed([option.text for option in options], DIFFERENCES_MAX)}"
    if len(options) > 1 and sum(trial.gone is not None and not trial.mechanism for trial in trials) == len(options):
        named += ", none of which alone is the reason"
    return _sentence(named, beside)


def _sentence(cause, beside):
    return f"{'; '.join(filter(None, (cause, beside)))}."


def _because(found, worse, better, option, searched):
    """PFC is off; where another setting has it off, too, and is better by another option: neither PFC nor ECN is on"""
    others = [other for row in found.rows if row.index not in (worse.index, better.index)
              and (other := _only_other(found, worse, row, searched)) and other.option != option.option]
    ways = list({way.option: way for way in (option, *others)}.values())
    if len(ways) == 1:
        return option.reason
    if len({way.better for way in ways}) == 1:
        return f"{_nor([way.name for way in ways])} is {spaced(option.better)}"
    return _nor([f"{way.name} is {spaced(way.better)}" for way in ways])


def _nor(words):
    return "neither " + " nor ".join(words)


def _only_other(found, worse, row, searched):
    """The Difference by which a third setting is certainly better than the worse one, if it is one alone."""
    told = found.ranked.told[worse.index][row.index]
    if told is None or told.better != row.index:
        return None
    groups = found.groups[worse.index], found.groups[row.index]
    options = differences(*groups, searched)
    return options[0] if is_experiment(*groups, options, searched) else None


def _proved(trials):
    """Options first. Each of several alone would put it right, so that all of them are needed for the difference."""
    options = [trial.reason for trial in trials if not trial.mechanism]
    either = " (to change one of them suffices)" if len(options) > 1 else ""
    return " and ".join([*([f"{' and '.join(options[:PROVED_MAX])}{either}"] if options else []),
                         *(trial.reason for trial in trials if trial.mechanism)])


def mechanism(found, worse, better):
    """(name of the mechanism, 'packets are lost (dropped by the switch 14 % of packets; 0.4 % with a)') of what was
    counted with the worse setting, and more than with the better one; None if there is no such thing."""
    one, other = found.why_of(worse), found.why_of(better)
    for name, words, names in _MECHANISMS:
        if one.most != network_mechanisms.WORDS[name]:
            continue
        shown = next((text for counter in names if (text := _larger(one, other, counter, better.setting))), None)
        if shown is not None or other.most != one.most and not any(counter.name in names for counter in one.told):
            return name, f"{words}{f' ({shown})' if shown else ''}"
    blocked = _larger(one, other, "blocked_share", better.setting)
    if blocked and _counted(one, "blocked_share").value >= BLOCKED_FROM:
        return "blocked", f"its consumers are {blocked.removeprefix('consumers ')}"
    return None


def _port(found, worse, better):
    """'fullest port used 99 %, 78 % with a'"""
    one, other = found.why_of(worse), found.why_of(better)
    if one.use is None or other.use is None:
        return ""
    used, beside = units.percent(one.use), units.percent(other.use)
    return f"the {one.link} is used {used}, {'as' if beside == used else beside} with {better.setting}"


def _counted(why, name):
    return next((counter for counter in why.counters if counter.name == name), None)


def _larger(one, other, name, better):
    """'dropped by the switch 14 % of packets; 0.1 % with pfc' if a counter is larger; else None."""
    mine, beside = _counted(one, name), _counted(other, name)
    if mine is None or not mine.value or mine not in one.told:
        return None
    if beside is None or beside.value is None:
        return f"{mine.short} {mine.text}; not counted with {better}"
    have_shares = mine.share is not None and (beside.share is not None or not beside.value)
    own, others = (mine.share, beside.share) if have_shares else (mine.value, beside.value)
    if own < LARGER_FROM * (others or 0.0):
        return None
    return f"{mine.short} {mine.text}; {beside.text.split(' of ')[0] if beside.value else 'none'} with {better}"
