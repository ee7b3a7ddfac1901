"""The engines mpi and ucx of `weir run` side by side on this machine: goodput, grants per second, latencies, processor
time.

measure: runs alternate (mpi ucx, ucx mpi, ...), so that a drift of the machine affects both. Open MPI may copy once
between processes, as UCX may. Leave the machine alone meanwhile: ten minutes on two cores.
"""

import os
import shlex
import statistics

import studies

ENGINES = ("mpi", "ucx")
FULL = ("--generation", "saturate", "--duration", "3s", "--warmup", "1s")
PAIR = (1, 1, *FULL)
# name: (what it is, producers, consumers, options..., ); over TCP both engines use the loopback interface.
CASES = {
    "1MiB": ("events of 1 MiB", *PAIR, "--event-size", "1MiB"),
    "16MiB": ("events of 16 MiB", *PAIR, "--event-size", "16MiB"),
    "64MiB": ("events of 64 MiB", *PAIR, "--event-size", "64MiB"),
    "1MiB-tcp": ("events of 1 MiB over TCP", *PAIR, "--event-size", "1MiB"),
    "16MiB-tcp": ("events of 16 MiB over TCP", *PAIR, "--event-size", "16MiB"),
    "1MiB-put": ("events of 1 MiB, put", *PAIR, "--event-size", "1MiB", "--transport", "put"),
    "16MiB-put": ("events of 16 MiB, put", *PAIR, "--event-size", "16MiB", "--transport", "put"),
    "1MiB-get": ("events of 1 MiB, get", *PAIR, "--event-size", "1MiB", "--transport", "get"),
    "16MiB-get": ("events of 16 MiB, get", *PAIR, "--event-size", "16MiB", "--transport", "get"),
    "grants": ("events of 64 B, 4 producers to 6 consumers", 4, 6, *FULL, "--event-size", "64B", "--buffer", "64kB"),
    "steady": ("events of 64 KiB at 200 Mb/s, 2 producers to 2 consumers", 2, 2, "--generation", "steady", "--rate",
               "200Mb/s",
               "--event-size", "64KiB", "--duration", "3s", "--warmup", "1s"),
}
FIGURES = ("goodput_gbps", "events_per_s", "cpu_us_per_event", "scheduling_p50_us", "scheduling_p99_us")
NAMES = ("case", "engine", "round", *FIGURES, "load_before", "weir", "ucx", "mpi", "command")
# (case, figure, expectation on the ratio ucx / mpi of the medians, least, most), written before the runs of this page.
EXPECTED = ([(case, "goodput_gbps", 1.0, None) for case in (
                 "1MiB", "16MiB", "64MiB", "1MiB-tcp", "16MiB-tcp", "1MiB-put", "16MiB-put", "1MiB-get", "16MiB-get")]
            + [("grants", "events_per_s", 1.5, None), ("grants", "cpu_us_per_event", None, 1.0),
               ("steady", "cpu_us_per_event", None, 1.0), ("steady", "scheduling_p50_us", None, 1.0)])
TITLES = {"goodput_gbps": "goodput, Gb/s", "events_per_s": "events (grants) per second",
          "cpu_us_per_event": "processor time per event, us",
          "scheduling_p50_us": "scheduling latency, median, us", "scheduling_p99_us": "scheduling latency, 99 %, us"}


def launcher(case, ranks):
    words = [str(studies.TOP / "bench/mpirun-local")]
    variables = {}
    if case.endswith("-tcp"):
        words += ["--mca", "btl", "self,tcp", "--mca", "btl_tcp_if_include", "lo"]
        variables = {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "lo"}
    else:
        words += ["--mca", "btl_vader_single_copy_mechanism", "cma"]
    return [*words, "-np", str(ranks)], variables


def one_run(options, case, engine, number):
    _, producers, consumers, *words = CASES[case]
    words = ["--engine", engine, "--producers", str(producers), "--consumers", str(consumers), *words]
    start, variables = launcher(case, 1 + producers + consumers)
    load_before, before = os.getloadavg()[0], studies.children_cpu_s()
    with studies.finished([*start, options.weir, "run", *words], env={**os.environ, **variables},
                          timeout=120) as (run, out):
        sums = studies.measured(out)
    cpu_s = studies.children_cpu_s() - before
    scheduling = run["latency"]["offer_to_grant"]
    return {"case": case, "engine": engine, "round": number, "load_before": load_before,
            "goodput_gbps": 8e-9 * sums["consumer", "received_bytes"] / run["seconds"],
            "events_per_s": sums["consumer", "received_events"] / run["seconds"],
            "cpu_us_per_event": 1e6 * cpu_s / run["totals"]["received_events"],
            "scheduling_p50_us": scheduling["p50_us"], "scheduling_p99_us": scheduling["p99_us"],
            "weir": run["environment"]["weir_commit"][:12], "ucx": run["environment"]["ucx_version"] or "",
            "mpi": run["environment"]["mpi_library"].split(",")[0], "command": shlex.join(["weir", "run", *words])}


def measure(options):
    for number in range(1, options.rounds + 1):
        for case in (case for case in CASES if options.only in case):
            for engine in ENGINES if number % 2 else reversed(ENGINES):
                line = one_run(options, case, engine, number)
                print(f"{number} {case} {engine} " + " ".join(f"{line[name]:.4g}" for name in FIGURES), flush=True)
                studies.store(options.out / "runs.csv", NAMES, line, ("case", "engine", "round"))


def values(lines, case, engine, figure):
    return [float(line[figure]) for line in lines if (line["case"], line["engine"]) == (case, engine)]


def ratio(lines, case, figure):
    """(of the medians, least and largest of the rounds), ucx / mpi."""
    of = {engine: values(lines, case, engine, figure) for engine in ENGINES}
    single = [ucx / mpi for mpi, ucx in zip(of["mpi"], of["ucx"], strict=True)]
    return statistics.median(of["ucx"]) / statistics.median(of["mpi"]), min(single), max(single)


def page(out):
    lines = studies.stored(out / "runs.csv")
    expected = []
    for case, figure, least, most in EXPECTED:
        found, low, high = ratio(lines, case, figure)
        expected.append([CASES[case][0], TITLES[figure], f"at least {least}" if least is not None
                         else f"at most {most}",
                         f"{found:.2f} ({low:.2f} .. {high:.2f})", studies.outcome(found, least, most)])
    medians = []
    for case, (title, *_) in CASES.items():
        for engine in ENGINES:
            medians.append([title, engine, *(f"{statistics.median(values(lines, case, engine, figure)):.4g}"
                                             for figure in FIGURES)])
    parts = {"expected": studies.table(["runs", "figure", "ucx / mpi expected", "found: medians (rounds)", "outcome"],
                                       expected),
             "medians": studies.table(["runs", "engine", *(TITLES[name] for name in FIGURES)], medians)}
    rounds = max(int(line["round"]) for line in lines)
    return studies.about(out, "engines", parts, f"Made by `bench/study engines` of runs.csv: {rounds} rounds with weir "
                         f"{studies.versions(lines)}, {studies.versions(lines, 'mpi')}, UCX "
                         f"{studies.versions(lines, 'ucx')}.")


def add_options(parser):
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="measure: the cases whose name has this in it, as 'put'")


STUDY = studies.Study(page, runs={"measure": measure}, options=add_options)
