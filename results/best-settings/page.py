"""The page of bench/study best-settings, made of found.json, runs.csv and about.md; and the files of weir-sweep tune, made of cases.py."""

import json
import statistics
import sys

import cases
import expected
import studies
from cases import CASES, GROUPS

sys.path.append(str(studies.TOP / "src/report"))
try:
    from weir_report.tune import decide, objective
except ModuleNotFoundError as missing:
    sys.exit(f"best-settings: this Python has no {missing.name}, which the page is judged with; try /usr/bin/python3 bench/study best-settings ...")

FOUND, FILES = "found.json", "files"
FIGURE = objective.FIGURES[objective.MARGIN]
FLOWS = ("pfc", "ecn", "both")


def found_in(out):
    file = out / FOUND
    return json.loads(file.read_text()) if file.exists() else {}


class Data:
    """What tune found, and the runs with the seeds of its confirmation."""

    def __init__(self, out):
        self.found, self.lines = found_in(out), studies.stored(out / "runs.csv")

    def tuning(self, case, group):
        return self.found.get(cases.name(case, group), {})

    def of(self, case, group, part, axis):
        """The runs of a setting, in the order of their seeds."""
        return sorted(studies.select(self.lines, case=case, group=group, part=part, axis=axis), key=lambda line: int(line["seed"]))

    def values(self, case, group, part, axis):
        return [float(line["slowest_ms"]) if line["slowest_ms"] else None for line in self.of(case, group, part, axis)]

    def best(self, case, group):
        """Those of the proposed setting; of the present one, where none is better."""
        return self.values(case, group, "pair", "proposed") or self.values(case, group, "pair", "present")

    def change(self, case, group, part="pair"):
        """The Change from the present to the proposed setting; None without runs."""
        return change(self.values(case, group, part, "present"), self.values(case, group, part, "proposed"))

    def against(self, case, group, other):
        """The Change from the best setting of another group to that of this one."""
        return change(self.best(case, other), self.best(case, group))

    def changed_axes(self, case, group):
        """Axes that tune changed, what brings most alone first, and last what weir refuses alone; none while their runs are not there."""
        axes = self._changed(case, group)
        if len(axes) > 1 and not all(self.of(case, group, "alone", axis) for axis in axes):
            return []
        changes = {axis: self.alone(case, group, axis) for axis in axes}
        return sorted(axes, key=lambda axis: -changes[axis].gain if changes[axis] else 1000)

    def _changed(self, case, group):
        tuning = self.tuning(case, group)
        return [axis for axis, text in (tuning.get("proposed") or {}).items() if text != tuning["present"][axis]]

    def alone(self, case, group, axis):
        """The Change that this axis brings alone; None without runs."""
        after = self.best(case, group) if self._changed(case, group) == [axis] else self.values(case, group, "alone", axis)
        return change(self.values(case, group, "pair", "present"), after)

    def first_axis(self, case, group):
        return next(iter(self.changed_axes(case, group)), None)


def change(before, after):
    """The Change between runs with equal seeds; None unless both settings have all runs."""
    found = decide.changes([(FIGURE, before, after)])[0] if len(before) == len(after) == cases.PAIRS else None
    return None if found is None or found.gain is None else found


# -------------------------------------------------------------------------------------------------------------- words


def percent(share):
    if abs(share) < 0.0005:
        return "0"
    return f"{100 * share:.0f}" if abs(share) >= 0.095 else f"{100 * share:.1f}"


def gain(found, digits=True):
    """+39 % (29 to 49); in brackets where it is not told apart from nothing, behind a sign where it is known to be too small to matter."""
    if found is None:
        return ""
    text = f"{'+' if found.gain >= 0.0005 else ''}{percent(found.gain)} %" + (f" ({percent(found.low)} to {percent(found.high)})" if digits else "")
    return text if found.is_better or found.is_worse else f"≈ {text}" if found.is_same else f"[{text}]"


def kept(entry):
    """The same of an entry of found.json."""
    fields = {name: entry[name] for name in ("gain", "low", "high", "call", "detectable", "relevant", "needed") if name in entry}
    return decide.Change(**fields)


def why_not(lines):
    """Why weir refused these runs, or what became of the first that is not whole; empty without runs."""
    status = next((line["status"] for line in lines if line["status"] != "complete"), "")
    return status.replace("weir simulate: --switch: ", "").partition(";")[0]


def milliseconds(values):
    known = [value for value in values if value is not None]
    return f"{statistics.median(known):.1f}" if known else "none"


def on_time(lines):
    """Of how many runs no set was late."""
    return f"{sum(line['late_sets'] == '0' for line in lines)} of {len(lines)}"


def changed(tuning):
    return ", ".join(f"`{axis}` {text} (was {tuning['present'][axis]})" for axis, text in tuning["proposed"].items() if text != tuning["present"][axis])


def proposal(tuning):
    if not tuning:
        return ""
    if "nothing" in tuning:
        return tuning["nothing"]
    return changed(tuning) if tuning["proposed"] else "none is better"


# ------------------------------------------------------------------------------------------------------------- tables


def settings_table(data):
    """The slowest delivery of each setting, before and after."""
    rows = []
    for case in CASES:
        cells = [f"{milliseconds(data.values(case, 'pfc', 'neither', 'present'))}; {on_time(data.of(case, 'pfc', 'neither', 'present'))}"]
        for group in GROUPS:
            before = data.of(case, group, "pair", "present")
            after = data.of(case, group, "pair", "proposed") or before
            cells += [f"{milliseconds(data.values(case, group, 'pair', 'present'))} → {milliseconds(data.best(case, group))}"
                      f"; {on_time(before)} → {on_time(after)}"] if before else [""]
        rows.append([case, *cells])
    return studies.table(["", "neither", *(group.title for group in GROUPS.values())], rows)


def first_table(data):
    """Of each tuning what brings most alone, and what all changes bring together."""
    def cell(case, group):
        tuning, axis = data.tuning(case, group), data.first_axis(case, group)
        if axis is None:
            return "nothing" if tuning else ""
        text = f"`{axis}={tuning['proposed'][axis]}`: {gain(data.alone(case, group, axis), False)}"
        return text if len(data.changed_axes(case, group)) == 1 else f"{text}; with the others {gain(kept(tuning['change']), False)}"

    rows = [[case, CASES[case].title, *(cell(case, group) for group in GROUPS)] for case in CASES]
    return studies.table(["case", "", *(group.title for group in GROUPS.values())], rows)


def proposals_table(data):
    rows = []
    for case, group in cases.pairs():
        tuning = data.tuning(case, group)
        if tuning:
            flat = tuning.get("flat")
            rows.append([case, GROUPS[group].title, proposal(tuning), gain(tuning.get("change") and kept(tuning["change"])),
                         flat and f"{flat['settings']} of {flat['tried']}", sum(tuning.get("runs", {}).values()) or ""])
    return studies.table(["", "", "proposed", "slowest delivery shorter by", "within 2 % of the best", "runs"], rows)


def alone_table(data):
    rows = []
    for case, group in cases.pairs():
        tuning = data.tuning(case, group)
        for axis in data.changed_axes(case, group):
            back = next((near for near in next(one for one in tuning["axes"] if one["name"] == axis)["neighbours"] if near["words"] == "present"), None)
            rows.append([case, GROUPS[group].title, f"`{axis}={tuning['proposed'][axis]}`",
                         gain(data.alone(case, group, axis)) or why_not(data.of(case, group, "alone", axis)), gain(back and kept(back), False)])
    return studies.table(["", "", "axis", "alone, from the present setting", "back to its present value, from the proposed setting"], rows)


def loads_table(data):
    rows, words = [], {}
    for case, group in cases.pairs():
        loads = {load["load"]: load for load in data.tuning(case, group).get("loads", ())}
        words |= dict.fromkeys(loads)
        if loads:
            rows.append([case, GROUPS[group].title, loads, gain(data.change(case, group, "longer"))])
    return studies.table(["", "", *words, f"interval {cases.LONGER} times as long"],
                         [[case, title, *(gain(kept(loads[word])) if word in loads else "" for word in words), longer]
                          for case, title, loads, longer in rows])


def flows_table(data):
    """The settings of the three kinds of flow control against PFC alone, present ones and tuned ones."""
    rows = []
    for case in CASES:
        best = {group: data.best(case, group) for group in GROUPS}
        if best["pfc"]:
            before = {group: data.values(case, group, "pair", "present") for group in FLOWS}
            rows.append([case, *(gain(change(before["pfc"], before[other])) for other in ("ecn", "both")),
                         *(gain(change(best["pfc"], best[other])) for other in ("ecn", "both", "hosts"))])
    return studies.table(["", "ECN, present", "both, present", *(f"{GROUPS[group].title}, tuned" for group in ("ecn", "both", "hosts"))], rows)


def answers(data):
    """What weir-sweep tune printed, of all."""
    parts = ["# What weir-sweep tune printed\n\n<!-- Made by bench/study best-settings. -->"]
    for case, group in cases.pairs():
        if tuning := data.tuning(case, group):
            text = "\n".join(tuning["lines"]) if "lines" in tuning else tuning["nothing"]
            parts.append(f"## {case}, {GROUPS[group].title}\n\n`weir-sweep tune results/best-settings/{FILES}/{cases.name(case, group)}.toml`, "
                         f"weir {tuning['weir']}, {tuning['cpu_s']:.0f} s of processor time\n\n```text\n{text.strip()}\n```")
    return "\n\n".join(parts) + "\n"


def page(out):
    data = Data(out)
    checked = studies.rows_of(expected.EXPECTED, data)
    outcomes = [row[-1] for row in checked]
    parts = {"first": first_table(data), "settings": settings_table(data), "proposals": proposals_table(data), "alone": alone_table(data), "loads": loads_table(data),
             "flows": flows_table(data), "expected": studies.table(["expected before the runs", "figure", "band", "found", ""], checked),
             "count": f"{outcomes.count('PASS')} of {len(outcomes)} PASS",
             "runs": sum(sum(tuning.get("runs", {}).values()) for tuning in data.found.values()) + len(data.lines),
             "minutes": f"{sum(tuning['cpu_s'] for tuning in data.found.values()) / 60:.0f}"}
    made = studies.about(out, "best-settings", parts, "Made by `bench/study best-settings tune` and `runs`; `table` makes the page. "
                         + studies.made_with([line for line in (*data.lines, *data.found.values()) if line["weir"]]))
    return {**made, "answers.md": answers(data),
            **{f"{FILES}/{cases.name(*pair)}.toml": cases.toml(*pair) for pair in cases.pairs()}}
