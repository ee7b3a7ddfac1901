"""Figures 3 to 7 of the LHCb 2021 paper out of run directories, with what the paper prints marked in them."""

from PIL import Image

import studies
import study_figures
from study_figures import pyplot

BLUE, ORANGE, GREY = study_figures.COLOURS[1], study_figures.COLOURS[0], "#444444"
# row: number of the figure; panels from the top: (what, [(value printed in the paper, text)])
FIGURES = {
    1: (3, (("producers", [(85.8, "85.8")]), ("consumers", [(11.8, "11.8"), (20.4, "20.4")]))),
    2: (4, (("blocked", [(12, "up to 12")]), ("producers", []), ("consumers", [(0, "0"), (20.4, "20.4")]))),
    3: (5, (("producers", [(74, "74")]), ("consumers", [(95.2, "95.2 (mean)")]))),
    4: (6, (("blocked", [(6, "up to 6")]), ("producers", [(63.3, "63.3")]), ("consumers", [(81.4, "81.4 (mean)")]))),
    5: (7, (("blocked", [(4, "up to 4"), (2, "2 for good")]), ("consumers", [(95, "95")]), ("occupancy", [(1, "1")]))),
}
LABELS = {"producers": "sent by each\nproducer, Gb/s", "consumers": "received by each\nconsumer, Gb/s",
          "blocked": "blocked consumers", "occupancy": "left at the end\nof an interval"}


def ranks(directory, role):
    """Lines of each rank's file, measured seconds only."""
    found = []
    for file in sorted((directory / "ranks").glob(f"*-{role}.csv")):
        found.append([row for row in studies.rows(file) if row["phase"] == "measure"])
    return found


def panel(axes, what, directory, event_gb, sets):
    """Draws one panel; returns nothing."""
    if what == "blocked":
        consumers = ranks(directory, "consumer")
        samples = [[int(row["blocked_samples_50ms"]) for row in rank] for rank in consumers]
        seconds = range(len(samples[0]))
        counts = [[sum(rank[second] >> bit & 1 for rank in samples) for bit in range(20)] for second in seconds]
        axes.fill_between(seconds, [min(of) for of in counts], [max(of) for of in counts], color=BLUE, alpha=0.25,
                          linewidth=0, step="mid",
                          label="20 instants of a second: least to most")
        axes.step(seconds, [of[0] for of in counts], color=BLUE, linewidth=0.7, where="mid",
                  label="one instant in each second")
    elif what == "occupancy":
        for rank in ranks(directory, "producer"):
            # Two intervals' worth of buffer: what is left when the next set comes is twice the peak less that set.
            axes.plot([float(row["occupancy_peak"]) * 2 - (1 if sets else 0) for row in rank], color=BLUE,
                      linewidth=0.4, alpha=0.6)
    else:
        role, column = ("producer", "sent_events") if what == "producers" else ("consumer", "received_events")
        for rank in ranks(directory, role):
            axes.plot([int(row[column]) * event_gb for row in rank], color=BLUE, linewidth=0.35, alpha=0.5)


def draw(row, directory, path, event_gb, sets, title):
    """The figure of a row. `event_gb`: of an event, in Gb; rates are whole events per second."""
    number, panels = FIGURES[row]
    figure, axes = pyplot.subplots(len(panels), 1, figsize=(8, 1.9 * len(panels) + 0.5), sharex=True,
                                   layout="constrained")
    figure.suptitle(f"As figure {number} of the paper: {title}", fontsize=10)
    for one, (what, printed) in zip(axes, panels):
        panel(one, what, directory, event_gb, sets)
        for value, text in printed:
            one.axhline(value, color=ORANGE, linestyle="--", linewidth=1)
            one.annotate(f"paper: {text}", (1.005, value), xycoords=("axes fraction", "data"), color=ORANGE, fontsize=8,
                         va="center")
        if row == 5:
            for second in (40, 200):
                one.axvline(second, color=ORANGE, linestyle=":", linewidth=1)
        one.set_ylabel(LABELS[what], fontsize=8)
        one.set_ylim(bottom=0)
        one.tick_params(labelsize=8)
        one.grid(alpha=0.3)
        if what == "blocked":
            one.legend(fontsize=7, loc="upper left")
    axes[-1].set_xlabel("second", fontsize=8)
    study_figures.save(figure, path)
    Image.open(path).convert("RGB").quantize(24).save(path, optimize=True)  # a third of the size
