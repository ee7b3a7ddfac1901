"""Which settings are tried next: pure logic, without runs, files or clock. Numbers to be made small go in, candidates
come out.

1. The present setting and a sample that covers all axes evenly (Halton), a run each, all with the same seed.
2. Rungs: a model of the figure (gaussian_process.py) is fitted to all runs. Those that look best so far get a run with
   a further seed, as far as runs of equal settings differ at all. The rest of the rung are new settings where most
   improvement is expected by the model; as long as runs of equal settings were not seen to differ, half of them by
   trees (trees.py), which find what lies behind a step, but take noise for steps. Where they do differ, settings whose
   runs are the same count as one.
3. The finalists are those of which the model expects most, among what was run. They are confirmed with seeds that no
   search has seen (decide.py): what a search has chosen looks better than it is. Where runs of equal settings do not
   differ, the best that was seen is the only finalist, two seeds show whether that holds for it, and the runs that
   would confirm more go into the search.

Seeds are common random numbers: a seed is the same traffic for all settings, and what it does to all of them alike is
taken off before they are compared. So one run of each suffices in the beginning.

Settings that break a constraint rank behind all that keep it, by how far they are from it.

Rejected: successive halving alone, whose first rung has to hold the best one, and the sample alone, which
tests/report/tune_calibration.py measures; and, on the grid ecn with other seeds of the search, improvement averaged
over several fits of the model, kernels that are less smooth (Matern 3/2, exponential), lengths that are preferred
longer, shorter or less, a first sample of half of the runs, trees alone, further seeds alone in the last part of the
search, up to eight or twelve seeds for a setting, and five finalists: none found the best more often. On the same grid
with one seed, where runs do not differ, neither did smaller rungs, more trees, all of a rung by trees or none, a
variance of its own for each setting in the model, or a first sample of 22 or 27 % of the runs. With a first sample of
33 %, or of 30 % and trees cut down to single settings, the best was found more often there, and less often on the
made-up table cliff."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np

from . import trees
from .gaussian_process import Model

# Parts of the budget: of the first sample, and of a rung.
FIRST_PART, RUNG_PART = 0.4, 0.12
FIRST_LEAST, RUNG_LEAST = 6, 4
# Of a rung, runs with further seeds: half at most. So many seeds a setting gets at most, and so many settings in the
# first rung.
SEEDS_MAX, REPEATED_FIRST = 4, 3
# So many settings whose runs are the same show that seeds make no difference. Their scores differ by PLATEAU at least:
# where nothing is marked or paused, runs are the same, and elsewhere they need not be.
SAME_LEAST, PLATEAU = 3, 1e-3
FINALISTS = 3
# Runs of equal settings that differ by less than this share do not differ. Where they do not, so many seeds show that
# this holds.
NO_NOISE = 1e-4
SEEDS_OF_EQUALS = 2
# Scores that differ by less are the same.
SAME = 1e-9
# Effects of seeds are fitted to this share.
CONVERGED, STEPS_MAX = 1e-9, 1000
# What is left of a run counts for them and for the noise up to so many times the median of all: a setting of which one
# run takes twice as long must not make all others look noisy.
REST_MOST = 3.0
# Candidates that the model looks at.
POOL_SAMPLE, POOL_NEAR, GRID_MAX = 600, 60, 4000
NEAR_OF = 5
TIE = 1e-9
PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
AXES_MAX = len(PRIMES)


@dataclasses.dataclass(frozen=True)
class Trial:
    """A run of the search. `score`: of its figure, smaller is better, as a logarithm, so that differences are shares;
    None: the run has none. `excess`: how far it is from what is allowed, 0: it keeps all constraints. `died`: it did
    not end by itself, which says nothing of the candidate. `others`: what else is judged of a run, when settings are
    compared."""

    candidate: tuple
    seed: int  # 1, 2, ...
    score: float | None
    excess: float = 0.0
    died: bool = False
    others: tuple = ()


@dataclasses.dataclass(frozen=True)
class Standing:
    """A candidate that was run. `score`: mean of its runs without what their seeds do to all settings."""

    candidate: tuple
    score: float
    runs: int


def propose(history, axes, present, budget, seed, is_possible=lambda candidate: True):
    """The next rung as {seed: [candidates]}; empty when the budget (runs) is used or nothing is left to try. `history`:
    Trials in any order; `is_possible`: whether weir takes a candidate, asked of those only that would be proposed."""
    left = budget - len(history)
    if left <= 0:
        return {}
    generator = np.random.default_rng([seed, len(history)])
    if first := _first(history, axes, present, min(budget, max(FIRST_LEAST, round(FIRST_PART * budget))), seed,
                       is_possible):
        return {1: first}
    size = min(left, max(RUNG_LEAST, round(RUNG_PART * budget)))
    spread = noise(history)
    found, own = _told_apart(history, spread)
    rung = {}
    for candidate, next_seed in _repeated(history, [one for one in found if one.candidate in own], size // 2, spread):
        rung.setdefault(next_seed, []).append(candidate)
    tried = {trial.candidate for trial in history}
    new = _new(found, tried, axes, size - sum(map(len, rung.values())), generator,
               is_possible=is_possible, spread=spread)
    if new:
        rung[1] = new
    return rung


def finalists_wanted(history):
    """How many candidates are to be confirmed: one where runs of equal settings do not differ."""
    return 1 if noise(history) == 0.0 else FINALISTS


def seeds_wanted(history, confirm):
    """With how many seeds settings are compared after the search: `confirm` where runs of equal settings differ, in
    anything, or that is not known."""
    are_alike = noise(history) == 0.0 and all(len({trial.others for trial in trials}) == 1
                                              for trials in _grouped(history, "candidate").values())
    return min(confirm, SEEDS_OF_EQUALS) if are_alike else confirm


def finalists(history, axes, present, seed):
    """The candidates besides the present one that the model expects to be best, of those that were run and broke no
    constraint, the best first: fewer if the present one is among the best, for each one more makes it harder to tell
    any of them apart. Where runs of equal settings do not differ, that which was seen to be best. Of equal ones, that
    which changes the fewest axes of the present one comes first."""
    spread = noise(history)
    found, own = _told_apart(history, spread)
    broke = {trial.candidate for trial in history if trial.excess > 0.0 or trial.score is None and not trial.died}
    kept = [standing for standing in found if standing.candidate in own - broke]
    if not kept:
        return []
    expected = _expected(found, axes, np.random.default_rng([seed, len(history), 1]), spread)

    def place(candidate):
        changed = sum(one != now for one, now in zip(candidate, present or candidate))
        return round(expected[candidate] / SAME), changed, repr(candidate)

    kept.sort(key=lambda standing: place(standing.candidate))
    wanted = finalists_wanted(history)
    best = [standing.candidate for standing in kept[:max(wanted, 2)]]
    return [candidate for candidate in best if candidate != present][:wanted]


# --- What the runs say.


def standings(history):
    """[Standing] of all candidates that have a run which did not die, in the order of their first run. Those that broke
    a constraint or have no score follow behind all others."""
    history = [trial for trial in history if not trial.died]
    scores, _, _ = _fitted(history)
    known = [trial.score for trial in history if trial.score is not None and trial.excess <= 0.0] or \
        [trial.score for trial in history if trial.score is not None] or [0.0]
    worst, span = max(known), max(max(known) - min(known), 0.05)
    made = []
    for candidate, of_it in _grouped(history, "candidate").items():
        excess = max(trial.excess for trial in of_it)
        if any(trial.score is None for trial in of_it):
            score = worst + 2.0 * span
        elif excess > 0.0:
            score = worst + span * (0.5 + min(1.0, math.log1p(excess)))
        else:
            score = scores[candidate]
        made.append(Standing(candidate, score, len(of_it)))
    return made


def _fitted(history):
    """({candidate: mean}, {seed: effect}, what is left of each trial that has a score) of scores that are the sum of
    all; seed 1 has the effect 0. Seeds join candidates by those that have several, the best ones and the present
    setting."""
    trials = [trial for trial in history if trial.score is not None]
    if not trials:
        return {}, {}, []
    candidates, seeds = list(_grouped(trials, "candidate")), sorted(_grouped(trials, "seed"))
    scores = np.array([trial.score for trial in trials])
    of_candidate, of_seed = _Groups([trial.candidate for trial in trials],
                                    candidates), _Groups([trial.seed for trial in trials], seeds)
    several = of_candidate.counts[of_candidate.places] > 1
    means, effects, rest = np.zeros(len(candidates)), np.zeros(len(seeds)), np.zeros(len(trials))
    for _ in range(STEPS_MAX):
        means = of_candidate.means(scores - effects[of_seed.places])
        rest = _limited(scores - means[of_candidate.places] - effects[of_seed.places], several)
        fitted = effects + of_seed.means(rest)
        fitted -= fitted[0]
        if np.abs(fitted - effects).max() < CONVERGED:
            break
        effects = fitted
    return dict(zip(candidates, means.tolist())), dict(zip(seeds, effects.tolist())), rest.tolist()


def _limited(rest, several):
    """`several`: of which values the median is taken."""
    most = REST_MOST * float(np.median(np.abs(rest[several]))) if several.any() else 0.0
    return np.clip(rest, -most, most) if most > 0.0 else rest


class _Groups:
    """Means of groups: `names` of each value, `groups` in the order of their means."""

    def __init__(self, names, groups):
        place = {group: number for number, group in enumerate(groups)}
        self.places = np.array([place[name] for name in names])
        self.counts = np.bincount(self.places)

    def means(self, values):
        return np.bincount(self.places, values) / self.counts


def _grouped(trials, key):
    groups = {}
    for trial in trials:
        groups.setdefault(getattr(trial, key), []).append(trial)
    return groups


def noise(history):
    """Standard deviation between runs of equal settings, without what seeds do to all; 0: they do not differ; None: it
    is not known yet."""
    means, effects, rest = _fitted(history)
    freedom = len(rest) - len(means) - (len(effects) - 1)
    if freedom <= 0:
        return None
    found = math.sqrt(sum(value ** 2 for value in rest) / freedom)
    if found >= NO_NOISE:
        return found
    return 0.0 if len(_unlike(one for one in standings(history) if one.runs > 1)) >= SAME_LEAST else None


def _told_apart(history, spread):
    """(standings, the candidates that stand for themselves). Where seeds make a difference (`spread`), a setting whose
    figure is that of another one with each seed that both have is taken for the same, and has the standing of that one
    of them that has most runs. Below a threshold that nothing reaches all settings are one: what luck it had must not
    count once for each of them."""
    found = standings(history)
    if not spread:
        return found, {one.candidate for one in found}
    scores = {}
    for trial in history:
        if trial.score is not None:
            scores.setdefault(trial.candidate, {})[trial.seed] = trial.score
    by_candidate, first, own = {one.candidate: one for one in found}, [], set()
    for candidate in sorted(by_candidate, key=lambda one: -by_candidate[one].runs):
        same = next((other for other in first if _are_same(scores.get(candidate, {}), scores[other])), None)
        if same is not None:
            by_candidate[candidate] = dataclasses.replace(by_candidate[same], candidate=candidate)
            continue
        own.add(candidate)
        if candidate in scores:
            first.append(candidate)
    return list(by_candidate.values()), own


def _are_same(one, other):
    """Of two settings' {seed: score}."""
    both = one.keys() & other.keys()
    return bool(both) and all(abs(one[seed] - other[seed]) < SAME for seed in both)


def _unlike(found, known=()):
    """Of these Standings those whose scores differ from the ones before them, and from `known`, by more than a
    plateau's do."""
    chosen = []
    for one in found:
        if all(abs(one.score - other.score) > PLATEAU for other in (*known, *chosen)):
            chosen.append(one)
    return chosen


# --- What is tried.


def _first(history, axes, present, count, seed, is_possible):
    """What is left to run of the sample, which is the present setting and `count` - 1 others."""
    tried = dict.fromkeys(trial.candidate for trial in history)
    if len(tried) >= count:
        return []
    chosen = dict.fromkeys((present, *tried))
    for candidate in halton(axes, seed, 50 * count):
        if len(chosen) >= count:
            break
        if candidate not in chosen and is_possible(candidate):
            chosen[candidate] = None
    return [candidate for candidate in chosen if candidate not in tried]


def halton(axes, seed, count):
    """Candidates that cover all axes evenly; `seed` shifts them."""
    shifts = np.random.default_rng(seed).random(len(axes))
    for index in range(1, count + 1):
        yield tuple(axis.value_at((_radical_inverse(index, base) + shift) % 1.0)
                    for axis, base, shift in zip(axes, PRIMES, shifts))


def _radical_inverse(index, base):
    value, part = 0.0, 1.0 / base
    while index:
        index, digit = divmod(index, base)
        value += digit * part
        part /= base
    return value


def _repeated(history, found, most, spread):
    """[(candidate, its next seed)] of those that are best so far: a few to see how much runs differ, then as far as
    they may be the best. If the first of them do not differ, others farther from the best are asked, too."""
    ordered = sorted(found, key=lambda standing: standing.score)
    repeated = [one for one in ordered if one.runs > 1]
    if spread == 0.0:
        return []  # they may differ where the search comes to: the confirmation will show it
    if spread is None and not repeated:
        chosen = _unlike(ordered)[:REPEATED_FIRST]
    elif spread is None:
        # They may differ where the search has come to since, and in the middle of all.
        chosen = [one for one in ordered[:1] if one.runs == 1]
        chosen += _unlike(ordered[len(ordered) // 2:], (*repeated, *chosen))[:1]
    else:
        best = ordered[0]
        chosen = [one for one in ordered if one.runs < SEEDS_MAX
                  and one.score - best.score <= 2.0 * spread * math.sqrt(1.0 / one.runs + 1.0 / best.runs)]
        chosen.sort(key=lambda one: one.score - spread / math.sqrt(one.runs))
    seeds = {one.candidate: {trial.seed for trial in history if trial.candidate == one.candidate} for one in chosen}
    return [(one.candidate, max(seeds[one.candidate]) + 1) for one in chosen[:most]]


def _new(found, tried, axes, count, generator, *, is_possible, spread):
    """Candidates that were not run, one after the other where most improvement is expected of them."""
    if count <= 0:
        return []
    pool = [candidate for candidate in _pool(found, axes, generator) if candidate not in tried]
    if not pool:
        return []
    points = np.array([point_of(axes, candidate) for candidate in pool])
    chosen, possible = [], np.ones(len(pool), bool)

    def choose(gain):
        """Takes the candidate with the greatest gain that weir takes. Its place in the pool; None: there is none."""
        while possible.any():
            place = int(np.where(possible, gain, -1.0).argmax())
            possible[place] = False
            if is_possible(pool[place]):
                chosen.append(pool[place])
                return place
        return None

    believed = []
    if not spread:
        gain = _improvement_by_trees(found, axes, points, generator)
        believed = [place for _ in range(count // 2) if (place := choose(gain)) is not None]
    model = _model(found, axes, generator, spread)
    best = float(model.predict(model.points)[0].min())
    while len(chosen) < count and possible.any():
        if believed:
            model, believed = model.with_believed(points[believed]), []
        place = choose(_improvement(*model.predict(points), best))
        believed = [] if place is None else [place]
    return chosen


def _improvement_by_trees(found, axes, points, generator):
    """What trees expect at each of `points`; of equal ones, as on a plateau, any is the first."""
    values = _squeezed(np.array([standing.score for standing in found]))
    known = [point_of(axes, standing.candidate) for standing in found]
    return _improvement(*trees.predict(known, values, points, generator),
                        float(values.min())) + TIE * generator.random(len(points))


def _improvement(mean, deviation, best):
    """How much below `best` is to be expected."""
    deviation = np.maximum(deviation, 1e-12)  # all scores are equal: nothing is to be expected anywhere
    z = (best - mean) / deviation
    density = np.exp(-0.5 * z ** 2) / math.sqrt(2.0 * math.pi)
    below = 0.5 * (1.0 + np.array([math.erf(value / math.sqrt(2.0)) for value in z]))
    return (best - mean) * below + deviation * density


def _pool(found, axes, generator):
    """All candidates of a small grid; else a sample of everything, and candidates near the best ones, with one to all
    values changed."""
    if math.prod(axis.count for axis in axes) <= GRID_MAX:
        return list(itertools.product(*(axis.values for axis in axes)))
    pool = dict.fromkeys(halton(axes, int(generator.integers(2 ** 31)), POOL_SAMPLE))
    for standing in sorted(found, key=lambda standing: standing.score)[:NEAR_OF]:
        places = [axis.place_of(value) for axis, value in zip(axes, standing.candidate)]
        for _ in range(POOL_NEAR):
            moved = generator.random(len(axes)) < max(0.35, 1.0 / len(axes))
            moved[int(generator.integers(len(axes)))] = True
            step = 0.25 * 0.25 ** generator.random()
            near = tuple((axis.value_at(generator.random()) if axis.is_choice
                          else axis.value_at(place + step * generator.standard_normal())) if changes else value
                         for axis, place, value, changes in zip(axes, places, standing.candidate, moved))
            pool[near] = None
    return list(pool)


# --- The model.


def point_of(axes, candidate):
    """Coordinates: the place of a number; for each value of a choice 1 or 0, scaled so that any two are 1 apart."""
    found = []
    for axis, value in zip(axes, candidate):
        if axis.is_choice:
            found += [math.sqrt(0.5) if value == other else 0.0 for other in axis.values]
        else:
            found.append(axis.place_of(value))
    return found


def _model(found, axes, generator, spread):
    axis_of = [index for index, axis in enumerate(axes) for _ in range(len(axis.values) if axis.is_choice else 1)]
    values = np.array([standing.score for standing in found])
    squeezed = _squeezed(values)
    # By how much scores near the best are stretched, so is their noise.
    stretch = 1.0 / _knee(values)
    return Model([point_of(axes, standing.candidate) for standing in found], squeezed,
                 [standing.runs for standing in found], axis_of, generator,
                 known_noise=(min(spread or 0.0, 10.0) * stretch) ** 2, is_noisy=spread != 0.0)


def _knee(values):
    """Scores so far above the best are as bad as worse ones, nearly."""
    return max(float(np.median(values) - values.min()), 1e-3)


def _squeezed(values):
    """Differences between good settings are kept, those between bad ones shrink: a cliff must not hide a valley."""
    return np.log1p((values - values.min()) / _knee(values))


def _expected(found, axes, generator, spread):
    """{candidate: what the model expects of it}; with few runs, and where runs of equal settings do not differ, what
    was seen."""
    if len(found) < FIRST_LEAST or spread == 0.0:
        return {standing.candidate: standing.score for standing in found}
    model = _model(found, axes, generator, spread)
    return dict(zip((standing.candidate for standing in found), model.predict(model.points)[0]))
