"""The few numbers by which runs are judged and compared."""

import dataclasses

import numpy as np

# A quantile of a latency is the upper end of a bucket that is 3.1 % wide (src/telemetry/log_histogram.hpp).
LATENCY_RESOLUTION = 1 / 32


@dataclasses.dataclass(frozen=True)
class KeyFigure:
    """One number of a run. `unit` as in units.text; `resolution`: differences below this share of the value are not
    seen by the measurement; `kind`: 'share' is yes or no for one run and a share of many."""

    name: str
    title: str
    unit: str
    better: str  # 'higher' or 'lower'
    resolution: float = 0.0
    kind: str = "number"


KEY_FIGURES = (
    KeyFigure("sustained", "sustained", "%", "higher", kind="share"),
    KeyFigure("goodput", "goodput of all consumers", "b/s", "higher"),
    KeyFigure("slowest_consumer_lowest_second", "lowest second of the slowest consumer", "b/s", "higher"),
    KeyFigure("slowest_consumer_mean", "mean rate of the slowest consumer", "b/s", "higher"),
    KeyFigure("evenness", "evenness of consumers (Jain index)", "1", "higher"),
    KeyFigure("worst_occupancy", "worst occupancy", "1", "lower"),
    KeyFigure("blocked_share", "blocked time of consumers", "%", "lower"),
    KeyFigure("blocked_at_once", "consumers blocked at once", "consumers", "lower"),
    KeyFigure("offer_to_grant_p99", "offer to grant, p99", "s", "lower", LATENCY_RESOLUTION),
    KeyFigure("offer_to_grant_p99_9", "offer to grant, p99.9", "s", "lower", LATENCY_RESOLUTION),
    KeyFigure("delivery_p99", "delivery, p99", "s", "lower", LATENCY_RESOLUTION),
    KeyFigure("delivery_p99_9", "delivery, p99.9", "s", "lower", LATENCY_RESOLUTION),
    KeyFigure("lost_events", "events lost", "events", "lower"),
    KeyFigure("pause_frames", "pause frames", "frames", "lower"),
    KeyFigure("congestion_notifications", "congestion notifications (CNP)", "packets", "lower"),
)

# Counters of hosts that are summed into key figures, by the ends of their columns' names.
_COUNTERS = {
    "pause_frames": ("_pause",),
    "congestion_notifications": ("np_cnp_sent", "rp_cnp_handled"),
}


def key_figures(run):
    """Each key figure of a run by name; None if the run does not have it. Everything but the lowest second and the
    counters is run.json's own."""
    record = run.record
    figures = dict.fromkeys((figure.name for figure in KEY_FIGURES))
    verdict = record["verdict"]
    if verdict.get("judged") and verdict.get("sustained") is not None:
        figures["sustained"] = float(verdict["sustained"])
    figures["worst_occupancy"] = record["totals"].get("max_occupancy")
    figures["blocked_at_once"] = verdict.get("blocked_at_once_max")
    figures["lost_events"] = record["totals"].get("lost_events")
    for latency in ("offer_to_grant", "delivery"):
        entry = record["latency"].get(latency) or {}
        for quantile in ("p99", "p99_9"):
            value = entry.get(f"{quantile}_us")
            if entry.get("count") and value is not None:
                figures[f"{latency}_{quantile}"] = value * 1e-6
    consumers = run.ranks("consumer")
    means = [rank["mean_bits_per_second"] for rank in consumers if rank.get("mean_bits_per_second") is not None]
    if means:
        figures["goodput"] = float(sum(means))
        figures["slowest_consumer_mean"] = float(min(means))
    evenness = (record.get("evenness") or {}).get("consumers")
    if evenness and len(consumers) > 1:
        figures["evenness"] = evenness["jain_index"]
    lowest = [rank["slowest_second_bits_per_second"] for rank in consumers
              if rank.get("slowest_second_bits_per_second") is not None]
    if lowest:
        figures["slowest_consumer_lowest_second"] = float(min(lowest))
    measured = sum(rank.get("measured_s") or 0.0 for rank in consumers)
    if measured > 0:
        figures["blocked_share"] = sum((rank.get("time") or {}).get("blocked_s", 0.0) for rank in consumers) / measured
    for name, endings in _COUNTERS.items():
        figures[name] = _counted(run, endings)
    return figures


def _counted(run, endings):
    """What counters with these ends of names counted over the measured seconds on all hosts; None without any."""
    total, found = 0.0, False
    end = run.record.get("seconds")
    for columns in run.host_counters().values():
        measured = (columns["second"] >= 0) & (columns["second"] < (np.inf if end is None else end))
        for name, values in columns.items():
            if name.endswith(endings):
                found = True
                total += float(np.nansum(values[measured]))
    return total if found else None
