"""The answer on a terminal: one screen. The verdict, why and what to do; what it rests on, ranking, what was counted,
who is affected, and what could not be told."""

import textwrap

from weir_runs.basics import text_table
from weir_runs.basics.short_answer import paragraph, WIDTH
from weir_runs.basics.units import capital, percent

# The words of a counter in the line of its setting.
COUNTERS_MAX = 3
VICTIMS_MAX = 4


def lines(answer, colour=False):
    """All lines."""
    shown = [*answer.short.lines(colour), ""]
    shown += [*textwrap.wrap(" ".join(answer.evidence), WIDTH, break_on_hyphens=False), ""] if answer.evidence else []
    shown += _ranking(answer)
    paragraphs = [paragraph(head, sentences) for head, sentences in (
        ("counted", why(answer)), ("tried", [trial.text for trial in answer.proofs]), ("limits", limits(answer)),
        ("affected", affected(answer)), ("cannot tell", answer.not_told), ("words", words(answer)))]
    return [*shown, "", *(line for made in paragraphs for line in made)]


def _ranking(answer):
    if not answer.columns:
        return [f"setting   {name}" for name in answer.names]
    heads = ["rank", "setting", "rounds" if answer.decided_by.name == "capacity" else "runs"]
    # What was held in every run has none.
    with_interval = [any(row.details[place].low is not None for row in answer.ranking) or place == 0
                     for place in range(len(answer.columns))]
    for figure, has_interval in zip(answer.columns, with_interval):
        heads += [figure.head, *(["95 % interval"] if has_interval else [])]
    heads.append("against the next")
    rows = []
    for row in answer.ranking:
        cells = [row.place, row.setting, _runs(row)]
        for value, has_interval in zip(row.details, with_interval):
            cells += [value.text, *([interval(value)] if has_interval else [])]
        rows.append((*cells, against_next(row, answer)))
    return text_table.aligned((heads, *rows), left=(1, len(heads) - 1))


def _runs(row):
    """3; or 3, 7 failed, 1 missing"""
    beside = [f"{number} {what}" for number, what in ((row.failed, "failed"), (row.missing, "missing")) if number]
    return ", ".join([str(row.complete), *beside])


def interval(value):
    """89.7 .. 93.5 ms"""
    if value.low is None:
        return "-"
    if value.figure.kind == "share":
        return f"{percent(value.low)} .. {percent(value.high)}"
    return value.figure.span(value.low, value.high)


def against_next(row, answer):
    """certain: 46 ms less; cannot tell (0.1 ms)"""
    if not row.judged:
        return "not judged"
    if row.certain is None:
        return ""
    if answer.pressure.cannot_differ:
        return "cannot differ"
    figure = row.told_by or answer.decided_by
    if row.difference is None:
        return "certain" if row.certain else "cannot tell"
    by = "" if figure is answer.columns[0] else f" in {figure.head}"
    if figure.kind == "share":
        return f"certain{by}" if row.certain else "cannot tell"
    size = figure.difference(row.difference)
    if not row.certain:
        return f"{'not certain' if row.doubt else 'cannot tell'} ({'same' if not row.difference else size})"
    return f"certain: {size} {'more' if row.difference > 0 else 'less'}{by}"


def why(answer):
    """A line for each setting: the mechanism and what was counted."""
    lines_of = [f"{each.setting}: {text}" for each in answer.why if each.runs and (text := each.text(COUNTERS_MAX))
                and len(answer.why) > 1]  # of one setting the short answer has it
    at = next((each.at for each in answer.why if each.at), None)
    return [f"{capital(at)}:", *lines_of] if at and lines_of else lines_of


def limits(answer):
    """A line for each setting with ranks that limit themselves or stop others."""
    return [f"{each.setting}: {'; '.join(filter(None, each.causes))}" for each in answer.victims if any(each.causes)]


def affected(answer):
    """A line for each setting with victims."""
    return [f"{each.setting}: {each.text(VICTIMS_MAX)}" for each in answer.victims if each.is_shown]


def words(answer):
    """What the heads of the ranking mean, where they first stand: one paragraph."""
    return [f"{'; '.join(answer.meanings)}. More: weir help WORD."] if answer.meanings else []
