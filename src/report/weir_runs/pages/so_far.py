"""What a run shows that has written no end: its run.json has zeros until then, its rows are those so far."""

import numpy as np

from ..basics.units import number, text
from .run_tiles import tile

# Rates are means of so many seconds before the newest, which not every rank has written. Without rows a rate is 0.
WINDOW_S = 5


def answer(run):
    """What stands first on the page, see answer() of report_page.py: losses and late sets, and how far the run is."""
    rows, length = run.rows("producer"), run.resolved.get("duration_s")
    sentence = "No second was measured yet."
    if len(seconds := rows.measured_seconds):
        found = [f"{words} since second {seconds[bad][0]}"
                 for name, words in (("lost_events", "buffers overflow"), ("late_sets", "sets are late"))
                 if name in rows and (bad := np.nansum(rows.measured(name), axis=0) > 0).any()]
        sentence = (f"Second {seconds[-1] + 1}{f' of {number(length)}' if length else ''}: "
                    + (" and ".join(found) or "no buffer has overflowed and no set was late so far") + ".")
    return {"sentence": sentence, "because": None, "do": None, "certainty": None, "evidence": None}


def tiles(run):
    """Rates, worst ranks and losses."""
    consumers, producers = run.rows("consumer"), run.rows("producer")
    if len(consumers.seconds) > WINDOW_S:
        rates = 8 * np.nansum(consumers.column("received_bytes")[:, -1 - WINDOW_S:-1], axis=1) / WINDOW_S
        yield tile(f"all consumers, in {WINDOW_S} s", text(float(rates.sum()), "b/s"))
        yield tile(f"slowest consumer in these: {run.rank_name('consumer', int(rates.argmin()))}",
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
