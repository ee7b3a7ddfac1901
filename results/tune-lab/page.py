"""The page of bench/study tune-lab, made of found.json, simulated.csv, measured.csv and of the texts beside it."""

import json
import statistics

import cases
import expected
import studies
from cases import GOODPUT, SHARES

FOUND = "found.json"

class Data:
    def __init__(self, out):
        self.found = json.loads((out / FOUND).read_text()) if (out / FOUND).exists() else {}
        self.simulated, self.measured = studies.stored(out / "simulated.csv"), studies.stored(out / "measured.csv")

    def runs(self, campaign, setting):
        """Measured, in the order of their repetitions."""
        return sorted(studies.select(self.measured, campaign=campaign, setting=setting),
                      key=lambda line: int(line["repetition"]))

    def values(self, campaign, setting, column=GOODPUT):
        return [float(line[column]) for line in self.runs(campaign, setting) if line[column]]

    def model(self, threshold, column=GOODPUT):
        """Simulated, in the order of their seeds."""
        return [float(line[column]) for line in studies.select(self.simulated, threshold=threshold) if line[column]]

    def threshold(self, which):
        """Of the `present` or the `proposed` setting; None: there is none."""
        return (self.found.get(which) or {}).get(cases.AXIS)

    def confirmed(self):
        """The Change from the present to the proposed setting, measured, pairs by repetition; None without five
        pairs."""
        return changed(self.values("confirm", "present"), self.values("confirm", "proposed"))

    def scanned(self):
        """Thresholds of which the scan has a run."""
        return [one for one in cases.SCANNED if self.values("scan", one)]


def changed(before, after):
    """The Change of the goodput by pairs; None without five pairs."""
    from judging import decide, objective  # here, so that `set` in the emulated machine needs no numpy
    pairs = list(zip(before, after))
    if len(pairs) < decide.FEWEST_PAIRS:
        return None
    return decide.changes([(objective.FIGURES["goodput"], *zip(*pairs))])[0]


def gain(change):
    """+22 % (18 to 25); in brackets where it is not told apart."""
    if change is None or change.gain is None:
        return "not known"
    text = f"{100 * change.gain:+.1f} % (95 % interval {100 * change.low:.1f} to {100 * change.high:.1f})"
    return text if change.is_better or change.is_worse else f"[{text}]"


def middle(values, scale=1.0, digits=2):
    """Median, and in brackets least and greatest."""
    if not values:
        return ""
    low, median, high = (scale * one for one in (min(values), statistics.median(values), max(values)))
    return f"{median:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def percent(values):
    if not values:
        return ""
    share = 100 * statistics.median(values)
    return "0" if share == 0 else f"{share:.2g} %"


def curve(data):
    """A line for each threshold of the scan and of the proposal."""
    rows = []
    for threshold in sorted({*cases.SCANNED, *filter(None, (data.threshold("present"), data.threshold("proposed")))},
                            key=cases.size):
        campaign, setting = ("scan", threshold)
        words = [which for which in ("present", "proposed") if data.threshold(which) == threshold]
        if threshold not in cases.SCANNED:
            campaign, setting = "confirm", words[0]
        measured, model = data.values(campaign, setting), data.model(threshold)
        ratio = (f"{100 * (statistics.median(measured) / statistics.median(model) - 1):+.0f} %" if measured
                 and model else "")
        rows.append([f"{threshold}{''.join(f', {word}' for word in words)}", middle(model, 1e-6),
                     middle(measured, 1e-6), len(measured) or "", ratio,
                     *(f"{percent(data.model(threshold, name))} / {percent(data.values(campaign, setting, name))}"
                       for name in SHARES)])
    return studies.table(["marks all above", "simulated, Mb/s", "measured, Mb/s", "runs", "measured beside simulated",
                          "marked, sim. / measured",
                          "sent again, sim. / measured", "producers wait for a grant, sim. / measured",
                          "the receiver waits for data, sim. / measured"], rows)


def pairs(data):
    """The confirmation by its repetitions."""
    sides = {which: {line["repetition"]: line for line in data.runs("confirm", which)}
             for which in ("present", "proposed")}
    rows = [[repetition, *(studies.number({**line, GOODPUT: float(line[GOODPUT]) / 1e6}, GOODPUT, "{:.2f}")
                           if (line := side.get(repetition)) else ""
                           for side in sides.values())]
            for repetition in sorted({one for side in sides.values() for one in side}, key=int)]
    return studies.table(["turn", *(f"{which}, {data.threshold(which)}, Mb/s" for which in sides)], rows)


def page(out):
    data = Data(out)
    checked = studies.rows_of(expected.EXPECTED, data)
    outcomes = [row[-1] for row in checked]
    parts = {"curve": curve(data), "pairs": pairs(data),
             "expected": studies.table(["expected before the runs", "figure", "band", "found", ""], checked),
             "count": ", ".join(f"{sum(one.startswith(word) for one in outcomes)} {word}"
                                for word in ("PASS", "MISS", "VOID")),
             "why-expected": studies.text(out, "expected.md"),
             "printed": "\n".join(data.found.get("lines", ["nothing yet"])).strip(),
             "confirmed": gain(data.confirmed()),
             "confirm-answer": studies.text(out, "confirm-answer.txt") or "nothing yet",
             "measured-runs": len(data.measured), "simulated-runs": len(data.simulated)
             + sum(data.found.get("runs", {}).values()),
             "gap": f"{max((float(line['longest_stall_ms']) for line in data.measured), default=0):.0f}",
             "present": data.threshold("present") or "", "proposed": data.threshold("proposed") or "no other"}
    return studies.about(out, "tune-lab", parts,
                         "Made by `bench/study tune-lab tune` and `measure`; `table` makes the page. "
                         + studies.made_with([*data.simulated, *data.measured]))
