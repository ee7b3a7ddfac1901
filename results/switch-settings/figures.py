"""Figures of the page of bench/study switch-settings, by matplotlib."""

from study_figures import pyplot, save

STYLES = {"none": ("#d95f02", "s"), "pfc": ("#1f77b4", "o"), "ecn": ("#7570b3", "^"), "pfc+ecn": ("#1b9e77", "D"),
          "fluid": ("#666666", "")}


def ladders(rows, path):
    """rows: title -> setting -> points of Gb/s per producer, share of late sets and carried Gb/s per producer."""
    figure, places = pyplot.subplots(2, len(rows), figsize=(12, 7), layout="constrained", squeeze=False)
    for column, (title, settings) in enumerate(rows.items()):
        upper, lower = places[0][column], places[1][column]
        for name, points in settings.items():
            colour, marker = STYLES[name]
            rates, late, carried = zip(*sorted(points))
            style = {"marker": marker, "color": colour, "label": name, "linestyle": ":" if name == "fluid" else "-"}
            upper.plot(rates, [share * 100 for share in late], **style)
            lower.plot(rates, carried, **style)
        upper.set(title=title, ylabel="late sets, %", ylim=(-3, 103))
        lower.set(xlabel="generated, Gb/s per producer", ylabel="carried, Gb/s per producer")
    places[0][0].legend(fontsize=8)
    save(figure, path)


def bars(settings, path):
    """settings: name -> slowest and fastest producer, slowest and fastest consumer, in Gb/s, generated and due
    rates."""
    figure, places = pyplot.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
    for axes, role, low in zip(places, ("producers", "consumers"), (0, 3)):
        for index, (name, numbers) in enumerate(settings.items()):
            least, mean, most = numbers[low:low + 3]
            axes.plot([index, index], [least, most], color=STYLES[name][0], linewidth=6)
            axes.plot(index, mean, color="black", marker="_", markersize=16)
        axes.set(ylabel="Gb/s", title=f"{role}: slowest, mean, fastest", ylim=(0, None))
        axes.set_xticks(range(len(settings)), list(settings))
    save(figure, path)
