"""Goodput: what the scheduler costs against weir's own ceiling (`--policy none`), and that ceiling against MPI used by
the least code that does it, Intel's IMB, hpcc and iperf3."""

import itertools
import json
import pathlib
import re
import shutil
import subprocess
import tempfile

from . import running
from .samples import Comparison

EVENTS = ("1MiB", "16MiB", "64MiB")
MIB = 1 << 20
# The lab: 4 producers fill their links, 6 consumers have room.
LINK_MBPS = 500
PRODUCERS, CONSUMERS = 4, 6
# On Ethernet with an MTU of 1500 B: 1448 B of TCP payload in a frame of 1514 B, as the lab's queues count it; weir's
# header of 64 B before each MiB.
PAYLOAD_SHARE = 1448 / 1514 * MIB / (MIB + 64)

# Producers and consumers have as many bytes of buffers as weir's with these options, in messages as long as weir's.
BUFFER = 256 * MIB
MESSAGE = MIB + 64
WINDOW = 16  # streams x window


def comparisons():
    for event in EVENTS:
        bound = 0.9 if event == "1MiB" else 0.98
        for world in ("memory 1x1x1", "lab 4x6"):
            yield Comparison("goodput", f"{world} {event}",
                             f"{world}, events of {event}: with the scheduler / without (`--policy none`)",
                             "goodput", "weir balanced", "weir none", bound, unit="b/s")
    yield Comparison("goodput", "memory 1x1x1 16MiB",
                     "memory 1x1x1, without the scheduler / bare MPI stream with the same buffers", "goodput",
                     "weir none", "bare stream", 0.95, unit="b/s")
    yield Comparison("goodput", "memory 1x1 in cache",
                     "memory 1x1, bare MPI stream / IMB Uniband, 1 MiB, one buffer in cache", "goodput",
                     "bare stream", "IMB Uniband", 0.95, unit="b/s", optional=True)
    yield Comparison("goodput", "memory 1x1 in cache",
                     "memory 1x1, bare MPI stream / osu_bw, 1 MiB, one buffer in cache", "goodput",
                     "bare stream", "osu_bw", 0.95, unit="b/s", optional=True)
    yield Comparison("goodput", "memory 1x1 in cache",
                     "memory 1x1, bare MPI stream / hpcc's ping-pong, one buffer in cache", "goodput",
                     "bare stream", "hpcc", None, unit="b/s")
    yield Comparison("goodput", "lab 4x6 16MiB", "lab 4x6, without the scheduler / bare MPI stream", "goodput",
                     "weir none", "bare stream", 0.95,
                     unit="b/s")
    yield Comparison("goodput", "lab 4x6 16MiB", "lab 4x6, without the scheduler / iperf3, a stream per producer",
                     "goodput", "weir none",
                     "iperf3", 0.95, unit="b/s", optional=True)
    yield Comparison("goodput", "lab 4x6 16MiB",
                     f"lab 4x6, overloaded: goodput / what links of {LINK_MBPS} Mb/s leave after TCP's headers",
                     "share of payload rate", "weir balanced", bound=0.98)


COMPARISONS = list(comparisons())


def weir_options(policy, event, seconds):
    return ["--policy", policy, "--generation", "saturate", "--event-size", event, "--buffer", "256MiB", "--duration",
            f"{seconds}s",
            "--warmup", "1s"]


def ways():
    """(event, policy, engine, its words) of weir."""
    for event, policy in itertools.product(EVENTS, ("none", "balanced")):
        for engine, words in running.ENGINES.items():
            yield event, policy, engine, words


def measure(options, samples):
    measure_memory(options, samples)
    with running.lab(options.weir, options.bare, PRODUCERS, CONSUMERS, f"{LINK_MBPS}Mb/s") as lab:
        for number in range(options.rounds):
            for event, policy, engine, words in ways():
                measure_lab(lab, samples, number, event, f"{policy}{engine}",
                            weir_options(policy, event, lab_seconds(options, event)) + words)
            # What lies in queues and sockets when the measured time begins must be small beside what comes in it.
            samples.add("goodput", "lab 4x6 16MiB", "bare stream", "goodput", number,
                        bare(lab, PRODUCERS, CONSUMERS, options, 16, BUFFER, receive_buffer=4 * 16 * MIB, nap_us=20,
                             warmup_s=2, seconds=4 * options.seconds))
            if shutil.which("iperf3"):
                samples.add("goodput", "lab 4x6 16MiB", "iperf3", "goodput", number, iperf3(lab, 2 * options.seconds))


def measure_memory(options, samples):
    local = running.Local(options.weir, options.bare)
    for number in range(options.rounds):
        for event, policy, engine, words in ways():
            run = running.run_weir(local, 1, 1, weir_options(policy, event, options.seconds) + words)
            samples.add("goodput", f"memory 1x1x1 {event}", f"weir {policy}{engine}", "goodput", number,
                        running.goodput(run))
        stream = bare(local, 1, 1, options, 16, BUFFER, receive_buffer=4 * 16 * MIB)
        samples.add("goodput", "memory 1x1x1 16MiB", "bare stream", "goodput", number, stream)
        case = "memory 1x1 in cache"
        samples.add("goodput", case, "bare stream", "goodput", number,
                    bare(local, 1, 1, options, 1, MIB, receive_buffer=MIB, message=MIB))
        if options.imb:
            samples.add("goodput", case, "IMB Uniband", "goodput", number, uniband(options.imb))
        if options.osu:
            samples.add("goodput", case, "osu_bw", "goodput", number, osu_bw(options.osu))
        if shutil.which("hpcc"):
            samples.add("goodput", case, "hpcc", "goodput", number, hpcc())


def lab_seconds(options, event):
    """Long enough that what an event more or less makes is small: one of 64 MiB takes a second."""
    return options.seconds * (5 if event == "64MiB" else 2)


def measure_lab(lab, samples, number, event, name, words):
    rate = running.goodput(running.run_weir(lab, PRODUCERS, CONSUMERS, words))
    samples.add("goodput", f"lab 4x6 {event}", f"weir {name}", "goodput", number, rate)
    if event == "16MiB" and name.startswith("balanced"):
        samples.add("goodput", f"lab 4x6 {event}", f"weir {name}", "share of payload rate", number,
                    rate / (PRODUCERS * LINK_MBPS * 1e6 * PAYLOAD_SHARE))


def bare(world, producers, consumers, options, messages_per_event, buffer, *, receive_buffer, message=MESSAGE, nap_us=0,
         warmup_s=1, seconds=None):
    seconds = seconds or options.seconds
    found = running.run_bare(world, "stream", producers, consumers,
                             ["--message-bytes", message, "--messages-per-event", messages_per_event, "--buffer-bytes",
                              buffer,
                              "--receive-buffer-bytes", receive_buffer, "--window", WINDOW, "--nap-us", nap_us,
                              "--warmup", warmup_s, "--seconds", seconds])
    return 8 * found["bytes_per_s"]


def uniband(imb):
    """Intel's benchmark with messages of 1 MiB, all in one buffer."""
    output = running.program([running.TOP / "bench/mpirun-local", "-np", 2, pathlib.Path(imb) / "IMB-MPI1", "Uniband",
                              "-msglog", "20:20",
                              "-npmin", 2, "-iter", 2000, "-time", 3])
    line = next(line for line in output.splitlines() if re.match(rf"\s+{MIB}\s", line))
    return 8e6 * float(line.split()[2])


def osu_bw(osu):
    """The OSU benchmark with messages of 1 MiB."""
    output = running.program([running.TOP / "bench/mpirun-local", "-np", 2, pathlib.Path(osu) / "osu_bw", "-m",
                              f"{MIB}:{MIB}"])
    line = next(line for line in output.splitlines() if re.match(rf"{MIB}\s", line))
    return 8e6 * float(line.split()[1])


HPCC_INPUT = """HPLinpack benchmark input file
weir
HPL.out      output file name (if any)
8            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
100          Ns
1            # of NBs
80           NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
1            Ps
2            Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
1            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
1            DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
"""


def hpcc():
    """hpcc's own figure: the largest bandwidth of a ping-pong with messages of 2 MB."""
    with tempfile.TemporaryDirectory(prefix="weir-peers-") as directory:
        (pathlib.Path(directory) / "hpccinf.txt").write_text(HPCC_INPUT)
        running.program([running.TOP / "bench/mpirun-local", "-np", 2, "hpcc"], cwd=directory)
        text = (pathlib.Path(directory) / "hpccoutf.txt").read_text()
    return 8e9 * float(re.search(r"MaxPingPongBandwidth_GBytes=([\d.]+)", text).group(1))


def iperf3(lab, seconds):
    """A TCP stream from each producer to a consumer of its own: what the receivers took."""
    servers = [subprocess.Popen(lab.on(f"fn{host:02}", ["iperf3", "-s", "-1"]), stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
               for host in range(1, lab.producers + 1)]
    try:
        for host in range(1, lab.producers + 1):
            running.program(lab.on(f"fn{host:02}", ["sh", "-c", "until ss -tln | grep -q :5201; do sleep 0.1; done"]),
                            timeout=20)
        clients = [subprocess.Popen(
                       lab.on(f"eb{host:02}", ["iperf3", "-c", f"fn{host:02}", "-t", seconds, "-O", 1, "-J"]),
                       stdout=subprocess.PIPE, text=True) for host in range(1, lab.producers + 1)]
        return sum(json.loads(client.communicate(timeout=seconds + 60)[0])["end"]["sum_received"]["bits_per_second"]
                   for client in clients)
    finally:
        for server in servers:
            server.terminate()
            server.wait()
