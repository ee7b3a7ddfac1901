"""Who is affected: ranks that get less than others though their own link is idle, and ports of switches that stand out.

A rank is a victim of a setting in one of two ways, each in more than half of its runs:

- against its peers: its rate is below the median of its role in the same rate windows (the median over the windows of
  its share) by FALL or more, and by OUTSIDE times the spread that ranks have between runs, so that a few events more or
  less are not a fall;
- against another setting: its rate is below that of the same rank under the setting that carries most, by FALL or more,
  and by OUTSIDE times the spread between runs; and its setting carries less than that one by LESS or more, of the same
  load. (A rank that gets less because another one gets more is no victim.)

Its own link must be idle: used below IDLE_BELOW where that is known. Where it is not known, that is said. A consumer
that is blocked, because its slots are full with work, limits itself and is named as a cause; so is a host that stops
others by pauses that it sends.

Rejected: to look for the lowest rates alone, which always finds some rank."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from weir_runs.basics import units
from weir_runs.reading import host_counters, series, switch_counters

FALL = 0.1
LESS = 0.02
OUTSIDE = 4.0
IDLE_BELOW = 0.85
BLOCKED_FROM = 0.05
PAUSING_FROM = 0.01
# More files of rows than this are not read; mean rates of run.json take their place.
FILES_MAX = 4000
# A port stands out if its share of marked or dropped packets is so many times the median of the others; or if it marks
# so many times less and carries nearly as much as the busiest.
PORT_FACTOR = 3.0
# In so many of the runs, and in two at least: losses come in bursts, so in a single run some port stands out by chance.
PORT_RUNS_FROM = 0.75
PORT_CARRIED_FROM = 0.2
PORT_SHARE_FROM = 0.002
PORT_PACKETS_FROM = 100
PORT_LESS_SHARE_FROM = 0.01
PORT_LESS_CARRIED_FROM = 0.8
_NORMAL = 1.4826  # standard deviation over the median absolute deviation


@dataclasses.dataclass(frozen=True)
class Victim:
    """`share`: its rate over what it is held against: the median of its peers, or its own rate `against` another
    setting. `link_use`: of its own link, 0 to 1; None: not known. `paused`: share of the time for which its host was
    stopped by pauses; None: not counted."""

    role: str
    index: int
    host: str | None
    share: float
    against: str | None
    link_use: float | None
    paused: float | None
    runs: int  # in which it was one

    @property
    def name(self):
        return f"{self.role} {self.index}" + (f" on {self.host}" if self.host else "")


@dataclasses.dataclass(frozen=True)
class Victims:
    """For one setting; `known` False: it could not be found out, and `reason` has why. `changing`, `causes`, `ports`:
    sentences without a full stop; `changing`: in each run some ranks are affected, but not the same."""

    setting: str
    known: bool
    reason: str | None
    ranks: tuple  # of Victim, the worst first
    runs: int
    of_role: dict  # {role: ranks}
    changing: tuple = ()
    causes: tuple = ()
    ports: tuple = ()

    @property
    def is_shown(self):
        return bool(self.ranks or self.changing or self.ports)

    def text(self, most):
        """One sentence on who is affected; of each role the `most` worst by name. Who causes it is in `causes`."""
        parts = []
        for role, verb in (("consumer", "receive"), ("producer", "send")):
            for against in dict.fromkeys(victim.against for victim in self.ranks if victim.role == role):
                of_role = [victim for victim in self.ranks if (victim.role, victim.against) == (role, against)]
                parts.append(_text_of(of_role, verb, self.of_role[role], most))
        return "; ".join((*parts, *self.changing, *self.ports))


def _text_of(ranks, verb, of_role, most):
    worst, against = ranks[0], ranks[0].against
    whose = "its" if len(ranks) == 1 else "their"
    of_what = "peers' median" if against is None else f"rate with {against}"
    what = f"{_range([victim.share for victim in ranks])} of {whose} {of_what}{_link(ranks)}"
    if len(ranks) == 1:
        return f"{worst.name} {verb}s {what}"
    if len(ranks) == of_role:
        return f"all {of_role} {worst.role}s {verb} {what}"
    names = units.listed([victim.name for victim in ranks], most)
    return f"{len(ranks)} of {of_role} {worst.role}s {verb} {what}: {names}"


def _range(shares):
    """30 % to 41 %"""
    return " to ".join(dict.fromkeys(units.percent(end(shares)) for end in (min, max)))


def _link(ranks):
    """(link 30 % busy, paused 54 % of the time)"""
    uses = [victim.link_use for victim in ranks if victim.link_use is not None]
    paused = [victim.paused for victim in ranks if victim.paused is not None]
    words = [f"link{'s' if len(ranks) > 1 else ''} {units.percent(float(np.median(uses)))} busy"
             if uses else "use of the link not known"]
    if paused and np.median(paused) >= PAUSING_FROM:
        words.append(f"paused {units.percent(float(np.median(paused)))} of the time")
    return f" ({', '.join(words)})"


def find_victims(groups, names):
    """Victims of each setting, in the order of the groups. Reads the rows of the runs."""
    of_settings = [_Rates.of(group) for group in groups]
    made = []
    for index, (group, name, rates) in enumerate(zip(groups, names, of_settings)):
        if rates is None:
            made.append(Victims(name, False, "the ranks of its runs are not the same", (), len(group.runs), {}))
            continue
        of_roles = [_of_role(role, index, of_settings, names) for role in rates.roles]
        ranks = [victim for victims, _ in of_roles for victim in victims]
        found = {(victim.role, victim.index): victim for victim in sorted(ranks, key=lambda victim: -victim.share)}
        causes = {key: text for role in rates.roles for key, text in rates.causes(role)}
        victims = sorted((victim for key, victim in found.items() if key not in causes),
                         key=lambda victim: victim.share)
        made.append(Victims(name, True, None, tuple(victims), len(group.runs),
                            {role: rates.count(role) for role in rates.roles},
                            tuple(sentence for _, sentence in of_roles if sentence),
                            tuple(text for text in causes.values() if text), tuple(_ports(group.runs))))
    return made


def _of_role(role, index, of_settings, names):
    """(victims, sentence on ranks that are affected in some runs only, or None)"""
    rates = of_settings[index]
    victims = rates.below_peers(role)
    if rates.offered is None:
        return victims, None
    same = [place for place, other in enumerate(of_settings)
            if other is not None and role in other.roles and other.count(role) == rates.count(role)
            and other.offered == rates.offered]
    place = max(same, key=lambda place: of_settings[place].carried(role))
    best, name = of_settings[place], names[place]
    if rates.carried(role) >= (1.0 - LESS) * best.carried(role):
        return victims, None
    below = rates.below(role, best, name)
    if len(below) == rates.count(role) and below[0].link_use is None:
        return victims, None  # nothing shows that links were idle, and that all carry less is what the goodput shows
    return victims + below, None if below else rates.below_in_some_runs(role, best, name)


class _Rates:
    """Rates of all ranks in all runs of a setting. All runs have the same numbers of ranks."""

    def __init__(self, runs):
        self.runs = runs
        self.roles = [role for role in ("consumer", "producer") if runs[0].ranks(role)]
        ranks = sum(len(run.record.get("ranks", [])) for run in runs)
        self._with_rows = ranks <= FILES_MAX

    @classmethod
    def of(cls, group):
        """None if runs differ in their ranks, or have none."""
        counts = {tuple(len(run.ranks(role)) for role in ("consumer", "producer")) for run in group.runs}
        return cls(group.runs) if len(counts) == 1 and counts != {(0, 0)} else None

    @property
    def offered(self):
        """What each producer generates, b/s; 0: as much as it can; None: not the same in all runs."""
        found = {series.target_rate(run, "producer") or 0.0 for run in self.runs}
        return found.pop() if len(found) == 1 else None

    def count(self, role):
        return len(self.runs[0].ranks(role))

    @functools.cache
    def means(self, role):
        """Runs x ranks, b/s."""
        return np.array([[rank.get("mean_bits_per_second") or 0.0 for rank in run.ranks(role)] for run in self.runs],
                        float)

    def carried(self, role):
        """By all ranks, the median of the runs, b/s."""
        return float(np.median(self.means(role).sum(axis=1)))

    @functools.cache
    def shares(self, role):
        """Runs x ranks: rate over the median of the role, in the median rate window."""
        return np.array([_shares(_windows(run, role) if self._with_rows else None, means)
                         for run, means in zip(self.runs, self.means(role))])

    @functools.cache
    def link_use(self, role):
        """The median over runs, by rank; NaN: not known."""
        return _median([_link_use(run, role) for run in self.runs])

    @functools.cache
    def paused(self, role):
        return _median([[_pause_share(run, role, rank["index"], "pause_time_received") for rank in run.ranks(role)]
                        for run in self.runs])

    def below_peers(self, role):
        if self.count(role) < 3:
            return []
        shares = self.shares(role)
        spread = _NORMAL * np.median(np.abs(shares - (np.median(shares, axis=0) if len(shares) > 1 else 1.0)))
        low = shares < 1.0 - np.maximum(FALL, OUTSIDE * spread)
        return self._victims(role, low, np.median(shares, axis=0), None)

    def below(self, role, best, name):
        mine, other = self.means(role), best.means(role)
        middle = np.median(other, axis=0)
        if len(mine) < 2 or len(other) < 2:
            return []
        error = np.sqrt(mine.var(axis=0, ddof=1).mean() / len(mine) + other.var(axis=0, ddof=1).mean() / len(other))
        share = np.divide(np.median(mine, axis=0), middle, out=np.ones_like(middle), where=middle > 0.0)
        fallen = (share < 1.0 - FALL) & (middle - np.median(mine, axis=0) > OUTSIDE * error)
        return self._victims(role, (mine < (1.0 - FALL) * middle) & fallen, share, name)

    def below_in_some_runs(self, role, best, name):
        """A sentence, if in more than half of the runs there are victims, though not the same ones; or None."""
        mine, other = self.means(role), best.means(role)
        spread = other.std(axis=0, ddof=1).mean() if len(other) > 1 else 0.0
        reference = np.median(other, axis=0)
        idle = ~(self.link_use(role) >= IDLE_BELOW)
        low = (mine < np.minimum((1.0 - FALL) * reference, reference - OUTSIDE * spread)) & idle
        number = int(np.median(low.sum(axis=1)))
        if not number or len(mine) < 2:
            return None
        share = float(np.median((mine / np.maximum(reference, 1.0))[low]))
        total = self.count(role)
        who = (f"in each run about {number} of {total} {role}s, not always the same," if number < total else
               f"all {total} {role}s" if total > 1 else f"the {role}")
        verb = ("receive" if role == "consumer" else "send") + ("" if total > 1 else "s")
        return f"{who} {verb} less than with {name}: {units.percent(share)}"

    def _victims(self, role, low, share, against):
        """Those that are low in more than half of the runs, and whose link is idle."""
        use, paused = self.link_use(role), self.paused(role)
        idle = ~(use >= IDLE_BELOW)
        entries = self.runs[0].ranks(role)
        return [Victim(role, index, entries[index].get("host"), float(share[index]), against,
                       None if np.isnan(use[index]) else float(use[index]),
                       None if np.isnan(paused[index]) else float(paused[index]), int(low[:, index].sum()))
                for index in map(int, np.flatnonzero(idle & (low.sum(axis=0) > len(low) / 2.0)))]

    def causes(self, role):
        """[((role, index), sentence)] of ranks that limit themselves or stop others; of several alike, the first has
        the sentence."""
        blocked, pausing = {}, {}
        for index in range(len(self.runs[0].ranks(role))):
            share = np.median([_blocked(run.ranks(role)[index]) for run in self.runs])
            pauses = _median([[_pause_share(run, role, index, "pause_time_sent")] for run in self.runs])[0]
            if share >= BLOCKED_FROM:
                blocked[index] = float(share)
            elif pauses >= PAUSING_FROM:
                pausing[index] = float(pauses)
        return [*self._together(role, blocked, ("is blocked {} of the time by its own work",
                                                "are blocked {} of the time by their own work")),
                *self._together(role, pausing, ("stops its switch port {} of the time by pauses",
                                                "stop their switch ports {} of the time by pauses"))]

    def _together(self, role, shares, words):
        """A sentence for all ranks of `shares` ({index: share of the time}). `words`: of one, and of several."""
        if not shares:
            return []
        who = (self.runs[0].rank_name(role, next(iter(shares))) if len(shares) == 1
               else f"{len(shares)} of {self.count(role)} {role}s")
        sentence = f"{who} {words[len(shares) > 1].format(_range(shares.values()))}"
        return [((role, index), sentence if number == 0 else "") for number, index in enumerate(shares)]


def _blocked(entry):
    return (entry.get("time") or {}).get("blocked_s", 0.0) / (entry.get("measured_s") or np.inf)


def _median(of_runs):
    values = np.array([[np.nan if value is None else value for value in side] for side in of_runs], float)
    known = ~np.isnan(values).all(axis=0)
    result = np.full(values.shape[1], np.nan)
    result[known] = np.nanmedian(values[:, known], axis=0)
    return result


def _windows(run, role):
    """Ranks x windows, b/s; None without rows. Rows of parts of a second are divided by the time that they cover."""
    rows = run.rows(role)
    name = "received_bytes" if role == "consumer" else "sent_bytes"
    if name not in rows or len(rows) != len(run.ranks(role)):
        return None
    sent, seconds = rows.measured(name), rows.measured("covered_s") if "covered_s" in rows else None
    seconds = np.ones_like(sent) if seconds is None else seconds
    width = max(1, round(run.record.get("rate_window_s") or 1))
    whole = sent.shape[1] // width * width or sent.shape[1]
    width = min(width, whole)
    parts = [np.nansum(values[:, :whole].reshape(len(values), -1, width), axis=2) for values in (sent, seconds)]
    return np.divide(8.0 * parts[0], parts[1], out=np.full_like(parts[0], np.nan), where=parts[1] > 0.0)


def _shares(windows, means):
    rates = means[:, None] if windows is None or not windows.size else windows
    rates = rates[:, ~np.isnan(rates).any(axis=0)]
    middle = np.median(rates, axis=0) if rates.size else np.empty(0)
    if not (middle > 0.0).any():
        return np.ones(len(means))
    return np.median(rates[:, middle > 0.0] / middle[middle > 0.0], axis=1)


def _link_use(run, role):
    """By rank, what the switch counted at its port, else its own rate over the link's; None: not known."""
    ports = {}
    for port in (run.record.get("switch") or {}).get("ports", []):
        for rank in switch_counters.ranks_behind(port):
            ports[rank] = ports.get(rank, 0.0) + port["use"]
    line = series.line_rate(run, role) if run.world == "simulation" or has_real_links(run) else None
    made = []
    for rank in run.ranks(role):
        # Ports count what leaves the switch, so those of producers do not count what they send.
        use = ports.get(f"{role}-{rank['index']}") if role == "consumer" else None
        made.append(use if use is not None or not line else (rank.get("mean_bits_per_second") or 0.0) / line)
    return made


# Interfaces without a link: the speed that they name is none. Those of network namespaces name no driver at all.
_VIRTUAL = ("", "veth", "virtio_net", "tun", "bridge", "dummy", "bonding")


def has_real_links(run):
    settings = [host.get("settings") or {} for host in run.record.get("hosts") or []]
    for of_host in settings:
        used = {path.get("interface") for path in of_host.get("expected_paths") or []}
        for interface in of_host.get("interfaces") or []:
            if interface.get("name") in used and (interface.get("driver") or "") in _VIRTUAL:
                return False
        if any(str(path.get("rdma_port") or "").startswith(("rxe", "siw"))
               for path in of_host.get("expected_paths") or []):
            return False
    return bool(settings)


def _pause_share(run, role, index, family):
    entry = run.ranks(role)[index]
    host = entry.get("host") or f"{role}-{index}"
    seconds = host_counters.measured_seconds(run)
    found = [families[family] for (name, _), families in host_counters.ports(run).items()
             if name == host and family in families]
    return max(found) / seconds if found and seconds else None


# --- Ports of switches.


def _ports(runs):
    """Sentences on ports whose packets are marked or dropped far more often than those of the others, or marked far
    less often."""
    sentences = []
    for name, verb, stands_out in (("dropped_packets", "drops", _is_high), ("marked_packets", "marks", _is_high),
                                   ("marked_packets", "marks only", _is_low)):
        of_runs = [_port_shares(run, name) for run in runs]
        of_ports = {}
        for shares in of_runs:
            out = {port: (shares[port].share, others) for port in shares
                   if (others := _median_of_others(shares, port)) is not None and stands_out(shares[port], others)}
            # Many that stand out are the rule.
            for port, pair in out.items() if len(out) <= len(shares) / 3.0 else ():
                of_ports.setdefault(port, []).append(pair)
        for port, pairs in of_ports.items():
            if len(pairs) >= max(2.0, PORT_RUNS_FROM * len(runs)):
                share, others = (float(np.median(values)) for values in zip(*pairs))
                sentences.append(f"the port {port} {verb} {units.percentage(share)} of packets, the median of the "
                                 f"others is {units.percentage(others)}")
    return sentences


@dataclasses.dataclass(frozen=True)
class _Port:
    """`share` of its packets, and how many; `carried`: of what the busiest port carried."""

    share: float
    packets: float
    carried: float


def _port_shares(run, name):
    """{port: _Port} of ports that carried PORT_CARRIED_FROM of what the busiest one did or more: others, such as
    those to producers, carry no data."""
    counters = switch_counters.of_run(run)
    sums = {}
    for change in counters.parts if counters else ():
        if change.name in (name, "sent_packets", "sent_bytes") and change.value is not None:
            of_port = sums.setdefault(change.port, {})
            of_port[change.name] = of_port.get(change.name, 0.0) + change.value
    kept = {port: found for port, found in sums.items() if name in found and found.get("sent_packets")}
    by = "sent_bytes" if all("sent_bytes" in found for found in kept.values()) else "sent_packets"
    most = max((found[by] for found in kept.values()), default=0.0)
    return {port: _Port(found[name] / (found["sent_packets"] + (found[name] if name == "dropped_packets" else 0.0)),
                        found[name], found[by] / most if most else 0.0)
            for port, found in kept.items() if found[by] >= PORT_CARRIED_FROM * most}


def _median_of_others(shares, port):
    """None if they are too few."""
    others = [other.share for name, other in shares.items() if name != port]
    return float(np.median(others)) if len(others) >= 2 else None


def _is_high(port, others):
    return port.share >= max(PORT_FACTOR * others, PORT_SHARE_FROM) and port.packets >= PORT_PACKETS_FROM


def _is_low(port, others):
    return (PORT_FACTOR * port.share <= others and others >= PORT_LESS_SHARE_FROM
            and port.carried >= PORT_LESS_CARRIED_FROM)
