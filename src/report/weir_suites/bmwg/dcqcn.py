"""Test of category 2 about how senders react to marks: the time until they share a bottleneck equally (section 7.3).

A flow's rate swings by 10 to 20 % for good, with DCQCN's own cuts: of several flows one is further than 10 % from the
fair share nearly all the time, however long they have been equal on average. So the time in which all flows are within
10 % is one of chance; that in which those from before and those that were added, each together, are within 10 % is one
of the congestion control, and is held against the published bound."""

from __future__ import annotations

import dataclasses
import statistics

from weir_runs.basics import quantities
from weir_runs.basics.list_values import known
from weir_runs.basics.units import number
from ..traffic.traffic_files import trace_text
from ..traffic.traffic_model import Trace
from . import arithmetic
from .campaign_steps import Step, of_case
from .result_tables import ARITHMETIC, Column, Curve, Outcome, Primary, SETTING, SWITCH, Table, mean

ROW_NS, FAIR = 1_000_000, 0.1
GROUP_NS = 10_000_000  # over which the rates of both groups are taken
AS_IN_FILE = "as the switch file has it"
CURVE_POINTS = 200


def convergence(setup):
    seconds = setup.value("seconds")
    begin_s = seconds / 4.0
    files, values = {}, []
    for flows in setup.fitting("flows", (setup.plan.hosts - 1) // 2):
        share = setup.plan.link / 8.0 * setup.framing.mtu / setup.framing.wire
        first, second = (int(share * part) for part in (begin_s / flows + (seconds - begin_s) / (2 * flows),
                                                        (seconds - begin_s) / (2 * flows)))
        file = f"flows-{flows}.csv"
        files[file] = trace_text(Trace(tuple([(0, flow, 0, first) for flow in range(flows)]
                                             + [(int(begin_s * 1e9), flows + flow, 0, second)
                                                for flow in range(flows)])))
        for name, keys in ((AS_IN_FILE, ()), *((key, (key,)) for key in setup.values("settings"))):
            values.append({"name": f"{flows} {name}", "pattern": f"trace:{file}", "slots": 2 * flows,
                           "event-size": f"{first}B", "slot-size": f"{first}B",
                           **setup.only_simulated(setup.incast_hosts, 2 * flows, *_received_is_counted(setup), *keys,
                                                  pfc="on", ecn="on", **{"switch-rows": f"{ROW_NS}ns"})})
    trials = yield Step("convergence", {"policy": "none", "streams": 1, "window": 64, "chunk-size": "256KiB",
                                        "warmup": "0s", "interval": f"{2 * seconds:g}s",
                                        "duration": f"{2 * seconds:g}s"}, {"case": values}, setup.repetitions, files)
    return _outcome(setup, [value["name"] for value in values], begin_s, trials)


def _received_is_counted(setup):
    """Ports count what comes in where a class has a name."""
    keys = setup.fabric.keys
    named = any(section == "class" or section.startswith("class.") for section in keys)
    return () if named else (f"class.flows.priority={keys['classes']['data']}",)


@dataclasses.dataclass(frozen=True)
class _Found:
    """Of a trial. Times in seconds from the beginning of more flows; None: not while all flows sent."""

    groups: float | None  # until the mean rates of both groups are fair
    all_flows: float | None  # until those of all flows are, over the window
    # standard deviation of a flow's rate in rows of GROUP_NS, over the fair share, in the last third
    swing: float | None
    means: tuple  # (time, mean of the old flows, mean of the new ones) over the fair share


def _outcome(setup, names, begin_s, trials):
    window = quantities.time_ns(setup.value("window")) // ROW_NS
    rows, primary, lines = [], {}, {}
    for name in names:
        flows, setting = name.split(" ", 1)
        runs = of_case(trials, name)
        found = [_of_trial(_rates(trial, int(flows), setup), int(flows), round(begin_s * 1e9 / ROW_NS), window)
                 for trial in runs]
        primary[name] = known(one.groups for one in found)
        rows.append((int(flows), setting, mean(primary[name]), max(primary[name], default=None),
                     _bound_s(setup, int(flows), setting),
                     f"{len(primary[name])} of {len(found)}", mean([one.all_flows for one in found]),
                     f"{len(known(one.all_flows for one in found))} of {len(found)}",
                     mean([one.swing for one in found]), mean([trial.switch["marked_share"] for trial in runs])))
        for place, group in ((1, "before"), (2, "added")):
            lines[f"{name}, {group}"] = tuple((point[0], point[place]) for point in found[0].means) if found else ()
    window_text = quantities.time_text(window * ROW_NS)
    group_text = quantities.time_text(GROUP_NS)
    columns = (Column("M", "1", SETTING), Column("parameter changed", "", SETTING),
               Column("until both halves are fair, mean", "s", SWITCH,
                      f"from the beginning of M more flows; rates over {group_text}"), Column("longest", "s", SWITCH),
               Column("bound", "s", ARITHMETIC, "of DCQCN with flows that peak together (ECN or Delay, CoNEXT 2016); "
                                                "'-': not known for these settings"),
               Column("runs in which they were", "", SWITCH),
               Column("until all flows are fair, mean", "s", SWITCH, f"rates over {window_text}"),
               Column("runs in which all were", "", SWITCH),
               Column("swing of a flow", "%", SWITCH, f"standard deviation of its rate over {group_text}, afterwards"),
               Column("marked", "%", SWITCH))
    return Outcome((Table("Time until flows are within 10 % of the fair share", columns, tuple(rows)),),
                   (Primary("time until both halves are fair", "s", SWITCH, primary),),
                   (Curve("Mean rate over the fair share, first run", "time since M more began", "s", "1", lines),),
                   deviations=(*setup.left_out("flows", (setup.plan.hosts - 1) // 2),
                               "The M flows of before and the M that are added each count together: a single flow "
                               f"swings by more than 10 % for good (last columns), so the first {window_text} in which "
                               "all flows are within 10 % come by chance.",
                               f"A trial lasts {number(4.0 * begin_s)} s; what is not fair by then is counted as such. "
                               f"Times are known to {group_text}."))


def _bound_s(setup, flows, setting):
    """None: its assumptions do not hold for these settings."""
    keys = {**{f"{section}.{key}": value for section in ("ecn", "dcqcn")
               for key, value in setup.fabric.keys[section].items()},
            **(dict([setting.split("=", 1)]) if setting != AS_IN_FILE else {})}
    period_ns, spacing_ns = quantities.time_ns(keys["dcqcn.rate-period"]), quantities.time_ns(keys["dcqcn.cnp-spacing"])
    if keys["dcqcn.rules"] != "2015" or period_ns != quantities.time_ns(
        keys["dcqcn.alpha-period"]) or not 0.8 <= spacing_ns / period_ns <= 1.0:
        return None
    return arithmetic.dcqcn_bound_s(setup.plan.link, 2 * flows, quantities.rate(keys["dcqcn.additive-increase"]),
                                    quantities.size(keys["ecn.all-above"]),
                                    period_ns * 1e-9, float(keys["dcqcn.gain"]), tolerance=FAIR)


def _rates(trial, flows, setup):
    """Of each flow, by row of time: what the switch of its host got from it, over the fair share."""
    rates = [{} for _ in range(2 * flows)]
    for row in trial.rows("switch/switch-*.csv"):
        kind, _, place = row["peer"].partition(".")[0].rpartition("-")
        if kind == "producer" and int(place) < 2 * flows:
            at = round(float(row["begin_s"]) * 1e9 / ROW_NS)
            rates[int(place)][at] = rates[int(place)].get(at, 0) + int(row["received_bytes"])
    fair = setup.plan.link / 8.0 * ROW_NS * 1e-9 / (2 * flows)
    return [[rate.get(at, 0) / fair for at in range(max(rate, default=-1) + 1)] for rate in rates]


def _of_trial(rates, flows, begin, window):
    """`begin`: the row in which more flows begin; `window`: rows."""
    # acknowledgements go on
    end = min(max((at for at, rate in enumerate(flow) if rate > FAIR), default=0) for flow in rates)
    group = GROUP_NS // ROW_NS
    old, new = ([statistics.fmean(flow[at] for flow in half) for at in range(end)]
                for half in (rates[:flows], rates[flows:]))
    late = [[statistics.fmean(flow[at:at + group]) for at in range(end - (end - begin) // 3, end - group, group)]
            for flow in rates]
    every = max(1, (end - begin) // CURVE_POINTS)
    return _Found(_fair_from((old, new), begin, end, group), _fair_from(rates, begin, end, window),
                  mean([statistics.pstdev(flow) for flow in late if len(flow) > 1]),
                  tuple(((at - begin) * ROW_NS * 1e-9, old[at], new[at])
                        for at in range(max(0, begin - 10 * every), end, every)))


def _fair_from(rates, begin, end, window):
    """Seconds from `begin` to the first rows, `window` of them, in which the means of all rates are within FAIR of
    1."""
    for at in range(begin, end - window + 1):
        if all(abs(sum(rate[at:at + window]) / window - 1.0) <= FAIR for rate in rates):
            return (at - begin) * ROW_NS * 1e-9
    return None
