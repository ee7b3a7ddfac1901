"""Collectives: how long their iterations took, and the bandwidth of the bus. Rows of the page's table."""

from ..basics.units import number, percent, text

HEADER = ("collective", "kind, algorithm", "workers", "S", "S_fabric", "complete", "JCT, median", "p95", "p99",
          "JCT ratio", "p99", "BusBW, mean", "p99", "efficiency")


def table(run):
    """None if the run has no collectives."""
    return [_row(one) for one in run.record.get("collectives") or []] or None


def _row(one):
    def shown(key, form):
        return "-" if one[key] is None else form(one[key])

    def time(seconds):
        return text(seconds, "s")

    def rate(bits_per_second):
        return text(bits_per_second, "b/s")

    return [one["name"], f"{one['kind']}, {one['algorithm']}",
            f"{one['first_worker']} to {one['first_worker'] + one['workers'] - 1}",
            text(one["bytes"], "B"), text(one["fabric_bytes_mean"], "B"),
            f"{one['complete_iterations']} of {one['iterations']}",
            *(shown(f"jct_s_{name}", time) for name in ("p50", "p95", "p99")), shown("jct_ratio_p50", number),
            shown("jct_ratio_p99", number), shown("busbw_bps_mean", rate), shown("busbw_bps_p99", rate),
            shown("efficiency", percent)]
