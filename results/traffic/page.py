"""The page of bench/study traffic, made of runs.csv and about.md."""

import re
import statistics

import cases
import expected
import studies
import study_svg
from expected import numbers
from studies import table

SHOWN = ("fluid", "shallow neither", "shallow PFC", "shallow ECN", "shallow PFC+ECN", "deep neither", "deep ECN")
DRAWN = ("shallow neither", "shallow PFC", "shallow ECN", "shallow PFC+ECN", "deep neither", "deep ECN")
WITH = "rr-4s"  # the scheduler of the first table and the figures
HEAD = ["completion / ideal, median of phases (of seeds)", "worst", "slowdown: median", "p99", "worst", "late sets",
        "dropped packets",
        "time-outs", "pauses sent", "marked packets", "longest queue, MB"]


def short(value):
    """Three digits, without an exponent."""
    return f"{float(f'{value:.3g}'):.10g}"


def cell(lines, workload, network, policy, part="main", more=""):
    """Completion over ideal: median, and the worst in brackets."""
    medians = numbers(lines, "over_ideal_median", workload, network, policy, part=part, more=more)
    worst = numbers(lines, "over_ideal_worst", workload, network, policy, part=part, more=more)
    return f"{short(statistics.median(medians))} ({short(max(worst))})" if medians else ""


def first_table(lines):
    rows = []
    for workload in cases.WORKLOADS:
        rows.append([workload, *(f"{cell(lines, workload, network, 'free')} / {cell(lines, workload, network, WITH)}"
                                 for network in SHOWN)])
    return table(["traffic", *SHOWN], rows)


def policies_table(lines):
    rows = []
    for workload in cases.WORKLOADS:
        for policy, (title, *_) in cases.POLICIES.items():
            rows.append([workload, title, *(cell(lines, workload, network, policy) for network in SHOWN)])
    return table(["traffic", "policy", *SHOWN], rows)


def slowdown_table(lines):
    """p99 of lines and, of bystanders and experts, the median of those to others than the busiest receiver."""
    rows = []
    for workload in cases.WORKLOADS:
        for policy in ("free", "rr-2", WITH):
            texts = []
            for network in SHOWN:
                values = [numbers(lines, column, workload, network, policy) for column in
                          ("slowdown_median", "slowdown_p99", "others_slowdown_median")]
                texts.append(" / ".join(short(statistics.median(one)) for one in values if one))
            rows.append([workload, cases.POLICIES[policy][0], *texts])
    return table(["traffic", "policy", *SHOWN], rows)


def prefill_table(lines):
    rows = []
    for busy in cases.BUSY:
        for policy in cases.PREFILL_POLICIES:
            texts = []
            for network in cases.PREFILL_NETWORKS:
                found = [numbers(lines, column, "prefill", network, policy, part=f"prefill-{busy}") for column in
                         ("delivery_p50_us", "delivery_p99_us", "late_sets")]
                texts.append(f"{short(statistics.median(found[0]) / 1000)}, {short(statistics.median(found[1]) / 1000)}"
                             + (f", late {sum(found[2]):.0f}" if sum(found[2]) else ""))
            slots = cases.words_of_policy(policy, 8, 4)[3]
            rows.append([busy, cases.policy_of(policy)[0], slots, *texts])
    return table(["consumers", "policy", "slots", *cases.PREFILL_NETWORKS], rows)


def credits_table(lines):
    rows = []
    for workload in ("all-to-all", "experts-2.6"):
        for rule in ("rr", "lq"):
            for network in ("shallow neither", "shallow PFC"):
                rows.append([workload, cases.policy_of(f"{rule}-1")[1], network, *(
                    cell(lines, workload, network, f"{rule}-{slots}-{streams}", "credits")
                    for slots in cases.GRID_COUNTS for streams in cases.GRID_COUNTS)])
    heads = [f"{slots} and {streams}" for slots in cases.GRID_COUNTS for streams in cases.GRID_COUNTS]
    return table(["traffic", "policy", "network", *heads], rows)


def factors_table(lines):
    """One thing changed, beside the same run without the change."""
    rows, seen = [], []
    for line in lines:
        key = line["workload"], line["network"], line["policy"], line["more"]
        if line["part"] != "factors" or key in seen:
            continue
        seen.append(key)
        workload, network, policy, more = key
        before = network.replace("dcqcn-tuned", "shallow")
        found = {name: numbers(lines, name, workload, network, policy, part="factors", more=more)
                 for name in ("dropped_packets", "timeouts")}
        others = [numbers(lines, "others_slowdown_median", workload, before, policy),
                  numbers(lines, "others_slowdown_median", workload, network, policy, part="factors", more=more)]
        rows.append([more or f"switch {network.split(' ')[0]}", workload, before, cases.POLICIES[policy][0],
                     cell(lines, workload, before, policy), cell(lines, workload, network, policy, "factors", more),
                     " / ".join(short(statistics.median(values)) for values in others if values),
                     *(f"{statistics.median(values):.0f}" for values in found.values())])
    rows.sort(key=lambda row: row[:3])
    return table(["what differs", "traffic", "network", "policy", "completion / ideal without", "with",
                  "slowdown of others without / with",
                  "dropped packets", "time-outs"], rows)


def controls_table(lines):
    """Completion over ideal with each congestion control, and the slowdown of transfers: median, and median of the
    others."""
    rows = []
    for workload in cases.WORKLOADS:
        for network in cases.CONTROL_NETWORKS:
            for policy in cases.CONTROL_POLICIES:
                texts = []
                for part, more in (("main", ""), *(("controls", " ".join(more)) for more in cases.CONTROLS)):
                    slowdowns = [numbers(lines, column, workload, network, policy, part=part, more=more)
                                 for column in ("slowdown_median", "others_slowdown_median")]
                    texts += [cell(lines, workload, network, policy, part, more),
                              " / ".join(short(statistics.median(values)) for values in slowdowns if values)]
                rows.append([workload, network, cases.POLICIES[policy][0], *texts])
    heads = [f"{name}: {what}" for name in ("DCQCN", *cases.CONTROLS.values())
             for what in ("completion / ideal", "slowdown")]
    return table(["traffic", "network", "policy", *heads], rows)


def detail_row(lines, workload, network, policy, part="main"):
    def value(column, reduce=statistics.median):
        found = numbers(lines, column, workload, network, policy, part=part)
        return short(reduce(found)) if found else ""
    medians = numbers(lines, "over_ideal_median", workload, network, policy, part=part)
    spread = f"{short(statistics.median(medians))} ({short(min(medians))} .. {short(max(medians))})"
    queue = numbers(lines, "peak_queue_bytes", workload, network, policy, part=part)
    return [workload, network, cases.POLICIES[policy][0], spread, value("over_ideal_worst", max),
            value("slowdown_median"), value("slowdown_p99"), value("slowdown_worst", max),
            ", ".join(f"{late:.0f}" for late in numbers(lines, "late_sets", workload, network, policy, part=part)),
            *(value(column) for column in ("dropped_packets", "timeouts", "pauses_sent", "marked_packets")),
            short(max(queue) / 1e6) if queue else ""]


def details(lines):
    rows = [detail_row(lines, workload, network, policy) for workload in cases.WORKLOADS for network in cases.NETWORKS
            for policy in cases.POLICIES]
    return ("# Every cell\n\nMade by `bench/study traffic table`. Of three seeds (fluid: one) with eight intervals "
            "each: the median of the seeds, and of `worst` and the queue the largest; late sets of each seed. Counters "
            "include the warm-up; they explain, and judge nothing.\n\n"
            + table(["traffic", "network", "policy", *HEAD], rows) + "\n")


def files_table():
    rows = []
    for name, (title, words, interval_us, *_) in cases.WORKLOADS.items():
        rows.append([f"`{name}`", title, f"`weir-traffic {words}`" if words else "written by hand",
                     f"{interval_us / 1000:g} ms"])
    rows.append(["`prefill-N`", "8 prefill workers to 4 decode workers, a file for each seed",
                 f"`weir-traffic {cases.PREFILL} N`",
                 f"{cases.PREFILL_INTERVAL_US / 1000:g} ms"])
    rows.append([f"`{cases.MAX_MIN}`", "10 MB each: 0 to 0, and 0, 1 and 2 to 1", "written by hand", "6 ms"])
    return table(["file", "traffic", "made by", "interval"], rows)


def filled(text, lines):
    """Numbers of the data in the text: [[workload | network | policy | column]], [[... | part | more]]; `worst` takes
    the largest."""
    def value(match):
        workload, network, policy, column, *rest = (word.strip() for word in match[1].split("|"))
        found = numbers(lines, column, workload, network, policy, **dict(zip(("part", "more"), rest)))
        if not found:
            raise SystemExit(f"about.md: no run has {match[0]}")
        number = max(found) if column.endswith("worst") else statistics.median(found)
        return short(number / 1000 if column.startswith("delivery") else number / 1e6 if column == "peak_queue_bytes"
                     else number)
    return re.sub(r"\[\[([^\]]+)\]\]", value, text)


def page(out):
    lines = studies.stored(out / "runs.csv")
    outcomes = studies.rows_of(expected.EXPECTED, lines)
    count = {name: sum(row[-1].startswith(name) for row in outcomes) for name in ("PASS", "MISS", "VOID")}
    parts = {"first": first_table(lines), "policies": policies_table(lines), "slowdowns": slowdown_table(lines),
             "prefill": prefill_table(lines), "controls": controls_table(lines), "credits": credits_table(lines),
             "factors": factors_table(lines),
             "files": files_table(), "count": f"{count['PASS']} PASS, {count['MISS']} MISS, {count['VOID']} VOID.",
             "expected": table(["traffic", "expected, and why", "figure", "band", "found", "outcome"], outcomes)}
    complete = sum(line["status"] == "complete" for line in lines)
    made = studies.about(out, "traffic", parts,
                         f"Made by `bench/study traffic run` and `table`: {complete} of {len(lines)} runs complete. "
                         f"{studies.made_with(lines)}")
    return {"README.md": filled(made["README.md"], lines), "cells.md": details(lines), **figures(lines)}


def figures(lines):
    policies = {name: cases.POLICIES[name][0] for name in ("free", "rr-2", WITH)}

    def values(median, worst):
        def of(workload, network, policy):
            found = [numbers(lines, column, workload, network, policy) for column in (median, worst)]
            return (statistics.median(found[0]), max(found[1])) if all(found) else None
        return of
    large = [workload for workload in cases.WORKLOADS if workload != "small"]
    return {"completion.svg": study_svg.panels(
                "Completion of a phase over the ideal: median (dot) to worst (line)", "completion / ideal, logarithmic",
                DRAWN, large, series=policies, values=values("over_ideal_median", "over_ideal_worst"), high=30),
            "others.svg": study_svg.panels(
                "Slowdown of transfers to consumers that are not the busiest: median (dot) to worst (line)",
                "slowdown, logarithmic", DRAWN,
                ["bystanders", "experts-2.6", "experts-5.1"], series=policies,
                values=values("others_slowdown_median", "others_slowdown_worst"), high=1000)}
