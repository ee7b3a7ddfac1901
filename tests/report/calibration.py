"""How often weir-compare is wrong: rates of false and missed calls on made-up runs whose truth is known
(known_truth.py).

    PYTHONPATH=src/report python3 tests/report/calibration.py

prints the tables of statistics.md. The same seed gives the same numbers.
"""

import argparse

import numpy as np

import known_truth
from known_truth import LEVEL, noise
from weir_compare.comparison import ranking, statistics
from weir_compare.comparison.figure_results import Settings
from weir_runs.reading.key_figures import KEY_FIGURES

SEED = 1
DRAWS = 20_000
FIGURES = 10
SIZES = (3, 5, 10)
NOISES = ("normal", "lognormal", "outliers")


def called(baseline, new, paired=False, times=(None, None)):
    """Which figures are called; axes: draws, figures of one family, runs."""
    if paired:
        estimate = statistics.estimate_pairs(*statistics.pair_differences(baseline, new, *times))
    else:
        estimate = statistics.estimate_sides(baseline, new)
    p_values = statistics.p_value(estimate)
    return p_values <= statistics.holm_levels(p_values)


def false_calls(kind, size_a, size_b, figures, generator, *, draws=DRAWS, spread_b=1.0, paired=False):
    """Share of comparisons with any call where nothing changed."""
    baseline = noise(kind, (draws, figures, size_a), generator)
    new = spread_b * noise(kind, (draws, figures, size_b), generator)
    return called(baseline, new, paired).any(axis=-1).mean()


def power(kind, size, figures, change, percent, generator, *, draws=DRAWS):
    """Share of comparisons that call a planted change (in %) of the first of some figures."""
    baseline = LEVEL + percent * noise(kind, (draws, figures, size), generator)
    new = LEVEL + percent * noise(kind, (draws, figures, size), generator)
    new[:, 0] += change
    return called(baseline, new)[:, 0].mean()


def drift_calls(size, change, paired, generator, draws=DRAWS):
    """(calls of the first of ten figures, which has changed by `change` %; calls of any other). Noise 0.5 %; the runs
    take turns, the baseline's always first, while everything drifts by 5 % from the first to the last."""
    times = np.arange(0.0, 2 * size, 2.0), np.arange(1.0, 2 * size, 2.0)
    shape = draws, FIGURES, size
    baseline, new = (LEVEL + 5.0 / (2 * size - 1) * of_side + 0.5 * noise("normal", shape, generator)
                     for of_side in times)
    new[:, 0] += change
    calls = called(baseline, new, paired, times)
    return calls[:, 0].mean(), calls[:, 1:].any(axis=-1).mean()


def coverage(kind, size_a, size_b, paired, generator, draws=DRAWS):
    """Share of intervals that hold the true difference."""
    baseline, new = noise(kind, (draws, size_a), generator), noise(kind, (draws, size_b), generator)
    estimate = statistics.estimate_pairs(new - baseline) if paired else statistics.estimate_sides(baseline, new)
    low, high = statistics.interval(estimate)
    return ((low <= 0.0) & (high >= 0.0)).mean()


def detected(size, generator, draws=DRAWS):
    """Share of calls if the true change is `detectable` on average."""
    baseline = noise("normal", (draws, 1, size), generator)
    new = noise("normal", (draws, 1, size), generator)
    change = statistics.detectable(statistics.estimate_sides(baseline, new), statistics.ALPHA).mean()
    return called(baseline, new + change)[:, 0].mean()


def no_difference(size, change, percent, generator, draws=DRAWS, relevant=2.0):
    """Share of comparisons of one figure that say 'no difference' if the true change is `change` (in %)."""
    baseline = percent * noise("normal", (draws, size), generator)
    new = percent * noise("normal", (draws, size), generator) + change
    estimate = statistics.estimate_sides(baseline, new)
    low, high = statistics.interval(estimate)
    small = statistics.detectable(estimate, statistics.ALPHA) <= relevant
    inside = (low >= -relevant) & (high <= relevant)
    return (small & inside & (statistics.p_value(estimate) > statistics.ALPHA)).mean()


def alternatives(size, generator, draws=DRAWS):
    """{way to judge: (false calls of one figure, the same at the level of ten figures where the new side spreads five
    times as much, in false calls expected at that level, calls of a change by three times the noise at the level of ten
    figures)}"""
    baseline, new = (noise("normal", (draws, size), generator) for _ in range(2))
    rates = {}
    for name, test in WAYS.items():
        single, _ = test(baseline, new, size)
        unlike, _ = test(baseline, 5.0 * new, size)
        moved, _ = test(baseline, new + 3.0, size)
        level = statistics.ALPHA / FIGURES
        rates[name] = ((single <= statistics.ALPHA).mean(), (unlike <= level).mean() / level, (moved <= level).mean())
    return rates


def _one_spread(difference, factor=1.0, least=None):
    def test(baseline, new, size):
        spread = np.sqrt((baseline.var(axis=-1, ddof=1) + new.var(axis=-1, ddof=1)) / 2.0)
        if least:
            spread = np.maximum(spread, baseline.std(axis=-1, ddof=1))
        made = statistics.Estimate(difference(baseline, new), factor * spread * np.sqrt(2.0 / size),
                                   np.array(2.0 * size - 2.0))
        return statistics.p_value(made), made
    return test


def _welch(baseline, new, size):
    made = statistics.estimate_sides(baseline, new)
    return statistics.p_value(made), made


WAYS = {
    "difference of means, one spread for both sides": _one_spread(lambda a, b: b.mean(axis=-1) - a.mean(axis=-1)),
    "Hodges-Lehmann, one spread for both sides": _one_spread(statistics.difference_of_sides,
                                                             statistics.HODGES_LEHMANN_FACTOR),
    "Hodges-Lehmann, that or the baseline's, the larger": _one_spread(statistics.difference_of_sides,
                                                                      statistics.HODGES_LEHMANN_FACTOR, True),
    "Hodges-Lehmann, a spread for each side (used)": _welch,
}


def share_false_calls(size):
    """The worst over all true shares, exactly."""
    calls = statistics.boschloo_p_values(size, size) <= statistics.ALPHA
    worst = 0.0
    for share in np.linspace(0.0, 1.0, 201):
        chances = statistics.chances_of(size, share)
        worst = max(worst, float(chances @ calls @ chances))
    return worst


RANKING_DRAWS = 1000
ENGINE = Settings(relevant=0.0)


CHAIN = ("sustained", *known_truth.FIGURES)
ONE = ("goodput",)  # as --decide-by does


def ranked(case, settings, size, generator, chain=CHAIN):
    """The Ranking of one set of runs of a known_truth.Case, as weir-compare makes it; and the interval of the first
    pair's goodput."""
    figures = {figure.name: figure for figure in KEY_FIGURES}
    made = ranking.rank([figures[name] for name in chain],
                        known_truth.as_runs(known_truth.draw(case, settings, size, generator)), ENGINE)
    pair = made.of_figure(figures["goodput"], 0, 1)
    return made, None if pair is None or made.doubt(0, 1) else (pair.result.low, pair.result.high)


def rates(case, settings, size, generator, draws=RANKING_DRAWS, chain=CHAIN):
    """Shares of rankings in which two settings with the same truth are told apart, the last setting wins, another one
    wins; and of intervals that hold the truth (None: there is none)."""
    alike = right = wrong = held = intervals = 0
    equal = [(i, j) for i in range(settings) for j in range(i) if case.gain(i) == case.gain(j)]
    for _ in range(draws):
        made, interval = ranked(case, settings, size, generator, chain)
        alike += any(made.told[i][j] is not None for i, j in equal)
        right += made.winner == settings - 1
        wrong += made.winner not in (None, settings - 1)
        if interval is not None and interval[0] is not None:
            intervals += 1
            held += interval[0] - 1e-9 <= case.gain(0) - case.gain(1) <= interval[1] + 1e-9
    return alike / draws, right / draws, wrong / draws, held / intervals if intervals else None


def engine_tables(draws=RANKING_DRAWS):
    """The text of the tables on rankings of made-up runs."""
    def both(case, settings, size, what):
        found = [rates(case, settings, size, np.random.default_rng(SEED), draws, chain) for chain in (CHAIN, ONE)]
        return " / ".join(_percent(each[index]) for each in found for index in what), _percent(found[0][3])

    heads, parts = [f"{size} runs" for size in SIZES], []
    for title, cases, all_settings, what in (
            ("Equal settings: any two are told apart by all figures / by one figure (--decide-by)", known_truth.EQUAL,
             (2, 3), (0,)),
            ("One setting is better: it wins / another one wins by all figures / and by one figure",
             known_truth.UNEQUAL, (2,), (1, 2))):
        rows = []
        for case in cases:
            for settings in all_settings:
                found = [both(case, settings, size, what) for size in SIZES]
                rows.append((case.title, settings, *(cell for cell, _ in found), *(held for _, held in found)))
        parts.append(_table(f"{title}; at the right: intervals that hold the truth",
                            ("runs", "settings", *heads, *heads), rows))
    return "\n".join(parts)


ONE_FIGURE_DRAWS = 400


def one_figure(levels, spreads, size, generator, draws=ONE_FIGURE_DRAWS, kind="normal"):
    """Settings of which one figure has these levels, with these spreads: (share of rankings in which any two with the
    same level are told apart; share of the pairs with different levels that are told apart, by ranking.py, by Holm's
    levels)."""
    figure = next(figure for figure in KEY_FIGURES if figure.name == "goodput")
    equal = np.equal.outer(levels, levels)
    first, second = np.triu_indices(len(levels), 1)
    false = told = told_by_holm = 0
    for _ in range(draws):
        values = (LEVEL + np.array(levels)[:, None]
                  + np.array(spreads)[:, None] * noise(kind, (len(levels), size), generator))
        runs = ranking.Runs({"goodput": values.tolist()})
        apart = np.array([[pair is not None for pair in row] for row in ranking.rank([figure], runs, ENGINE).told])
        false += (apart & equal).any()
        told += (apart & ~equal)[first, second].sum()
        p_values = np.array([float(statistics.p_value(pair.result.estimate)) for pair in
                             ranking.measured_pairs([figure], runs, ENGINE)])
        told_by_holm += ((p_values <= statistics.holm_levels(p_values)) & ~equal[first, second]).sum()
    unlike = (~equal)[first, second].sum() * draws
    return false / draws, told / unlike if unlike else None, told_by_holm / unlike if unlike else None


ONE_FIGURE_CASES = (
    # title, kind, level and spread of setting i of n
    ("all equal", "normal", lambda i, n: 0.0, lambda i, n: 1.0),
    ("all equal", "lognormal", lambda i, n: 0.0, lambda i, n: 1.0),
    ("all equal, one spreads five times as much", "normal", lambda i, n: 0.0, lambda i, n: 5.0 if i == 0 else 1.0),
    ("all equal, all but one spread five times as much", "normal", lambda i, n: 0.0,
     lambda i, n: 1.0 if i == 0 else 5.0),
    ("pairs of equal ones, far apart", "normal", lambda i, n: 100.0 * (i // 2), lambda i, n: 1.0),
    ("one is 4 % worse", "normal", lambda i, n: -4.0 if i == 0 else 0.0, lambda i, n: 1.0),
    ("one is 10 % worse and spreads five times as much", "normal", lambda i, n: -10.0 if i == 0 else 0.0,
     lambda i, n: 5.0 if i == 0 else 1.0),
    ("each is 2 % better than the one before", "normal", lambda i, n: 2.0 * i, lambda i, n: 1.0),
)


def one_figure_table(draws=ONE_FIGURE_DRAWS):
    generator = np.random.default_rng(SEED)
    rows = []
    for title, kind, level, spread in ONE_FIGURE_CASES:
        for settings in (3, 6):
            levels, spreads = ([one(i, settings) for i in range(settings)] for one in (level, spread))
            rates = [one_figure(levels, spreads, size, generator, draws, kind) for size in SIZES]
            rows.append((title + ("" if kind == "normal" else f", {kind}"), settings, *(
                " / ".join(_percent(rate) for rate in of_size) for of_size in rates)))
    return _table("One figure (noise 1 %): any two equal settings are told apart / unequal pairs that are told apart / "
                  "the same with Holm's levels", ("settings are", "settings", *(f"{size} runs" for size in SIZES)),
                  rows)


def _table(title, heads, rows):
    lines = [f"**{title}**", "", "| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _percent(share):
    return "-" if share is None else f"{100.0 * share:.1f} %"


def tables(draws=DRAWS):
    """The text of all tables."""
    generator = np.random.default_rng(SEED)
    runs = [f"{size} runs" for size in SIZES]
    parts = [
        _table("False calls: nothing changed, and something was called better or worse",
               ("noise", "figures compared", *runs),
               [(kind, figures, *(_percent(false_calls(kind, size, size, figures, generator, draws=draws))
                                  for size in SIZES))
                for kind in NOISES
                for figures in (1, FIGURES)] +
               [("normal, in pairs", FIGURES,
                 *(_percent(false_calls("normal", size, size, FIGURES, generator, draws=draws, paired=True))
                   for size in SIZES))])
    ]
    parts.append(
        _table("False calls where the sides are unlike (one figure, normal noise, same median)",
               ("baseline runs", "new runs", "spread of new / baseline", "false calls"),
               [(size_a, size_b, f"{spread:.2g}",
                 _percent(false_calls("normal", size_a, size_b, 1, generator, draws=draws, spread_b=spread)))
                for size_a, size_b, spread in ((3, 10, 1.0), (10, 3, 1.0), (5, 5, 3.0), (5, 5, 1 / 3),
                                               (10, 3, 3.0), (3, 10, 1 / 3))]))
    parts.append(_table(
        "Calls of a true change of 3 %", ("noise", "spread", "figures compared", *runs),
        [(kind, f"{percent:g} %", figures,
          *(_percent(power(kind, size, figures, 3.0, percent, generator, draws=draws)) for size in SIZES))
         for kind in ("normal", "lognormal") for percent in (0.5, 1.0, 2.0) for figures in (1, FIGURES)]))
    parts.append(_table(
        "Runs that alternate under a drift of 5 % (noise 0.5 %, ten figures, one of them changed by -3 %)",
        ("", "calls", *runs),
        [(name, what, *(_percent(drift_calls(size, -3.0, paired, generator, draws)[index]) for size in SIZES))
         for name, paired in (("in pairs", True), ("not in pairs", False))
         for index, what in enumerate(("true", "false"))]))
    parts.append(_table(
        "95 % intervals that hold the true difference", ("noise", *runs, "3 against 10"),
        [(kind + (", in pairs" if paired else ""),
          *(_percent(coverage(kind, size, size, paired, generator)) for size in SIZES),
          "" if paired else _percent(coverage(kind, 3, 10, paired, generator)))
         for paired in (False, True) for kind in NOISES]))
    parts.append(_table(
        "Calls if the true change is as large as the minimum detectable effect (80 % is meant)", runs,
        [[_percent(detected(size, generator, draws)) for size in SIZES]]))
    parts.append(_table(
        "'No difference' (less than 2 %), one figure", ("true change", "spread", *runs),
        [(f"{change:g} %", f"{percent:g} %",
          *(_percent(no_difference(size, change, percent, generator)) for size in SIZES))
         for change in (0.0, 2.0) for percent in (0.25, 0.5, 1.0)]))
    ways = {size: alternatives(size, generator, draws) for size in SIZES}
    parts.append(_table(
        "Other ways to judge (normal noise): false calls of one figure / false calls over what is meant, ten figures, "
        "where the new side spreads five times as much / calls of a true change by three times the noise among "
        "ten figures", ("", *runs), [(name, *(f"{_percent(found[0])} / {found[1]:.1f} x / {_percent(found[2])}"
                                              for found in (ways[size][name] for size in SIZES)))
                                     for name in WAYS]))
    parts.append(_table(
        "False calls of the sustained share, at the true share where they are most frequent", runs,
        [[_percent(share_false_calls(size)) for size in SIZES]]))
    return "\n".join(parts)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws",
                        type=int,
                        default=DRAWS,
                        metavar="N",
                        help="data sets per rate (default: %(default)s)")
    parser.add_argument("--ranking", action="store_true", help="only the tables on the ranking of several settings")
    options = parser.parse_args(argv)
    if options.ranking:
        print(engine_tables(min(options.draws, RANKING_DRAWS)), one_figure_table(min(options.draws, ONE_FIGURE_DRAWS)),
              sep="\n")
    else:
        print(tables(options.draws))


if __name__ == "__main__":
    main()
