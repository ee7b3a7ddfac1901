"""What the figures of the pages of results/ share: matplotlib without a display, colours and markers of the worlds, and
how a figure is written."""

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402
from PIL import Image  # noqa: E402  (matplotlib needs it too)

COLOURS = ("#d95f02", "#1f77b4", "#1b9e77", "#7570b3", "#e7298a", "#666666")
WORLDS = {"paper": ("#444444", "D"), "simulator": ("#1f77b4", "o"), "lab": ("#d95f02", "s"),
          "shared memory": ("#1b9e77", "^")}


def save(figure, path):
    """Writes `figure` with 64 colours, a third of the size, and closes it. The same figure gives the same bytes."""
    figure.savefig(path, dpi=110, metadata={"Software": None})
    pyplot.close(figure)
    with Image.open(path) as drawn:
        drawn = drawn.convert("RGB").quantize(64)
    drawn.save(path, optimize=True)
    print(path)
