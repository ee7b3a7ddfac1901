"""The page of bench/study fabric, made of runs.csv and about.md."""

import re
import statistics

import cases
import expected
import studies
import study_svg
from expected import numbers
from studies import table

COLUMNS = [(kind, count) for kind in cases.BALANCING for count in cases.QUEUE_PAIRS]
SHOWN_FLOWS = ("PFC", "neither", "ECN", "PFC+ECN")
SERIES = {("ecmp", 1): "ECMP, 1 queue pair", ("ecmp", 8): "ECMP, 8", ("flowlets", 1): "flowlets",
          ("spray", 1): "spraying",
          ("adaptive", 1): "adaptive"}


def short(value):
    """Three digits, without an exponent."""
    if value == float("inf"):
        return "never"
    return f"{float(f'{value:.3g}'):.10g}"


def cell(lines, **which):
    """Over the ideal: median, and the worst in brackets; how many runs did not end."""
    medians, worst = numbers(lines, "over_ideal_median", **which), numbers(lines, "over_ideal_worst", **which)
    ended = f"{short(statistics.median(medians))} ({short(max(worst))})" if medians else ""
    failed = sum(line["status"] != "complete" for line in expected.select(lines, **which))
    return ended + (f" {failed} not ended" if failed else "")


def name_of(kind, count):
    return f"{kind}, {count}"


def main_table(lines, traffic):
    rows = [[fabric, flow, *(cell(lines, traffic=traffic, fabric=fabric, flow=flow, balancing=kind, queue_pairs=count)
                             for kind, count in COLUMNS)] for fabric in cases.FABRICS for flow in SHOWN_FLOWS]
    return table(["fabric", "", *(name_of(*column) for column in COLUMNS)], rows)


def first_table(lines):
    """With PFC and with neither; of all kinds those that differ."""
    rows = [[traffic, fabric, *(cell(lines, traffic=traffic, fabric=fabric, flow=flow, balancing=kind,
                                     queue_pairs=count)
                                for flow in ("PFC", "neither") for kind, count in SERIES)]
            for traffic in cases.TRAFFIC for fabric in cases.FABRICS]
    return table(["traffic", "fabric", *(f"{flow}: {label}" for flow in ("PFC", "neither")
                                         for label in SERIES.values())], rows)


COUNTERS = (("jain_index_mean", statistics.median), ("most_over_mean_worst", max), ("reordered", statistics.median),
            ("out_of_sequence", statistics.median), ("dropped", statistics.median), ("sent_again", statistics.median),
            ("timeouts", statistics.median),
            ("pauses_sent", statistics.median), ("marked", statistics.median), ("late_sets", max))
COUNTER_HEADS = ("JFI", "worst MMR", "kept in order", "out of sequence", "dropped", "sent again", "time-outs", "pauses",
                 "marked", "late sets, of {}")


def counters(lines, **which):
    texts = []
    for column, reduce in COUNTERS:
        found = numbers(lines, column, **which)
        texts.append(short(reduce(found)) if found else "")
    return texts


def counter_table(lines, traffic, flow):
    rows = [[fabric, name_of(kind, count),
             *counters(lines, traffic=traffic, fabric=fabric, flow=flow, balancing=kind,
                       queue_pairs=count)] for fabric in cases.FABRICS for kind, count in COLUMNS]
    sets = max(numbers(lines, "sets", traffic=traffic), default=0)
    return table(["fabric", "", *(head.format(short(sets)) for head in COUNTER_HEADS)], rows)


def details(lines):
    parts = ["# Every cell\n\nMade by `bench/study fabric table`. Of three seeds: the median of the seeds; of `worst` "
             "MMR and late sets the largest. 8 queue pairs have one seed where packets choose their way one by one. "
             "Counters are of the measured time; they explain, and judge nothing. *Kept in order*: packets that came "
             "ahead and were kept until the missing one came; *out of sequence*: those that a NIC took for the sign of "
             "a loss."]
    for traffic in cases.TRAFFIC:
        parts += [f"## {traffic}", "Time over the ideal, as in the first table.", main_table(lines, traffic)]
        for flow in cases.FLOWS:
            parts += [f"### {traffic}, {flow}", counter_table(lines, traffic, flow)]
    return studies.joined(parts)


def change_table(lines):
    """Each part with one thing changed, beside the same cells of the main part, of the same seeds."""
    rows = []
    for part, title in cases.PARTS.items():
        seen, changed = {}, expected.select(lines, part=part)
        for line in changed:
            seen.setdefault((line["traffic"], line["fabric"], line["flow"]),
                            set()).add((line["balancing"], line["queue_pairs"]))
        for (traffic, fabric, flow), kinds in seen.items():
            seeds = {line["seed"] for line in changed if line["traffic"] == traffic}
            alike = [line for line in lines if part == "seeds" or line["seed"] in seeds]
            texts = []
            for kind, count in SERIES:
                which = {"traffic": traffic, "fabric": fabric, "flow": flow, "balancing": kind, "queue_pairs": count}
                known = (kind, str(count)) in kinds
                before = cell(alike, **which) if part not in cases.OTHER_SIZES else ""
                texts.append((f"{before} → " if before else "") + cell(lines, part=part, **which) if known else "")
            rows.append([title, traffic, fabric, flow, *texts])
    return table(["what differs", "traffic", "fabric", "", *SERIES.values()], rows)


def filled(text, lines):
    """Numbers of the data in the text: [[column | traffic | fabric | flow | balancing | queue pairs]], and a part; with
    `worst` at its end the largest instead of the median."""
    def value(match):
        column, traffic, fabric, flow, kind, count, *part = (word.strip() for word in match[1].split("|"))
        found = numbers(lines, column if column in lines[0] else column.removesuffix("_worst"), traffic=traffic,
                        fabric=fabric, flow=flow,
                        balancing=kind, queue_pairs=count, part=part[0] if part else "main")
        if not found:
            raise SystemExit(f"about.md: no run has {match[0]}")
        return short(max(found) if column.endswith("worst") else statistics.median(found))
    return re.sub(r"\[\[([^\]]+)\]\]", value, text)


def figures(lines):
    def values(row, column, series):
        traffic, fabric = row.rsplit(", ", 1)
        which = {"traffic": traffic, "fabric": fabric, "flow": column, "balancing": series[0], "queue_pairs": series[1]}
        found = [numbers(lines, name, **which) for name in ("over_ideal_median", "over_ideal_worst")]
        return (statistics.median(found[0]), max(found[1])) if all(found) else None
    rows = [f"{traffic}, {fabric}" for traffic in cases.TRAFFIC for fabric in cases.FABRICS]
    return {"completion.svg": study_svg.panels("Time over the ideal: median (dot) to worst (line)",
                                               "time / ideal, logarithmic", SHOWN_FLOWS, rows,
                                               series=SERIES, values=values, high=30)}


def page(out):
    lines = studies.stored(out / "runs.csv")
    outcomes = studies.rows_of(expected.EXPECTED, lines)
    count = {name: sum(row[-1].startswith(name) for row in outcomes) for name in ("PASS", "MISS", "VOID")}
    parts = {"first": first_table(lines), "changes": change_table(lines),
             "count": ", ".join(f"{number} {name}" for name, number in count.items()),
             "traffic": table(["traffic", ""], [[name, title] for name, title in cases.TRAFFIC.items()]),
             "expected": table(["expected, and why", "figure", "band", "found", "outcome"], outcomes)}
    complete = sum(line["status"] == "complete" for line in lines)
    made = studies.about(out, "fabric", parts,
                         f"Made by `bench/study fabric run` and `table`: {complete} of {len(lines)} runs complete. "
                         f"{studies.made_with(lines)}")
    return {"README.md": filled(made["README.md"], lines), "cells.md": details(lines), **figures(lines)}
