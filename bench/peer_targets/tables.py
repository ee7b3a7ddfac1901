"""The tables of bench/peers, as Markdown."""


def readable(value, unit):
    """Three digits, with the usual letters; times and shares as they are."""
    factor, letter = 1, ""
    if unit in ("b/s", "B/s", "B", "/s"):
        factor, letter = next(((size, name) for size, name in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
                               if abs(value) >= size), (1, ""))
    number = f"{value / factor:.3g}" if abs(value / factor) < 1000 else f"{value / factor:.0f}"
    return " ".join(part for part in (number, letter + unit) if part)


def with_spread(outcome, median, unit):
    if outcome.rounds == 1:
        return readable(median, unit)
    return f"{readable(median, unit)} ({readable(outcome.least, unit)} .. {readable(outcome.most, unit)})"


def figure(outcome):
    """What was measured of weir; with its spread where no ratio has one."""
    if outcome is None:
        return ""
    unit = outcome.comparison.unit
    return with_spread(outcome, outcome.ours, unit) if outcome.theirs is None else readable(outcome.ours, unit)


def ratio(outcome):
    return "" if outcome is None or outcome.theirs is None else with_spread(outcome, outcome.median, "")


def asked(outcome):
    of = outcome.comparison
    if of.bound is None:
        return ""
    return f"{'>=' if of.at_least else '<='} {readable(of.bound, of.unit if outcome.theirs is None else '')}"


def table(outcomes, reasons):
    """A table, and below it why lines of it were missed. Columns that are empty in every line are left out. `reasons`:
    by name of the comparison. What is asked for is asked of the default engine."""
    engines = any(outcome.ucx for outcome in outcomes)
    columns = [("", lambda outcome: outcome.comparison.what),
               ("engine mpi" if engines else "weir", figure),
               ("engine ucx", lambda outcome: figure(outcome.ucx)),
               ("peer", lambda outcome: "" if outcome.theirs is None
                else readable(outcome.theirs, outcome.comparison.unit)),
               ("mpi / peer" if engines else "weir / peer", ratio),
               ("ucx / peer", lambda outcome: ratio(outcome.ucx)),
               ("rounds", lambda outcome: str(outcome.rounds)),
               ("asked for", asked)]
    rows = [[cell(outcome) for _, cell in columns] for outcome in outcomes]
    kept = [index for index in range(len(columns)) if index == 0 or any(row[index] for row in rows)]
    missed = [outcome for outcome in outcomes if outcome.met is False]
    lines = ["| " + " | ".join([columns[index][0] for index in kept] + ["outcome"]) + " |",
             "|---" * (len(kept) + 1) + "|"]
    for outcome, row in zip(outcomes, rows):
        lines.append("| " + " | ".join([row[index] for index in kept] + [verdict(outcome, missed)]) + " |")
    return "\n".join(lines + why_missed(missed, reasons))


def verdict(outcome, missed):
    return {None: "", True: "met", False: f"**missed** ({missed.index(outcome) + 1})" if outcome in missed
            else ""}[outcome.met]


def why_missed(missed, reasons):
    if not missed:
        return []
    return ["", "Missed:", "", *(f"{number}. {size_of_miss(outcome)}: "
                                 f"{reasons.get(outcome.comparison.name, 'no reason known.')}"
                                 for number, outcome in enumerate(missed, start=1))]


def answer(outcome):
    """The figure that is judged: a ratio, or weir's own, with its spread. Of ratios also what they are ratios to."""
    if outcome is None:
        return ""
    if outcome.theirs is None:
        return figure(outcome)
    return f"{ratio(outcome)} of {readable(outcome.theirs, outcome.comparison.unit)}"


def overview(lines, outcome_of, reasons):
    """A line for each question, with several figures in it: `lines` have a `question` and `parts`, Comparisons.
    `outcome_of` one: None where it was not measured."""
    found = [(line.question, [(each, outcome_of(each)) for each in line.parts]) for line in lines]
    missed = [outcome for _, parts in found for _, outcome in parts if outcome and outcome.met is False]
    columns = (lambda each, _: each.what,
               lambda _, outcome: answer(outcome) if outcome else "not measured",
               lambda _, outcome: answer(outcome and outcome.ucx),
               lambda each, outcome: "" if each.bound is None else f"{'>=' if each.at_least else '<='} "
               f"{readable(each.bound, '' if each.theirs else each.unit)}",
               lambda _, outcome: verdict(outcome, missed) if outcome else "")
    table = ["|  | of | weir | with engine ucx | asked for | outcome |", "|---" * 6 + "|"]
    for question, parts in found:
        cells = ["<br>".join(column(each, outcome) for each, outcome in parts) for column in columns]
        table.append("| " + " | ".join([question, *(cell if cell.replace("<br>", "") else "" for cell in cells)])
                     + " |")
    return "\n".join(table + why_missed(missed, reasons))


def size_of_miss(outcome):
    bound = outcome.comparison.bound
    if not bound:
        return f"By {readable(outcome.median, outcome.comparison.unit)}"
    times = max(outcome.median / bound, bound / outcome.median)
    return f"By a factor of {times:.2g}" if times >= 2 else f"By {100 * abs(outcome.median / bound - 1):.2g} %"


def summary(outcomes):
    """How many of the bounds are met."""
    judged = [outcome for outcome in outcomes if outcome.met is not None]
    missed = [outcome for outcome in judged if not outcome.met]
    return f"{len(judged) - len(missed)} of {len(judged)} target values are met."
