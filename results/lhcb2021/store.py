"""The stored lines of the search of LHCb 2021, and their ranking by distance to the paper."""

import csv
import itertools
import threading

import model
import studies

LAYOUTS = ((1, 2), (3, 4, 5))


class Store:
    """Lines of search.csv; a line is known by its row, choices, seconds and seed."""

    names = (*model.RUN, *model.MEASURED, "weir")

    def __init__(self, path):
        self.path, self.lock = path, threading.Lock()
        self.most = most(path.parent)
        self.lines = {self.key(line): line for line in studies.stored(path)}

    @staticmethod
    def key(line):
        return tuple(str(line[name]) for name in model.RUN)

    def add(self, line):
        with self.lock:
            self.lines[self.key(line)] = {name: str(line[name]) for name in self.names}
            self.path.parent.mkdir(parents=True, exist_ok=True)
            new = not self.path.exists()
            with open(self.path, "a", newline="") as file:
                writer = csv.DictWriter(file, self.names, lineterminator="\n")
                if new:
                    writer.writeheader()
                writer.writerow(self.lines[self.key(line)])

    def write(self):
        """Writes all lines anew."""
        studies.write_lines(self.path, self.names, self.lines.values())


def most(directory):
    """{choices: the highest rate of row 3, Gb/s} of most.csv; see network_choices."""
    return {tuple(line.values())[:6]: line["most_gbps"] for line in studies.stored(directory / "most.csv")}


def shared(line):
    """What all rows of a layout share."""
    return tuple(line[name] for name in ("event", "generation", "phase", "slots", "streams", "policy", "network"))


def network_choices(line):
    return tuple(str(line[name]) for name in ("event", "generation", "phase", "slots", "streams", "policy"))


def layouts(store, blocked, probe, rows, seconds=None):
    """Candidates for a layout: those of its rows that have the same choices, with the counts of all their
    observations."""
    by_row = {row: {} for row in rows}
    for line in store.lines.values():
        row = int(line["row"])
        if row in rows and line["seed"] == "1" and (seconds is None or int(line["seconds"]) >= seconds):
            by_row[row].setdefault(shared(line), []).append(line)
    found = []
    for key in set.intersection(*(set(by_row[row]) for row in rows)):
        for lines in itertools.product(*(by_row[row][key] for row in rows)):
            quanta = {line["quantum_ms"] for line in lines} - {""}
            if len(quanta) > 1:
                continue
            of_row = {int(line["row"]): float(line["load"]) for line in lines if line["load"]}
            if {4, 5} <= set(of_row) and abs(of_row[4] / of_row[5] - 0.75) > 1e-3:
                continue
            counts = {}
            for line in lines:
                most = store.most.get(network_choices(line)) or None
                counts.update(model.deviations(line, blocked, probe, most and float(most)))
            found.append((counts, lines))
    return found


def ranking(store, blocked, probe, rows, names=None, seconds=None):
    """[(distance, counts, lines)], closest first; `names`: only these observations."""
    ranked = []
    for counts, lines in layouts(store, blocked, probe, rows, seconds):
        used = [count for name, (_, count) in counts.items() if names is None or name in names]
        ranked.append((model.distance(used), counts, lines))
    return sorted(ranked, key=lambda entry: (entry[0], [Store.key(line) for line in entry[2]]))
