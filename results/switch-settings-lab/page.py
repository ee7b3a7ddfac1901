"""The page of bench/study switch-settings-lab, made of what its campaigns left in results/switch-settings-lab and of
the texts beside it.

keep() writes there, for each campaign: NAME.csv (a line for each run), NAME-ports.csv (for each run and port),
NAME-answer.txt (what weir-compare prints), NAME-unshaped.json and
NAME-full-port.json.
"""

import json
import pathlib
import statistics

from lab_campaigns import answer
from studies import joined, stored, table, text, write_lines

SETTINGS = ("drop-tail-6kB", "drop-tail-15kB", "drop-tail-128kB", "ecn-1.5kB", "ecn-6kB", "ecn-24kB",
            "ecn-24kB-but-one", "clean", "lossy")
RUN_COLUMNS = ("point", "switch", "repetition", "rate_bits_per_second", "state", "started_at", "weir_version",
               "network", "cause", "sustained",
               "late_share", "longest_stay_s", "worst_occupancy", "goodput_bits_per_second",
               "slowest_consumer_mean_bits_per_second",
               "delivery_p99_s")
PORT_COLUMNS = ("point", "switch", "port", "sent_packets", "marked_packets", "dropped_packets")
PREDICTED = "predicted_"
# The directories of the runs are not stored, so that the answer cannot be printed anew.
BECAUSE = ("**What is known of the reason**: where this text has *because*, packets were counted as lost with the one "
           "setting and less often or not at all with the other; no run was made without the losses, so that they are "
           "not proved to be the cause. Today weir-compare says *where*, and *nothing to speak of* instead of "
           "*uncongested*.")
BUT_ONE = "-but-one"  # as the setting before it, except for one port
CAMPAIGNS = ("saturated", "soft-roce")


# --------------------------------------------------------------------------------------------------------- keeping


def keep(campaign, directory, results):
    """Writes what the page needs of a campaign's directory."""
    rows = [row for row in stored(directory / "table.csv") if row["world"] == "local" and row["state"] == "complete"]
    if not rows:
        return
    more = [name for name in rows[0] if name.startswith(PREDICTED) and name.removeprefix(PREDICTED) in RUN_COLUMNS]
    write_lines(results / f"{campaign}.csv", [name for name in RUN_COLUMNS if name in rows[0]] + more, rows)
    if ports := [line for row in rows for line in port_lines(row)]:
        write_lines(results / f"{campaign}-ports.csv", PORT_COLUMNS, ports)
    (results / f"{campaign}-answer.txt").write_text(answer([row["run_directory"] for row in rows]))
    for name in ("unshaped", "full-port"):
        record = directory.parent / f"{directory.name}-{name}/run.json"
        if record.exists():
            run = json.loads(record.read_text())
            (results / f"{campaign}-{name}.json").write_text(json.dumps(
                {key: run[key] for key in ("verdict", "totals", "ranks")}, indent=1) + "\n")


def replace_predictions(campaign, directory, results):
    """Puts what the campaign in `directory`, all simulated, has for each point into the predicted columns of the stored
    runs."""
    # The simulator has one setting for all ports, so of two settings that differ at one port it runs one.
    key = lambda row: (row["switch"].removesuffix(BUT_ONE), row["repetition"])  # noqa: E731
    simulated = {key(row): row for row in stored(directory / "table.csv") if row["state"] == "complete"}
    rows = stored(results / f"{campaign}.csv")
    for row in rows:
        one = simulated.get(key(row))
        if not one:
            raise SystemExit(f"switch-settings-lab: predict: no complete simulation of point {row['point']} in "
                             f"{directory}")
        for name in (name for name in row if name.startswith(PREDICTED)):
            row[name] = one[name.removeprefix(PREDICTED)]
        row[f"{PREDICTED}weir_version"] = one["weir_version"]
    write_lines(results / f"{campaign}.csv", list(rows[0]), rows)


def port_lines(row):
    """What each port counted during a run, warm-up included."""
    ports = {}
    for line in stored(pathlib.Path(row["run_directory"]) / "switch/read.csv"):
        if line["name"] in PORT_COLUMNS and line["value"] and line["when"] in ("before", "after"):
            sign = 1 if line["when"] == "after" else -1
            counters = ports.setdefault(line["port"], {})
            counters[line["name"]] = counters.get(line["name"], 0) + sign * int(line["value"])
    return [{"point": row["point"], "switch": row["switch"], "port": port, **values} for port, values in ports.items()]


# ---------------------------------------------------------------------------------------------------------- tables


def is_predicted(results, campaign):
    return any(name.startswith(PREDICTED) and value for row in stored(results / f"{campaign}.csv")
               for name, value in row.items())


def middle(rows, name):
    values = [float(row[name]) for row in rows if row.get(name)]
    return statistics.median(values) if values else None


def share(part, whole):
    return "-" if not whole else "0" if not part else f"{100 * part / whole:.2g} %"


def sustained_text(rows):
    known = [float(row["sustained"]) for row in rows if row.get("sustained")]
    return f"{sum(known):.0f} of {len(known)}" if known else "-"


def settings_table(results, campaign):
    """Medians of each setting at one rate, with the prediction in brackets."""
    rows, ports = stored(results / f"{campaign}.csv"), stored(results / f"{campaign}-ports.csv")

    def cell(of_setting, name, form):
        measured, predicted = middle(of_setting, name), middle(of_setting, PREDICTED + name)
        return "-" if measured is None else form(measured) + ("" if predicted is None else f" ({form(predicted)})")

    lines = []
    for setting in SETTINGS:
        found = [row for row in rows if row["switch"] == setting]
        if not found:
            continue
        counted = [port for port in ports if port["switch"] == setting]
        sent, marked, dropped = (sum(int(port[name] or 0) for port in counted) for name in PORT_COLUMNS[3:])
        lines.append([setting, str(len(found)), sustained_text(found),
                      cell(found, "late_share", lambda value: f"{100 * value:.0f} %"),
                      cell(found, "worst_occupancy", lambda value: f"{value:.2f}"),
                      cell(found, "goodput_bits_per_second", lambda value: f"{value / 1e6:.2f}"),
                      cell(found, "delivery_p99_s", lambda value: f"{value:.2f}"), share(marked, sent),
                      share(dropped, sent)])
    return table(["setting", "runs", "sustained", "late sets", "worst occupancy", "all consumers, Mb/s",
                  "delivery p99, s", "marked by ports", "dropped by ports"], lines)


def ports_table(results, campaign):
    """Marks and drops of each consumer's port, in shares of its packets, over all runs of a setting."""
    ports = stored(results / f"{campaign}-ports.csv")
    names = sorted({port["port"] for port in ports if port["port"].startswith("fn")})
    lines = []
    for setting in SETTINGS:
        cells = []
        for name in names:
            counted = [port for port in ports if port["switch"] == setting and port["port"] == name]
            sent, marked, dropped = (sum(int(port[column] or 0) for port in counted) for column in PORT_COLUMNS[3:])
            cells.append(f"{share(marked, sent)} marked" if marked else f"{share(dropped, sent)} dropped")
        if any(port["switch"] == setting for port in ports):
            lines.append([setting, *cells])
    return table(["setting", *names], lines)


def unshaped_text(results, campaign):
    path = results / f"{campaign}-unshaped.json"
    if not path.exists():
        return ""
    run = json.loads(path.read_text())
    text = ("Just before, without limits at the ports, the virtual machine "
            f"{'sustained' if run['verdict']['sustained'] else 'did **not** sustain'} 3 x 4.5 Mb/s (worst occupancy "
            f"{run['totals']['max_occupancy']:.2f}).")
    full = results / f"{campaign}-full-port.json"
    if full.exists():
        rate = next(rank["mean_bits_per_second"] for rank in json.loads(full.read_text())["ranks"]
                    if rank["role"] == "consumer") / 1e6
        text += (f" Three producers that send all they can filled the port of one consumer with {rate:.2f} Mb/s of "
                 "payload; 4.75 fit into it.")
    return text


# ------------------------------------------------------------------------------------------------------------ page


def page(results):
    """README.md."""
    rows = [row for campaign in CAMPAIGNS for row in stored(results / f"{campaign}.csv")]
    made = ", ".join(sorted({f"weir {row['weir_version']}" for row in rows})) or "nothing yet"
    simulators = ", ".join(sorted({f"weir {row[PREDICTED + 'weir_version']}" for row in rows
                                   if row.get(f"{PREDICTED}weir_version")}))
    parts = ["# Switch settings in a lab with a real kernel",
             "Made by `bench/study switch-settings-lab measure` and `table`, of runs with "
             f"{made}{f', predictions by {simulators}' if simulators else ''}; edit `answer.md`, `expected.md`, "
             "`about.md`, not this file.", text(results, "answer.md"), text(results, "expected.md")]
    for campaign in CAMPAIGNS:
        if not (results / f"{campaign}.csv").exists():
            continue
        parts.append(f"## Campaign {campaign}")
        ports = f", every port a line of [{campaign}-ports.csv]({campaign}-ports.csv)" if (
            results / f"{campaign}-ports.csv").exists() else ""
        parts.append(f"`bench/study switch-settings-lab measure {campaign}` of [{campaign}.toml]({campaign}.toml); "
                     f"every run is a line of [{campaign}.csv]({campaign}.csv){ports}. "
                     + unshaped_text(results, campaign))
        parts.append("Medians" + (", and in brackets what the simulator predicted:" if is_predicted(results, campaign)
                                  else ":"))
        parts.append(settings_table(results, campaign))
        if (results / f"{campaign}-ports.csv").exists():
            parts.append("Of the packets of each consumer's port:")
            parts.append(ports_table(results, campaign))
        answer_text = results / f"{campaign}-answer.txt"
        if answer_text.exists():
            printed = answer_text.read_text().rstrip()
            parts.append("What `weir-compare --by switch` printed of these runs:")
            parts.append(f"```text\n{printed}\n```")
            parts += [BECAUSE] if "because" in printed else []
    return {"README.md": joined([*parts, text(results, "about.md")])}
