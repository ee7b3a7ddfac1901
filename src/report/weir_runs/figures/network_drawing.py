"""Hosts, switches and the cables between them as a drawing, a cable as dark and wide as it was used and the busiest one
named. Of a simulation with switches every port is known; of other runs what ranks sent and received, by host, over
links whose speed may be known.

Positions across are percentages, so that the drawing fills the width that it gets and names keep their size. More nodes
of a tier than can be told apart are one for all that hang on the same nodes and are used alike."""

import collections
import dataclasses
import math

import numpy as np
from markupsafe import Markup, escape

from ..basics.units import counted, listed, percent, text
from ..reading.series import line_rate, path_speed
from ..reading.switch_counters import ranks_behind

ROLES = ("producer", "consumer")
HOSTS_MAX, SWITCHES_MAX = 40, 12
# With more cables only the busiest one between two nodes is drawn.
CABLES_MAX = 200
# What of_links() takes of a port.
LINK = ("switch", "port", "peer", "link_bits_per_second")
# From here on a link has hardly any room.
FULL = 0.9
# If all are used less, there is nothing to see.
HARDLY = 0.05
LETTERS_MAX = 18
TIER_HEIGHT, LETTER, HOST_WIDTH, SWITCH_WIDTH = 92, 6.7, 14, 76


@dataclasses.dataclass
class Cable:
    """Between a node and one of a higher tier. `up`, `down`: what it carried in each direction, as shares of `rate`
    (b/s): its speed, or that of the busiest one where speeds are not known."""

    low: str
    high: str
    up: float
    down: float
    rate: float
    is_speed: bool = True
    dropped: int = 0

    @property
    def use(self):
        return max(self.up, self.down)

    @property
    def has_no_room(self):
        return self.is_speed and self.use >= FULL or bool(self.dropped)

    def carried(self):
        """Of the busier direction."""
        return percent(self.use) if self.is_speed else text(self.use * self.rate, "b/s")

    def words(self):
        """producer-3 to switch-0: 84 % of 10 Gb/s"""
        begin, end = (self.low, self.high) if self.use == self.up else (self.high, self.low)
        of = f" of {text(self.rate, 'b/s')}" if self.is_speed else ""
        lost = f", {counted(self.dropped, 'packet')} dropped there" if self.dropped else ""
        return f"{begin} to {end}: {self.carried()}{of}{lost}"


@dataclasses.dataclass
class Network:
    """`tiers`: names of nodes, hosts first; `roles`: of hosts, {"producer", "consumer"}."""

    tiers: list
    cables: list
    roles: dict


def of_run(run):
    """None for a run of which there is nothing to draw: one host, or nothing known of ranks."""
    ports = (run.record.get("switch") or {}).get("ports")
    return of_ports(ports, _sent_by_ranks(run)) if ports else _of_hosts(run)


def _sent_by_ranks(run):
    """{"producer-3": share of its link that it used}"""
    link = line_rate(run, "producer")
    return {f"producer-{rank['index']}": (rank.get("mean_bits_per_second") or 0) / link
            for rank in run.ranks("producer")} if link else {}


def of_ports(ports, sent=None):
    """The network of the ports of simulated switches; `sent`: what ranks used of their links."""
    switches = {port["switch"] for port in ports}
    behind = {port["peer"]: ranks_behind(port) for port in ports if port["peer"] not in switches}
    directions = collections.defaultdict(dict)  # (switch, peer): {port: [use, dropped packets, b/s]}
    for port in ports:  # of each priority
        known = directions[port["switch"], port["peer"]].setdefault(
            port["port"], [0.0, 0, port.get("link_bits_per_second") or math.nan])
        known[0] += port.get("use") or 0.0
        known[1] += port.get("dropped_packets") or 0
    tiers = _tiers(list(behind), switches, directions)
    cables = []
    for (high, low), there in directions.items():
        if (tiers[high], high) < (tiers[low], low):
            continue
        own = sum((sent or {}).get(rank, 0.0) for rank in behind.get(low, ()))
        back = list(directions.get((low, high), {}).values()) or [(own, 0, 0)]
        for index, (use, dropped, rate) in enumerate(there.values()):
            up, lost, _ = back[min(index, len(back) - 1)]
            cables.append(Cable(low, high, up, use, rate, dropped=dropped + lost))
    names = [sorted((name for name in tiers if tiers[name] == tier), key=_natural)
             for tier in range(max(tiers.values()) + 1)]
    return Network(names, cables, {host: {rank.partition("-")[0] for rank in ranks} for host, ranks in behind.items()})


def _tiers(hosts, switches, directions):
    """{node: how many cables it is away from a host}"""
    tiers = dict.fromkeys(hosts, 0)
    while rest := switches - tiers.keys():
        near = {one for one in rest if any(begin == one and end in tiers for begin, end in directions)} or rest
        tiers.update(dict.fromkeys(near, max(tiers.values(), default=0) + 1))
    return tiers


def of_links(links):
    """The drawing of a network of which nothing is measured. `links`: of each port of a switch the values of LINK."""
    return drawing(of_ports([dict(zip(LINK, link), use=0.0) for link in links]))[0]


def _natural(name):
    """Numbers in names by their value."""
    head = name.rstrip("0123456789")
    return head, int(name[len(head):] or -1)


def _of_hosts(run):
    """Hosts around a network of which nothing is known: what crossed between them."""
    members = [[rank.get("host") or f"{role}-{rank['index']}" for rank in run.ranks(role)] for role in ROLES]
    hosts = {host: index for index, host in enumerate(dict.fromkeys(members[0] + members[1]))}
    if len(hosts) < 2 or not all(members):
        return None
    speeds = {host["name"]: path_speed(host.get("settings") or {}) for host in run.record.get("hosts") or []}
    if run.world == "simulation":
        speeds = {host: line_rate(run, role) for role, names in zip(ROLES, members) for host in names}
    places = [np.array([hosts[host] for host in names]) for names in members]
    traffic, is_remote = run.traffic(), places[0][:, None] != places[1]
    carried = np.zeros((2, len(hosts)))
    for axis, role in enumerate(ROLES):
        rates = np.array([rank.get("mean_bits_per_second") or 0.0 for rank in run.ranks(role)])
        if traffic is not None and traffic.shape == is_remote.shape:
            whole = traffic.sum(axis=1 - axis)
            rates = rates * np.divide((traffic * is_remote).sum(axis=1 - axis), whole, out=np.ones(len(rates)),
                                      where=whole > 0)
        np.add.at(carried[axis], places[axis], rates)
    is_known, most = all(speeds.get(host) for host in hosts), carried.max()
    if not most or is_known and most < HARDLY * min(speeds[host] for host in hosts):
        return None
    cables = [Cable(host, "network", *(carried[:, index] / (speeds[host] if is_known else most)).tolist(),
                    speeds[host] if is_known else float(most), is_known) for host, index in hosts.items()]
    return Network([list(hosts), ["network"]], cables, {
        host: {role for role, names in zip(ROLES, members) if host in names} for host in hosts})


# --- What is drawn.


def drawing(network):
    """The network as HTML, and sentences about it."""
    groups = _groups(network)
    rows = _rows(network, groups)
    place = {name: (x, row) for row, names in enumerate(rows) for name, x in names}
    hottest = max(network.cables, key=lambda cable: cable.use)
    marked = hottest if hottest.use else None
    between = collections.defaultdict(list)
    for cable in network.cables:
        between[groups[cable.low], groups[cable.high]].append(cable)
    many = len(network.cables) > CABLES_MAX
    lines, label = [], ""
    for (low, high), cables in between.items():
        shown = [max(cables, key=lambda cable: cable.use)] if many or len(cables) > 4 else cables
        for index, cable in enumerate(sorted(shown, key=lambda cable: cable.use)):
            shift = 0.5 * (index - (len(shown) - 1) / 2)
            ends = [(x + shift, TIER_HEIGHT * row) for x, row in (place[low], place[high])]
            lines.append((cable is marked, _line(cable, ends, cable is marked, len(cables))))
            if cable is marked:
                label = (f'<text class="halo" x="{(ends[0][0] + ends[1][0]) / 2:.4g}%" text-anchor="middle" '
                         f'y="{(ends[0][1] + ends[1][1]) / 2 + 4:g}">{cable.carried()}</text>')
    names = "".join(_node(name, network, groups, x, row, len(rows)) for name, (x, row) in place.items())
    letters = max((len(_shown(name, groups)) for name in network.roles if name in place), default=0)
    top = math.ceil(LETTER * letters) + 12 if _is_split(network) else 26
    height = top + TIER_HEIGHT * (len(rows) - 1) + 12 + math.ceil(LETTER * letters)
    drawn = "".join(line for _, line in sorted(lines, key=lambda one: one[0]))
    wide = max(len(names) * (HOST_WIDTH if names[0][0] in network.roles else SWITCH_WIDTH) for names in rows if names)
    about = f"Busiest link: {hottest.words()}. Darker and wider: used more (the busier direction, mean over the run)." \
        + " Red: packets were dropped, or there is hardly any room." * any(one.has_no_room for one in network.cables)
    inside = f'<svg y="{top}" overflow="visible">{drawn}{names}{label}</svg>'
    return Markup(f'<div class="wide"><svg class="network" role="img" aria-label="{escape(about)}" height="{height}" '
                  f'style="min-width:{wide}px">{inside}</svg></div>'), about


def _groups(network):
    """{node: the first of those that it is drawn with}"""
    groups, uses = {}, collections.defaultdict(float)
    above = collections.defaultdict(set)
    for cable in network.cables:
        above[cable.low].add(cable.high)
        for end in (cable.low, cable.high):
            uses[end] = max(uses[end], cable.use)
    most = max(uses.values()) or 1.0
    for tier in range(len(network.tiers) - 1, -1, -1):
        names = network.tiers[tier]
        by_kind = {}
        for name in names:
            kind = name if len(names) <= (SWITCHES_MAX if tier else HOSTS_MAX) else (
                frozenset(groups[one] for one in above[name]), frozenset(network.roles.get(name, ())),
                math.ceil(5 * uses[name] / most))
            groups[name] = by_kind.setdefault(kind, name)
    return groups


def _is_split(network):
    """Around a single switch producers stand above it and consumers below."""
    return len(network.tiers) == 2 and len(network.tiers[1]) == 1 and all(
        len(roles) == 1 for roles in network.roles.values())


def _rows(network, groups):
    """[[(node, percent)]] from the top; hosts below their switch."""
    first = [[name for name in names if groups[name] == name] for names in network.tiers]
    if _is_split(network):
        above = [name for name in first[0] if network.roles[name] == {"producer"}]
        return [_spread(above), _spread(first[1]), _spread([name for name in first[0] if name not in above])]
    switch_of = {cable.low: groups[cable.high] for cable in reversed(network.cables)}
    order = {name: index for index, name in enumerate(first[1])}
    rows = [_spread(sorted(first[0], key=lambda name: order[switch_of[name]]))]
    below = collections.defaultdict(list)
    for name, x in rows[0]:
        below[switch_of[name]].append(x)
    rows.append([(name, sum(below[name]) / len(below[name]) if name in below else x) for name, x in _spread(first[1])])
    return [_spread(names) for names in reversed(first[2:])] + rows[::-1]


def _spread(names):
    return [(name, 100 * (index + 0.5) / len(names)) for index, name in enumerate(names)]


def _line(cable, ends, is_hottest, count):
    (x, y), (other, upper) = ends
    colour = "vermilion" if cable.has_no_room else "blue"
    together = f" (busiest of {count})" if count > 1 else ""
    return (f'<line x1="{x:.4g}%" y1="{y}" x2="{other:.4g}%" y2="{upper}" stroke="var(--{colour})" '
            f'stroke-width="{1 + 4 * min(1.0, cable.use) + is_hottest:.2g}" '
            f'opacity="{1 if is_hottest or cable.has_no_room else 0.25 + 0.75 * min(1.0, cable.use):.2g}"'
            f'{" class=hot" * is_hottest}>'
            f"<title>{escape(cable.words())}{together}</title></line>")


def _shown(name, groups):
    """Under the node: eb04; producer-0 and 61 more"""
    short = name.partition(".")[0]
    short = short if len(short) <= LETTERS_MAX else f"{short[:LETTERS_MAX - 6]}...{short[-4:]}"
    more = sum(first == name for first in groups.values()) - 1
    return f"{short} +{more}" if more else short


def _node(name, network, groups, x, row, rows):
    title = f"<title>{escape(listed([one for one, first in groups.items() if first == name]))}</title>"
    shown = escape(_shown(name, groups))
    y = TIER_HEIGHT * row
    if name not in network.roles:
        width = LETTER * len(shown) + 12
        return (f'<svg x="{x:.4g}%" y="{y}" overflow="visible">{title}<rect x="{-width / 2:.4g}" y="-11" '
                f'width="{width:.4g}" height="22" rx="4"/><text y="4" text-anchor="middle">{shown}</text></svg>')
    turned = f'transform="rotate({-90 if row == 0 and rows > 1 else 90})" x="9" y="4"'
    return (f'<svg x="{x:.4g}%" y="{y}" overflow="visible">{title}<circle r="4.5"/>'
            f'<text {turned}>{shown}</text></svg>')
