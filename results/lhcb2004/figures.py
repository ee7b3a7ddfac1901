"""Figures of the page of bench/study lhcb2004, by matplotlib."""

from study_figures import pyplot, save


def sizes(hosts, path):
    """hosts: name -> points of bytes, wire Mb/s, frames/s and share lost; the note's figures 12 to 14 and 22."""
    figure, (wire, frames, lost) = pyplot.subplots(1, 3, figsize=(12, 4), layout="constrained")
    for place, (name, points) in enumerate(hosts.items()):
        x, *values = zip(*sorted(points))
        width = 1.3 * (len(hosts) - place)  # lines that coincide are all seen
        wire.plot(x, values[0], linewidth=width, label=name)
        frames.plot(x, [rate / 1000 for rate in values[1]], linewidth=width)
        lost.plot(x, values[2], linewidth=width)
    for axes, unit in ((wire, "received, Mb/s on the wire"), (frames, "received, 1000 frames/s"),
                       (lost, "share of datagrams lost")):
        axes.set(xscale="log", xlabel="datagram, B", ylabel=unit)
    frames.set(ylim=(0, 400))
    frames.axhline(280, color="#444444", linestyle=":")
    wire.axvline(500, color="#444444", linestyle=":")
    lost.axvline(490, color="#444444", linestyle=":")
    wire.legend(fontsize=7)
    save(figure, path)


def rates(switches, path):
    """switches: name -> points of percent of the link and share lost; the note's figure 24."""
    figure, axes = pyplot.subplots(figsize=(8, 3.5), layout="constrained")
    for name, points in switches.items():
        axes.plot(*zip(*sorted(points)), marker=".", label=name)
    axes.axvline(98, color="#444444", linestyle=":")
    axes.axhline(6e-5, color="#444444", linestyle=":")
    axes.set(xlabel="sent, % of the link", ylabel="share of datagrams lost")
    axes.set_yscale("symlog", linthresh=1e-7)
    axes.set(ylim=(-2e-8, 0.1))
    axes.legend(fontsize=8)
    save(figure, path)
