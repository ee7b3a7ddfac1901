"""Charts of latencies, from the histograms in run.json. One unit for all latencies of a run."""

import numpy as np

from ..basics.units import number
from ..reading.key_figures import LATENCY_RESOLUTION
from .charts import Line, Panel, PanelChart, curve_colour

LATENCIES = (("offer_to_grant", "scheduling"), ("grant_to_first_byte", "grant to first byte"),
             ("transfer", "transfer"), ("delivery", "delivery"), ("processing", "processing"), ("building", "building"),
             ("send_gap", "send gap"), ("pacing_error", "pacing error"), ("receive_gap", "receive gap"))
PACING = ("send_gap", "pacing_error", "receive_gap")
# A run whose longest latency is at least this long has them in milliseconds, as in the summary on the terminal.
MS_FROM_US = 10_000
# Gaps of more than so many times the usual one are left to the chart of latencies, which is logarithmic.
GAPS_SHOWN = 4
# Longest over shortest latency of the logarithmic axis.
RANGE_SHOWN = 1e6


def latency_unit(run):
    """('ms', 1000) or ('us', 1): name and length in us."""
    longest = max((entry.get("max_us") or 0.0 for name, entry in run.record["latency"].items()
                   if entry and entry.get("count") and name not in PACING), default=0.0)
    return ("ms", 1000.0) if longest >= MS_FROM_US else ("us", 1.0)


def latency_number(run, value_us):
    """A latency in the run's unit, without its name."""
    return "-" if value_us is None else number(value_us / latency_unit(run)[1])


def latencies(run):
    """Share of events that took longer than a time, from the histograms' buckets."""
    unit, factor = latency_unit(run)
    lines = []
    for name, title in LATENCIES:
        entry = run.record["latency"].get(name) or {}
        buckets = entry.get("buckets")
        if not buckets or not entry.get("count"):
            continue
        x, y = _longer(np.array(buckets["upper_us"], float), np.array(buckets["events"], float), entry["max_us"])
        if len(x):
            lines.append(Line(title, x / factor, y, colour=curve_colour(len(lines))))
    if not lines:
        return None
    # Latencies that the clock does not resolve would take most of the axis.
    shortest = max(line.x[-1] for line in lines) / RANGE_SHOWN
    for line in lines:
        line.x = np.maximum(line.x, shortest)
    return PanelChart("latencies", "Latencies", [Panel("Share of events that took longer", "", lines)], None,
                      "10⁻² is the 99th percentile, 10⁻³ the 99.9th; the curve ends at the slowest event.", unit,
                      log=True)


def _longer(upper, events, longest):
    """Times, and the share of events that took longer: it falls within a bucket, and is level where those between are
    empty and not listed."""
    upper, events = upper[events > 0], events[events > 0]
    share = 1.0 - np.cumsum(events) / events.sum()
    before = np.append(1.0, share[:-1])
    # The end of the last bucket would be a share of 0: the slowest event is there instead.
    upper[-1], share[-1] = longest, 1.0 / events.sum()
    lower = np.maximum(upper * (1 - LATENCY_RESOLUTION), np.append(0.0, upper[:-1]))
    x, y = np.stack([lower, upper], axis=1).ravel(), np.stack([before, share], axis=1).ravel()
    shown = np.diff(x, prepend=0.0) > 0  # buckets side by side share an end
    return x[shown], y[shown]


def gaps(run):
    """Shaping in-step: how the times from packet to packet are spread, of senders and receivers, and how late packets
    were."""
    panels = []
    for name, title in (("send_gap", "From packet to packet, at producers"), ("pacing_error", "Later than the grid"),
                        ("receive_gap", "From packet to packet, at consumers")):
        entry = run.record["latency"].get(name) or {}
        if not entry.get("count") or not run.record["latency"]["send_gap"].get("count"):
            continue
        x, packets = (np.array(entry["buckets"][part], float) for part in ("upper_us", "events"))
        shown = x <= GAPS_SHOWN * max(run.record["latency"]["send_gap"]["p50_us"], entry["p50_us"])
        if not shown.any():
            continue
        # A rectangle per bucket: those between that are empty are not listed.
        upper, share = x[shown], 100 * packets[shown] / entry["count"]
        edges = np.stack([upper * (1 - LATENCY_RESOLUTION), upper * (1 - LATENCY_RESOLUTION), upper, upper],
                         axis=1).ravel()
        heights = np.stack([0 * share, share, share, 0 * share], axis=1).ravel()
        panels.append(Panel(title, "%", lines=[Line("of all packets", edges, heights, "mean")]))
    if not panels:
        return None
    return PanelChart("gaps", "Time from packet to packet", panels, None,
                      "Share of packets by bucket of the histogram, each 3 % wide. What took longer is in the chart of "
                      "latencies, which is logarithmic.", "us")
