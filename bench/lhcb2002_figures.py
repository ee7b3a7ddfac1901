"""Figures of bench/lhcb2002-paper's tables, by matplotlib."""

from paper_figures import WORLDS, pyplot, save


def rates(rows, paper, runs, path):
    """paper: row -> Mb/s, one value or the lowest and the highest."""
    figure, axes = pyplot.subplots(figsize=(9, 4), layout="constrained")
    for offset, world in ((-0.2, "paper"), (0, "simulator"), (0.2, "lab")):
        colour, marker = WORLDS[world]
        label = world
        for place, row in enumerate(rows):
            values = paper.get(row, ()) if world == "paper" else [
                float(run["mbps"]) for run in runs if run["row"] == row and run["world"] == world]
            if values:
                axes.plot([place + offset] * len(values), values, marker=marker, color=colour, linestyle="-", label=label)
                label = None
    axes.set(ylabel="Mb/s to all nodes", xticks=range(len(rows)), ylim=(0, None))
    axes.set_xticklabels([row.replace(", ", ",\n") for row in rows], fontsize=8)
    axes.legend()
    save(figure, path)


def series(paper, measured, path):
    """paper: (events, seconds); measured: (name, steps of events, seconds, share)."""
    figure, axes = pyplot.subplots(figsize=(9, 4), layout="constrained")
    axes.plot(*zip(*paper), marker="D", color="#444444", label="version 1, paper")
    for (name, found), colour in zip(measured, ("#1f77b4", "#d95f02", "#1b9e77", "#7570b3")):
        if found:
            axes.plot([step[0] for step in found], [step[1] for step in found], color=colour, label=name)
    axes.set(xlabel="events done", ylabel="seconds per 100 000 events", yscale="log")
    axes.legend()
    save(figure, path)


def nodes(paper, lab, path):
    """Rates of the nodes in Mb/s; of the lab the ends are kept."""
    figure, axes = pyplot.subplots(figsize=(9, 3), layout="constrained")
    mean = sum(paper) / len(paper)
    axes.plot(range(len(paper)), [node / mean for node in paper], "D", color=WORLDS["paper"][0], label="paper, 200 million events")
    if lab:
        mean = float(lab["mbps"]) / len(paper)
        low, high = (float(lab[name]) / mean for name in ("node_smallest_mbps", "node_largest_mbps"))
        axes.axhspan(low, high, color=WORLDS["lab"][0], alpha=0.3, label=f"lab, {lab['duration_s']} s: smallest to largest")
    axes.set(xlabel="node", ylabel="rate / mean of all nodes", xticks=range(len(paper)))
    axes.legend()
    save(figure, path)


def model(lines, path):
    figure, axes = pyplot.subplots(figsize=(9, 4), layout="constrained")
    for name, colour in (("list", "#d95f02"), ("deque", "#7570b3"), ("weir", "#1f77b4")):
        mine = [line for line in lines if line["dispatcher"] == name]
        axes.plot([int(line["events"]) for line in mine], [float(line["seconds"]) for line in mine], marker=".", color=colour, label=name)
    axes.set(xlabel="events dispatched", ylabel="seconds per 100 000 events", yscale="log")
    axes.legend()
    save(figure, path)
