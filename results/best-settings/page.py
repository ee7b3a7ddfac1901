"""The page of bench/study best-settings, made of tunings.csv, changes.csv, runs.csv and about.md; and the files of
weir-sweep tune, made of cases.py."""

import statistics
import sys

import cases
import expected
import studies
from cases import CASES, GROUPS

sys.path.append(str(studies.TOP / "src/report"))
try:
    from weir_suites.tune import decide, objective
except ModuleNotFoundError as missing:
    sys.exit(f"best-settings: this Python has no {missing.name}, which the page is judged with; try /usr/bin/python3 "
             "bench/study best-settings ...")

TUNINGS, CHANGES, ANSWERS, FILES = "tunings.csv", "changes.csv", "answers.md", "files"
FIGURE = objective.FIGURES[objective.MARGIN]
FLOWS = ("pfc", "ecn", "both")


class Data:
    """What tune found, and the runs with the seeds of its confirmation."""

    def __init__(self, out):
        self.tunings, self.kept, self.lines = (studies.stored(out / name) for name in (TUNINGS, CHANGES, "runs.csv"))

    def tuning(self, case, group):
        """What tune found, settings as {axis: text}; {} if it was not run."""
        line = studies.first(studies.select(self.tunings, case=case, group=group))
        return line and {**line, **{which: setting(line[which]) for which in ("present", "proposed")}} or {}

    def found(self, case, group, part):
        """{axis or load: Change} as tune found it. part: all changes `together` (under ""), an axis `back` at its
        present value, a `load`."""
        return {line["of"]: kept(line) for line in studies.select(self.kept, case=case, group=group, part=part)}

    def of(self, case, group, part, axis):
        """The runs of a setting, in the order of their seeds."""
        return sorted(studies.select(self.lines, case=case, group=group, part=part, axis=axis),
                      key=lambda line: int(line["seed"]))

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
        """Axes that tune changed, what brings most alone first, and last what weir refuses alone; none while their runs
        are not there."""
        axes = self._changed(case, group)
        if len(axes) > 1 and not all(self.of(case, group, "alone", axis) for axis in axes):
            return []
        changes = {axis: self.alone(case, group, axis) for axis in axes}
        return sorted(axes, key=lambda axis: -changes[axis].gain if changes[axis] else 1000)

    def _changed(self, case, group):
        tuning = self.tuning(case, group)
        return [axis for axis, text in tuning.get("proposed", {}).items() if text != tuning["present"][axis]]

    def alone(self, case, group, axis):
        """The Change that this axis brings alone; None without runs."""
        after = self.best(case, group) if self._changed(case,
                                                        group) == [axis] else self.values(case, group, "alone", axis)
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
    """+39 % (29 to 49); in brackets where it is not told apart from nothing, behind a sign where it is known to be too
    small to matter."""
    if found is None:
        return ""
    text = f"{'+' if found.gain >= 0.0005 else ''}{percent(found.gain)} %" + (
        f" ({percent(found.low)} to {percent(found.high)})" if digits else "")
    return text if found.is_better or found.is_worse else f"≈ {text}" if found.is_same else f"[{text}]"


def kept(line):
    """The Change of a line of changes.csv."""
    return decide.Change(*(float(line[name]) for name in ("gain", "low", "high")), line["call"],
                         relevant=line["relevant"] == "True")


def words(of):
    """A setting in a cell."""
    return " ".join(f"{axis}={text}" for axis, text in of.items())


def setting(cell):
    """The reverse of words."""
    return dict(word.split("=") for word in cell.split())


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
    return ", ".join(f"`{axis}` {text} (was {tuning['present'][axis]})" for axis, text in tuning["proposed"].items()
                     if text != tuning["present"][axis])


def proposal(tuning):
    if not tuning:
        return ""
    if tuning["nothing"]:
        return tuning["nothing"]
    return changed(tuning) if tuning["proposed"] else "none is better"


# ------------------------------------------------------------------------------------------------------------- tables


def settings_table(data):
    """The slowest delivery of each setting, before and after."""
    rows = []
    for case in CASES:
        cells = [f"{milliseconds(data.values(case, 'pfc', 'neither', 'present'))}; "
                 f"{on_time(data.of(case, 'pfc', 'neither', 'present'))}"]
        for group in GROUPS:
            before = data.of(case, group, "pair", "present")
            after = data.of(case, group, "pair", "proposed") or before
            cells += [f"{milliseconds(data.values(case, group, 'pair', 'present'))} → "
                      f"{milliseconds(data.best(case, group))}; {on_time(before)} → {on_time(after)}"] if before else [
                          ""]
        rows.append([case, *cells])
    return studies.table(["", "neither", *(group.title for group in GROUPS.values())], rows)


def first_table(data):
    """Of each tuning what brings most alone, and what all changes bring together."""
    def cell(case, group):
        tuning, axis = data.tuning(case, group), data.first_axis(case, group)
        if axis is None:
            return "nothing" if tuning else ""
        text = f"`{axis}={tuning['proposed'][axis]}`: {gain(data.alone(case, group, axis), False)}"
        if len(data.changed_axes(case, group)) == 1:
            return text
        return f"{text}; with the others {gain(data.found(case, group, 'together')[''], False)}"

    rows = [[case, CASES[case].title, *(cell(case, group) for group in GROUPS)] for case in CASES]
    return studies.table(["case", "", *(group.title for group in GROUPS.values())], rows)


def proposals_table(data):
    rows = []
    for case, group in cases.pairs():
        tuning = data.tuning(case, group)
        if tuning:
            rows.append([case, GROUPS[group].title, proposal(tuning), gain(data.found(case, group, "together").get("")),
                         tuning["tried"] and f"{tuning['within']} of {tuning['tried']}", tuning["runs"]])
    return studies.table(["", "", "proposed", "slowest delivery shorter by", "within 2 % of the best", "runs"], rows)


def alone_table(data):
    rows = []
    for case, group in cases.pairs():
        tuning, back = data.tuning(case, group), data.found(case, group, "back")
        for axis in data.changed_axes(case, group):
            rows.append([case, GROUPS[group].title, f"`{axis}={tuning['proposed'][axis]}`",
                         gain(data.alone(case, group, axis)) or why_not(data.of(case, group, "alone", axis)),
                         gain(back.get(axis), False)])
    return studies.table(["", "", "axis", "alone, from the present setting",
                          "back to its present value, from the proposed setting"], rows)


def loads_table(data):
    rows, heads = [], {}
    for case, group in cases.pairs():
        loads = data.found(case, group, "load")
        heads |= dict.fromkeys(loads)
        if loads:
            rows.append([case, GROUPS[group].title, loads, gain(data.change(case, group, "longer"))])
    return studies.table(["", "", *heads, f"interval {cases.LONGER} times as long"],
                         [[case, title, *(gain(loads.get(head)) for head in heads), longer]
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
    return studies.table(["", "ECN, present", "both, present",
                          *(f"{GROUPS[group].title}, tuned" for group in ("ecn", "both", "hosts"))], rows)


def store_answer(out, case, group, tuning, printed):
    """Puts what weir-sweep tune printed into answers.md, in the order of the cases."""
    head = f"{case}, {GROUPS[group].title}"
    text = "\n".join(printed).strip()
    _, *old = (out / ANSWERS).read_text().rstrip().split("\n\n## ") if (out / ANSWERS).exists() else [""]
    parts = {part.partition("\n")[0]: part for part in old}
    parts[head] = (f"{head}\n\n`weir-sweep tune results/best-settings/{FILES}/{cases.name(case, group)}.toml`, weir "
                   f"{tuning['weir']}, {tuning['cpu_s']:.0f} s of processor time\n\n```text\n{text}\n```")
    ordered = [parts[head] for head in (f"{case}, {GROUPS[group].title}" for case, group in cases.pairs())
               if head in parts]
    (out / ANSWERS).write_text("\n\n## ".join(["# What weir-sweep tune printed\n\n<!-- Made by bench/study "
                                               "best-settings. -->", *ordered]) + "\n")


def page(out):
    data = Data(out)
    checked = studies.rows_of(expected.EXPECTED, data)
    outcomes = [row[-1] for row in checked]
    parts = {"first": first_table(data), "settings": settings_table(data), "proposals": proposals_table(data),
             "alone": alone_table(data), "loads": loads_table(data), "flows": flows_table(data),
             "expected": studies.table(["expected before the runs", "figure", "band", "found", ""], checked),
             "count": f"{outcomes.count('PASS')} of {len(outcomes)} PASS",
             "runs": sum(int(line["runs"] or 0) for line in data.tunings) + len(data.lines),
             "minutes": f"{sum(float(line['cpu_s']) for line in data.tunings) / 60:.0f}"}
    made = studies.about(out, "best-settings", parts,
                         "Made by `bench/study best-settings tune` and `runs`; `table` makes the page. "
                         + studies.made_with([line for line in (*data.lines, *data.tunings) if line["weir"]]))
    return {**made, **{f"{FILES}/{cases.name(*pair)}.toml": cases.toml(*pair) for pair in cases.pairs()}}
