"""A comparison as text: a table of what is scored, one of what explains it, and at the end what is worse and better, and by
how much."""

from ..basics import text_table, units
from ..basics.terminal_text import BOLD, FAINT, GREEN, RED, RESET
from ..runs.key_figures import COMPLETED, KEY_FIGURES, SPEED
from . import answer_lines, answer_why, network_mechanisms
from .comparison import BETTER, INCONCLUSIVE, NO_DIFFERENCE, WORSE
from .figure_results import all_equal
from .run_groups import are_network_settings

COLOURS = {WORSE: RED, BETTER: GREEN, INCONCLUSIVE: FAINT, NO_DIFFERENCE: ""}
NAMED_MAX = 5
# Above this a difference reads better as a factor.
FACTOR_FROM = 10.0
# A value that spreads by more than this share has three digits.
COARSE_FROM = 0.002

# Units that a title already names: the number alone is shown.
COUNTED = ("events", "consumers", "frames", "packets", "times", "bursts", "segments")


def is_relative(result):
    """Shares differ in points, what is counted from 0 differs in its unit, all else in % of the baseline."""
    return result.figure.unit != "%" and result.figure.unit not in COUNTED and bool(result.baseline.median)


def change(result, value, sign=True):
    """A difference as people read it: -3.1 %, +12 points, +5."""
    if value is None:
        return "-"
    mark = _mark(value) if sign else ""
    if result.figure.unit == "%":
        return f"{_signed(mark, _percent(abs(value)))} points"
    if is_relative(result):
        return f"{_signed(mark, _percent(abs(value) / abs(result.baseline.median)))} %"
    return mark + amount(result.figure, abs(value), digits=1)


def least(result, value):
    """A threshold: any difference is above it if there is no spread."""
    if value is not None and value <= 1e-6 * (result.scale or 1.0):
        return "any"
    return change(result, value, sign=False)


def amount(figure, value, digits=None, like=None, is_coarse=False):
    """A value with its unit; `like`: see units.text. `is_coarse`: with three digits and not four."""
    if figure.unit in COUNTED:
        rounded = value if value is None or digits is None else round(value, digits)
        return units.number(rounded) if rounded is None or rounded == int(rounded) else f"{rounded:.1f}"
    return units.text(value, figure.unit, like, 3 if is_coarse else 4)


def _signed(mark, text):
    """0 has no sign."""
    return text if text == "0" else mark + text


def _mark(value):
    return "+" if value > 0 else "-" if value < 0 else ""


def _decimals(percent):
    """One for what is above 1 %, more for what is finer."""
    if percent >= 99.95 or percent < 0.0005:
        return 0
    return 1 if percent >= 0.995 else 2 if percent >= 0.0995 else 3


def _percent(share):
    percent = 100.0 * share
    if percent < 0.0005:
        return "0"
    return f"{percent:.{_decimals(percent)}f}"


def interval(result):
    """Both ends with the digits of the larger one."""
    if result.low is None:
        return "-"
    if result.figure.unit != "%" and not is_relative(result):
        return f"{change(result, result.low)} .. {change(result, result.high)}"
    scale = 1.0 if result.figure.unit == "%" else abs(result.baseline.median)
    low, high = 100.0 * result.low / scale, 100.0 * result.high / scale
    digits = _decimals(max(abs(low), abs(high)))
    ends = " .. ".join(f"{_mark(round(value, digits))}{abs(value):.{digits}f}" for value in (low, high))
    return f"{ends} {'points' if result.figure.unit == '%' else '%'}"


def value_of(result, side, spread=True):
    """5 of 5; 85.8 Gb/s ±0.3 %"""
    if not side.values:
        return "-"
    if result.figure.kind == "share":
        return f"{side.yes} of {len(side.values)}"
    shown = amount(result.figure, side.median, like=_like(result), is_coarse=_is_coarse(result))
    share = units.share(side.median, side.whole) if side.median else None
    if share:
        shown += f" ({share})"
    if not spread or side.spread is None:
        return shown
    if result.figure.unit == "%":
        return f"{shown} ±{_percent(side.spread)}" if side.median or side.spread else shown
    if side.median and result.figure.unit not in COUNTED:
        return f"{shown} ±{_percent(side.spread / abs(side.median))} %"
    return f"{shown} ±{amount(result.figure, side.spread, digits=1)}" if side.median or side.spread else shown


def _is_coarse(result):
    """Digits that the measurement does not resolve, or that are smaller than the spread of the runs, are not shown."""
    return result.figure.resolution > 0.0 or any((side.spread or 0.0) > COARSE_FROM * abs(side.median)
                                                 for side in (result.baseline, result.new) if side.values and side.median)


def _like(result):
    """Both sides have one unit, that of the larger value, unless they are far apart."""
    medians = [abs(side.median) for side in (result.baseline, result.new) if side.values]
    return max(medians) if max(medians) < 1000 * min(medians) else None


def answer(report, colour=False, hints=True):
    """The terminal's output without the table: notes, the answer, how to get the table."""
    lines = answer_lines.lines(report.answer, colour)
    lines += answer_lines.paragraph("notes", report.remarks)
    if hints and report.comparisons:
        lines += ["", "--table shows all key figures; --page FILE.html draws the runs."]
    return "\n".join(lines)


def table(report, colour=False, hints=True):
    """All key figures against the baseline. `hints`: name the options of weir-compare that change it."""
    lines = []
    width = max(len(group.name) for group in report.groups)
    for index, group in enumerate(report.groups):
        role = "baseline" if index == 0 else "new"
        lines.append(f"{role:<8}  {group.name:<{width}}  {_runs(group)}")
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
        lines += ["", report.answer.headline]
    return "\n".join(lines)


def pairing_lines(report, hints):
    """Why differences were taken within pairs, once for all that were paired alike; nothing if they were not."""
    names = {}
    for comparison in report.comparisons:
        if comparison.pairing:
            names.setdefault((len(comparison.new.runs), comparison.pairing), []).append(comparison.new.name)
    lines = []
    for (pairs, why), paired in names.items():
        each = "" if len(report.comparisons) == 1 else f" with {paired[0]}" if len(paired) == 1 else \
            f" each with {', '.join(paired[:-1])} and {paired[-1]}"
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
    if len(report.comparisons) == 1:
        same = [f"{result.figure.title} {value_of(result, result.baseline)} | {value_of(result, result.new)}"
                for result in report.comparisons[0].alike]
        return ["; ".join(same)] if same else []
    same = []
    for index in range(len(report.comparisons[0].alike)):
        everywhere = [comparison.alike[index] for comparison in report.comparisons if len(comparison.alike) > index]
        if len(everywhere) == len(report.comparisons):
            yes = everywhere[0].baseline.yes > 0
            same.append(f"{everywhere[0].figure.title} in {'all' if yes else 'none'} of the runs")
    return same


def left_out_lines(comparison):
    """What has no information and no line of the table."""
    both = [result for result in comparison.uninformative if result.baseline.values and result.new.values]
    same = [result.figure.title for result in both if all_equal(result)]
    close = [result.figure.title for result in both if not all_equal(result)]
    one_sided = [result.figure.title for result in comparison.uninformative if not (result.baseline.values and result.new.values)]
    return ([f"The same in all runs: {', '.join(same)}."] if same else []) + (
        [f"The same within what is resolved: {', '.join(close)}."] if close else []) + (
        [f"Only one side has it: {', '.join(one_sided)}."] if one_sided else [])


def unlike_neighbours(comparison):
    """Why two quantiles of one latency have different results: a sentence, or None."""
    results = {result.figure.name: result for result in comparison.scored}
    for latency in ("delivery", "offer_to_grant"):
        two = [results.get(f"{latency}_{quantile}") for quantile in ("p99", "p99_9")]
        if None in two or len({result.call for result in two} - {NO_DIFFERENCE}) < 2 or INCONCLUSIVE not in [two[0].call, two[1].call]:
            continue
        open_one = next(result for result in two if result.call == INCONCLUSIVE)
        other = two[1 - two.index(open_one)]
        return (f"{open_one.figure.title} is inconclusive beside {other.figure.title}, which is {other.call}: it spreads more "
                f"between runs, and a difference from {least(open_one, open_one.detectable)} on would have been found.")
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
    titles = [result.figure.title for result in comparison.silent
              if result.baseline.values and result.new.values]
    return f"Counted, and 0 in all runs: {', '.join(titles)}." if titles else None


def _runs(group):
    names = [run.short_name for run in group.runs]
    shown = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
    return f"{units.counted(len(names), 'run')}: {shown}"


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
    groups = [comparison.new for comparison in report.comparisons]
    heads = ("key figure", report.groups[0].name, *(name for group in groups
                                                    for name in (group.name, "", "")))
    rows = []
    by_figure = {}
    for index, comparison in enumerate(report.comparisons):
        for result in comparison.scored + comparison.explaining + comparison.silent + comparison.alike:
            by_figure.setdefault(result.figure, {})[index] = result
    shown = {result.figure for comparison in report.comparisons for result in comparison.scored + comparison.explaining}
    for figure in (COMPLETED, *KEY_FIGURES):
        if figure not in shown:
            continue
        of_figure = by_figure[figure]
        any_result = next(iter(of_figure.values()))
        row = [any_result.figure.title, value_of(any_result, any_result.baseline, spread=False)]
        for index in range(len(groups)):
            result = of_figure.get(index)
            row += (["-", "", ""] if result is None else [
                value_of(result, result.new, spread=False),
                change(result, result.difference),
                _sweep_judgement(report.comparisons[index], result)
            ])
        rows.append(tuple(row))
    return _aligned(heads, rows, colour)


def _sweep_judgement(comparison, result):
    if not result.figure.is_scored:
        return "explains"
    return "alike" if result in comparison.alike else judgement(result)


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
        return [f"Medians, and differences from the baseline. No difference: less than {relevant}. (a little): found, but less "
                "than that."]
    within = "within pairs" if report.comparisons[0].pairing else "over all pairs of a new and a baseline run"
    return [
        "±: standard deviation between runs. Difference: median " + within + ".",
        "Min. detectable: minimum detectable effect, a true difference that these runs would have found with a chance of 80 %.",
        f"No difference: less than {relevant}, or two steps of the measurement. (a little): found, but less than that.",
        "Inconclusive: these runs do not tell; the answer says what would.",
        *filter(None, [unlike_neighbours(report.comparisons[0])])
    ]


def _by_how_much(result):
    if result.figure.kind == "share":
        return (f"{result.figure.title} in {value_of(result, result.new)} runs instead of "
                f"{value_of(result, result.baseline)}")
    old, new = (value_of(result, side, spread=False) for side in (result.baseline, result.new))
    return f"{result.figure.title} {old} -> {new} ({_size(result)})"


def _size(result):
    if is_relative(result) and abs(result.difference) >= FACTOR_FROM * abs(result.baseline.median):
        return f"factor {units.number(result.new.median / result.baseline.median)}"
    return change(result, result.difference)


def _order(result):
    """What comes first in a conclusion: lost data, then margin, in the table's order; then the rest by size against the
    baseline, what appeared from nothing before all others."""
    if result.figure.rank < SPEED:
        size = KEY_FIGURES.index(result.figure) if result.figure in KEY_FIGURES else -1
    elif not result.scale or not (is_relative(result) or result.figure.unit == "%"):
        size = -1.0
    else:
        size = 1.0 / (1e-12 + abs(result.difference) / result.scale)
    return (result.figure.rank, size)


def _named(results, call):
    """What was called so, largest differences first, and how many are left out."""
    chosen = sorted((result for result in results if result.call == call), key=_order)
    return [_by_how_much(result) for result in chosen[:NAMED_MAX]], max(0, len(chosen) - NAMED_MAX)


def _list(results, call):
    named, more = _named(results, call)
    return ", ".join(named) + (f" and {more} more" if more > 0 else "")


def _findings(comparison, colour):
    """The conclusion as lines: worse first, one line for each key figure."""
    sides = f"{comparison.new.name} against {comparison.baseline.name}"
    sides = sides[:1].upper() + sides[1:] if sides.startswith("the ") else sides
    network = network_mechanisms.finding(comparison.baseline, comparison.new)
    stands_out = [f"{BOLD}{network[0].upper()}{network[1:]}.{RESET}" if colour else
                  f"{network[0].upper()}{network[1:]}."] if network else []
    if comparison.too_few:
        return [*stands_out, f"{sides}: not judged: {comparison.too_few}."]
    counts = {call: sum(result.call == call for result in comparison.scored) for call in COLOURS}
    lines = [f"{sides}: {counts[WORSE]} of {units.counted(len(comparison.scored), 'key figure')} worse, {counts[BETTER]} better, "
             f"{counts[NO_DIFFERENCE]} without a difference, {counts[INCONCLUSIVE]} inconclusive."]
    for call in (WORSE, BETTER):
        named, more = _named(comparison.scored, call)
        named += [f"and {more} more"] if more else []
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
    results = comparison.scored
    counts = {call: sum(result.call == call for result in results) for call in COLOURS}
    parts = []
    if counts[WORSE]:
        parts.append("worse: " + _list(results, WORSE))
    if counts[BETTER]:
        parts.append("better: " + _list(results, BETTER))
    if not parts:
        parts.append("nothing was found to be worse or better")
    if counts[NO_DIFFERENCE]:
        parts.append(f"no difference in {units.counted(counts[NO_DIFFERENCE], 'key figure')}")
    if counts[INCONCLUSIVE]:
        parts.append(f"inconclusive for {units.counted(counts[INCONCLUSIVE], 'key figure')}")
    if network:
        parts.append(network)
    return "; ".join(parts)


def conclusion(report):
    """One sentence."""
    if not report.comparisons or report.answer.pressure.cannot_differ:
        return report.answer.headline
    if len(report.comparisons) == 1:
        comparison = report.comparisons[0]
        sentence = f"{comparison.new.name} against {comparison.baseline.name}: {conclude(comparison)}."
    else:
        sentence = (f"Against {report.groups[0].name}: " +
                    "; ".join(f"[{comparison.new.name}] {conclude(comparison)}"
                              for comparison in report.comparisons) + ".")
    # A label stays as it is; other words begin with a capital letter.
    return "T" + sentence[1:] if sentence.startswith("the ") else sentence
