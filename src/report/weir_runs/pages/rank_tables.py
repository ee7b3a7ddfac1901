"""Tables of single ranks on the page of a run: the slowest consumers and the fullest producers."""

from ..basics.units import number, part, percent, text
from ..reading.key_figures import slowest_window
from .run_tiles import in_window, window_name

RANKS_SHOWN = 5


def rank_tables(run):
    """Tables as {'heads', 'rows'} of texts, without columns of which nothing is known."""
    return [_known(table) for table in (_producers(run), _consumers(run)) if table["rows"]]


def _known(table):
    kept = [place for place in range(len(table["heads"])) if any(row[place] not in ("", "-") for row in table["rows"])]
    return {"heads": [table["heads"][place] for place in kept],
            "rows": [[row[place] for place in kept] for row in table["rows"]]}


def _ends(entries, key):
    """The first and last few by `key`; the last are empty if none was left out."""
    entries = sorted((entry for entry in entries if entry.get(key) is not None), key=lambda entry: entry[key])
    if len(entries) <= 2 * RANKS_SHOWN:
        return entries, []
    return entries[:RANKS_SHOWN], entries[-RANKS_SHOWN:]


def _table(heads, row, first, last):
    gap = [("...",) + ("",) * (len(heads) - 1)] if first and last else []
    return {"heads": heads, "rows": [row(rank) for rank in first] + gap + [row(rank) for rank in last]}


def _with_second(value, second):
    return f"{value} (second {second})" if second is not None else value


def _consumers(run):
    def row(rank):
        rate, first = slowest_window(rank)
        measured = rank.get("measured_s")
        return (run.rank_name("consumer", rank["index"]), text(rank["mean_bits_per_second"], "b/s"),
                f"{text(rate, 'b/s')} ({in_window(run, first)})" if rate is not None else "-",
                percent((rank.get("time") or {}).get("blocked_s", 0.0) / measured) if measured else "-")

    heads = ("consumer, slowest first", "mean", f"slowest {window_name(run)}", "blocked")
    return _table(heads, row, *_ends(run.ranks("consumer"), "mean_bits_per_second"))


def _producers(run):
    entries = run.ranks("producer")
    judged = any(rank.get("late_sets") is not None for rank in entries)

    def row(rank):
        cells = (run.rank_name("producer", rank["index"]), text(rank.get("mean_bits_per_second"), "b/s"),
                 _with_second(number(rank["max_occupancy"]), rank.get("max_occupancy_second")),
                 str(rank.get("overflow_seconds", "-")))
        if not judged:
            return cells
        return (*cells, _with_second(part(rank.get("late_sets"), rank.get("sets")), rank.get("first_late_second")),
                text(rank.get("least_slack_s"), "s"))

    heads = ("producer, fullest first", "mean", "worst occupancy", "seconds with overflow")
    heads += ("late sets (first second)", "least slack") if judged else ()
    low, high = _ends(entries, "max_occupancy")
    return _table(heads, row, (high or low)[::-1], low[::-1] if high else [])
