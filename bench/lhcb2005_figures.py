"""Figures of the page of bench/lhcb2005-paper, by matplotlib."""

from paper_figures import WORLDS, pyplot, save

AT_ONCE_US = 0.3


def receive(worlds, path):
    """worlds: name, points of the gap asked of senders and the mean gap at a receiver, us."""
    figure, axes = pyplot.subplots(figsize=(6, 5), layout="constrained")
    for world, points in worlds:
        if points:
            colour, marker = WORLDS[world]
            axes.plot(*zip(*sorted(points)), marker=marker, color=colour, linestyle="", label=world)
    ends = [value for _, points in worlds for point in points for value in point]
    if ends:
        axes.plot([min(ends), max(ends)], [min(ends), max(ends)], color="#444444", linestyle=":", label="1:1")
    axes.set(xlabel="grid of the senders, us", ylabel="mean gap at a receiver, us", xscale="log", yscale="log")
    axes.legend()
    save(figure, path)


def gaps(runs, path):
    """runs: title, (upper end of a bucket in us, packets); linear above, logarithmic below."""
    figure, places = pyplot.subplots(2, len(runs), figsize=(11, 6), layout="constrained", squeeze=False)
    for column, (title, buckets) in zip(places.T, runs):
        for axes, scale in zip(column, ("linear", "log")):
            if buckets:
                # Buckets are narrow where gaps are short: points, not bars. Packets that left at once are at the left end.
                x = [max(upper, AT_ONCE_US) for upper, _ in buckets]
                axes.vlines(x, 0.5 if scale == "log" else 0, [packets for _, packets in buckets], color="#1f77b4")
                axes.plot(x, [packets for _, packets in buckets], marker=".", linestyle="", color="#1f77b4")
            axes.set(ylabel="packets", xlabel="us from packet to packet of a sender (left end: at once)", yscale=scale, xscale="log")
        column[0].set_title(title)
    save(figure, path)
