"""The page of bench/study bmwg, made of figures.csv, sections.csv, times.csv and about.md."""

import cases
import expected
import studies

# (section, what, figure, setting, scale, form)
BY_CONTROL = (
    ("5.1", "rate of a pair, 1 MiB, Q = 1, one way, Gb/s", "rate of a pair", "1MiB 1 one", 1e9, "{:.1f}"),
    ("5.1", "the same, Q = 4", "rate of a pair", "1MiB 4 one", 1e9, "{:.1f}"),
    ("5.1", "the same, both ways", "rate of a pair", "1MiB 4 both", 1e9, "{:.1f}"),
    ("5.2", "P99 of 64 KiB, loaded, us", "P99", "64KiB loaded", 1e-6, "{:.0f}"),
    ("8.1", "JFI, Q = 4", "JFI, mean of leaves", "4 4 with", 1, "{:.3f}"),
    ("8.3", "spraying against ECMP, 1 MiB kept, %", "against ECMP", "spray, 1MiB kept", 0.01, "{:.0f}"),
    ("8.3", "the same, nothing kept, %", "against ECMP", "spray, 0B kept", 0.01, "{:.0f}"),
    ("9.1", "AllReduce, N = 16, 8 MiB, ECMP: P50 over 8 S f / B", "JCT P50", "16 8MiB ecmp", "8 S f / B", "{:.2f}"),
    ("9.1", "the same, spraying", "JCT P50", "16 8MiB spray", "8 S f / B", "{:.2f}"),
    ("9.2", "AllToAll, N = 16, 8 MiB, ECMP", "JCT P50", "16 8MiB ecmp", "8 S f / B", "{:.2f}"),
    ("9.2", "the same, spraying", "JCT P50", "16 8MiB spray", "8 S f / B", "{:.2f}"),
    ("10.1", "JCT ratio, N = 16, 8 MiB, C = 10 ms", "JCT ratio", "16 8MiB 10ms", 1, "{:.3f}"),
    ("10.3", "interference, half of the leaves shared, ECMP", "interference factor", "ecmp 0.5", 1, "{:.2f}"),
    ("10.3", "the same, spraying", "interference factor", "spray 0.5", 1, "{:.2f}"),
    ("11.2", "an uplink fails, ECMP: without delivery, ms", "without delivery", "ecmp uplink 1ms", 1e-3, "{:.2f}"),
    ("11.2", "the same, spraying", "without delivery", "spray uplink 1ms", 1e-3, "{:.2f}"),
    ("12.1", "AllToAll, JCT ratio", "JCT ratio, mean", "run 1 all-to-all", 1, "{:.3f}"),
    ("RFC 8239", "pairs at line rate, frames of 1518 B, % received", "received", "1518 pairs", 0.01, "{:.1f}"),
    ("RFC 8239", "mesh at line rate, frames of 1518 B, % received", "received", "1518 mesh", 0.01, "{:.1f}"),
    ("RFC 8239", "packets dropped meanwhile", "dropped", "1518 mesh", 1, "{:.0f}"),
    ("inference", "KV caches beside experts, over line rate", "transfer time, mean", "4 128 beside experts",
     "at line rate", "{:.2f}"),
)
BY_SWITCH = (
    ("5.3", "longest burst without loss, 2:1, MB of each sender", "burst of each sender", "2:1", 1e6, "{:.2f}"),
    ("5.3", "the same, 8:1", "burst of each sender", "8:1", 1e6, "{:.2f}"),
    ("7.1", "marks begin at 1 MB: deviation, %", "deviation from T", "1MB", 0.01, "{:.2f}"),
    ("7.2", "incast 8:1, pauses per second", "pauses", "8:1", 1, "{:.0f}"),
    ("7.2", "the same, throughput, Gb/s", "throughput", "8:1", 1e9, "{:.1f}"),
    ("7.3", "DCQCN, 4 flows and 4 more: ms until both halves are fair", "until both halves are fair, mean",
     "4 as the switch file has it", 1e-3, "{:.0f}"),
    ("7.4", "sets on time, traffic in a circle, %", "sets on time", "traffic in a circle", 0.01, "{:.0f}"),
    ("7.4", "the same, a NIC that pauses for half of the time, %", "sets on time", "storm", 0.01, "{:.0f}"),
    ("7.4", "the same with watchdogs, %", "sets on time", "storm, watchdog", 0.01, "{:.0f}"),
    ("RFC 8239", "time of a flow beside a crowd / alone, PFC off", "/ alone", "PFC off", 1, "{:.2f}"),
    ("RFC 8239", "the same, PFC on", "/ alone", "PFC on", 1, "{:.2f}"),
    ("RFC 8239", "the same, PFC and ECN", "/ alone", "PFC and ECN", 1, "{:.2f}"),
)
# Cells that the text quotes: <!-- NAME-SWITCH-CONTROL -->, and <!-- NAME-SWITCH --> of the others.
QUOTED = {"rate": BY_CONTROL[0], "rate4": BY_CONTROL[1], "ring": BY_CONTROL[7], "sprayed": BY_CONTROL[8],
          "soak": BY_CONTROL[16], "mesh": BY_CONTROL[18],
          "cut": BY_CONTROL[14], "caches": BY_CONTROL[20], "p99": BY_CONTROL[3], "shared": BY_CONTROL[12],
          "unkept": ("8.3", "", "rate while sending", "spray, 0B kept", 1e9, "{:.1f}")}
QUOTED_OF_SWITCH = {"burst": BY_SWITCH[0], "pauses": BY_SWITCH[3], "incast": BY_SWITCH[4], "circle": BY_SWITCH[6],
                    "storm": BY_SWITCH[7], "blocked": BY_SWITCH[10], "both": BY_SWITCH[11]}
# Of two tests of other documents.
NUMBERS = {"RFC 8239": ("rfc8239-2", "rfc8239-5"), "inference": ("inference-kv",)}


def cell(lines, row, switch, control):
    section, _, figure, setting, scale, form = row
    found = [line for line in lines if (line["switch"], line["control"], line["setting"]) == (switch, control, setting)
             and line["section"] in NUMBERS.get(section, (section,))]
    values = {line["figure"]: float(line["value"]) for line in found if line["figure"] in (figure, scale)
              and line["value"] != ""}
    if figure not in values:
        return "-" if found else ""
    return form.format(values[figure] / (values[scale] if isinstance(scale, str) else scale))


def by_control(lines):
    columns = [(switch, control) for switch in cases.SWITCHES for control in cases.CONTROLS]
    return studies.table(["section", "figure", *(f"{switch}, {control}" for switch, control in columns)],
                         [[row[0], row[1], *(cell(lines, row, *column) for column in columns)] for row in BY_CONTROL])


def by_switch(lines):
    return studies.table(["section", "figure", *cases.SWITCHES],
                         [[row[0], row[1], *(cell(lines, row, switch, cases.OWN) for switch in cases.SWITCHES)]
                          for row in BY_SWITCH])


def quoted(lines):
    found = {f"{name}-{switch}-{control}": cell(lines, row, switch, control) for name, row in QUOTED.items()
             for switch in cases.SWITCHES
             for control in cases.CONTROLS}
    return found | {f"{name}-{switch}": cell(lines, row, switch, cases.OWN) for name, row in QUOTED_OF_SWITCH.items()
                    for switch in cases.SWITCHES}


def incomplete(sections):
    """Sentences: sections without a result, or with runs that were left out."""
    found = [f"{line['section']}, {line['switch']}, {line['control']}: {line['state']}, {line['why']}."
             for line in sections if line["state"] != "done"]
    return "Without a result: " + " ".join(found) if found else "All sections have a result, and all their runs count."


def times(lines):
    return studies.table(["switch", "sections", "runs", "s", "s of processor time", "load before"],
                         [[line["switch"], line["sections"], line["runs"],
                           *(studies.number(line, name, form) for name, form in (
                             ("wall_s", "{:.0f}"), ("cpu_s", "{:.0f}"), ("load_before", "{:.1f}")))] for line in lines])


def page(out):
    lines, sections, timed = (studies.stored(out / f"{name}.csv") for name in ("figures", "sections", "times"))
    found = studies.rows_of(expected.EXPECTED, lines)
    outcomes = [row[-1] for row in found]
    parts = {**quoted(lines), "by-control": by_control(lines), "by-switch": by_switch(lines), "times": times(timed),
             "incomplete": incomplete(sections),
             "expected": studies.table(["expected before the runs", "figure", "band", "found", ""], found),
             "count": f"{outcomes.count('PASS')} of {len(outcomes)} PASS",
             "runs": sum(int(line["tried"]) for line in sections)}
    return studies.about(out, "bmwg", parts,
                         f"Made by `bench/study bmwg run`; `table` makes the page. {studies.made_with(lines)}")
