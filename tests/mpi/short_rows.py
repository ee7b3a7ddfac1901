"""--row-interval: each rank's short rows sum up to its rows of seconds, the live lines have the burst, and a rank that
is killed leaves whole lines."""

import csv
import json
import signal

from weir_run import Background, check, check_complete, main, weir

LAYOUT = ["--producers", "2", "--consumers", "3", "--rate", "50Mb/s", "--event-size", "1MiB",
          "--busy", "exponential:20ms"]


def short_rows(run):
    """By rank file name; every line must parse."""
    found = {}
    for path in sorted((run.directory / "bursts").glob("rank-*.csv")):
        text = path.read_text()
        check(text.endswith("\n"), f"{path.name} ends in the middle of a line")
        found[path.name] = list(csv.DictReader(text.splitlines()))
        for row in found[path.name]:
            check(None not in row and None not in row.values(), f"{path.name}: a row with missing columns: {row}")
    return found


def check_sums(name, rows, short):
    """Each second's short rows make up its row."""
    columns = {"producer": ("generated_bytes", "sent_bytes"), "consumer": ("received_bytes", "blocked_s"),
               "scheduler": ("grants", "waiting_for_slot_s")}[name.removesuffix(".csv").split("-")[2]]
    sums = {}
    for row in short:
        second = int(float(row["begin_s"]) // 1)
        for column in ("covered_s", *columns):
            sums[second, column] = sums.get((second, column), 0) + float(row[column])
    for row in rows:
        for column in ("covered_s", *columns):
            mine, theirs = sums.get((int(row["second"]), column), 0), float(row[column])
            check(abs(mine - theirs) <= (1e-4 if column.endswith("_s") else 0),
                  f"{name}, second {row['second']}: {column} is {theirs}, short rows sum to {mine}")


def recorded():
    run = weir(6, *LAYOUT, "--duration", "3s", "--warmup", "1250ms", "--row-interval", "20ms", "--output", "json")
    check(run.status == 0, f"exit status {run.status}\n{run.stderr}")
    check_complete(run, 6)
    rows, short = run.rows(), short_rows(run)
    check(set(rows) == set(short), f"files {sorted(short)}")
    for name, lines in short.items():
        check_sums(name, rows[name], lines)
        begins = [float(line["begin_s"]) for line in lines]
        check(begins[0] == -1.25 and abs(begins[1] + 1.24) < 1e-9, f"{name}: begins {begins[:3]}")
        check(all(0.01 < after - before < 0.03 for before, after in zip(begins[1:], begins[2:])),
              f"{name}: begins {begins}")
    check(run.json["plan"]["row-interval"] == "20ms" and run.json["plan"]["resolved"]["row_interval_s"] == 0.02,
          run.json["plan"])
    live = [line for line in map(json.loads, run.stdout.splitlines()) if line["type"] == "second"]
    for second in range(3):
        best = max(int(line["received_bytes"]) for name, lines in short.items() if "consumer" in name for line in lines
                   if second <= float(line["begin_s"]) < second + 1)
        said = [line["consumers_burst_bits_per_second"] for line in live if line["second"] == second]
        check(said == [8 * best * 50], f"second {second}: the live line has {said}, the rows {8 * best * 50}")


def killed():
    run = Background(6, *LAYOUT, "--duration", "60s", "--warmup", "1s", "--row-interval", "10ms")
    run.wait_for_seconds(2)
    run.send(4, signal.SIGKILL)
    ended = run.end(10)
    check(ended.json["status"] == "failed", ended.json["status"])
    for name, lines in short_rows(ended).items():
        check(len(lines) >= 100 * 2, f"{name} has {len(lines)} lines")
    # What was written is of whole seconds.
    name = "rank-00004-consumer.csv"
    check_sums(name, ended.rows()[name], short_rows(ended)[name])


def without():
    run = weir(6, *LAYOUT, "--duration", "1s", "--warmup", "0s", "--row-interval", "1s")
    check(run.status == 0, f"exit status {run.status}\n{run.stderr}")
    check(not (run.directory / "bursts").exists(), "bursts/ is there")
    check(run.json["plan"]["row-interval"] == "1s" and "burst" not in run.stdout, run.stdout)


main(recorded, killed, without, at_once=3)
