"""Figures of the pages of bench/study atlas, by matplotlib."""

from study_figures import COLOURS, pyplot, save


def rates(curves, paper, path):
    """curves: configuration -> way -> points; paper: configuration -> way -> the rate at which the paper's curve is
    flat."""
    figure, places = pyplot.subplots(1, len(curves), figsize=(12, 4), layout="constrained")
    for axes, (configuration, ways) in zip(places, curves.items()):
        for (way, points), colour in zip(ways.items(), COLOURS):
            if points:
                axes.plot(*zip(*points), marker="o", color=colour, label=way)
            flat = paper.get(configuration, {}).get(way)
            if flat:
                axes.axhline(flat, color=colour, linestyle=":", label=f"{way}, most in the paper")
        axes.set(title=configuration.replace("x", " x "), xlabel="events/s assigned", ylabel="events/s finished",
                 ylim=(0, None))
        axes.legend(fontsize=8)
    save(figure, path)


def sizes(curves, paper, path):
    """curves: way -> points of kB and MB/s; paper: the same, of what its text has."""
    figure, axes = pyplot.subplots(figsize=(9, 4), layout="constrained")
    for (way, points), colour in zip(curves.items(), COLOURS):
        axes.plot(*zip(*points), marker="o", color=colour, label=way)
        if way in paper:
            axes.plot(*zip(*paper[way]), marker="D", markersize=10, linestyle="", markerfacecolor="none", color=colour,
                      label=f"{way}, paper")
    axes.set(xlabel="fragment, kB", ylabel="MB/s at the builder", ylim=(-3, None))
    axes.legend(fontsize=8)
    save(figure, path)
