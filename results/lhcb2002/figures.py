"""Figures of the page of bench/study lhcb2002, by matplotlib."""

from study_figures import pyplot, save


def rates(rows, path):
    """rows: name, the note's Mb/s from ... to or None, simulated Mb/s."""
    figure, axes = pyplot.subplots(figsize=(7, 3.5), layout="constrained")
    for place, (_, printed, rate) in enumerate(rows):
        if printed:
            axes.plot([place, place], printed, color="#d62728", linewidth=6, alpha=0.5, label="the note" if place == 0
                      else None)
        axes.plot(place, rate, color="#1f77b4", marker="o", label="simulator" if place == 0 else None, linestyle="")
    axes.set_xticks(range(len(rows)), [name.replace(", ", ",\n") for name, _, _ in rows], fontsize=7)
    axes.set(ylabel="Mb/s", ylim=(0, 1000))
    axes.legend()
    save(figure, path)


def nodes(version2, netperf, simulated, path):
    figure, axes = pyplot.subplots(figsize=(7, 3.5), layout="constrained")
    axes.plot(sorted(netperf), marker="x", linestyle="", color="#888888", label="the note, 20 netperf processes")
    axes.plot(sorted(version2), marker=".", linestyle="", color="#d62728", label="the note, version 2")
    axes.fill_between([0, len(version2) - 1], *simulated, color="#1f77b4", label="simulator, version 2", linewidth=2)
    axes.set(xlabel="nodes, slowest first", ylabel="Mb/s", ylim=(0, 80))
    axes.legend()
    save(figure, path)


def series(steps, tick_s, path):
    """steps: seconds of 100000 events, of them without a token."""
    figure, axes = pyplot.subplots(figsize=(5, 4), layout="constrained")
    axes.plot([without * tick_s for _, without in steps], [seconds for seconds, _ in steps], marker=".", linestyle="",
              color="#d62728", label="the note, version 1")
    axes.plot([0, 220], [0, 220], color="#444444", linestyle=":", label="nothing but waits")
    axes.set(xlabel="10 ms for each event that found no token, s", ylabel="time of 100000 events, s")
    axes.legend()
    save(figure, path)
