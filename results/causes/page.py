"""The page results/causes: bench.csv (simulated plans) and measured.csv (cases in namespaces) as tables, with about.md
around them."""

import collections

import families
import judging
import studies

MEASURED = ("case", "engine", "hosts", "truth", "named", "where", "share", "judged", "late_sets", "sets", "refuted",
            "text", "weir", "command")
NAMES = {"proof": "proved", "rows": "rules", "explain": "explained"}
KNOWN = (judging.ON_TIME, judging.LATE)
FALSE = ("false", "false alarm")
ANSWERS = ("right", "false", "not told", "wrong rank", "no rank")
GOALS = {"right": 0.97, "false": 0.01, "between right": 0.8, "between false": 0.03, "exact": 0.95, "seeds": 0.9,
         "measured": 0.95}
NEAR = (families.FLUID, families.SWITCH)
GROUPS = ((families.FLUID, (families.FLUID,)), (families.SWITCH, (families.SWITCH,)),
          ("fluid and one switch", NEAR), (families.BETWEEN, (families.BETWEEN,)))


def group_of(row):
    return families.FAMILIES[row["family"]].group


def held_up(rows, groups=None):
    """That were not on time for a known reason."""
    return [row for row in rows if row["was"] == judging.LATE and row["alone"] + row["pairs"]
            and (groups is None or group_of(row) in groups)]


def on_time(rows):
    return [row for row in rows if row["was"] == judging.ON_TIME]


def counts(rows, source):
    return collections.Counter(row[f"{source}_judged"] for row in rows)


def percent(count, of):
    return f"{count / of:.1%}".replace("%", " %") if of else ""


def answers_table(rows):
    lines = []
    for name, groups in GROUPS:
        late = held_up(rows, groups)
        for source in judging.SOURCES:
            count = counts(late, source)
            lines.append([name, len(late), NAMES[source], *(percent(count[kind], len(late)) for kind in ANSWERS)])
    good = on_time(rows)
    for source in judging.SOURCES:
        false = counts(good, source)["false alarm"]
        lines.append([judging.ON_TIME, len(good), NAMES[source], percent(len(good) - false, len(good)),
                      percent(false, len(good)), "", "", ""])
    return studies.table(["plans", "number", "named by", *ANSWERS], lines)


def tried(rows, source, groups=None):
    """What came of the remedies: lists of four marks each, as judging.number has them; with its words not known, "?"
    only."""
    numbers = [row[f"{source}_number"] for row in held_up(rows, groups)]
    return [(one.split() + ["-"] * 3)[:4] for one in numbers if one not in ("", "~")]


def share_of(marks, place, good, without=()):
    counted = [mark for mark in marks if mark[place] not in without]
    return sum(mark[place] == good for mark in counted), len(counted)


def number_shares(marks):
    """Of advised remedies: (good, tried) exactly, less, with all seeds, for long. What is not enough or not known is
    good in nothing."""
    return (share_of(marks, 0, "y"), share_of(marks, 1, "y", "-"), (share_of(marks, 2, "3")[0], len(marks)),
            share_of(marks, 3, "y", "-"))


def numbers_table(rows):
    lines = []
    for name, groups in GROUPS:
        for source in ("proof", "explain"):
            marks = tried(rows, source, groups)
            lines.append([name, NAMES[source], len(marks), *(f"{good} of {all_}" for good, all_ in number_shares(
                marks))])
    return studies.table(["plans", "advised by", "remedies", "on time as advised", "late with 3 % less",
                          "on time with three other seeds, too", "on time for five times as long"], lines)


def misses_of(row):
    return [f"{NAMES[source]} {row[f'{source}_judged']}" for source in judging.SOURCES
            if row[f"{source}_judged"] not in ("right", "on time", "unproved")]


def families_table(rows):
    """For each, how many plans were on time, and how many of the others each source is right in; with a seed for each
    kind of miss."""
    lines = []
    for family in families.FAMILIES:
        of_it = [row for row in rows if row["family"] == family]
        if not of_it:
            continue
        late = held_up(of_it)
        seeds = {}
        for row in of_it:
            for miss in misses_of(row) if row["was"] in KNOWN else [row["was"]]:
                seeds.setdefault(miss, row["seed"])
        lines.append([family, len(of_it), len(late),
                      *(counts(late, source)["right"] if late else "" for source in judging.SOURCES),
                      ", ".join(f"{miss}: {seed}" for miss, seed in seeds.items())])
    return studies.table(["family", "plans", "held up", *(f"{NAMES[source]}: right" for source in judging.SOURCES),
                          "a seed of each miss"], lines)


def summary(rows):
    late = held_up(rows, NEAR)
    said = "; ".join(f"{words} {percent(counts(late, source)['right'], len(late))} right and "
                     f"{percent(counts(late, source)['false'], len(late))} false"
                     for source, words in (("explain", "what `weir explain` names is in"),
                                           ("proof", "what `weir simulate` proves, in"),
                                           ("rows", "what the rules of a measured run name, in")))
    exact = number_shares(tried(rows, "explain", NEAR))[0]
    return (f"Of {len(late)} simulated plans that were held up, fluid or with one switch, {said}. Of the remedies that "
            f"`weir explain` advises, {exact[0]} of {exact[1]} put the plan on time.")


def left_over(rows):
    count = collections.Counter(row["was"] for row in rows)
    unknown = count[judging.LATE] - len(held_up(rows))
    return (f"{len(rows)} plans: {count[judging.LATE]} late, {count[judging.ON_TIME]} on time, {count['refused']} "
            f"refused, {count['too dear']} too dear. The cause of {unknown} of the late ones was not found, and they "
            "are not counted.")


def measured_table(cases):
    return studies.table(["case", "engine", "true", "named", "share", ""], [
        [case["case"], case["engine"], case["truth"] or judging.ON_TIME, f"{case['named']} {case['where']}".strip(),
         case["share"], case["judged"]] for case in cases])


def measured_summary(cases):
    counted = collections.Counter(case["judged"] for case in cases)
    refuted = sum(bool(case["refuted"]) for case in cases)
    return (f"{counted['right']} of {len(cases)} right, " + ", ".join(f"{count} {kind}"
                                                                      for kind, count in counted.most_common()
                                                                      if kind != "right")).rstrip(", ") \
        + f". Sentences that the run's own rows refute: {refuted}."


def outcome(good, of, goal, least=True):
    if not of:
        return "no plan"
    met = good / of >= goal if least else good / of <= goal
    return f"{studies.verdict(met)}: {good} of {of}, {percent(good, of)}"


def expected(rows, cases):
    lines = []

    def add(what, found):
        lines.append([what, *(found(source) for source in judging.SOURCES)])

    def named(kind, groups, goal, least=True):
        late = held_up(rows, groups)
        return lambda source: outcome(counts(late, source)[kind], len(late), goal, least)

    def advised(place, goal):
        return lambda source: "" if source == "rows" else outcome(
            *number_shares(tried(rows, source))[place], goal)

    add("fluid and one switch: right, with the rank, in 97 %", named("right", NEAR, GOALS["right"]))
    add("- false in at most 1 %", named("false", NEAR, GOALS["false"], False))
    add("between hosts: right in 80 %", named("right", (families.BETWEEN,), GOALS["between right"]))
    add("- false in at most 3 %", named("false", (families.BETWEEN,), GOALS["between false"], False))
    add("on time: nothing is named", lambda source: outcome(counts(on_time(rows), source)["false alarm"],
                                                            len(on_time(rows)), 0, False))
    add("remedies: on time as advised in 95 %", advised(0, GOALS["exact"]))
    add("- with three other seeds, too, in 90 %", advised(2, GOALS["seeds"]))
    right = sum(case["judged"] == "right" for case in cases)
    lines += [["measured: right in 19 of 20", "", outcome(right, len(cases), GOALS["measured"]), ""],
              ["- no sentence is refuted by the run's own rows", "",
               outcome(sum(bool(case["refuted"]) for case in cases), len(cases), 0, False), ""]]
    return studies.table(["expected", *NAMES.values()], lines)


def page(out):
    rows, cases = studies.stored(out / "bench.csv"), studies.stored(out / "measured.csv")
    parts = {"summary": summary(rows), "answers": answers_table(rows), "numbers": numbers_table(rows),
             "families": families_table(rows), "left-over": left_over(rows),
             "measured": measured_table(cases), "measured-summary": measured_summary(cases),
             "expected": expected(rows, cases),
             "made": f"Plans by weir {studies.versions(rows)}; cases measured with weir {studies.versions(cases)}."}
    return studies.about(out, "causes", parts, "")
