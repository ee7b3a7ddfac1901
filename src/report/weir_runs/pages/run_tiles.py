"""Key figures on the page of a run, each with its path in run.json where it has one; and tables of single ranks: the
slowest consumers and the fullest producers."""

from ..basics.units import number, part, percent, text
from ..figures.latency_charts import latency_number, latency_unit
from ..figures.time_charts import set_occupancy
from ..reading.key_figures import key_figures, slowest_window
from ..reading.series import rate_window

RANKS_SHOWN = 5


def tile(title, shown, path=None, value=None, bad=False):
    return {"title": title, "text": shown, "bad": bad, "path": path, "value": value}


def run_tiles(run):
    """What the verdict rests on (slack, late sets, occupancy and losses), and the rest."""
    return [one for one in (*_deadline_tiles(run), _occupancy_tile(run), _loss_tile(run), _datagram_tile(run),
                            *_rate_tiles(run), *_consumer_tiles(run), *_event_tiles(run), *_trust_tiles(run)) if one]


def window_name(run):
    """The time over which the rates of single ranks are compared."""
    window = rate_window(run)
    return "second" if window in (1, None) else f"{window} s"


def in_window(run, first):
    window = rate_window(run)
    return f"second {first}" if window in (1, None) else f"seconds {first} to {first + window - 1}"


def _deadline_tiles(run):
    """A set is late if something of it was left when the next one was generated. Older runs did not look."""
    verdict = run.record["verdict"]
    sets, late = verdict.get("sets"), verdict.get("late_sets")
    if late and verdict.get("worst_late_s") is not None:
        yield tile("lateness of the latest set, after its deadline", text(verdict["worst_late_s"], "s"),
                   "verdict.worst_late_s", verdict["worst_late_s"], True)
    elif verdict.get("least_slack_s") is not None:
        slack, interval = verdict["least_slack_s"], run.resolved.get("interval_s")
        in_sets = interval and run.resolved.get("generation") == "sets"
        apart = f"; sets are {text(interval, 's')} apart" if in_sets else ""
        yield tile(f"least slack of any set before its deadline{apart}", text(slack, "s"),
                   "verdict.least_slack_s", slack, slack < 0)
    if late is not None and sets:
        where = ""
        if late and verdict.get("first_late_second") is not None:
            where = f": from second {verdict['first_late_second']} on"
        if late and verdict.get("late_producers"):
            where += f", worst {run.rank_name('producer', verdict['late_producers'][0])}"
        yield tile(f"late sets, of {sets}{where}", part(late, sets), "verdict.late_sets", late, bool(late))


def _occupancy_tile(run):
    worst = run.record["totals"].get("max_occupancy")
    if worst is None:
        return None
    full = [rank for rank in run.ranks("producer") if rank.get("max_occupancy") == worst]
    where = (f": {run.rank_name('producer', full[0]['index'])} in second {full[0].get('max_occupancy_second')}"
             if full else "")
    one_set = set_occupancy(run)
    normal = (f"; a new set alone is {number(one_set)}, overflow begins above 1" if one_set is not None
              else "; above 1 is overflow")
    return tile(f"worst occupancy{where}{normal}", number(worst), "totals.max_occupancy", worst, worst > 1)


def _loss_tile(run):
    totals = run.record["totals"]
    lost = totals.get("lost_events")
    return tile("events lost in the whole run, and their share of those generated",
                part(lost, totals.get("generated_events")),
                "totals.lost_events", lost, bool(lost))


def _datagram_tile(run):
    figures = key_figures(run)
    missing = figures["missing_datagrams"]
    if missing is None:
        return None
    return tile("datagrams that did not arrive, and their share of those sent",
                part(missing, figures["sent_datagrams"]),
                "datagrams.missing", missing, missing > 0)


def _rate_tiles(run):
    yield tile("goodput of all consumers, mean", text(key_figures(run)["goodput"], "b/s"))
    slow = [rank for rank in run.ranks("consumer") if slowest_window(rank)[0] is not None]
    if slow:
        rank = min(slow, key=lambda entry: slowest_window(entry)[0])
        rate, first = slowest_window(rank)
        field = "slowest_window" if "slowest_window_second" in rank else "slowest_second"
        yield tile(f"lowest {window_name(run)} of any consumer: {run.rank_name('consumer', rank['index'])} in "
                   f"{in_window(run, first)}", text(rate, "b/s"), f"ranks.{rank['rank']}.{field}_bits_per_second",
                   rate)


def _consumer_tiles(run):
    record, verdict = run.record, run.record["verdict"]
    blocked = key_figures(run)["blocked_share"]
    yield tile("of the consumers' time blocked by processing", percent(blocked))
    at_once = verdict.get("blocked_at_once_max")
    if at_once is not None:
        yield tile("consumers blocked at once, at most", f"{at_once} of {run.resolved['consumers']}",
                   "verdict.blocked_at_once_max", at_once)
    fairness = (record.get("evenness") or {}).get("consumers")
    if fairness and len(run.ranks("consumer")) > 1:
        yield tile("fairness: min/max throughput ratio of consumers; Jain index "
                   f"{number(fairness['jain_index'])}",
                   number(fairness["smallest_over_largest"]), "evenness.consumers.smallest_over_largest",
                   fairness["smallest_over_largest"])
    without = record["totals"].get("events_without_credit")
    if without and run.resolved.get("generation") != "saturate":
        yield tile("credit stalls: events offered when no consumer had a credit", number(without),
                   "totals.events_without_credit", without)


def _event_tiles(run):
    totals = run.record["totals"]
    if totals.get("results"):
        yield tile(f"results received with credits, {text(totals.get('result_bytes'), 'B')}", number(totals["results"]),
                   "totals.results", totals["results"])
    delivery = run.record["latency"].get("delivery") or {}
    if delivery.get("count") and delivery["p99_9_us"] is not None:
        yield tile("delivery latency of 99.9 % of events, at most",
                   f"{latency_number(run, delivery['p99_9_us'])} {latency_unit(run)[0]}", "latency.delivery.p99_9_us",
                   delivery["p99_9_us"])
    yield tile("events received", number(totals.get("received_events")), "totals.received_events",
               totals.get("received_events"))


def _checked(run):
    """What the integrity check looked at."""
    totals = run.record["totals"]
    missing = (totals.get("received_events") or 0) < (totals.get("generated_events") or 0)
    ids = f"counts and hashes of ids{', also of events that are missing' * missing}"
    if run.world == "simulation":
        return ids
    share = (run.record.get("ledger") or {}).get("verified_payload_share")
    return f"{ids}; payload {'not checked' if share is None else f'of {percent(share)} of the bytes checked'}"


def _trust_tiles(run):
    """Whether the numbers can be trusted."""
    if run.status == "complete":
        agrees = (run.record.get("ledger") or {}).get("agrees")
        yield tile(f"integrity check: {_checked(run)}", "passed" if agrees else "FAILED", "ledger.agrees", agrees,
                   not agrees)
    if run.world == "measurement":
        error = (run.record.get("clock") or {}).get("error_us")
        yield tile("clock error, at most", text(None if error is None else error * 1e-6, "s"), "clock.error_us", error)


# --- Single ranks.


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
