"""Predictions beside hardware that others measured: requests over RDMA with 10 Gb/s, one server and 11 clients
(netiken/m4).

run: half a minute of processor time: each scenario as a trace whose transfers wait for each other, in the fluid model
and packet by packet. sample --clone DIR: makes measured.csv anew from a clone of github.com/netiken/m4; flows that are
in no sample are not used. Inputs are those of the data set (links, delays, sizes, windows, times of server and client);
no number was adjusted to make errors smaller, but that clients have one request under way was read from the measured
data. expected.py was written before the runs.
"""

import math
import pathlib
import re
import shlex
import statistics
import sys
import tempfile

import expected
import studies

# apart_us: from the begin of one client to that of the next one
KEYS = ("scenario", "part", "network", "at_once", "apart_us")
NAMES = (*KEYS, "predicted_us", "application_s", "dropped_packets", "weir", "command")
MEASURED_NAMES = ("scenario", "part", "from_character", "application_ns", "flows")
# testbed/backends/flowsim/main.cpp and testbed/PUBLICATION_READY_SUMMARY.md of the data set: bytes, and times that
# simulators were given.
REQUEST, ANSWER, HANDSHAKE, MORE = 17, 41, 10, 8
SERVER_US, HANDSHAKE_US = 87, 8.647
CLIENTS, OPERATIONS, ALONE = 11, 650, 100
# A worker learns of what it received by a message of weir, which takes --latency: in the fluid that of the way between
# hosts (2, 4 or 6 cables of 1 us), packet by packet 1 us beside the delays of cables. It is taken from the times of
# server and client.
TOLD_US = {"fluid": 5, "packet": 1}
NETWORKS = {
    "fluid": ("--network", "fluid", "--latency", f"{TOLD_US['fluid']}us"),
    "packet": ("--network", "packet", "--switch", "results/m4/fabric.toml", "--latency", f"{TOLD_US['packet']}us",
               "--control-network", "separate", "--queue-pairs", "event")}
SAMPLE = 66  # flows: six of each client


# ------------------------------------------------------------------------------------------------------ what was
# measured


def size_and_window(scenario):
    """(kB of 1024 bytes, window) of a scenario's name."""
    size, window = scenario.split("_")
    return int(size), int(window)


def flows(text):
    """[(client, us)] of a cell of measured.csv."""
    return [(int(client), int(ns) / 1000) for client, ns in (flow.split(":") for flow in text.split())]


def sample_of(text, from_character):
    """The cell of measured.csv: the first SAMPLE whole lines of RDMA behind a character of real_world.txt."""
    begin = text.find("\n", from_character - 1) + 1 if from_character else 0
    found = re.finditer(r"^\[rdma\] client=(\d+) id=\d+ dur_ns=(\d+)$", text[begin:], re.MULTILINE)
    return " ".join(f"{line[1]}:{line[2]}" for _, line in zip(range(SAMPLE), found))


def application_ns(text):
    """From the first event to the last of server.txt: the first request has come, the last answer is sent."""
    found = [int(ns) for ns in re.findall(r"ts_ns=(\d+)", text)]
    return max(found) - min(found)


def take_samples(options):
    """Those of the lines of measured.csv that are there, anew."""
    if options.clone is None:
        print("sample: --clone DIR is missing: a clone of github.com/netiken/m4", file=sys.stderr)
        return 2
    lines = studies.stored(options.out / "measured.csv") or studies.stored(studies.RESULTS / "m4/measured.csv")
    for line in lines:
        directory = options.clone / "testbed/eval_test/testbed" / line["scenario"]
        file = directory / "real_world.txt"
        if not file.exists():
            print(f"sample: {file} is missing: --clone must be a clone of github.com/netiken/m4", file=sys.stderr)
            return 2
        line["flows"] = sample_of(file.read_text(), int(line["from_character"]))
        if line["application_ns"]:
            line["application_ns"] = application_ns((directory / "server.txt").read_text())
    studies.write_lines(options.out / "measured.csv", MEASURED_NAMES, lines)
    return 0


# ------------------------------------------------------------------------------------------------------------
# simulations


def trace(size, clients, at_once, operations, told_us, apart_us=0):
    """The lines of a trace of weir: each operation is a request, an answer, a handshake and the data; client c is
    worker c + 1, and the server is worker 0. An operation begins when the one `at_once` before it has its data, so each
    client has so many under way. The first ones begin after 10 us, when all have slots. told_us: as TOLD_US; apart_us:
    from the begin of one client to that of the next one."""
    steps = [(10_000 + 1000 * apart_us * client + 4 * number + step, client, number, step)
             for client in range(clients) for number in range(operations) for step in range(4)]
    place = {(client, number, step): line for line, (_, client, number, step) in enumerate(sorted(steps))}
    lines = ["time_ns,producer,consumer,bytes,after,compute_ns"]
    for time, client, number, step in sorted(steps):
        sender, receiver = (client + 1, 0) if step in (0, 2) else (0, client + 1)
        size_bytes = (REQUEST, ANSWER, HANDSHAKE, 1024 * size + MORE)[step]
        before = (client, number, step - 1) if step else (client, number - at_once, 3)
        waits = place.get(before, "")
        compute = f"{1000 * ((SERVER_US, HANDSHAKE_US, SERVER_US)[step - 1] - told_us):.0f}" if step else ""
        lines.append(f"{time},{sender},{receiver},{size_bytes},{waits},{compute}")
    return "\n".join(lines) + "\n"


def words_of(size, clients, at_once, operations, network):
    """The options of weir simulate; the interval has room for all operations one after the other, and a half more."""
    alone_us = 1.09 * 8 * 1024 * size / 10_000 + 4 * SERVER_US
    interval = f"{math.ceil(1.5 * operations * clients * alone_us / 10_000) * 10}ms"
    largest = f"{1024 * size + MORE}B"
    return ["--pattern", "trace:flows.csv", "--policy", "none", "--interval", interval, "--duration", interval,
            "--warmup", "0s",
            "--event-size", largest, "--slot-size", largest, "--chunk-size", largest, "--slots", str(clients * 8),
            "--streams", str(clients * 8), "--scheduler-time", "0ns", "--producer-link", "10Gb/s", "--consumer-link",
            "10Gb/s",
            "--mtu", "1024B", "--producers", "12", "--consumers", "12", *NETWORKS[network]]


def operations_of(directory):
    """(answers, data, first request): instants in s by client and number, of the completions of a run."""
    ends, first_request = {}, math.inf
    for row in studies.rows(directory / "completions.csv"):
        end = float(row["begins_s"]) + float(row["completion_s"])
        if row["producer"] == "0":
            ends.setdefault(int(row["consumer"]) - 1, []).append(end)
        else:
            first_request = min(first_request, end)
    answers, data = ({client: found[begin::2] for client, found in ends.items()} for begin in (0, 1))
    return answers, data, first_request


def simulated(weir, size, clients, at_once, operations, network, *, apart_us):
    """{flows: [(client, us)] in the order of their ends, application_s, ...} of a run."""
    words = words_of(size, clients, at_once, operations, network)
    with tempfile.TemporaryDirectory(prefix="weir-m4-") as directory:
        file = pathlib.Path(directory) / "flows.csv"
        file.write_text(trace(size, clients, at_once, operations, TOLD_US[network], apart_us))
        line = [weir, "simulate", *[f"trace:{file}" if word == "trace:flows.csv" else word for word in words]]
        with studies.finished(line) as (run, out):
            answers, data, first = operations_of(out)
    found = [(end, client, 1e6 * (end - answer) - HANDSHAKE_US) for client in data
             for answer, end in zip(answers[client], data[client], strict=True)]
    return {"flows": [(client, us) for _, client, us in sorted(found)],
            "application_s": max(map(max, answers.values())) - first,
            "dropped_packets": (run.get("switch") or {}).get("dropped_packets"),
            "weir": run["environment"]["weir_version"],
            "command": shlex.join(["weir", "simulate", *words])}


def predictions(measured, found):
    """us for each measured flow: of the same client, in the same order, from the same part of the run."""
    of_client = {}
    for client, us in found:
        of_client.setdefault(client, []).append(us)
    queues = {client: iter(times) for client, times in of_client.items()}
    return [next(queues[client]) for client, _ in measured]


def asked(line):
    """[(network, requests of a client at a time, us from one client's begin to the next one's)]: as the scenario says,
    and one request; and the fluid with clients that do not begin at the same instant."""
    if line["part"] == "alone":
        return [(network, 1, 0) for network in NETWORKS]
    return [(network, at_once, 0) for network in NETWORKS
            for at_once in sorted({1, size_and_window(line["scenario"])[1]})] + [("fluid", 1, 1)]


def make_line(weir, line, network, at_once, apart_us):
    alone = line["part"] == "alone"
    clients, operations = (1, ALONE) if alone else (CLIENTS, OPERATIONS)
    run = simulated(weir, size_and_window(line["scenario"])[0], clients, at_once, operations, network,
                    apart_us=apart_us)
    begin = 0 if alone else len(run["flows"]) // 2
    predicted = predictions(flows(line["flows"]), run["flows"][begin:])
    return {"scenario": line["scenario"], "part": line["part"], "network": network, "at_once": at_once,
            "apart_us": apart_us,
            "predicted_us": " ".join(f"{us:.1f}" for us in predicted),
            **{name: run[name] for name in NAMES[len(KEYS) + 1:]}}


def make_lines(options, wanted=lambda line, at_once: True):
    for line in studies.stored(studies.RESULTS / "m4/measured.csv"):
        for network, at_once, apart_us in asked(line):
            if wanted(line, at_once):
                studies.store(options.out / "runs.csv", NAMES,
                              make_line(options.weir, line, network, at_once, apart_us), KEYS)


def replay(options):
    make_lines(options, lambda line, at_once: line["part"] == "alone" or (line["scenario"], at_once) == ("100_2", 1))


# -------------------------------------------------------------------------------------------------------------------
# page


class Found:
    """What a stored line of runs.csv predicts of its sample."""

    def __init__(self, measured, line):
        self.scenario, self.part, self.network = line["scenario"], line["part"], line["network"]
        self.at_once, self.window = int(line["at_once"]), size_and_window(line["scenario"])[1]
        self.application_s, self.apart = float(line["application_s"]), line["apart_us"] != "0"
        self.measured = [us for _, us in flows(measured["flows"])]
        self.predicted = [float(us) for us in line["predicted_us"].split()]
        self.signed = [predicted / us - 1 for predicted, us in zip(self.predicted, self.measured, strict=True)]
        application = int(measured["application_ns"] or 0) / 1e9
        self.application = self.application_s / application - 1 if application else None

    @property
    def as_written(self):
        return self.part == "middle" and self.at_once == self.window and not self.apart

    @property
    def one(self):
        return self.part == "middle" and self.at_once == 1 and not self.apart

    @property
    def one_apart(self):
        return self.part == "middle" and self.apart


def middle(values):
    return statistics.median(values)


def most_of(values, share=0.9):
    """The value that `share` of them do not exceed."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


def percent(value):
    return f"{100 * value:.0f} %" if value >= 1 else f"{100 * value:.1f} %"


def sizes_of(errors):
    return [abs(error) for error in errors]


def pooled(found, network, form):
    return sizes_of([error for one in found if one.network == network and getattr(one, form) for error in one.signed])


FORMS = (("as_written", "fluid", "requests at a time: the scenario's window"),
         ("as_written", "packet", "requests at a time: the scenario's window"),
         ("one", "fluid", "one request at a time"), ("one", "packet", "one request at a time"),
         ("one_apart", "fluid", "one request at a time, clients begin 1 us apart"))


def link_us(scenario):
    """T: the time of a flow's data on the server's link, 1106 bytes for each 1024, at 10 Gb/s."""
    return size_and_window(scenario)[0] * (1024 + 82) * 8 / 10_000


def signed(errors):
    return ", ".join(f"{100 * error:+.1f}" for error in errors) + " %"


def from_link(measured):
    """What no simulator is needed for: (errors of all flows from the middle as 11 T, signed errors of the applications
    as 650 x 11 T)."""
    middles = [line for line in measured if line["part"] == "middle"]
    return ([abs(CLIENTS * link_us(line["scenario"]) / us - 1) for line in middles for _, us in flows(line["flows"])],
            [OPERATIONS * CLIENTS * link_us(line["scenario"]) / (int(line["application_ns"]) / 1000) - 1
             for line in middles
             if line["application_ns"]])


def under_way(measured):
    """How many flows a client had under way: the median flow, 650 times, in the time of the application."""
    return ", ".join(
        f"{OPERATIONS * middle(us for _, us in flows(line['flows'])) / (int(line['application_ns']) / 1000):.2f} in "
        f"{line['scenario']}"
                     for line in measured if line["application_ns"])


def comparison(found, measured):
    rows = [[who, f"{scenarios}, all flows", percent(flow / 100), "", percent(application / 100), scenarios]
            for who, flow, application, scenarios in expected.PUBLISHED]
    for form, network, words in FORMS:
        errors = pooled(found, network, form)
        applications = [one.application for one in found
                        if one.network == network and getattr(one, form) and one.application is not None]
        rows.append([f"weir, {network}; {words}", f"7, {len(errors)} flows", percent(middle(errors)),
                     percent(most_of(errors)), signed(applications), len(applications)])
    errors, applications = from_link(measured)
    rows.append(["11 T, no simulator; application 650 x 11 T", f"7, {len(errors)} flows", percent(middle(errors)),
                 percent(most_of(errors)), signed(applications), len(applications)])
    return studies.table(["who", "scenarios", "error of a flow: median", "90 %",
                          "error of the application: median, or each", "applications"], rows)


def samples(found):
    rows = []
    for one in found:
        errors = sizes_of(one.signed)
        rows.append([one.scenario + (", a client alone" if one.part == "alone" else ""), one.at_once,
                     one.network + (", 1 us apart" if one.apart else ""),
                     f"{middle(one.measured):.0f}", f"{middle(one.predicted):.0f}",
                     f"{100 * middle(one.signed):+.1f} %", percent(middle(errors)), percent(most_of(errors)),
                     "" if one.application is None else f"{100 * one.application:+.1f} %"])
    return studies.table(["scenario", "requests at a time", "network", "measured us, median", "predicted us, median",
                          "error, median",
                          "absolute error, median", "absolute error, 90 %", "application"], rows)


def page(out):
    samples_of = studies.stored(out / "measured.csv")
    measured = {(line["scenario"], line["part"]): line for line in samples_of}
    lines = studies.stored(out / "runs.csv")
    found = [Found(measured[line["scenario"], line["part"]], line) for line in lines]
    checked = expected.judged(found, middle, pooled)
    parts = {"comparison": comparison(found, samples_of), "samples": samples(found), "expectations": checked.table(),
             "count": f"{sum(line[2] == 'PASS' for line in checked.lines)} of {len(checked.lines)} expectations PASS",
             "under-way": under_way(samples_of),
             "apart-most": percent(max(expected.differences([one for one in found if not one.apart], middle)))}
    for name, begin in (("packet-scenarios", ""), ("packet-applications", "application ")):
        held = [outcome == "PASS" for what, _, outcome in checked.lines
                if re.match(begin + r"\d+_\d, 1 at a time, packet", what)]
        parts[name] = f"{sum(held) or 'none'} of {len(held)}"
    errors, _ = from_link(samples_of)
    parts |= {"link": percent(middle(errors)), "link-90": percent(most_of(errors))}
    for name, form, network in (("one-packet", "one", "packet"), ("one-fluid", "one", "fluid"),
                                ("written-packet", "as_written", "packet"),
                                ("apart-fluid", "one_apart", "fluid")):
        errors = pooled(found, network, form)
        parts |= {name: percent(middle(errors)), f"{name}-90": percent(most_of(errors))}
    return studies.about(out, "m4", parts,
                         "Made by `bench/study m4 run`; `table` makes the page of runs.csv and measured.csv. "
                         f"{studies.made_with(lines)}")


def add_options(parser):
    parser.add_argument("--clone", type=pathlib.Path, metavar="DIR", help="sample: a clone of github.com/netiken/m4")


STUDY = studies.Study(page, runs={"run": make_lines}, others={"sample": take_samples}, keys={"runs.csv": KEYS},
                      replay=replay,
                      options=add_options)
