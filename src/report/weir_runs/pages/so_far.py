"""What a run shows that has written no end: its run.json has zeros until then, its rows are those so far."""

import numpy as np

from ..basics.units import number, text
from .run_tiles import tile

# Rates are means of so many seconds before the newest, which not every rank has written. Without rows a rate is 0.
WINDOW_S = 5


def answer(run):
    """What stands first on the page, see answer() of report_page.py, with its `tone` where something is wrong: buffers
    that overflow, sets that are late, and how far the run is."""
    rows, length = run.rows("producer"), run.resolved.get("duration_s")
    said = {"sentence": "No second was measured yet.", "because": None, "do": None, "certainty": None, "evidence": None}
    if len(seconds := rows.measured_seconds):
        found = {tone: f"{words} since second {seconds[bad][0]}"
                 for name, above, words, tone in (("occupancy_peak", 1, "buffers overflow", "bad"),
                                                  ("late_sets", 0, "sets are late", "warn"))
                 if name in rows and (bad := (rows.measured(name) > above).any(axis=0)).any()}
        said |= {"tone": next(iter(found))} if found else {}
        said["sentence"] = (f"Second {seconds[-1] + 1}{f' of {number(length)}' if length else ''}: "
                            + (" and ".join(found.values()) or "no buffer has overflowed and no set was late so far")
                            + ".")
    return said


def tiles(run):
    """Rates, worst ranks and losses."""
    consumers, producers = run.rows("consumer"), run.rows("producer")
    if (window := min(WINDOW_S, len(consumers.seconds) - 1)) > 0:
        rates = 8 * np.nansum(consumers.column("received_bytes")[:, -1 - window:-1], axis=1) / window
        yield tile(f"all consumers, in the last {window} s", text(float(rates.sum()), "b/s"))
        yield tile(f"slowest consumer: {run.rank_name('consumer', int(rates.argmin()))}",
                   text(float(rates.min()), "b/s"))
    if len(producers.measured_seconds):
        peaks = np.nan_to_num(producers.measured("occupancy_peak"))
        rank, at = np.unravel_index(peaks.argmax(), peaks.shape)
        yield tile(f"worst occupancy: {run.rank_name('producer', int(rank))} in second "
                   f"{producers.measured_seconds[at]}; above 1 is overflow", number(float(peaks[rank, at])),
                   bad=bool(peaks[rank, at] > 1))
        for name, title in (("lost_events", "events lost"), ("late_sets", "late sets")):
            if name in producers:
                count = int(np.nansum(producers.measured(name)))
                yield tile(title, str(count), bad=count > 0)
