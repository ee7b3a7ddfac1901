"""How often weir-compare is wrong: rates of false and missed calls on made-up runs whose truth is known.

    python3 -m weir_report.calibration

prints the tables of statistics.md. The same seed gives the same numbers.
"""

import argparse

import numpy as np
from scipy import stats

from . import ranking, statistics
from .figure_results import Settings
from .key_figures import KEY_FIGURES

SEED = 1
DRAWS = 20_000
FIGURES = 10
SIZES = (3, 5, 10)
LEVEL = 100.0  # of the made-up figures: a noise of 1 is 1 %
NOISES = ("normal", "lognormal", "outliers")
LOGNORMAL_SIGMA = 0.8
OUTLIER_SHARE, OUTLIER_FACTOR = 0.1, 5.0


def noise(kind, shape, generator):
    """Mean 0 and standard deviation 1. The lognormal has a skewness of 3.7; of `outliers`, one run in ten
    has five times the spread of the others."""
    normal = generator.standard_normal(shape)
    if kind == "normal":
        return normal
    if kind == "lognormal":
        square = LOGNORMAL_SIGMA ** 2
        return ((np.exp(LOGNORMAL_SIGMA * normal) - np.exp(square / 2.0))
                / np.sqrt((np.exp(square) - 1.0) * np.exp(square)))
    wide = generator.random(shape) < OUTLIER_SHARE
    spread = np.sqrt(1.0 - OUTLIER_SHARE + OUTLIER_SHARE * OUTLIER_FACTOR ** 2)
    return normal * np.where(wide, OUTLIER_FACTOR, 1.0) / spread


def called(baseline, new, paired=False, times=(None, None)):
    """Which figures are called; axes: draws, figures of one family, runs."""
    if paired:
        estimate = statistics.estimate_pairs(*statistics.pair_differences(baseline, new, *times))
    else:
        estimate = statistics.estimate_sides(baseline, new)
    p_values = statistics.p_value(estimate)
    return p_values <= statistics.holm_levels(p_values)


def false_calls(kind, size_a, size_b, figures, generator, draws=DRAWS, spread_b=1.0, paired=False):
    """Share of comparisons with any call where nothing changed."""
    baseline = noise(kind, (draws, figures, size_a), generator)
    new = spread_b * noise(kind, (draws, figures, size_b), generator)
    return called(baseline, new, paired).any(axis=-1).mean()


def power(kind, size, figures, change, percent, generator, draws=DRAWS):
    """Share of comparisons that call a planted change (in %) of the first of some figures."""
    baseline = LEVEL + percent * noise(kind, (draws, figures, size), generator)
    new = LEVEL + percent * noise(kind, (draws, figures, size), generator)
    new[:, 0] += change
    return called(baseline, new)[:, 0].mean()


def drift_calls(size, change, paired, generator, draws=DRAWS):
    """(calls of the first of ten figures, which has changed by `change` %; calls of any other). Noise 0.5
    %; the runs take turns, the baseline's always first, while everything drifts by 5 % from the first to
    the last."""
    times = np.arange(0.0, 2 * size, 2.0), np.arange(1.0, 2 * size, 2.0)
    shape = draws, FIGURES, size
    baseline, new = (LEVEL + 5.0 / (2 * size - 1) * of_side + 0.5 * noise("normal", shape, generator)
                     for of_side in times)
    new[:, 0] += change
    calls = called(baseline, new, paired, times)
    return calls[:, 0].mean(), calls[:, 1:].any(axis=-1).mean()


def coverage(kind, size_a, size_b, paired, generator, draws=2_000, resamples=600, chunk=250):
    """Share of intervals that hold the true difference."""
    hits = 0
    for _ in range(draws // chunk):
        baseline = noise(kind, (chunk, size_a), generator)
        new = noise(kind, (chunk, size_b), generator)
        if paired:
            low, high = statistics.interval_of_pairs(new - baseline, generator, resamples=resamples)
        else:
            low, high = statistics.interval_of_sides(baseline, new, generator, resamples)
        hits += int(((low <= 0.0) & (high >= 0.0)).sum())
    return hits / (draws // chunk * chunk)


def detected(size, generator, draws=DRAWS):
    """Share of calls if the true change is `detectable` on average."""
    baseline = noise("normal", (draws, 1, size), generator)
    new = noise("normal", (draws, 1, size), generator)
    change = statistics.detectable(statistics.estimate_sides(baseline, new), statistics.ALPHA).mean()
    return called(baseline, new + change)[:, 0].mean()


def no_difference(size, change, percent, generator, draws=2_000, resamples=400, relevant=2.0):
    """Share of comparisons of one figure that say 'no difference' if the true change is `change` (in %)."""
    baseline = percent * noise("normal", (draws, size), generator)
    new = percent * noise("normal", (draws, size), generator) + change
    estimate = statistics.estimate_sides(baseline, new)
    low, high = statistics.interval_of_sides(baseline, new, generator, resamples)
    small = statistics.detectable(estimate, statistics.ALPHA) <= relevant
    inside = (low >= -relevant) & (high <= relevant)
    return (small & inside & (statistics.p_value(estimate) > statistics.ALPHA)).mean()


def alternatives(size, generator, draws=DRAWS):
    """{way to judge: (false calls of one figure, calls of a change by three times the noise at the level of
    ten figures)}"""
    baseline, new = (noise("normal", (draws, size), generator) for _ in range(2))
    spread_a, spread_b = baseline.std(axis=-1, ddof=1), new.std(axis=-1, ddof=1)
    pooled, both = np.sqrt((spread_a ** 2 + spread_b ** 2) / 2.0), 2.0 * size - 2.0
    means = new.mean(axis=-1) - baseline.mean(axis=-1)
    medians = np.median(new, axis=-1) - np.median(baseline, axis=-1)
    hodges_lehmann = statistics.difference_of_sides(baseline, new)
    # Standard deviation of the median of a normal sample over that of its mean.
    of_median = {3: 1.156, 5: 1.196, 10: 1.176}[size]
    used = statistics.HODGES_LEHMANN_FACTOR
    ways = {
        "difference of means, spread of both sides": (means, pooled, 1.0, both),
        "difference of medians, spread of both sides": (medians, pooled, of_median, both),
        "Hodges-Lehmann, spread of both sides": (hodges_lehmann, pooled, used, both),
        "Hodges-Lehmann, spread of the baseline": (hodges_lehmann, spread_a, used, size - 1.0),
        "Hodges-Lehmann, the larger of these two (used)":
            (hodges_lehmann, np.maximum(spread_a, pooled), used, both),
    }
    rates = {}
    for name, (difference, spread, factor, freedom) in ways.items():
        error = factor * spread * np.sqrt(2.0 / size)
        single, among = (stats.t.isf(statistics.ALPHA / 2.0 / figures, freedom) for figures in (1, FIGURES))
        rates[name] = ((np.abs(difference) > single * error).mean(),
                       (np.abs(difference + 3.0) > among * error).mean())
    return rates


def share_false_calls(size):
    """The worst over all true shares, exactly."""
    calls = statistics.boschloo_p_values(size, size) <= statistics.ALPHA
    worst = 0.0
    for share in np.linspace(0.0, 1.0, 201):
        chances = stats.binom.pmf(np.arange(size + 1), size, share)
        worst = max(worst, float(chances @ calls @ chances))
    return worst


HEADLINE_DRAWS = 400
HEADLINE_SETTINGS = (2, 3, 6)
# The chain of a fixed rate, without what is the same in all runs more often than not.
HEADLINE_FIGURES = ("sustained", "late_share", "longest_stay", "worst_occupancy", "goodput", "delivery_p99", "evenness")


def headlines(settings, size, sustained, generator, draws=HEADLINE_DRAWS, kind="normal", worse=0):
    """(share of rankings with a winner, share in which any two settings are told apart) where all `settings` are equal, but for
    the last `worse` ones, which are never sustained and do not count. `sustained`: chance that a run is."""
    figures = {figure.name: figure for figure in KEY_FIGURES}
    chain = [figures[name] for name in HEADLINE_FIGURES]
    equal = settings - worse
    winners = apart = 0
    for _ in range(draws):
        values = {figure.name: (LEVEL + 3.0 * noise(kind, (settings, size), generator)).tolist() for figure in chain}
        yes = generator.random((settings, size)) < sustained
        yes[equal:] = False
        values["sustained"] = yes.astype(float).tolist()
        ranked = ranking.rank(chain, values, Settings(relevant=0.0, resamples=0))
        winners += ranked.winner is not None
        apart += any(ranked.told[i][j] is not None for i in range(equal) for j in range(i))
    return winners / draws, apart / draws


def headline_tables(draws=HEADLINE_DRAWS):
    """The text of the table on the ranking."""
    generator = np.random.default_rng(SEED)
    rows = []
    for title, sustained, kind, worse in (("all sustained", 1.0, "normal", 0), ("all sustained, lognormal", 1.0, "lognormal", 0),
                                          ("half of the runs sustained", 0.5, "normal", 0),
                                          ("half sustained, one setting more that never is", 0.5, "normal", 1)):
        for settings in HEADLINE_SETTINGS:
            rates = [headlines(settings + worse, size, sustained, generator, draws, kind, worse) for size in SIZES]
            rows.append((title, settings, *(" / ".join(_percent(rate) for rate in pair) for pair in rates)))
    return _table("Equal settings: a winner is named / any two are told apart", ("runs", "settings", *(f"{size} runs" for size in SIZES)),
                  rows)


def one_figure(levels, spreads, size, generator, draws=HEADLINE_DRAWS, kind="normal"):
    """Settings of which one figure has these levels, with these spreads: (share of rankings in which any two with the same
    level are told apart; share of the pairs with different levels that are told apart, by ranking.py, by Holm's levels)."""
    figure = next(figure for figure in KEY_FIGURES if figure.name == "goodput")
    settings = Settings(relevant=0.0, resamples=0)
    equal = np.equal.outer(levels, levels)
    first, second = np.triu_indices(len(levels), 1)
    false = told = told_by_holm = 0
    for _ in range(draws):
        values = LEVEL + np.array(levels)[:, None] + np.array(spreads)[:, None] * noise(kind, (len(levels), size), generator)
        ranked = ranking.rank([figure], {"goodput": values.tolist()}, settings)
        apart = np.array([[pair is not None for pair in row] for row in ranked.told])
        false += (apart & equal).any()
        told += (apart & ~equal)[first, second].sum()
        p_values = np.array([float(statistics.p_value(pair.result.estimate)) for pair in ranking.measured_pairs(
            [figure], {"goodput": values.tolist()}, settings)])
        told_by_holm += ((p_values <= statistics.holm_levels(p_values)) & ~equal[first, second]).sum()
    unlike = (~equal)[first, second].sum() * draws
    return false / draws, told / unlike if unlike else None, told_by_holm / unlike if unlike else None


ONE_FIGURE_CASES = (
    # title, kind, level and spread of setting i of n
    ("all equal", "normal", lambda i, n: 0.0, lambda i, n: 1.0),
    ("all equal", "lognormal", lambda i, n: 0.0, lambda i, n: 1.0),
    ("all equal, one spreads five times as much", "normal", lambda i, n: 0.0, lambda i, n: 5.0 if i == 0 else 1.0),
    ("all equal, all but one spread five times as much", "normal", lambda i, n: 0.0, lambda i, n: 1.0 if i == 0 else 5.0),
    ("pairs of equal ones, far apart", "normal", lambda i, n: 100.0 * (i // 2), lambda i, n: 1.0),
    ("one is 4 % worse", "normal", lambda i, n: -4.0 if i == 0 else 0.0, lambda i, n: 1.0),
    ("one is 10 % worse and spreads five times as much", "normal", lambda i, n: -10.0 if i == 0 else 0.0,
     lambda i, n: 5.0 if i == 0 else 1.0),
    ("each is 2 % better than the one before", "normal", lambda i, n: 2.0 * i, lambda i, n: 1.0),
)


def one_figure_table(draws=HEADLINE_DRAWS):
    generator = np.random.default_rng(SEED)
    rows = []
    for title, kind, level, spread in ONE_FIGURE_CASES:
        for settings in (3, 6):
            rates = [one_figure([level(i, settings) for i in range(settings)], [spread(i, settings) for i in range(settings)],
                                size, generator, draws, kind) for size in SIZES]
            rows.append((title + ("" if kind == "normal" else f", {kind}"), settings, *(
                " / ".join("-" if rate is None else _percent(rate) for rate in of_size) for of_size in rates)))
    return _table("One figure (noise 1 %): any two equal settings are told apart / unequal pairs that are told apart / the same "
                  "with Holm's levels", ("settings are", "settings", *(f"{size} runs" for size in SIZES)), rows)


def _table(title, heads, rows):
    lines = [f"**{title}**", "", "| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _percent(share):
    return f"{100.0 * share:.1f} %"


def tables(draws=DRAWS):
    """The text of all tables."""
    generator = np.random.default_rng(SEED)
    runs = [f"{size} runs" for size in SIZES]
    parts = [
        _table("False calls: nothing changed, and something was called better or worse",
               ("noise", "figures compared", *runs),
               [(kind, figures, *(_percent(false_calls(kind, size, size, figures, generator, draws))
                                  for size in SIZES))
                for kind in NOISES
                for figures in (1, FIGURES)] +
               [("normal, in pairs", FIGURES,
                 *(_percent(false_calls("normal", size, size, FIGURES, generator, draws, paired=True))
                   for size in SIZES))])
    ]
    parts.append(
        _table("False calls where the sides are unlike (one figure, normal noise, same median)",
               ("baseline runs", "new runs", "spread of new / baseline", "false calls"),
               [(size_a, size_b, f"{spread:.2g}",
                 _percent(false_calls("normal", size_a, size_b, 1, generator, draws, spread)))
                for size_a, size_b, spread in ((3, 10, 1.0), (10, 3, 1.0), (5, 5, 3.0), (5, 5, 1 / 3),
                                               (10, 3, 3.0), (3, 10, 1 / 3))]))
    parts.append(_table(
        "Calls of a true change of 3 %", ("noise", "spread", "figures compared", *runs),
        [(kind, f"{percent:g} %", figures,
          *(_percent(power(kind, size, figures, 3.0, percent, generator, draws)) for size in SIZES))
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
        "Other ways to judge (normal noise): false calls of one figure / calls of a true change by three "
        "times the noise among ten figures", ("", *runs),
        [(name, *(" / ".join(_percent(rate) for rate in ways[size][name]) for size in SIZES))
         for name in ways[SIZES[0]]]))
    parts.append(_table(
        "False calls of the sustained share, at the true share where they are most frequent", runs,
        [[_percent(share_false_calls(size)) for size in SIZES]]))
    return "\n".join(parts)


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python3 -m weir_report.calibration", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws",
                        type=int,
                        default=DRAWS,
                        metavar="N",
                        help="data sets per rate (default: %(default)s)")
    parser.add_argument("--headline", action="store_true", help="only the tables on the ranking of several settings")
    options = parser.parse_args(argv)
    if options.headline:
        draws = min(options.draws, HEADLINE_DRAWS)
        print(headline_tables(draws), one_figure_table(draws), sep="\n")
    else:
        print(tables(options.draws))


if __name__ == "__main__":
    main()
