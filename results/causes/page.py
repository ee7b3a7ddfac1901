"""The page results/causes: runs.csv (simulated plans) and measured.csv (cases in namespaces) as tables, with about.md around them."""

import collections

import studies

STORED = ("seed", "planted", "packets", "late", "lost", "overflow", "alone", "pairs", "simulations", "named", "where", "share", "judged",
          "second", "truth_by", "named_by")
MEASURED = ("case", "engine", "hosts", "truth", "named", "where", "share", "judged", "late_sets", "sets", "refuted", "text", "weir", "command")
SUBSET = 8  # of the stored plans, one in so many is named again by `check`
GOALS = {"right": 0.97, "false": 0.01, "measured": 0.95, "proved": 0.95, "told": 0.25, "setting told": 0.85, "setting false": 0.1}
FALSE = ("false", "wrong rank")
HOST_LINKS = ("producer-links", "consumer-links")
BETWEEN = ("uplinks", "network-failure", "other-traffic")
AS_KIND = {"consumer-link": "consumer-links", "producer-link": "producer-links"}
ON_TIME, NOT_PROVED, PAIR = "on time", "nothing suffices", "two together"


def truth_of(row):
    """The label of a line of the table: what was planted if it suffices, else what does."""
    alone = row["alone"].split()
    if alone:
        return next((kind for kind in (AS_KIND.get(kind, kind) for kind in row["planted"].split("+")) if kind in alone), alone[0])
    if row["pairs"]:
        return PAIR
    return ON_TIME if row["late"] and float(row["late"]) == 0 and float(row["lost"]) == 0 and row["overflow"] == "0" else NOT_PROVED


def judged_rows(rows):
    return [row for row in rows if row["judged"] != "refused"]


def held_up(rows):
    return [row for row in judged_rows(rows) if truth_of(row) not in (ON_TIME, NOT_PROVED)]


def shares(rows):
    """{right, false, not-told} of runs that were held up with a proved cause."""
    late = held_up(rows)
    counts = collections.Counter("false" if row["judged"] in FALSE else row["judged"] for row in late)
    return {kind: counts[kind] / max(1, len(late)) for kind in ("right", "false", "not-told")} | {"runs": len(late)}


def confusion(rows):
    """Rows are truths, columns what was named; then shares."""
    rows = judged_rows(rows)
    names = sorted({row["named"] for row in rows})
    counts = collections.Counter((truth_of(row), row["named"]) for row in rows)
    lines = []
    for truth in sorted({truth_of(row) for row in rows}):
        of_it = [row for row in rows if truth_of(row) == truth]
        right = sum(row["judged"] == "right" for row in of_it)
        lines.append([truth, str(len(of_it)), f"{100 * right / len(of_it):.0f} %" if truth != NOT_PROVED else ""]
                     + [str(counts[truth, name] or "") for name in names])
    return studies.table(["truth", "runs", "right", *names], lines)


def summary(rows):
    share, on_time = shares(rows), [row for row in judged_rows(rows) if truth_of(row) == ON_TIME]
    nothing = [row for row in judged_rows(rows) if truth_of(row) == NOT_PROVED]
    return (f"{len(judged_rows(rows))} plans, {share['runs']} held up with a proved cause. A sufficient cause first: {share['right']:.1%}; one "
            f"that is none: {share['false']:.1%}; not told: {share['not-told']:.1%}. On time: {len(on_time)} plans, in "
            f"{sum(row['named'] != 'none' for row in on_time)} of them a cause is named. In {len(nothing)} more neither one thing nor two "
            f"suffice; in {sum(row['named'] not in ('none', 'not-told') for row in nothing)} of them something is named.")


def by_kind_of_plan(rows):
    groups = [("one limit planted", lambda row: "+" not in row["planted"] and row["planted"] != "none"), ("two", lambda row: row["planted"].count("+") == 1),
              ("three", lambda row: row["planted"].count("+") == 2), ("fluid", lambda row: row["packets"] == "0"),
              ("packet by packet", lambda row: row["packets"] == "1"), ("all", lambda row: True)]
    lines = []
    for name, chosen in groups:
        share = shares([row for row in rows if chosen(row)])
        lines.append([name, str(share["runs"]), *(f"{share[kind]:.1%}" for kind in ("right", "false", "not-told"))])
    return studies.table(["plans", "held up", "right", "false", "not told"], lines)


def misses(rows):
    """What was wrong or not told, by truth and what was named, the most frequent first."""
    late = [row for row in held_up(rows) if row["judged"] != "right"]
    counts = collections.Counter((truth_of(row), row["named"], row["judged"], "packets" if row["packets"] == "1" else "fluid") for row in late)
    examples = {}
    for row in late:
        examples.setdefault((truth_of(row), row["named"], row["judged"], "packets" if row["packets"] == "1" else "fluid"), row["seed"])
    lines = [[truth, named, judged, network, str(count), f"{count / max(1, len(held_up(rows))):.1%}", examples[truth, named, judged, network]]
             for (truth, named, judged, network), count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
    return studies.table(["truth", "named", "judged", "network", "runs", "of all", "a seed"], lines)


def by_truth(lines):
    """By truth: how often what is proved, and what is told from the rows, is one."""
    lines = judged_rows(lines)
    table = []
    for truth in sorted({truth_of(line) for line in lines}):
        of_it = [line for line in lines if truth_of(line) == truth]
        named = collections.Counter(line["named"] for line in of_it)
        right = [f"{sum(line[column] == 'right' for line in of_it)}" if truth != NOT_PROVED else "" for column in ("proved_judged", "judged")]
        table.append([truth, str(len(of_it)), *right, ", ".join(f"{name} {count}" for name, count in named.most_common())])
    return studies.table(["truth", "runs", "proved: right", "told: a cause that suffices", "told"], table)


def counts_of(lines):
    """{column: {right, false, not-told}} of those that were held up with a proved cause."""
    return {column: collections.Counter("false" if line[column] in FALSE else line[column] for line in held_up(lines))
            for column in ("proved_judged", "judged")}


def settings_summary(lines):
    late, on_time = held_up(lines), [line for line in judged_rows(lines) if truth_of(line) == ON_TIME]
    proved, told = (counts_of(lines)[column] for column in ("proved_judged", "judged"))
    shares_of = ", ".join(f"{kind} in {told[kind]} ({told[kind] / max(1, len(late)):.1%})" for kind in ("right", "false", "not-told"))
    return (f"{len(judged_rows(lines))} plans, {len(late)} held up with a proved cause: `weir simulate` names one in {proved['right']}; the rules, which see "
            f"what a measured run has, are {shares_of}. On time: {len(on_time)} plans, in {sum(line['named'] != 'none' for line in on_time)} of them "
            f"a cause is named.")


def between_summary(lines):
    late = held_up(lines)
    counts = counts_of(lines)
    return (f"{len(judged_rows(lines))} plans, {len(late)} held up with a proved cause: `weir simulate` names one in {counts['proved_judged']['right']}; the rules, "
            f"which see what a measured run has, in {counts['judged']['right']}, name one that is none in {counts['judged']['false']}, and tell nothing in "
            f"{counts['judged']['not-told']}.")


def between_several(lines):
    late = held_up(lines)
    return f"in {sum(len(line['alone'].split()) > 1 for line in late)} of {len(late)} several things suffice"


def between_told(lines):
    """What the rules name where a cause is proved, beside what was expected of them."""
    late = held_up(lines)
    named = collections.Counter("links of hosts" if line["named"] in HOST_LINKS else line["named"] for line in late)
    of_network = sum(named[kind] for kind in BETWEEN)
    right = collections.Counter("link" if line["named"] in HOST_LINKS else line["named"] for line in late if line["judged"] == "right")
    return (f"they tell nothing in {named['not-told']} of {len(late)}; links of hosts are named in {named['links of hosts']}. The rules name "
            f"{'none' if not of_network else of_network} of the three kinds; in {right['link']} they name a link of a host that would also do.")


def measured_table(cases):
    return studies.table(["case", "engine", "true", "named", "share", ""], [
        [case["case"], case["engine"], case["truth"] or ON_TIME, f"{case['named']} {case['where']}".strip(), case["share"], case["judged"]] for case in cases])


def measured_summary(cases):
    counts = collections.Counter(case["judged"] for case in cases)
    refuted = sum(bool(case["refuted"]) for case in cases)
    return (f"{counts['right']} of {len(cases)} right, " + ", ".join(f"{count} {kind}" for kind, count in counts.most_common() if kind != "right")).rstrip(", ") \
        + f". Sentences that the run's own rows refute: {refuted}."


def outcome(value, limit, least):
    met = value >= limit if least else value <= limit
    return "PASS" if met else f"MISS by {abs(value - limit):.1%}"


def expected(rows, cases, between, settings):
    share = shares(rows)
    on_time = [row for row in judged_rows(rows) if truth_of(row) == ON_TIME]
    right = sum(case["judged"] == "right" for case in cases) / max(1, len(cases))
    lines = [["1", "simulated: a sufficient cause first in 97 %", f"{share['right']:.1%}", outcome(share["right"], GOALS["right"], True)],
             ["2", "simulated: one that is none first in at most 1 %", f"{share['false']:.1%}", outcome(share["false"], GOALS["false"], False)],
             ["3", "on time: nothing is named", f"{sum(row['named'] != 'none' for row in on_time)} of {len(on_time)}",
              "PASS" if all(row["named"] == "none" for row in on_time) else "MISS"],
             ["4", "measured: right in 19 of 20", f"{right:.1%}", outcome(right, GOALS["measured"], True)],
             ["5", "measured: no sentence is refuted by the run's own rows", str(sum(bool(case["refuted"]) for case in cases)),
              "PASS" if not any(case["refuted"] for case in cases) else "MISS"]]
    of_drawn = ((between, "proved_judged", "right", "limits between hosts: proved right in 95 %", GOALS["proved"], True),
                (between, "judged", "right", "limits between hosts: told right in at most a quarter", GOALS["told"], False),
                (settings, "proved_judged", "right", "settings: proved right in 95 %", GOALS["proved"], True),
                (settings, "judged", "right", "settings: told right in 85 %", GOALS["setting told"], True),
                (settings, "judged", "false", "settings: told wrongly in at most 10 %", GOALS["setting false"], False))
    for number, (drawn, column, kind, what, limit, least) in enumerate(of_drawn, 6):
        share = counts_of(drawn)[column][kind] / max(1, len(held_up(drawn)))
        lines.append([str(number), what, f"{share:.1%}", outcome(share, limit, least)])
    return studies.table(["", "expected", "found", ""], lines)


def page(out):
    rows, cases, between, settings = (studies.stored(out / name) for name in ("runs.csv", "measured.csv", "fabrics.csv", "settings.csv"))
    parts = {"summary": summary(rows), "confusion": confusion(rows), "plans": by_kind_of_plan(rows), "misses": misses(rows),
             "settings": by_truth(settings), "settings-summary": settings_summary(settings),
             "between": by_truth(between), "between-several": between_several(between), "between-told": between_told(between),
             "between-summary": between_summary(between),
             "measured": measured_table(cases), "measured-summary": measured_summary(cases), "expected": expected(rows, cases, between, settings),
             "made": f"Truths with weir {studies.versions(rows, 'truth_by')}, named by weir {studies.versions(rows, 'named_by')}; cases measured with "
                     f"weir {studies.versions(cases)}; limits between hosts by weir {studies.versions(between)}, settings by weir {studies.versions(settings)}."}
    return studies.about(out, "causes", parts, "")
