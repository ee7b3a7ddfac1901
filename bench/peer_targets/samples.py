"""Samples of bench/peers, and what is made of them."""

import csv
import dataclasses
import statistics

COLUMNS = ("target", "case", "peer", "quantity", "round", "value", "weir")
# Behind the name of weir's own samples: measured with --engine ucx instead of mpi.
UCX = ", engine ucx"


@dataclasses.dataclass(frozen=True)
class Comparison:
    """A line of a table: weir's quantity over a peer's in the same round, or the quantity itself."""
    target: str           # of which module
    case: str             # layout and sizes
    what: str             # in words
    quantity: str         # name of the samples' quantity
    ours: str             # peer names
    theirs: str = ""      # empty: no ratio
    bound: float | None = None
    at_least: bool = True
    unit: str = ""
    optional: bool = False  # the peer need not be there

    @property
    def name(self):
        return "/".join(part for part in (self.target, self.case, self.quantity, self.ours, self.theirs) if part)


@dataclasses.dataclass(frozen=True)
class Outcome:
    comparison: Comparison
    ours: float
    theirs: float | None
    median: float
    least: float
    most: float
    rounds: int
    ucx: "Outcome | None" = None  # the same with --engine ucx, where it was measured

    @property
    def met(self):
        """None where nothing was asked for."""
        bound = self.comparison.bound
        if bound is None:
            return None
        return self.median >= bound if self.comparison.at_least else self.median <= bound


class Samples:
    """All samples of a results directory; a target that is measured again replaces what was there of it."""

    def __init__(self, file):
        self.file = file
        self.version = ""  # of the weir that is measured from now on
        self.rows = list(csv.DictReader(file.read_text().splitlines())) if file.exists() else []

    def forget(self, target):
        self.rows = [row for row in self.rows if row["target"] != target]

    def add(self, target, case, peer, quantity, number, value):
        self.rows.append({"target": target, "case": case, "peer": peer, "quantity": quantity, "round": str(number),
                          "value": f"{value:.6g}", "weir": self.version})
        print(f"   {case}: {peer}: {quantity} {value:.6g}", flush=True)

    def write(self):
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with open(self.file, "w", newline="") as stream:
            writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows)

    def programs(self):
        """Which weir was measured for which targets, as text."""
        versions = {}
        for row in self.rows:
            versions.setdefault(row.get("weir") or "of an unknown commit", {})[row["target"]] = True
        return "; ".join(f"weir {version} for {', '.join(targets)}" for version, targets in versions.items())

    def values(self, comparison, peer):
        """By round."""
        return {row["round"]: float(row["value"]) for row in self.rows
                if (row["target"], row["case"], row["quantity"], row["peer"])
                == (comparison.target, comparison.case, comparison.quantity, peer)}

    def unmeasured(self, comparisons):
        """Those for which something is asked, of targets that were measured: a sample is missing, or has another
        name."""
        targets = {row["target"] for row in self.rows}
        return [each for each in comparisons
                if each.target in targets and each.bound is not None and not each.optional and not self.outcome(each)]

    def outcome(self, comparison):
        """None without samples."""
        found = self._outcome(comparison)
        # What weir is compared with may be weir, too: with the same engine.
        theirs = comparison.theirs + (UCX if comparison.theirs.startswith("weir") else "")
        return found and dataclasses.replace(
                found, ucx=self._outcome(dataclasses.replace(comparison, ours=comparison.ours + UCX, theirs=theirs)))

    def _outcome(self, comparison):
        """Where nothing is asked for and no peer was measured, weir's own figure."""
        ours = self.values(comparison, comparison.ours)
        theirs = self.values(comparison, comparison.theirs) if comparison.theirs else {}
        if not comparison.theirs or (not theirs and comparison.bound is None):
            judged = ours
        else:
            judged = {number: ours[number] / theirs[number] for number in ours.keys() & theirs.keys() if theirs[number]}
        theirs = statistics.median(theirs.values()) if theirs else None
        if not ours or not judged:
            return None
        return Outcome(comparison, statistics.median(ours.values()), theirs, statistics.median(judged.values()),
                       min(judged.values()), max(judged.values()), len(judged))
