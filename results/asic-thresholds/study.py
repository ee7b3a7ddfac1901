"""Packets that switches took until the first PAUSE, the first losses and the end of a pause, as sonic-mgmt has them,
beside what weir's table of chips (src/report/weir_suites/switches/asics.py) and packets.py make of the configurations
of sonic-buildimage.

predict: predictions.csv of rows.csv. simulate: simulated.csv, the same memories in weir's simulator, 15 s. sources
--mgmt DIR --buildimage DIR: holds each number of rows.csv against clones of github.com/sonic-net/sonic-mgmt and
sonic-buildimage. The table of chips was derived from Tomahawk (th) and Trident 2 (td2); predictions were committed
before the measured numbers of other chips were read.
"""

import dataclasses
import itertools
import math
import pathlib
import re
import shlex
import subprocess
import sys

import studies

sys.path.insert(0, str(studies.TOP / "src/report"))
import packets  # noqa: E402
from weir_suites.switches import asics  # noqa: E402

KEYS = ("asic", "topology", "speed_mbps", "cable_m", "ports")
QUANTITIES = {"pause": "first PAUSE", "ingress_drop": "first drop at ingress", "egress_drop": "first drop at egress",
              "resume": "to XON"}
DERIVED_FROM = ("th", "td2")
UNDOCUMENTED = ("th6",)  # no document says how many parts the memory has
NAMES = {"td2": "Trident 2", "td3": "Trident 3", "th": "Tomahawk", "th2": "Tomahawk 2", "th3": "Tomahawk 3",
         "th5": "Tomahawk 5", "th6": "Tomahawk 6", "jr2": "Jericho 2", "j2c+": "Jericho 2c+", "q3d": "Qumran 3D"}
MGMT_COMMIT = "b4ba9de3c9bb57c0628bc4cb98b3ecf3a3932a43"
MEMORY = ("shared_cells", "dynamic_th", "cell_bytes")
CONFIGURED = ("pool_bytes", "pool_xoff_bytes", "size_bytes", "xoff_bytes", "xon_offset_bytes", "dynamic_th",
              "egress_pool_bytes", "egress_size_bytes", "egress_dynamic_th")
# column: where sonic-mgmt has it
MEASURED = {"pause": ("xoff_1", "pkts_num_trig_pfc"), "ingress_drop": ("xoff_1", "pkts_num_trig_ingr_drp"),
            "egress_drop": ("lossy_queue_1", "pkts_num_trig_egr_drp"), "resume": ("xon_1", "pkts_num_dismiss_pfc")}


# --------------------------------------------------------------------------------------------------------- predictions


def reserved(text):
    """(bytes, ...) of `62x64064 8x41808`: so many priority groups with profiles of this size."""
    return tuple(int(size) for count, size in (part.split("x") for part in text.split()) for _ in range(int(count)))


def before_looking(asic, row):
    """The chip, and what is reserved, as they were when the predictions were committed."""
    if asic.name == "th6":
        asic = dataclasses.replace(asic, slices=2)
    return asic, reserved(row["reserved"]) if not row["pool_xoff_bytes"] else ()


def ingress(row, looked):
    """(chip, pool, profile of the lossless group), or None where the configuration or the chip is not known."""
    asic = asics.of_sku(row["hwsku"])
    if asic is None or not row["xoff_bytes"]:
        return None
    number = {name: int(row[name] or 0) for name in CONFIGURED}
    asic, held = (asic, reserved(row["reserved"])) if looked else before_looking(asic, row)
    return (asic, asics.Pool(number["pool_bytes"], number["pool_xoff_bytes"], held),
            packets.Profile(number["size_bytes"], number["dynamic_th"], xoff_bytes=number["xoff_bytes"],
                          xon_offset_bytes=number["xon_offset_bytes"]))


def predicted(row, looked=False):
    """A line of predictions.csv; empty cells where nothing is predicted. looked: by the table as it is now."""
    line = {name: row[name] for name in KEYS} | dict.fromkeys(QUANTITIES, "")
    if not (known := ingress(row, looked)):
        return line
    asic, pool, group = known
    number = {name: int(row[name] or 0) for name in CONFIGURED}
    # A pool that is as large at egress as at ingress has the headroom in it there too (Juniper: uniform buffers).
    same = number["egress_pool_bytes"] == number["pool_bytes"]
    egress = pool if same else asics.Pool(number["egress_pool_bytes"])
    queue = packets.Profile(number["egress_size_bytes"], number["egress_dynamic_th"])
    return line | {"pause": packets.packets_to_pause(asic, pool, group),
                   "ingress_drop": packets.packets_to_ingress_drop(asic, pool, group),
                   "egress_drop": packets.packets_to_egress_drop(asic, egress, queue),
                   "resume": packets.packets_to_resume(asic, group)}


def predict(options):
    lines = [predicted(row) for row in studies.stored(options.out / "rows.csv")]
    studies.write_lines(options.out / "predictions.csv", (*KEYS, *QUANTITIES), lines)
    return 0


# --------------------------------------------------------------------------------------------------------- simulations


def memory(row):
    """(cells that are shared, dynamic_th, bytes of a cell) of a row, as text, or None."""
    known = ingress(row, looked=True)
    return known and tuple(str(part) for part in (packets.shared_cells(known[0], known[1]), known[2].dynamic_th,
                                                  known[0].cell_bytes))


def words_of(shared, dynamic_th, cell_bytes):
    """A producer of 100 Gb/s sends to a consumer that takes next to nothing, through a switch with a memory of so many
    cells and no headroom; the packets are the smallest that weir sends, 338 B on the wire."""
    alpha = 2.0 ** int(dynamic_th)
    pool_bytes = int(shared) * int(cell_bytes)
    event_mb = int(1.5 * pool_bytes * alpha / (1 + alpha) / 1e6) + 1
    size, keys = f"{event_mb}MB", {"pool": f"{pool_bytes}B", "ingress-alpha": f"{alpha:g}", "headroom": "0B"}
    return ["--network", "packet", "--switch", "shallow", "--pfc", "on",
            *itertools.chain.from_iterable(("--switch-set", f"switch.{key}={value}") for key, value in keys.items()),
            "--producers", "1", "--consumers", "1", "--consumer-link", "1Mb/s", "--rate", f"{8 * event_mb * 10}Mb/s",
            "--event-size", size, "--chunk-size", size, "--slot-size", size, "--slots", "1", "--streams", "1",
            "--interval", "100ms", "--duration", "100ms", "--warmup", "0s", "--policy", "none",
            "--control-network", "separate", "--mtu", "256B"]


def simulate(options, most_cells):
    """simulated.csv: the memories of all rows that share no more cells than this."""
    lines = []
    for key in dict.fromkeys(memory(row) for row in studies.stored(options.stored / "rows.csv")):
        if key and int(key[0]) <= most_cells:
            words = words_of(*key)
            with studies.finished([options.weir, "simulate", *words]) as (run, _):
                lines.append(dict(zip(MEMORY, key, strict=True))
                             | {"pool_peak_bytes": run["switch"]["pool_peak_bytes"],
                                "weir": run["environment"]["weir_version"],
                                "command": shlex.join(["weir", "simulate", *words])})
    studies.write_lines(options.out / "simulated.csv", (*MEMORY, "pool_peak_bytes", "weir", "command"), lines)


def simulate_stored(options):
    options.stored = options.out
    simulate(options, math.inf)


def replay(options):
    simulate(options, most_cells=100_000)
    lines = [predicted(row) for row in studies.stored(options.stored / "rows.csv")]
    studies.write_lines(options.out / "predictions.csv", (*KEYS, *QUANTITIES), lines)


# -------------------------------------------------------------------------------------------------------------- sources


def git(directory, *words):
    return subprocess.run(["git", "-C", str(directory), *words], capture_output=True, text=True, check=True).stdout


def from_mgmt(values, row):
    """{column: number} of a row in a file of sonic-mgmt; values of a speed and cable beat those of the topology."""
    topology = values[row["asic"]][f"topo-{row['topology']}"]
    own = topology[f"{row['speed_mbps']}_{row['cable_m']}m"]
    own = own[row["ports"]] if row["ports"] else own
    return {column: str(next((part[case][key] for part in (own, topology) if key in part.get(case, {})), ""))
            for column, (case, key) in MEASURED.items()}


def faults_of(row, values, buildimage):
    for column, number in from_mgmt(values, row).items():
        if row[column] != number:
            yield f"{column} is {row[column]}, sonic-mgmt has {number}"
    files = [git(buildimage, "show", f"{commit}:{path}")
             for path, commit in (part.split("@") for part in row["config"].split())]
    for column in CONFIGURED:
        if row["config"] and row[column] and not any(re.search(rf"(?<![\w-]){row[column]}(?!\w)", text)
                                                     for text in files):
            yield f"{column} {row[column]} is in none of {row['config']}"


def sources(options):
    """Holds rows.csv against clones; exit status 1 if a number is not there."""
    if not options.mgmt or not options.buildimage:
        print("sources: --mgmt DIR and --buildimage DIR are needed: clones of github.com/sonic-net/sonic-mgmt and "
              "sonic-buildimage", file=sys.stderr)
        return 2
    import yaml  # no other command needs it
    found = []
    for asic, rows in itertools.groupby(studies.stored(options.out / "rows.csv"), key=lambda row: row["asic"]):
        file = f"tests/qos/files/qos_params.{asic.rstrip('+')}.yaml"
        values = yaml.safe_load(git(options.mgmt, "show", f"{MGMT_COMMIT}:{file}"))["qos_params"]
        found += [f"{' '.join(row[name] for name in KEYS)}: {fault}" for row in rows
                  for fault in faults_of(row, values, options.buildimage)]
    print("\n".join(found) or "PASS: every number of rows.csv is in the files that it names")
    return 1 if found else 0


# ----------------------------------------------------------------------------------------------------------------- page


def pairs(out):
    """[(row, prediction)], in the order of rows.csv."""
    lines = {tuple(line[name] for name in KEYS): line for line in studies.stored(out / "predictions.csv")}
    return [(row, lines[tuple(row[name] for name in KEYS)]) for row in studies.stored(out / "rows.csv")]


def deviation(row, line, quantity):
    """Packets by which the prediction is above the measured number; None without one of them."""
    return int(line[quantity]) - int(row[quantity]) if line[quantity] and row[quantity] else None


def within(found, quantity, share=0.0, packets=0):
    """How many of the pairs are as near."""
    near = 0
    for row, line in found:
        apart = deviation(row, line, quantity)
        near += apart is not None and abs(apart) <= max(share * int(row[quantity]), packets)
    return near


def share_line(what, found, goal=0.8):
    count = within(found, "pause", share=0.01)
    percent = f" ({100 * count / len(found):.0f} %)" if found else ""
    return [what, f"within 1 % in {100 * goal:.0f} %",
            f"{studies.verdict(found and count >= goal * len(found))}: {count} of {len(found)}{percent}"]


def goals(found):
    """The goals of the study with what came out."""
    rated = [pair for pair in found if pair[1]["pause"]]
    others = [pair for pair in rated if pair[0]["asic"] not in DERIVED_FROM]
    documented = [pair for pair in rated if pair[0]["asic"] not in UNDOCUMENTED]
    cell = within(documented, "pause", packets=1)
    lines = [share_line("PAUSE, all rows of Broadcom chips", found),
             share_line("PAUSE, rows with a prediction", rated),
             share_line("PAUSE, predicted before looking: without Tomahawk and Trident 2", others),
             ["PAUSE, parts of the memory documented", "within one cell",
              f"{studies.verdict(cell == len(documented))}: {cell} of {len(documented)}"]]
    return studies.table(["what", "goal", "outcome"], lines)


def after(found):
    """The pairs with predictions of the table as it is now."""
    return [(row, {name: str(value) for name, value in predicted(row, looked=True).items()}) for row, _ in found]


def by_asic(found):
    lines = []
    groups = [(NAMES[asic], list(rows)) for asic, rows in itertools.groupby(found, key=lambda pair: pair[0]["asic"])]
    for name, pairs_of in [*groups, ("all", found)]:
        have = [pair for pair in pairs_of if pair[1]["pause"]]
        lines.append([name, len(pairs_of), len(have), within(have, "pause", packets=1),
                      *(within(have, quantity, share=0.01) for quantity in QUANTITIES),
                      within(after(have), "pause", packets=1), within(after(have), "pause", share=0.01)])
    return studies.table(["chip", "rows", "predicted", "PAUSE within a cell", "PAUSE within 1 %",
                          "drop at ingress within 1 %", "drop at egress within 1 %", "XON within 1 %",
                          "*after looking:* PAUSE within a cell", "*after looking:* within 1 %"], lines)


def cell(row, line, quantity):
    """`predicted / measured (deviation)`."""
    apart = deviation(row, line, quantity)
    percent = "" if not apart else f", {100 * apart / int(row[quantity]):+.1f} %"
    return f"{line[quantity] or '-'} / {row[quantity] or '-'}" + ("" if apart is None else f" ({apart:+d}{percent})")


def by_simulation(row, simulated):
    """Cells of the pool when it was fullest in the simulator, and what the group has for itself."""
    if (key := memory(row)) not in simulated:
        return "-"
    return packets.reserved_cells(*ingress(row, looked=True)) + int(simulated[key]) // int(key[2])


def details(out, found):
    """Rows that differ in nothing but the topology share a line."""
    simulated = {tuple(line[name] for name in MEMORY): line["pool_peak_bytes"]
                 for line in studies.stored(out / "simulated.csv")}
    lines = {}
    for (row, line), (_, looked) in zip(found, after(found), strict=True):
        head = (NAMES[row["asic"]], f"{int(row['speed_mbps']) // 1000}G", f"{row['cable_m']} m", row["hwsku"])
        cells = (*(cell(row, line, quantity) for quantity in QUANTITIES), cell(row, looked, "pause"),
                 by_simulation(row, simulated))
        lines.setdefault((head, *cells), []).append(
            row["topology"] + (f" ({row['ports']})" if row["ports"] else ""))
    return studies.table(["chip", "speed", "cable", "board", "topology", *QUANTITIES.values(),
                          "*after looking:* first PAUSE", "*after looking:* simulated"],
                         [[*head, ", ".join(topologies), *cells] for (head, *cells), topologies in lines.items()])


def table_of_asics():
    return studies.table(["chip", "cell (B)", "parts", "`size` of a pool with `xoff`", "source"],
                         [[NAMES[asic.name], asic.cell_bytes, asic.slices,
                           "shared, headroom, reserved" if asic.size_holds_all else "shared", asic.source]
                          for asic in asics.ASICS.values()])


def page(out):
    found = pairs(out)
    return studies.about(out, "asic-thresholds",
                         {"goals": goals(found), "by-asic": by_asic(found), "details": details(out, found),
                          "asics": table_of_asics()}, "Made by `bench/study asic-thresholds simulate` with weir "
                         f"{studies.versions(studies.stored(out / 'simulated.csv'))}.")


def add_options(parser):
    parser.add_argument("--mgmt", type=pathlib.Path, help="sources: a clone of sonic-mgmt")
    parser.add_argument("--buildimage", type=pathlib.Path, help="sources: a clone of sonic-buildimage")


STUDY = studies.Study(page, runs={"simulate": simulate_stored}, others={"predict": predict, "sources": sources},
                      keys={"predictions.csv": KEYS, "simulated.csv": MEMORY}, replay=replay, options=add_options)
