"""A comparison as text: a table of what is scored, one of what explains it, and at the end what is worse and better,
and by how much."""

from weir_runs.basics import text_table, units
from weir_runs.basics.short_answer import paragraph
from weir_runs.basics.terminal_text import BOLD, FAINT, GREEN, RED, RESET
from weir_runs.basics.units import capital, counted, listed
from weir_runs.reading.key_figures import COMPLETED, KEY_FIGURES, SPEED
from . import answer_lines, answer_why, network_mechanisms
from .comparison import BETTER, INCONCLUSIVE, NO_DIFFERENCE, WORSE
from .figure_results import all_equal
from .run_groups import are_network_settings

COLOURS = {WORSE: RED, BETTER: GREEN, INCONCLUSIVE: FAINT, NO_DIFFERENCE: ""}
NAMED_MAX = 5
RUNS_NAMED = 6
# Above this a difference reads better as a factor.
FACTOR_FROM = 10.0

# Units that a title already names: the number alone is shown.
COUNTED = ("events", "consumers", "frames", "packets", "times", "bursts", "segments")


def is_relative(result):
    """Shares differ in points, what is counted from 0 differs in its unit, all else in % of the baseline."""
    return not _in_points(result) and result.figure.unit not in COUNTED and bool(result.baseline.median)


def _in_points(result):
    return result.figure.is_part or result.figure.kind == "share"


def change(result, value, sign=True):
    """A difference as people read it: -3.1 %, +12 points, +5."""
    if value is None:
        return "-"
    size, unit = _of_change(result, value)
    text = _size(abs(size))
    return f"{_mark(size) if sign and text != '0' else ''}{text}{unit}"


def _of_change(result, value):
    """(number, unit) of a difference."""
    if _in_points(result):
        return 100.0 * value, " points"
    if is_relative(result):
        return 100.0 * value / abs(result.baseline.median), " %"
    factor, unit = units.scale(result.figure.unit, value)
    return value / factor, f" {unit}" if unit not in ("1", *COUNTED) else ""


def _size(value):
    """Of a difference or a spread; 0 is also what is hardly more."""
    return units.number(value) if value >= 0.0005 else "0"


def _mark(value):
    return "+" if value > 0 else "-" if value < 0 else ""


def least(result, value):
    """A threshold: any difference is above it if there is no spread."""
    if value is not None and value <= 1e-6 * (result.scale or 1.0):
        return "any"
    return change(result, value, sign=False)


def interval(result):
    """-0.42 .. +3.1 %"""
    if result.low is None:
        return "-"
    low, unit = _of_change(result, result.low)
    high = change(result, result.high)
    return f"{change(result, result.low).removesuffix(unit)} .. {high}"


def value_of(result, side, spread=True):
    """5 of 5; 85.8 Gb/s ±0.3 %"""
    if not side.values:
        return "-"
    if result.figure.kind == "share":
        return f"{side.yes} of {len(side.values)}"
    shown = (units.number(side.median) if result.figure.unit in COUNTED
             else result.figure.text(side.median, _like(result)))
    share = units.share(side.median, side.whole) if side.median else None
    shown += f" ({share})" if share else ""
    if not spread or side.spread is None or not (side.median or side.spread):
        return shown
    if _in_points(result):
        return f"{shown} ±{_size(100.0 * side.spread)}"
    if side.median and result.figure.unit not in COUNTED:
        return f"{shown} ±{_size(100.0 * side.spread / abs(side.median))} %"
    return f"{shown} ±{_size(side.spread)}"


def _like(result):
    """Both sides have one unit, that of the larger value, unless they are far apart."""
    medians = [abs(side.median) for side in (result.baseline, result.new) if side.values]
    return max(medians) if max(medians) < 1000 * min(medians) else None


def answer(report, colour=False, hints=True):
    """The terminal's output without the table: notes, the answer, how to get the table."""
    lines = answer_lines.lines(report.answer, colour)
    lines += paragraph("notes", report.remarks)
    if hints and report.comparisons:
        lines += ["", "--table shows all key figures; --page FILE.html draws the runs."]
    return "\n".join(lines)


def table(report, colour=False, hints=True):
    """All key figures against the baseline. `hints`: name the options of weir-compare that change it."""
    lines = []
    width = max(len(group.name) for group in report.groups)
    for index, group in enumerate(report.groups):
        role = "baseline" if index == 0 else "new"
        runs = listed([run.short_name for run in group.runs], RUNS_NAMED)
        lines.append(f"{role:<8}  {group.name:<{width}}  {counted(len(group.runs), 'run')}: {runs}")
    if report.plan_differences:
        which = "settings " if are_network_settings(report.plan_differences) else "plans differ (allowed):"
        lines.append(f"{which} " + "; ".join(
            f"{option} {', '.join(values)}" for option, values in report.plan_differences.items()))
    lines += [f"pairs     {line}" for line in pairing_lines(report, hints)]
    lines += [f"network   {line}" for line in network_lines(report)]
    lines += [f"alike     {line}" for line in alike_lines(report)]
    lines.append("")
    if len(report.comparisons) > 1:
        lines += _sweep_rows(report, colour)
    else:
        lines += _rows(report.comparisons[0], colour)
        lines += left_out_lines(report.comparisons[0])
        lines += explaining_lines(report.comparisons[0])
    unmarked = [why.setting for why in report.answer.why if why.cnps_without_marks]
    lines += [f"CNPs with {', '.join(unmarked)}: {answer_why.CNPS_WITHOUT_MARKS}."] if unmarked else []
    lines += ["", *_notes(report, hints)]
    for comparison in report.comparisons:
        lines += ["", *_findings(comparison, colour)]
    if report.answer.pressure.cannot_differ:
        lines += ["", f"{report.answer.short.sentence} {report.answer.short.because}"]
    return "\n".join(lines)


def pairing_lines(report, hints):
    """Why differences were taken within pairs, once for all that were paired alike; nothing if they were not."""
    names = {}
    for comparison in report.comparisons:
        if comparison.pairing:
            names.setdefault((len(comparison.new.runs), comparison.pairing), []).append(comparison.new.name)
    lines = []
    for (pairs, why), paired in names.items():
        each = ("" if len(report.comparisons) == 1 else
                f" {'with' if len(paired) == 1 else 'each with'} {listed(paired, len(paired))}")
        lines.append(f"{pairs} pairs{each}, {why}{' (--unpaired ignores this)' if hints else ''}")
    return lines


def network_lines(report):
    """How many runs of each group the network held up how; nothing for simulations alone."""
    if not network_mechanisms.is_shown(report.groups):
        return []
    if len(report.groups) == 2:
        return [" | ".join(map(network_mechanisms.text, report.groups))]
    width = max(len(group.name) for group in report.groups)
    return [f"{group.name:<{width}}  {network_mechanisms.text(group)}" for group in report.groups]


def alike_lines(report):
    """What was so in all runs of both sides, or in none: nothing to compare, and no line of a table."""
    if len(report.comparisons) > 1:
        return [f"{results[0].figure.title} in {'all' if results[0].baseline.yes > 0 else 'none'} of the runs"
                for results in zip(*(comparison.alike for comparison in report.comparisons))]
    same = [f"{result.figure.title} {value_of(result, result.baseline)} | {value_of(result, result.new)}"
            for result in report.comparisons[0].alike]
    return ["; ".join(same)] if same else []


def left_out_lines(comparison):
    """What has no information and no line of the table."""
    titles = {"The same in all runs": [], "The same within what is resolved": [], "Only one side has it": []}
    same, close, one_sided = titles.values()
    for result in comparison.uninformative:
        both = result.baseline.values and result.new.values
        (one_sided if not both else same if all_equal(result) else close).append(result.figure.title)
    return [f"{why}: {', '.join(of_them)}." for why, of_them in titles.items() if of_them]


def unlike_neighbours(comparison):
    """Why two quantiles of one latency have different results: a sentence, or None."""
    results = {result.figure.name: result for result in comparison.scored}
    for latency in ("delivery", "offer_to_grant"):
        two = [results.get(f"{latency}_{quantile}") for quantile in ("p99", "p99_9")]
        calls = [result and result.call for result in two]
        if None in two or len(set(calls) - {NO_DIFFERENCE}) < 2 or INCONCLUSIVE not in calls:
            continue
        open_one, other = two if calls[0] == INCONCLUSIVE else two[::-1]
        return (f"{open_one.figure.title} is inconclusive beside {other.figure.title}, which is {other.call}: it "
                f"spreads more between runs, and a difference from {least(open_one, open_one.detectable)} on would "
                "have been found.")
    return None


def explaining_lines(comparison):
    """A second table: counters and states, which explain and are not judged."""
    lines = []
    if comparison.explaining:
        heads = ("not scored, explains", "baseline", "new", "difference")
        rows = [(result.figure.title, value_of(result, result.baseline), value_of(result, result.new),
                 change(result, result.difference)) for result in comparison.explaining]
        lines += ["", *_aligned(heads, rows, False)]
    if silent(comparison):
        lines += ["", silent(comparison)]
    return lines


def silent(comparison):
    """Counters that stayed at 0, as a sentence: that is not the same as not counted. None: nothing."""
    titles = [result.figure.title for result in comparison.silent if result.baseline.values and result.new.values]
    return f"Counted, and 0 in all runs: {', '.join(titles)}." if titles else None


def _rows(comparison, colour):
    heads = ("key figure", "baseline", "new", "difference", "95 % interval", "min. detectable", "result")
    rows = [(result.figure.title, value_of(result, result.baseline), value_of(result, result.new),
             change(result, result.difference), interval(result), least(result, result.detectable),
             judgement(result)) for result in comparison.informative]
    return _aligned(heads, rows, colour)


def judgement(result):
    if result.call in (BETTER, WORSE) and not result.is_relevant:
        return f"{result.call} (a little)"
    return result.call or ""


def _sweep_rows(report, colour):
    heads = ("key figure", report.groups[0].name,
             *(head for comparison in report.comparisons for head in (comparison.new.name, "", "")))
    by_figure = {}
    for index, comparison in enumerate(report.comparisons):
        for result in comparison.scored + comparison.explaining + comparison.silent + comparison.alike:
            by_figure.setdefault(result.figure, {})[index] = result
    shown = {result.figure for comparison in report.comparisons for result in comparison.scored + comparison.explaining}
    rows = []
    for figure in (figure for figure in (COMPLETED, *KEY_FIGURES) if figure in shown):
        of_figure = by_figure[figure]
        any_result = next(iter(of_figure.values()))
        row = [figure.title, value_of(any_result, any_result.baseline, spread=False)]
        for index, comparison in enumerate(report.comparisons):
            result = of_figure.get(index)
            row += ["-", "", ""] if result is None else [
                value_of(result, result.new, spread=False), change(result, result.difference),
                "explains" if not figure.is_scored else "alike" if result in comparison.alike else judgement(result)]
        rows.append(tuple(row))
    return _aligned(heads, rows, colour)


def _aligned(heads, rows, colour):
    """The first column and judgements to the left, all others to the right."""
    def is_left(row, column):
        return column == 0 or heads[column] == "result" or row > 0 and _call(rows[row - 1][column]) in COLOURS

    head, *padded = text_table.padded((heads, *rows), is_left)
    if colour:
        padded = [map(_coloured, *pair) for pair in zip(rows, padded)]
    return [text_table.line(cells) for cells in (head, *padded)]


def _coloured(cell, padded):
    colour = COLOURS.get(_call(cell))
    return padded.replace(cell, colour + cell + RESET) if colour else padded


def _call(cell):
    """The judgement in a cell: worse (a little)."""
    return cell.split(" (")[0]


def _notes(report, hints):
    relevant = units.exact_percent(report.settings.relevant) + (" (--relevant)" if hints else "")
    if len(report.comparisons) > 1:
        return [f"Medians, and differences from the baseline. No difference: less than {relevant}. (a little): found, "
                "but less than that."]
    within = "within pairs" if report.comparisons[0].pairing else "over all pairs of a new and a baseline run"
    return [
        "±: standard deviation between runs. Difference: median " + within + ".",
        "Min. detectable: minimum detectable effect, a true difference that these runs would have found with a chance "
        "of 80 %.",
        f"No difference: less than {relevant}, or two steps of the measurement. (a little): found, but less than that.",
        "Inconclusive: these runs do not tell; the answer says what would.",
        *filter(None, [unlike_neighbours(report.comparisons[0])])
    ]


def _by_how_much(result):
    title, sides = result.figure.title, (result.baseline, result.new)
    if result.figure.kind == "share":
        return f"{title} in {value_of(result, sides[1])} runs instead of {value_of(result, sides[0])}"
    old, new = (value_of(result, side, spread=False) for side in sides)
    if is_relative(result) and abs(result.difference) >= FACTOR_FROM * abs(sides[0].median):
        return f"{title} {old} -> {new} (factor {units.number(sides[1].median / sides[0].median)})"
    return f"{title} {old} -> {new} ({change(result, result.difference)})"


def _order(result):
    """What comes first in a conclusion: lost data, then margin, in the table's order; then the rest by size against the
    baseline, what appeared from nothing before all others."""
    if result.figure.rank < SPEED:
        size = KEY_FIGURES.index(result.figure) if result.figure in KEY_FIGURES else -1
    elif not result.scale or not (is_relative(result) or _in_points(result)):
        size = -1.0
    else:
        size = 1.0 / (1e-12 + abs(result.difference) / result.scale)
    return (result.figure.rank, size)


def _named(comparison, call):
    """What was called so, largest differences first."""
    return [_by_how_much(result) for result in sorted((result for result in comparison.scored if result.call == call),
                                                      key=_order)]


def _counts(comparison):
    """{call: how many key figures}"""
    return {call: sum(result.call == call for result in comparison.scored) for call in COLOURS}


def _findings(comparison, colour):
    """The conclusion as lines: worse first, one line for each key figure."""
    sides = f"{comparison.new.name} against {comparison.baseline.name}"
    sides = capital(sides) if sides.startswith("the ") else sides
    network = network_mechanisms.finding(comparison.baseline, comparison.new)
    stands_out = [f"{BOLD}{capital(network)}.{RESET}" if colour else f"{capital(network)}."] if network else []
    if comparison.too_few:
        return [*stands_out, f"{sides}: not judged: {comparison.too_few}."]
    counts = _counts(comparison)
    lines = [f"{sides}: {counts[WORSE]} of {counted(len(comparison.scored), 'key figure')} worse, "
             f"{counts[BETTER]} better, {counts[NO_DIFFERENCE]} without a difference, {counts[INCONCLUSIVE]} "
             "inconclusive."]
    for call in (WORSE, BETTER):
        named = _named(comparison, call)
        if len(named) > NAMED_MAX + 1:
            named[NAMED_MAX:] = [f"and {len(named) - NAMED_MAX} more"]
        for number, text in enumerate(named):
            word = call if number == 0 else ""
            shown = f"{COLOURS[call]}{word:<6}{RESET}" if colour else f"{word:<6}"
            lines.append(f"  {shown}  {text}")
    return lines + stands_out


def conclude(comparison):
    """The result of one comparison, without a full stop."""
    network = network_mechanisms.finding(comparison.baseline, comparison.new)
    if comparison.too_few:
        return "; ".join(filter(None, [f"not judged: {comparison.too_few}", network]))
    counts = _counts(comparison)
    parts = [f"{call}: {listed(_named(comparison, call), NAMED_MAX)}" for call in (WORSE, BETTER) if counts[call]]
    parts = parts or ["nothing was found to be worse or better"]
    if counts[NO_DIFFERENCE]:
        parts.append(f"no difference in {counted(counts[NO_DIFFERENCE], 'key figure')}")
    if counts[INCONCLUSIVE]:
        parts.append(f"inconclusive for {counted(counts[INCONCLUSIVE], 'key figure')}")
    return "; ".join([*parts, network] if network else parts)


def conclusion(report):
    """One sentence."""
    if not report.comparisons or report.answer.pressure.cannot_differ:
        return report.answer.headline
    if len(report.comparisons) == 1:
        comparison = report.comparisons[0]
        sentence = f"{comparison.new.name} against {comparison.baseline.name}: {conclude(comparison)}."
    else:
        each = "; ".join(f"[{comparison.new.name}] {conclude(comparison)}" for comparison in report.comparisons)
        sentence = f"Against {report.groups[0].name}: {each}."
    # A label stays as it is; other words begin with a capital letter.
    return capital(sentence) if sentence.startswith("the ") else sentence
