"""The page of bench/study switch-settings, made of runs.csv and of the texts beside it."""

import studies
from studies import table, text

TITLES = {"1": "row 1: 14 x 100G to 72 x 25G", "3": "row 3: 18 x 100G to 14 x 100G",
          "4": "row 4: the same, busy consumers"}
ORDER = ("none", "pfc", "ecn", "pfc+ecn")
DECAYING = "results/switch-settings/dcqcn-decaying.toml"
SWITCHES = ("shallow", DECAYING, "results/switch-settings/dcqcn-hpcc-rules.toml", "dcqcn-tuned",
            "results/switch-settings/dcqcn-hpcc.toml", "results/switch-settings/window.toml",
            "results/switch-settings/dcqcn-fast.toml", "results/switch-settings/deaf-nics.toml", "deep")
HEAD = ["sets late", "latest, ms", "occupancy", "carried, Gb/s per producer", "slowest producer", "slowest consumer",
        "mean consumer",
        "inputs paused, mean (worst)", "marked", "sent again", "dropped packets", "ACK time-outs", "longest queue, MB",
        "run"]


def ladder_of(stored, row, setting, switch):
    """(percent of the row's rate, run), in order; seeds and full intervals left out."""
    runs = [line for line in stored if line["part"] in ("fluid", "ladder", "refine")
            and (line["row"], line["setting"], line["switch"]) == (str(row), setting, switch)]
    return sorted(((float(line["percent"]), line) for line in runs), key=lambda pair: pair[0])


def bracket(stored, row, setting, switch):
    """Percent of the row's rate: the highest up to which all sets are on time, and the lowest with a late one; None
    without one."""
    runs = ladder_of(stored, row, setting, switch)
    high = min((percent for percent, line in runs if line["on_time"] != "1"), default=None)
    low = max((percent for percent, line in runs if line["on_time"] == "1" and (high is None or percent < high)),
              default=None)
    return low, high


def name_of(switch):
    return switch.rpartition("/")[2].removesuffix(".toml") or "no limits (fluid)"


def numbered(stored):
    return [{**line, "run": str(number)} for number, line in enumerate(stored, 1)]


def place(line):
    """Place of a run in tables: by switch, then by setting."""
    return SWITCHES.index(line["switch"]) if line["switch"] else -1, ORDER.index(line["setting"]) if line[
        "switch"] else 0


def percent_text(value):
    return "0" if float(value) == 0 else f"{float(value) * 100:.2g} %"


def cells(line):
    """What a run shows, in the order of HEAD."""
    if line["status"] != "complete":
        return [line["status"], *[""] * (len(HEAD) - 2), line["run"]]
    latest = f"{float(line['worst_late_s']) * 1000:.0f}" if line["worst_late_s"] else ""
    counters = [""] * 6
    if line["paused_share"]:
        counters = [f"{percent_text(line['paused_share'])} ({percent_text(line['paused_share_worst'])})"
                    if float(line["paused_share"])
                    else "0", percent_text(line["marked_share"]), percent_text(line["sent_again_share"]),
                    line["dropped_packets"], line["timeouts"], f"{float(line['peak_queue_bytes']) / 1e6:.1f}"]
    rates = [f"{float(line[name]):.1f}"
             for name in ("producer_mean_gbps", "producer_min_gbps", "consumer_min_gbps", "consumer_mean_gbps")]
    return [f"{line['late_sets']} of {line['sets']}", latest, f"{float(line['max_occupancy']):.2f}", *rates, *counters,
            line["run"]]


def capacity_table(stored):
    """Highest rate with all sets on time, for each row, switch and setting."""
    lines = []
    for row, title in TITLES.items():
        for switch in ("", *SWITCHES):
            texts = []
            for setting in (ORDER if switch else ("fluid",)):
                low, high = bracket(stored, row, setting, switch)
                rates = {percent: line["rate_gbps"] for percent, line in ladder_of(stored, row, setting, switch)}
                if low is None:
                    texts.append(f"below {rates[high]}" if high else "")
                else:
                    texts.append(f"{rates[low]}, not {rates[high]}" if high else f"{rates[low]} or more")
            if any(texts):
                lines.append([title, name_of(switch), *texts, *[""] * (4 - len(texts))])
    return table(["layout", "switch", "none", "PFC", "ECN", "PFC+ECN"], lines)


def settings_table(stored, row, percent):
    lines = []
    for switch in ("", *SWITCHES):
        for setting in (ORDER if switch else ("fluid",)):
            for at, line in ladder_of(stored, row, setting, switch):
                if at == percent:
                    lines.append([name_of(switch), setting, *cells(line)])
    return table(["switch", "setting", *HEAD], lines)


def factor_table(stored, row):
    lines = []
    base = [line for line in stored if line["part"] == "ladder" and line["row"] == row and line["switch"] == "shallow"
            and line["percent"] == ("85" if row == "3" else "100")]
    base.sort(key=place)
    mine = [line for line in stored if line["part"] == "factors" and line["row"] == row]
    for line in base + sorted(mine, key=lambda line: (line["factor"], line["value"], *place(line))):
        lines.append([f"--{line['factor']} {line['value']}" if line["factor"]
                      else f"as scenario, {line['rate_gbps']} Gb/s",
                      line["setting"], *cells(line)])
    return table(["what differs", "setting", *HEAD], lines)


def seeds_table(stored):
    """Late sets and what was carried with each seed."""
    lines = []
    points = sorted({(line["row"], line["percent"]) for line in stored if line["part"] == "seeds"})
    for row, percent in points:
        for setting, switch in ((setting, switch) for setting in ORDER for switch in ("shallow", DECAYING)):
            runs = sorted((line for line in stored if (line["row"], line["percent"], line["setting"], line["switch"]) ==
                           (row, percent, setting, switch) and line["part"] in ("ladder", "seeds")),
                          key=lambda line: int(line["seed"]))
            if len(runs) > 1:
                name = setting if switch == "shallow" else f"{setting}, {name_of(switch)}"
                lines.append([TITLES[row], runs[0]["rate_gbps"], name, *[", ".join(texts) for texts in zip(*(
                    (line["late_sets"], f"{float(line['worst_late_s'] or 0) * 1000:.0f}",
                     f"{float(line['max_occupancy']):.2f}",
                     f"{float(line['producer_mean_gbps']):.1f}", line["run"]) for line in runs))]])
    return table(["layout", "Gb/s", "setting", "late sets, seeds 1, 2, 3", "latest, ms", "occupancy",
                  "carried, Gb/s per producer", "runs"], lines)


def unscaled_table(stored):
    lines = []
    for line in sorted(stored, key=lambda line: (-float(line["percent"]), *place(line))):
        if line["part"] == "unscaled":
            twin = next((other for other in stored if other["part"] in ("fluid", "ladder") and
                         all(other[name] == line[name] for name in ("row", "setting", "switch", "percent"))), None)
            for one in filter(None, (line, twin)):
                lines.append([one["rate_gbps"], one["setting"], name_of(one["switch"]), f"{one['interval_ms']} ms",
                              *cells(one)])
    return table(["Gb/s", "setting", "switch", "interval", *HEAD], lines)


def capital(title):
    return title[0].upper() + title[1:]


def page(out):
    """README.md and commands.md."""
    stored = numbered(studies.stored(out / "runs.csv"))
    parts = ["# Switch settings for the layouts of LHCb 2021", "Made by `bench/study switch-settings measure` with "
             + ", ".join(sorted({f"weir {line['weir']}" for line in stored if line["weir"]}))
             + "; edit `answer.md`, `expected.md` and `about.md`, not this file.",
             text(out, "answer.md"), text(out, "expected.md"),
             "## Capacity\n\nGb/s per producer: the highest rate tried at which every set was gone before the next one "
             "was generated, and the next rate tried.", capacity_table(stored),
             "![Late sets and what was carried, by rate](ladder.png)",
             "## Setting by setting\n\nColumns: sets late and by how much the latest; worst occupancy of a buffer of "
             "two sets; payload rates from the first measured set until all was delivered (below the generated rate if "
             "sets stayed behind); share of the time for which the switch paused producers; packets marked, of those "
             "to consumers; packets sent again, of those needed. `run`: line of [runs.csv](runs.csv), its command is "
             "in [commands.md](commands.md)."]
    for row, percent in (("3", 85), ("3", 100), ("4", 85), ("4", 100), ("1", 100)):
        rate = next((line["rate_gbps"] for at, line in ladder_of(stored, row, "fluid", "") if at == percent), "")
        parts += [f"### {capital(TITLES[row])}, {rate} Gb/s ({percent} %)", settings_table(stored, row, percent)]
    parts += ["![Slowest and fastest](shares.png)",
              "## One thing at a time\n\nSwitch `shallow`, 85 % of the row's rate.",
              factor_table(stored, "3"), factor_table(stored, "1"), "## Seeds", seeds_table(stored),
              "## Full interval beside scaled\n\nRow 3 at the row's rate and at 85 % of it; with the full interval one "
              "set of warm-up and two measured.", unscaled_table(stored), text(out, "about.md")]
    commands = ["# Commands of the runs\n\nMade by `bench/study switch-settings table`. Add `--out DIRECTORY` and look "
                "at it with `weir-report`.",
                *(f"Run {line['run']}:\n\n    {line['command']}" for line in stored)]
    return {"README.md": studies.joined(parts), "commands.md": studies.joined(commands)}


def draw(out, figures):
    stored = studies.stored(out / "runs.csv")
    rows = {}
    for row, title in TITLES.items():
        for setting, switch in (("fluid", ""), *((setting, "shallow") for setting in ORDER)):
            points = [(float(line["rate_gbps"]), int(line["late_sets"]) / int(line["sets"]),
                       float(line["producer_mean_gbps"]))
                      for _, line in ladder_of(stored, row, setting, switch) if line["status"] == "complete"]
            if points:
                rows.setdefault(title, {})[setting] = points
    figures.ladders(rows, out / "ladder.png")
    names = [f"{role}_{what}_gbps" for role in ("producer", "consumer") for what in ("min", "mean", "max")]
    figures.bars({setting: [float(line[name]) for name in names] for setting in ORDER
                  for at, line in ladder_of(stored, "3", setting, "shallow") if at == 85}, out / "shares.png")
