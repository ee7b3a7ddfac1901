"""Figures of the page of bench/study lhcb2005, by matplotlib."""

from study_figures import WORLDS, pyplot, save

AT_ONCE_US = 0.3
COLOURS = ("#1f77b4", "#d62728", "#2ca02c")


def table1(runs, paper, path):
    """% that arrived: against the port's buffer with free hosts (delay at each sender), against the receiver's time
    (delay at the receiver). Lines: the note."""
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
    for colour, (delay, percent) in zip(COLOURS, paper):
        for axes in (left, right):
            axes.axhline(percent, color=colour, linestyle=":")
        mine = [run for run in runs if run["what"] == "table 1" and run["delay_us"] == str(delay)
                and run["send_us"] == "0"
                and run["overhead_bytes"] == "0" and run["socket"] == "100kB"]
        left.plot(*zip(*sorted((float(run["port"].removesuffix("MB")), float(run["success_percent"])) for run in mine
                               if run["reading"] == "sender" and run["read_us"] == "0")), color=colour, marker=".",
                  label=f"{delay} us")
        right.plot(*zip(*sorted((float(run["read_us"]), float(run["success_percent"])) for run in mine
                                if run["reading"] == "receiver + 8")),
                   color=colour, marker=".", label=f"{delay} us")
    left.axvline(5, color="#444444", linewidth=0.5)
    left.set(xlabel="buffer of the port, MB (the note: 5)", ylabel="% that arrived (dotted: the note)",
             title="delay at each sender, free hosts")
    right.set(xlabel="receiver's time for a packet, us", title="delay + 8 us at the receiver")
    left.legend()
    save(figure, path)


def receive(points, path):
    """points: gap asked of senders and mean gap at a receiver, us."""
    figure, axes = pyplot.subplots(figsize=(5, 4), layout="constrained")
    colour, marker = WORLDS["simulator"]
    axes.plot(*zip(*sorted(points)), marker=marker, color=colour, linestyle="", label="simulator")
    ends = [value for point in points for value in point]
    axes.plot([min(ends), max(ends)], [min(ends), max(ends)], color="#444444", linestyle=":", label="1:1")
    axes.set(xlabel="grid of the senders, us", ylabel="mean gap at a receiver, us", xscale="log", yscale="log")
    axes.legend()
    save(figure, path)


def gaps(buckets, path):
    """buckets: (upper end in us, gaps); linear at the left, logarithmic at the right."""
    figure, places = pyplot.subplots(1, 2, figsize=(10, 3.5), layout="constrained")
    for axes, scale in zip(places, ("linear", "log")):
        # Buckets are narrow where gaps are short: points, not bars.
        x = [max(upper, AT_ONCE_US) for upper, _ in buckets]
        axes.vlines(x, 0.5 if scale == "log" else 0, [count for _, count in buckets], color="#1f77b4")
        axes.plot(x, [count for _, count in buckets], marker=".", linestyle="", color="#1f77b4")
        axes.set(ylabel="gaps", xlabel="us from packet to packet of a sender", yscale=scale, xscale="log")
    save(figure, path)
