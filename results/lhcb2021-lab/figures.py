"""Figures of bench/study lhcb2021-lab's tables, by matplotlib."""

from study_figures import WORLDS, pyplot, save


def number(run, name):
    return float(run[name]) if run[name] else None


def five_rows(runs, paper, path):
    """Rates of consumers and the worst occupancy, row by row. paper: row -> (lowest, mean, highest) Gb/s, None where
    not given."""
    figure, (rates, occupancy) = pyplot.subplots(1, 2, figsize=(10, 4), width_ratios=(3, 2), layout="constrained")
    for place, world in ((-0.2, "paper"), (0, "simulator"), (0.2, "lab")):
        colour, marker = WORLDS[world]
        points = []
        for row in paper:
            if world == "paper":
                low, mean, high = paper[row]
            else:
                run = next((run for run in runs if run["row"] == str(row) and run["world"] == world), None)
                if run is None:
                    continue
                low, mean, high = (number(run, name)
                                   for name in ("lowest_second_gbps", "consumers_mean_gbps", "highest_second_gbps"))
                occupancy.plot(row + place / 2, number(run, "max_occupancy"), marker, color=colour)
            if low is not None and high is not None:
                rates.plot([row + place] * 2, [low, high], "-", color=colour, linewidth=1.5)
            if mean is not None:
                points.append((row + place, mean))
        rates.plot(*zip(*points), marker, color=colour, label=world, markersize=6)
    rates.set(ylabel="a consumer's rate, Gb/s", title="mean, and the range of single seconds", ylim=(0, None))
    rates.legend()
    occupancy.axhline(1, color="#aaaaaa", linestyle="--", linewidth=1)
    occupancy.set(ylabel="of a buffer of two sets", title="worst occupancy of a producer's buffer", ylim=(0, None))
    for axes in (rates, occupancy):
        axes.set(xlabel="row of the paper", xticks=list(paper))
    save(figure, path)


def switch_buffers(runs, path):
    """What shallow switch buffers cost. runs: in the order of their buffers."""
    panels = (("sent again, % of segments",
               lambda run: 100 * int(run["segments_retransmitted"]) / max(1, int(run["segments_sent"]))),
              ("slowest consumer, mean Gb/s", lambda run: number(run, "slowest_consumer_mean_gbps")),
              ("worst occupancy", lambda run: number(run, "max_occupancy")))
    figure, axes_of_panels = pyplot.subplots(1, len(panels), figsize=(10, 3.4), layout="constrained")
    for axes, (title, value) in zip(axes_of_panels, panels):
        heights = [value(run) for run in runs]
        bars = axes.bar([run["buffer"] for run in runs], heights, color=WORLDS["lab"][0], width=0.6)
        axes.bar_label(bars, [f"{height:.2f}" if height < 10 else f"{height:.1f}" for height in heights], fontsize=8,
                       padding=2)
        axes.set(title=title, xlabel="buffer per switch port", ylim=(0, 1.15 * max(heights)))
    axes_of_panels[2].axhline(1, color="#aaaaaa", linestyle="--", linewidth=1)
    save(figure, path)
