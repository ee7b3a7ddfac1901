"""Series of a run: values of its ranks by second, out of their rows."""

import numpy as np

from ..basics import quantities

SAMPLES_PER_SECOND = 20


def rates(run, role):
    """Payload in b/s, ranks x seconds. A second that the run covers only in part counts for its part."""
    bytes_per_second = per_second(run, role, "sent_bytes" if role == "producer" else "received_bytes")
    with np.errstate(over="ignore"):
        return None if bytes_per_second is None else 8.0 * bytes_per_second


def per_second(run, role, name):
    """A column by the time that each row covers, ranks x seconds; None without it. Of a column of times: its share."""
    rows = run.rows(role)
    if name not in rows:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        values = rows.column(name) / rows.column("covered_s")
    return np.where(np.isfinite(values), values, np.nan)


def over_ranks(values, combine):
    """By second; NaN where no rank has a value."""
    present = np.isfinite(values).any(axis=0)
    combined = np.full(values.shape[1], np.nan)
    combined[present] = combine(values[:, present], axis=0)
    return combined


def rate_window(run):
    """Seconds over which rates of single ranks are compared (see src/record/rank_summary.hpp); None: there are too few
    events for that. Runs without this number were compared by the second."""
    return run.record.get("rate_window_s", 1)


def compared_rates(run, role):
    """As rates(), each second with those before it that make its window; none without a window."""
    values, window = rates(run, role), rate_window(run)
    if values is None or window == 1:
        return values
    means = np.full(values.shape, np.nan)
    if window and window <= values.shape[1]:
        # A second that a rank lacks would leave its mark on all that follow.
        gaps = np.cumsum(np.pad(np.isnan(values), ((0, 0), (1, 0))), axis=1)
        sums = np.cumsum(np.pad(np.nan_to_num(values), ((0, 0), (1, 0))), axis=1)
        means[:, window - 1:] = (sums[:, window:] - sums[:, :-window]) / window
        means[:, window - 1:][gaps[:, window:] > gaps[:, :-window]] = np.nan
    return means


def over_window(run, title):
    window = rate_window(run)
    return title if window in (1, None) else f"{title}, mean of {window} s"


def blocked_at_once(run):
    """Number of blocked consumers: the mean and the most over the 20 instants of each second."""
    rows = run.rows("consumer")
    if "blocked_samples_50ms" not in rows:
        return None
    masks = np.nan_to_num(rows.column("blocked_samples_50ms")).astype(np.int64)
    counts = np.stack([((masks >> bit) & 1).sum(axis=0) for bit in range(SAMPLES_PER_SECOND)])
    return counts.mean(axis=0), counts.max(axis=0)


def fairness_by_second(run):
    """Jain's index of the consumers' rates (see src/judge/fairness.hpp), and the min/max throughput ratio; None for
    fewer than two consumers."""
    values = compared_rates(run, "consumer")
    if values is None or len(values) < 2 or not np.isfinite(values).any():
        return None
    values = np.nan_to_num(values)
    squares = (values**2).sum(axis=0)
    largest = values.max(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        jain = np.where(squares > 0, values.sum(axis=0)**2 / (len(values) * squares), np.nan)
        return jain, np.where(largest > 0, values.min(axis=0) / largest, np.nan)


def target_rate(run, role):
    """Payload that each rank of a role is to send or receive in the mean, b/s; None: as much as it can."""
    rate = run.resolved.get("rate_bits_per_second")
    if run.resolved.get("generation") == "saturate" or not rate:
        return None
    return rate if role == "producer" else rate * run.resolved["producers"] / run.resolved["consumers"]


def line_rate(run, role):
    """Speed of the slowest link of a role, b/s; None: unknown, or several ranks of the role share a link."""
    if run.world == "simulation":
        try:
            return quantities.rate(str(run.plan.get(f"{role}-link")))
        except quantities.QuantityError:
            return None
    names = [rank.get("host") for rank in run.ranks(role)]
    hosts = {host.get("name"): host.get("settings") or {} for host in run.record.get("hosts") or []}
    if not names or len(set(names)) < len(names):
        return None
    speeds = [path_speed(hosts.get(name, {})) for name in names]
    return min(speeds) if all(speeds) else None


def path_speed(settings):
    """Speed of the one path that MPI was expected to take from a host."""
    paths = settings.get("expected_paths") or []
    if len(paths) != 1:
        return None
    devices = {f"{port.get('device')}:{port.get('port')}": port for port in settings.get("rdma_ports") or []}
    devices |= {interface.get("name"): interface for interface in settings.get("interfaces") or []}
    used = paths[0].get("rdma_port") or paths[0].get("interface")
    return (devices.get(str(used)) or {}).get("speed_bits_per_second")


def column(run, role, name):
    rows = run.rows(role)
    return rows.column(name) if name in rows else None


def mean(values):
    """Over ranks; NaN where no rank has a row."""
    return over_ranks(values, np.nanmean)


def measured_seconds(run):
    """The first and the last second (or step, see steps.py) that count; None: there is none."""
    seconds = run.rows("consumer").measured_seconds
    if not len(seconds):
        seconds = run.rows("producer").measured_seconds
    return (seconds[0].item(), seconds[-1].item()) if len(seconds) else None
