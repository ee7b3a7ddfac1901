"""What each host counted: hosts/NAME.csv has the seconds of the ranks, run.json its sums and the word on the
network."""

import csv
import json
import socket

from weir_run import Background, check, check_complete, main, weir

OPTIONS = ["--producers", "1", "--consumers", "2", "--rate", "50Mb/s", "--event-size", "1MiB"]


def host_rows(run):
    files = sorted((run.directory / "hosts").glob("*.csv"))
    check([file.stem for file in files] == [socket.gethostname()], f"files {files}")
    text = files[0].read_text()
    check(text.endswith("\n"), f"{files[0]} ends in the middle of a line")
    rows = list(csv.DictReader(text.splitlines()))
    for row in rows:
        check(None not in row and None not in row.values(), f"a row with missing columns: {row}")
    return rows


def recorded():
    run = weir(4, *OPTIONS, "--duration", "3s", "--warmup", "1500ms")
    check(run.status == 0, f"exit status {run.status}\n{run.stderr}")
    check_complete(run, 4)
    rows = host_rows(run)
    of_ranks = {(row["second"], row["phase"], row["wall_time"]) for rank in run.rows().values() for row in rank}
    of_host = [(row["second"], row["phase"], row["wall_time"]) for row in rows]
    # A rank has a row of the second in which the run ends only if something moved in it.
    check(of_ranks <= set(of_host) and set(of_host[:-1]) <= of_ranks, f"{of_host} against {sorted(of_ranks)}")
    check(of_host == sorted(of_host, key=lambda row: int(row[0])), f"{of_host}")

    host, = run.json["hosts"]
    check(host["name"] == socket.gethostname() and host["file"] == f"hosts/{host['name']}.csv", host)
    check(host["problem"] is None and host["seconds"] == 3, host)
    check({"tcp", "udp", "ip"} <= set(host["sources"]), f"sources {host['sources']}")
    counters = [name for name in rows[0] if name not in ("second", "phase", "wall_time")]
    check(host["counters"] == len(counters) and "tcp.retransmitted_segments" in counters, f"{counters}")
    for name in counters:
        total = sum(int(row[name] or 0) for row in rows if row["phase"] == "measure")
        check(host["totals"].get(name, 0) == total, f"{name}: {host['totals'].get(name)}, rows sum to {total}")
    sources = host["families_by_source"]
    check(host["families"]["tcp_retransmissions"] == sources[
              "tcp"]["tcp_retransmissions"] >= host["totals"].get("tcp.retransmitted_segments", 0),
          sources)
    check(host["families"][
                  "dropped_by_hosts"] == sum(families.get("dropped_by_hosts", 0) for families in sources.values()),
          sources)
    network = run.json["network"]
    check("busiest_use" in network, network)
    check(network["mechanism"] == network["mechanisms"][0] and network["evidence"], network)
    # All ranks are on one host, so what they send each other comes through no interface. What others on this machine
    # receive by IP meanwhile is counted too, and may be enough to be judged.
    if host["totals"].get("ip.received_bytes", 0) < run.json["totals"]["received_bytes"] // 200:
        check(network["mechanism"] == "unknown" and "memory" in network["evidence"], network)
    else:
        print("not checked: others on this machine receive by IP, so the word on the network is theirs, too")
    check("\nnetwork  " in run.stdout, run.stdout)


def switched_off():
    run = weir(3, "--rate", "10Mb/s", "--duration", "1s", "--warmup", "0s", "--counters", "off", "--output", "json")
    check(run.status == 0, f"exit status {run.status}\n{run.stderr}")
    check(not (run.directory / "hosts").exists(), "hosts/ is there")
    check(run.json["hosts"] == [] and run.json["network"] is None, f"{run.json['hosts']} {run.json['network']}")
    summary = json.loads(run.stdout.splitlines()[-1])
    check(summary["network"] is None and "hosts" not in summary, summary)


def interrupted():
    run = Background(4, *OPTIONS, "--duration", "60s", "--warmup", "1s")
    run.wait_for_seconds(2)
    run.process.terminate()
    ended = run.end(10)
    seconds = [int(row["second"]) for row in host_rows(ended)]
    check(seconds == list(range(-1, len(seconds) - 1)) and len(seconds) >= 3, f"seconds {seconds}")
    check(ended.json["status"] == "interrupted", ended.json["status"])
    check(ended.json["network"]["mechanism"] == "unknown", ended.json["network"])
    check(ended.json["hosts"][0]["totals"] is None, ended.json["hosts"])


main(recorded, switched_off, interrupted, at_once=3)
