"""Complete runs that are not good: those that lost data or were not sustained, and those that were late. No setting is
recommended over one that had none of these. Values of runs in, counts, reasons and sentences out."""

import dataclasses

from weir_runs.basics.units import capital, counted, listed, percent
from . import statistics

# Why a call in favour of a setting does not hold.
LOST_MORE = "more of its runs lost data or were not sustained"
LATE_MORE = "some of its runs were late, and none of the other"
BOTH_LOST = "runs of both lost data or were not sustained"
REASONS = (LOST_MORE, LATE_MORE, BOTH_LOST)
# A larger number of runs that would tell two shares apart is not computed.
RUNS_MOST = 20
# These say how much arrived. All others are of what was delivered: beside lost data they show nothing.
_OF_ARRIVAL = ("completed", "sustained", "lost_events", "goodput")


@dataclasses.dataclass(frozen=True)
class BadRuns:
    """Of `runs` complete ones: `spoiled` lost data or were not sustained; `late` had late sets. `failed`: others, that
    are not complete."""

    runs: int = 0
    lost: int = 0
    not_sustained: int = 0
    spoiled: int = 0
    late: int = 0
    failed: int = 0

    @property
    def share(self):
        """Of all; nothing arrived in a run that failed."""
        return (self.spoiled + self.failed) / max(1, self.runs + self.failed)

    @property
    def are_good(self):
        return not self.spoiled


def count(values, index, failed=0):
    """BadRuns of setting `index`; `failed`: of it. `values`: {figure's name: [values of each setting's complete
    runs]}"""
    sides = [values[name][index] if name in values else [] for name in ("lost_events", "sustained", "late_share")]
    runs = max((len(of_settings[index]) for of_settings in values.values()), default=0)
    lost, outcomes, late = ([*side, *[None] * (runs - len(side))] for side in sides)
    is_lost = [bool(value) for value in lost]
    is_not_sustained = [value == 0.0 for value in outcomes]
    return BadRuns(runs, sum(is_lost), sum(is_not_sustained), sum(map(max, zip(is_lost, is_not_sustained))),
                   sum(bool(value) for value in late), failed)


def objection(figure, better, worse):
    """Why the setting with BadRuns `better` is not better in a figure than that with `worse`; None: nothing stands
    against it."""
    if better.share > worse.share + 1e-9:
        return LOST_MORE
    if better.spoiled and worse.spoiled and figure.name not in _OF_ARRIVAL:
        return BOTH_LOST
    return LATE_MORE if better.late and not (worse.late or worse.spoiled or worse.failed) else None


def _chance(one, other):
    """The p-value of two shares, of which each is (so many bad, runs); None: too few runs."""
    if min(one[1], other[1]) < statistics.FEWEST_RUNS:
        return None
    return float(statistics.share_p_values(one[0], one[1], other[1])[other[0]])


def sentences(found):
    """What answer.Findings has of them, where the figure that decides does not say it."""
    rows = [(row.setting, found.ranked.bad[row.index]) for row in found.rows if found.ranked.bad
            and found.ranked.bad[row.index].runs]
    spoiled, good = [each for each in rows if each[1].spoiled], [each for each in rows if not each[1].spoiled]
    if spoiled and not good and any(bad.spoiled < bad.runs for _, bad in spoiled):
        return [f"No setting is without fault: {_counts(spoiled)}."]
    said = []
    if spoiled and good and not _is_told(found):
        how_sure = _by_chance(spoiled[0][1], good[0][1]) if len(spoiled) == 1 else ""
        said.append(f"{_counts(spoiled)}; none of {listed([name for name, _ in good])}{how_sure}.")
    if any(pair.result.reason == LATE_MORE for pair in found.ranked.objected):
        late = [each for each in good if each[1].late]
        said.append(f"{_counts(late, late=True)}; none of {listed([name for name, bad in good if not bad.late])}.")
    winner = found.ranked.winner
    better = next((pair for pair in found.ranked.objected if winner in (pair.first, pair.second)
                   and pair.better != winner), None)
    if better is not None:
        said.append(f"Of what arrived, the {better.figure.title} is better with {found.names[better.better]}.")
    return said


def hinders(ranked, i, j):
    """Whether bad runs are why two settings are not told apart by some figure."""
    return any({pair.first, pair.second} == {i, j} for pair in ranked.objected)


def _counts(rows, late=False):
    """2 of 5 runs of a lost data and 1 of 5 runs of b was not sustained"""
    said = []
    for name, bad in rows:
        number, what = bad.late if late else bad.spoiled, "had late sets" if late else _fault(bad)
        said.append(f"{number} of {bad.runs} runs of {name} {what.replace('were', 'was') if number == 1 else what}")
    return listed(said)


def _fault(bad):
    if bad.spoiled == bad.lost:
        return "lost data"
    return "lost data or were not sustained" if bad.lost else "were not sustained"


def _by_chance(one, other):
    p_value = _chance((one.spoiled, one.runs), (other.spoiled, other.runs))
    return "" if p_value is None else f" (by chance alone in up to {percent(p_value)} of cases)"


def _is_told(found):
    """The sentence on runs that were sustained has all of it."""
    figure = found.ranked.decided_by
    told = found.rows[:1] if found.ranked.winner is not None else found.rows
    return (figure is not None and figure.name == "sustained"
            and all(bad.spoiled == bad.not_sustained for bad in found.ranked.bad)
            and any(row.told_by is figure for row in told))


def advice(found):
    """(index of the setting to use, and why; or None, and what to do), where runs of leaders were bad, and these runs
    cannot tell them apart; else None."""
    leaders, bad = found.leaders, found.ranked.bad
    if not bad or found.ranked.winner is not None or len(leaders) < 2:
        return None
    indices = {row.index for row in leaders}
    against = [pair for pair in found.ranked.objected if {pair.first, pair.second} <= indices]
    late = {pair.better for pair in against if pair.result.reason == LATE_MORE}
    good = [row for row in leaders if bad[row.index].are_good and not found.groups[row.index].failed
            and row.index not in late]
    others = [row for row in leaders if row not in good]
    if not late and not any(bad[row.index].spoiled for row in others):
        return None
    if not good:
        return None if not against else (None, (
            "Measure what each setting carries without loss: weir-sweep with find = \"rate\". None is recommended by "
            "what it delivered while runs of all of them lose data or are not sustained."))
    if len(good) > 1:
        return None, (f"Choose between {listed([row.setting for row in good])}, of which no run was so, by their "
                      "capacity: weir-sweep with find = \"rate\" measures it.")
    unsure = _unsure(bad, good[0], others)
    if unsure:
        return None, _make_more(good[0], unsure)
    return good[0].index, _use(found, good[0], others, against)


def _use(found, good, others, against):
    """None of 5 runs of deep lost data or was not sustained, though ..."""
    bad = found.ranked.bad
    faster = next((pair for pair in against if pair.better != good.index and pair.figure.name not in _OF_ARRIVAL), None)
    though = (f", though the {faster.figure.title} of what arrived is better with {found.names[faster.better]}"
              if faster else "")
    nothing = "lost data or was not sustained" if any(bad[row.index].spoiled for row in others) else "had late sets"
    return f"None of {bad[good.index].runs} runs of {good.setting} {nothing}{though}."


def _of(bad, is_about_loss):
    """(runs that were bad, all), of BadRuns. Nothing arrived in a run that failed."""
    return ((bad.spoiled if is_about_loss else bad.late) + bad.failed, bad.runs + bad.failed)


def _unsure(bad, good, rows):
    """((runs that were bad, all), row) of each of `rows` of which a setting without a bad run may differ by chance
    alone."""
    sides = [(row, bad[row.index].spoiled > 0 or not bad[row.index].late) for row in rows]
    counts = [(_of(bad[good.index], is_about_loss), _of(bad[row.index], is_about_loss), row)
              for row, is_about_loss in sides]
    alike = statistics.alike_p_value([counts[0][0][1], *(own[1] for _, own, _ in counts)],
                                     [counts[0][0][0], *(own[0] for _, own, _ in counts)])
    everybody = alike if len(rows) > 1 else 0.0
    return [(own, row) for of_good, own, row in counts
            if (p_value := _chance(of_good, own)) is None or max(p_value, everybody) > statistics.ALPHA]


def _make_more(good, unsure):
    """Make 8 more runs of each setting: ..."""
    (number, size), _ = min(unsure, key=lambda each: each[0][0] / each[0][1])
    names = listed([row.setting for _, row in unsure])
    needed = next((runs for runs in range(size + 1, RUNS_MOST + 1)
                   if (least := statistics.share_detectable(0, runs, runs)) is not None and least <= number / size
                   + 1e-9), None)
    seen = f"that runs of {names} are bad more often than those of {good.setting} may be chance"
    if needed is None:
        return (f"Measure what each setting carries without loss: weir-sweep with find = \"rate\". {capital(seen)}, "
                f"and more than {RUNS_MOST} runs of each would be needed to tell.")
    return (f"Make {counted(needed - size, 'more run')} of each setting: {seen}, and {needed} of each would tell, if "
            "it is as often as it seems.")
