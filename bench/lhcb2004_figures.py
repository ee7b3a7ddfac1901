"""Figures of the page of bench/lhcb2004-paper, by matplotlib."""

from paper_figures import pyplot, save


def sizes(worlds, path):
    """worlds: name -> points of bytes, payload Mb/s, wire Mb/s, frames/s; the note's figures 12 and 13."""
    figure, places = pyplot.subplots(2, max(len(worlds), 1), figsize=(12, 7), layout="constrained", squeeze=False)
    for column, (name, points) in enumerate(worlds.items()):
        upper, lower = places[0][column], places[1][column]
        if points:
            x, payload, wire, frames = zip(*sorted(points))
            upper.plot(x, wire, marker="o", color="#d95f02", label="wire")
            upper.plot(x, payload, marker="o", color="#444444", label="payload")
            lower.plot(x, [rate / 1000 for rate in frames], marker="o", color="#1f77b4")
        upper.set(title=name, xscale="log", ylabel="Mb/s", ylim=(0, None))
        upper.legend(fontsize=8)
        lower.set(xscale="log", xlabel="datagram, B", ylabel="1000 frames/s", ylim=(0, None))
    save(figure, path)


def rates(worlds, path):
    """worlds: name -> points of percent of the link and share lost; the note's figure 24."""
    figure, axes = pyplot.subplots(figsize=(9, 4), layout="constrained")
    for (name, points), colour in zip(worlds.items(), ("#1f77b4", "#d95f02")):
        if points:
            axes.plot(*zip(*sorted(points)), marker="o", color=colour, label=name)
    axes.axvline(98, color="#444444", linestyle=":", label="98 %: what the note's switch took")
    axes.set(xlabel="sent, % of the link", ylabel="share of datagrams lost")
    axes.legend(fontsize=8)
    save(figure, path)


def histogram(losses, path):
    """Of repeated runs; the note's figures 9 to 11."""
    figure, axes = pyplot.subplots(figsize=(9, 3.5), layout="constrained")
    if losses:
        axes.hist(losses, bins=20, color="#1f77b4")
    axes.set(xlabel="share of datagrams lost", ylabel="runs")
    save(figure, path)


def occupancy(points, path):
    """points: Mb/s, most KiB, limit KiB; the note's figure 17."""
    figure, axes = pyplot.subplots(figsize=(9, 3.5), layout="constrained")
    if points:
        x, most, limit = zip(*sorted(points))
        axes.plot(x, most, marker="o", color="#1f77b4", label="most")
        axes.plot(x, limit, color="#444444", linestyle=":", label="full")
    axes.set(xscale="log", yscale="log", xlabel="Mb/s", ylabel="receive buffer, KiB")
    axes.legend(fontsize=8)
    save(figure, path)
