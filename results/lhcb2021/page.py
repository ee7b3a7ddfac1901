"""The page of results/lhcb2021 out of its files: runs.csv (20 seeds of the scenarios), search.csv and most.csv (the
search), packets.csv (packet by packet). No simulation and no picture is needed for it."""

import itertools
import json
import math
import statistics

import model
import store as stores
import studies

# How each observation stands to the choices: given (follows from the input), fitted, or predicted (no choice was made
# for it).
STANDING = {
    "1-on-time": "predicted", "1-producers": "given", "1-mean": "given", "1-lowest": "fitted", "1-highest": "fitted",
    "2-on-time": "predicted", "2-lowest": "fitted", "2-highest": "predicted", "2-blocked": "fitted",
    "3-on-time": "fitted", "3-producers": "given", "3-most": "fitted", "3-mean": "given",
    "4-on-time": "predicted", "4-mean": "given", "4-blocked": "predicted",
    "5-onset": "fitted", "5-blocked": "predicted", "5-for-good": "predicted", "5-highest": "fitted",
}
LAB = studies.RESULTS / "lhcb2021-lab/observations.csv"
READING, PROBE = "samples", "events"  # the closest, see the page
MOST_KEY = ("128MiB", "sets", "", "1", "2", "balanced")
SETTING_NAMES = {"fluid": "fluid model", "pfc": "PFC", "ecn": "ECN", "pfc+ecn": "PFC and ECN", "neither": "neither"}


def form(value, digits=1):
    return "" if value in ("", None) else f"{float(value):.{digits}f}"


def spread(values, digits=1):
    """"12.3" if all are the same, else "median (lowest..highest)"."""
    texts = [f"{value:.{digits}f}" for value in (statistics.median(values), min(values), max(values))]
    return texts[0] if texts[1] == texts[2] else f"{texts[0]} ({texts[1]}..{texts[2]})"


def observed(lines, name, most):
    """What the runs of a row have for an observation: values, and as text."""
    values = [model.deviations({**line, "event": "128MiB"}, READING, PROBE, most)[name][0] for line in lines]
    if name.endswith("on-time"):
        late = [int(line["late_sets"]) for line in lines]
        return values, ("yes" + (f", {len(lines)} of {len(lines)}" if len(lines) > 1 else "") if not any(late) else
                        f"{late.count(0)} of {len(late)} runs; late {spread(late, 0)} of {lines[0]['sets']} sets, by "
                        f"{1000 * max(float(line['worst_late_s'] or 0) for line in lines):.0f} ms at most")
    known = [value for value in values if value is not None]
    digits = 0 if name.endswith(("blocked", "onset", "for-good")) else 1
    text = spread(known, digits) if known else "never"
    return values, text + (f"; {len(values) - len(known)} of {len(values)} never" if known and len(known) < len(values)
                           else "")


def deviation(name, paper, values):
    known = [value for value in values if value is not None]
    if paper == "yes":
        return "PASS" if not any(values) else "MISS"
    if not known:
        return "MISS"
    middle = statistics.median(known)
    return f"{100 * (middle - paper) / paper:+.1f} %" if paper else f"{middle - paper:+.1f}"


def paper_table(out):
    runs = studies.stored(out / "runs.csv")
    most = float(stores.most(out)[MOST_KEY])
    lines = []
    for name, (row, what, paper, _) in model.OBSERVATIONS.items():
        mine = [line for line in runs if line["row"] == str(row)]
        values, text = observed(mine, name, most)
        columns = {"given": ["", "", text], "predicted": [text, "", ""], "fitted": ["", text, ""]}[STANDING[name]]
        lines.append([str(row), what, paper if paper == "yes" else f"{paper:g}", *columns,
                      deviation(name, paper, values), lab_cell(name)])
    return studies.table(["row", "observation", "paper", "predicted", "fitted", "follows from the input", "deviation",
                          "lab"], lines)


def lab_cell(name):
    """The lab's value, of results/lhcb2021-lab: of the runs that are ten times slower."""
    row, quantity = name.split("-", 1)
    line = next((line for line in studies.stored(LAB) if line["row"] == row and line["world"] == "lab"
                 and line["time_scale"] == "10"), None)
    if line is None:
        return "not run"
    if quantity in ("most", "for-good"):  # of many runs; of the time after second 200
        return "-"
    value = model.deviations({**line, "event": "128MiB"}, READING, PROBE)[name][0]
    if quantity == "on-time":
        return "yes" if value == 0 else f"{100 * value:.3g} % late"
    return "not in 30 s" if value is None else f"{value:.{0 if quantity in ('blocked', 'onset') else 1}f}"


def closest(store, rows, blocked, probe, *, seconds=None, names=None, keep=lambda lines: True):
    ranked = [entry for entry in stores.ranking(store, blocked, probe, rows, names, seconds) if keep(entry[2])]
    return ranked


def cells(rows, far, counts, found):
    worst = sorted(counts.items(), key=lambda item: -item[1][1])[:2]
    return [" and ".join(map(str, rows)), found[0]["event"], found[0]["generation"], found[0]["phase"] or "same"
            if found[0]["generation"] == "sets" else "", found[0]["slots"], found[0]["streams"], found[1]["quantum_ms"]
            or found[-1]["quantum_ms"], found[-1]["load"], f"{far:.2f}",
            "; ".join(f"{name} {'none' if value is None else format(value, '.3g')}" for name, (value, count) in worst
                      if count >= 0.5) or "none"]


CANDIDATE = ["rows", "events in a set", "generation", "phases", "slots", "streams", "quantum, ms", "load (of row 5)",
             "distance", "observations that count most"]


def grid_table(store):
    """The closest of the coarse grid and of what was refined from it, for each event size and generation; all producers
    in phase."""
    lines = []
    for rows in stores.LAYOUTS:
        best = {}
        for entry in closest(store, rows, READING, PROBE, keep=lambda found: not found[0]["phase"]):
            best.setdefault((entry[2][0]["event"], entry[2][0]["generation"]), entry)
        lines += [cells(rows, *entry) for entry in sorted(best.values(), key=lambda entry: entry[0])[:6]]
    return studies.table(CANDIDATE, lines)


def late_text(store):
    """In how many of the choices with 4 to 32 events in a set, all producers in phase, rows 3 and 4 have late sets."""
    parts = []
    for row in ("3", "4"):
        lines = [line for line in store.lines.values() if (line["row"], line["generation"],
                                                           line["phase"]) == (row, "sets", "")
                 and line["event"] != "128MiB"]
        parts.append(
            f"row {row} has late sets with {sum(line['on_time'] != '1' for line in lines)} of {len(lines)} choices")
    return " and ".join(parts)


def phases_table(store):
    """The closest of sets at the same instant, spread and at random phases: of events of 128 MiB, and of the others."""
    lines = []
    for rows in stores.LAYOUTS:
        for phase, of_128mib in itertools.product(("", "spread", "random"), (True, False)):
            ranked = closest(store, rows, READING, PROBE, keep=lambda found: found[0]["generation"] == "sets"
                             and found[0]["phase"] == phase
                             and (found[0]["event"] == "128MiB") == of_128mib)
            if ranked:
                lines.append(cells(rows, *ranked[0]))
    return studies.table(CANDIDATE, lines)


def quanta_table(store):
    """What each length of busy times gives with the load that is closest, all else as chosen."""
    of_row = {"2": "8", "4": "2", "5": "2"}
    best = {}
    for line in store.lines.values():
        if (line["event"], line["generation"], line["phase"], line["slots"],
            line["seed"]) != ("128MiB", "sets", "", "1", "1") \
                or of_row.get(line["row"]) != line["streams"]:
            continue
        counts = {name: found for name, found in model.deviations(line, READING, PROBE).items()
                  if STANDING[name] != "given"}
        far = model.distance([count for _, count in counts.values()])
        key = (line["quantum_ms"], line["row"])
        if key not in best or (far, line["seconds"], line["load"]) < best[key][:3]:
            best[key] = (far, line["seconds"], line["load"], counts)
    def text(name, value):
        if name == "on-time":
            return f"{100 * value:.0f} % late" if value >= 0.005 else f"{100 * value:.1f} % late"
        return f"{name} {'never' if value is None else format(value, '.3g')}"
    lines = []
    for quantum in sorted({quantum for quantum, _ in best}, key=lambda quantum: 1200 if quantum == "paper"
                          else float(quantum)):
        line = ["printed: 1200, row 4 900" if quantum == "paper" else quantum]
        for row in of_row:
            found = best.get((quantum, row))
            line += [f"{found[0]:.2f}",
                     ", ".join(text(name[2:], value) for name, (value, _) in found[3].items())] if found else ["", ""]
        lines.append(line)
    return studies.table(["busy for, ms", *(head for row in of_row for head in (f"row {row}: distance", "with"))],
                         lines)


def readings_table(store):
    lines = []
    for blocked, probe in itertools.product(model.BLOCKED_READINGS, model.PROBES):
        both = [closest(store, rows, blocked, probe, seconds=300)[0] for rows in stores.LAYOUTS]
        counts = [count for entry in both for _, count in entry[1].values()]
        lines.append([{"instants": "most at 20 instants of a second", "samples": "one instant in a second",
                       "means": "mean of a second"}[blocked],
                      {"bytes": "bytes that arrived", "events": "whole events"}[probe],
                      *(f"{entry[0]:.2f}" for entry in both), f"{model.distance(counts):.2f}"])
    return studies.table(["blocked counts", "a probe counts", "rows 1 and 2", "rows 3 to 5", "all"], lines)


def values_text(counts, rows):
    return ", ".join(f"{name} {'never' if value is None else format(value, '.3g')}"
                     for name, (value, _) in counts.items()
                     if int(name[0]) in rows and STANDING[name] != "given")


def in_phase_of_128mib(found):
    return (found[0]["generation"], found[0]["phase"], found[0]["event"]) == ("sets", "", "128MiB")


def fits_table(store):
    """Fit on rows 1, 2, 5 and predict 3, 4; and the other way round."""
    lines = []
    for fitted, predicted in (((5,), (3, 4)), ((3, 4), (5,))):
        names = [name for name, (row, *_) in model.OBSERVATIONS.items() if row in fitted]
        far, counts, found = closest(
                store, (3, 4, 5), READING, PROBE, seconds=300, names=names, keep=in_phase_of_128mib)[0]
        rest = model.distance([count for name, (_, count) in counts.items() if name not in names])
        lines.append(["rows 1, 2 and 5" if fitted == (5,) else "rows 3 and 4",
                      f"streams {found[0]['streams']}, quantum {found[-1]['quantum_ms']} ms, load {found[-1]['load']}",
                      f"{far:.2f}", values_text(counts, fitted), f"{rest:.2f}", values_text(counts, predicted)])
    return studies.table(["fitted on", "closest choices of rows 3 to 5", "distance", "fitted",
                          "distance of what is predicted", "predicted"], lines)


def streams_table(store, out):
    lines = []
    for streams in ("1", "2", "3", "4"):
        cells = [streams]
        most = stores.most(out).get((*MOST_KEY[:4], streams, "balanced"))
        cells.append(form(most) if most else "")
        for row in ("3", "4", "5"):
            found = [line
                     for line in store.lines.values()
                     if (line["row"], line["event"], line["generation"], line["phase"], line["slots"], line["streams"],
                         line["seconds"], line["seed"]) == (row, "128MiB", "sets", "", "1", streams, "300", "1")
                     and (row == "3" or line["quantum_ms"] == "20") and line["load"] in ("", "0.129375", "0.1725")]
            one = found[0] if found else None
            cells.append("" if one is None else f"{100 * float(one['late_share']):.1f} %" if row != "5"
                         else one["onset"] or "never")
        lines.append(cells)
    return studies.table(["streams", "most for row 3, Gb/s", "row 3: late sets", "row 4: late sets",
                          "row 5: above from second"], lines)


def column(by_seed, name):
    return [float(line[name]) for line in by_seed.values() if line[name] != ""]


def busy_table(store):
    """Candidates for rows 3 to 5 that are nearly as close as the chosen one, by seeds; the distance is that of rows 3
    to 5."""
    lines = []
    for streams, quantum in (("2", "20"), ("1", "20"), ("2", "paper")):
        same = [line
                for line in store.lines.values()
                if tuple(line[name] for name in ("event", "generation", "phase", "slots", "streams", "seconds")) == (
                        "128MiB", "sets", "", "1", streams, "300")
                and line["quantum_ms"] in ("", quantum) and line["load"] in ("", "0.129375", "0.1725")]
        row_3 = next(line for line in same if line["row"] == "3")
        by_row = {row: {line["seed"]: line for line in same if line["row"] == row} for row in ("4", "5")}
        most = stores.most(store.path.parent)[(*MOST_KEY[:4], streams, "balanced")]
        far = [model.distance([count for line in (row_3, by_row["4"][seed], by_row["5"][seed])
                               for _, count in model.deviations(line, READING, PROBE, float(most)).values()])
               for seed in by_row["4"]]
        onset = column(by_row["5"], "onset")
        lines.append([streams, "20 ms" if quantum == "20" else "1.2 s, row 4: 0.9 s", str(len(far)), spread(far, 2),
                      form(most), spread([100 * value for value in column(by_row["4"], "late_share")]) + " %",
                      spread(column(by_row["4"], "blocked_samples"), 0),
                      (spread(onset, 0) if onset else "")
                      + f"; {len(by_row['5']) - len(onset)} of {len(by_row['5'])} never",
                      spread(column(by_row["5"], "blocked_samples"), 0), spread(column(by_row["5"], "events_high")),
                      spread(column(by_row["5"], "events_low"))])
    return studies.table(["streams", "busy for", "seeds", "distance", "most for row 3, Gb/s (74)", "row 4: late sets",
                          "blocked (6)",
                             "row 5: above from second (200)", "blocked (4)", "highest, Gb/s (95)", "lowest, Gb/s"],
                         lines)


def packets_table(out, part):
    lines = [line for line in studies.stored(out / "packets.csv") if line["part"] == part]
    head = {
        "rate": ["events in a set", "Gb/s per producer", "model", "every set on time", "least slack, ms",
                 "late by, ms"],
        "settings": ["row", "flow control", "switch", "late sets", "least slack, ms", "late by, ms", "worst occupancy",
                     "consumers, Gb/s", "dropped packets",
                     "sent again", "marked", "pauses"],
        "tops": ["row", "model", "a consumer's second, lowest", "highest, Gb/s", "least slack, ms", "blocked, most"],
        "overload": ["row", "model", "consumers, mean Gb/s", "a consumer's second, lowest", "highest, Gb/s",
                     "blocked, mean", "most in an instant"],
    }[part]
    if part == "settings":
        lines.sort(key=lambda line: (line["row"], line["switch"] == "dcqcn-tuned"))
    rows = []
    for line in lines:
        name = SETTING_NAMES[line["setting"]]
        late_ms = form(1000 * float(line["worst_late_s"] or 0), 1) if line["worst_late_s"] else ""
        slack = form(1000 * float(line["least_slack_s"]), 1) if line["least_slack_s"] else ""
        rows.append({
            "rate": lambda: [line["events"], f"{int(line['events']) * model.MIB128 * 8e-9:.2f}",
                             "fluid" if line["setting"] == "fluid" else "packets, PFC",
                             "yes" if line["on_time"] == "1" else f"no, {100 * float(line['late_share']):.0f} % late",
                             slack if line["on_time"] == "1" else "", late_ms],
            "settings": lambda: [line["row"], name, line["switch"], f"{100 * float(line['late_share']):.0f} %",
                                 slack if line["on_time"] == "1" else "", late_ms, form(line["max_occupancy"], 2),
                                 form(line["mean"]), line["dropped_packets"], line["packets_sent_again"],
                                 "" if line["marked_share"] == "" else f"{100 * float(line['marked_share']):.1f} %",
                                 line["pauses_sent"]],
            "tops": lambda: [line["row"], "fluid" if line["setting"] == "fluid" else "packets, PFC",
                             form(line["events_low"]), form(line["events_high"]), slack,
                             line["blocked_samples"]],
            "overload": lambda: [line["row"], "fluid" if line["setting"] == "fluid" else "packets, PFC",
                                 form(line["mean"]), form(line["events_low"]), form(line["events_high"]),
                                 form(14 * float(line["blocked_share"]), 2),
                                 line["blocked_instants"]],
        }[part]())
    return studies.table(head, rows)


def digits():
    """Event sizes with which 85.8, 63.3, 20.4 and 11.8 Gb/s are whole events per second cut to these digits: intervals
    in Gb, from 0.3 to 25 Gb, largest first."""
    def whole(size, printed):
        return math.ceil(printed / size - 1e-12) * size < printed + 0.1
    found, step = [], 1e-5
    for index in range(int(0.3 / step), int(25 / step)):
        size = index * step
        if all(whole(size, printed) for printed in (20.4, 11.8, 63.3, 85.8)):
            if found and index - found[-1][1] == 1:
                found[-1][1] = index
            else:
                found.append([index, index])
    return [(first * step, last * step) for first, last in reversed(found)]


def digits_table():
    lines = []
    for what, row, printed in (("producers, rows 1 and 2", 1, "85.8"), ("producers, row 3", 3, "74"),
                               ("producers, rows 4 and 5", 4, "63.3")):
        count = model.EVENTS_OF_128MIB[row]
        lines.append([what, printed, f"{count} events", f"{count * model.MIB128 * 8e-9:.3f}"])
    lines += [["consumers, row 1, lowest", "11.8", "11 events", f"{11 * model.MIB128 * 8e-9:.3f}"],
              ["consumers, rows 1 and 2, highest", "20.4", "19 events", f"{19 * model.MIB128 * 8e-9:.3f}"],
              ["consumers, row 3, mean", "95.2", "69 x 18 / 14 events", f"{69 * 18 / 14 * model.MIB128 * 8e-9:.3f}"],
              ["consumers, row 4, mean", "81.4", "59 x 18 / 14 events", f"{59 * 18 / 14 * model.MIB128 * 8e-9:.3f}"],
              ["consumers, row 1, mean", "16.8", "80 x 14 / 72 events", f"{80 * 14 / 72 * model.MIB128 * 8e-9:.3f}"]]
    return studies.table(["what", "printed, Gb/s", "of 128 MiB in a second", "are, Gb/s"], lines)


def page(out):
    store = stores.Store(out / "search.csv")
    sections = {"paper": paper_table(out), "grid": grid_table(store), "late": late_text(store),
                "phases": phases_table(store), "quanta": quanta_table(store), "readings": readings_table(store),
                "fits": fits_table(store),
                "streams": streams_table(store, out), "busy": busy_table(store), "digits": digits_table(),
                "farm": json.loads((out / "farm.json").read_text())["verdict"],
                **{part: packets_table(out, part) for part in ("rate", "settings", "tops", "overload")}}
    made = studies.versions([line for file in ("runs.csv", "search.csv", "packets.csv", "most.csv")
                             for line in studies.stored(out / file)])
    return studies.about(out, "lhcb2021", sections,
                         "Made by `bench/study lhcb2021 table` of runs.csv, search.csv, most.csv and packets.csv, "
                         f"made with weir {made}.")
