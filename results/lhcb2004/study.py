"""LHCb note 2004-030, datagrams at full link load: simulated packet by packet, in a lab, and over loopback.

simulate: hosts that cost time against the size of datagrams, three switches that lose against the rate, 23 and 18
sources in step, all to all, what is in a socket; three minutes of processor time. lab: size and rate with UDP between
hosts of this machine, on links of 100 Mb/s, and 8 sources in step; four minutes, and needs root, as bench/lab does.
local: the same run thirty times, the receive buffer against the rate, and a consumer that is kept busy, over loopback;
four minutes. A line for each run is kept in runs.csv or, of the last two, in measured.csv (a later run of the same
replaces it); README.md is about.md with their tables, `table` makes only that and the figures (matplotlib:
bench/install-dependencies --report). `check` runs a few simulations again and compares.
"""

import page
import studies
from page import FRAMES, HOST_SIZES, HOSTS, KEY, RATES, SIZES, SWITCHES, payload_of_frame, wire_cost

LAB_SIZES = (18, 100, 200, 500, 1000, 1472, 1473, 2952, 2953, 4096, 16384, 65507)
LOCAL_RATES = (50, 100, 200, 400, 800, 1600)  # Mb/s
REPETITIONS = 30
LAB_LINK = page.LAB_LINK  # Mb/s
STEP_US = 24.7  # 40.5 kHz
INTERRUPT_US = 1e3 / 6  # the note's 6 kHz
SHORT = ["--duration", "300ms", "--warmup", "100ms"]
SECOND = ["--duration", "1s", "--warmup", "100ms"]  # rates are of whole seconds
NAMES = (*KEY, "duration_s", "sent", "missing", "late", "lost_at_socket", "sent_mbps", "received_mbps",
         "frames_sent_per_second",
         "frames_received_per_second", "port_use_min", "port_use_max", "port_peak_bytes", "pauses_by_switch",
         "pauses_by_hosts",
         "socket_peak_bytes", "weir", "command")
MEASURED_NAMES = (*KEY, "duration_s", "sent", "missing", "late", "lost_at_socket", "unexplained", "sent_mbps",
                  "received_mbps",
                  "wire_mbps", "frames_sent_per_second", "occupancy_max_bytes", "occupancy_limit_bytes",
                  "poll_gap_us_max",
                  "load_before", "weir", "command")


def common(part, name, x, size, run, sums):
    account, seconds = run["datagrams"], run["switch"]["measured_s"] if run.get("switch") else run["plan"]["resolved"][
        "duration_s"]
    sent, received = (sums.get(column, 0) * 8 / seconds / 1e6
                      for column in (("producer", "sent_bytes"), ("consumer", "received_bytes")))
    return {"part": part, "name": name, "x": x, "datagram_bytes": size, "duration_s": seconds, "sent": account["sent"],
            "missing": account["missing"], "late": account["late"], "lost_at_socket": account["explained"]["socket"],
            "sent_mbps": sent,
            "received_mbps": received, "weir": run["environment"]["weir_version"], "command": run["command"]}


def simulation(part, name, x, size, scenario, words, *, options):
    run, sums, _ = studies.run(["--scenario", f"lhcb2004-{scenario}", "--chunk-size", f"{size}B", *words], "simulator",
                               options.weir)
    line = common(part, name, x, size, run, sums)
    ports = [port for port in run["switch"]["ports"] if port["peer"].startswith("consumer")]
    frames = wire_cost(size)[0]
    line |= {f"frames_{way}_per_second": line[f"{way}_mbps"] * 1e6 / 8 / size * frames for way in ("sent", "received")}
    line |= {"port_use_min": min(port["use"] for port in ports), "port_use_max": max(port["use"] for port in ports),
             "port_peak_bytes": max(port["queue_peak_bytes"] for port in ports),
             "pauses_by_switch": run["switch"]["pauses_sent"],
             # of its one second
             "pauses_by_hosts": run["switch"]["pauses_received"],
             "socket_peak_bytes": sums.get(("consumer", "socket_buffer_max_bytes")) if part == "socket" else None}
    print(f"   {line['received_mbps']:.1f} Mb/s, missing {line['missing']} of {line['sent']}", flush=True)
    studies.store(options.out / "runs.csv", NAMES, line, KEY)


# ------------------------------------------------------------------------------------------------------------------
# simulated


def host_words(settings, size):
    """Options of a host: a function gives the time of one size."""
    words = []
    for name, value in settings.items():
        words += ["--switch-set", f"host.{name}={value(size) if callable(value) else value}"]
    return words


def one_size(name, size, options):
    """64 datagrams of an event, and enough slots for events that wait for what was lost."""
    count = max(4, min(64, 262144 // size))
    simulation("size", name, size, size, "link",
               ["--switch", "gigabit", *host_words(HOSTS[name], size), "--event-size",
                f"{count * size}B", "--slots", "512", "--buffer", "4MiB", "--duration", "1s", "--warmup",
                # A ring of 4096 hides a kernel that is 0.7 % too slow for 3 s.
                "4s" if size in page.NEAR_LIMIT else "100ms"], options=options)


def one_rate(name, percent, options):
    pace = [] if percent == 100 else ["--shaping", f"in-step:{1538 * 8 * 100 / percent:.0f}ns"]
    simulation("rate", name, f"{percent:g}", 1472, "link", [*pace, *SWITCHES[name]], options=options)


def one_seed(seed, options):
    """Clocks as the seed draws them, and a port without room for their difference."""
    simulation("clock", "seed", seed, 1472, "link", [*page.LARGE, "--port-buffer", "4KiB", "--seed", str(seed),
                                                     "--duration", "2s", "--warmup", "500ms"], options=options)


def one_step(name, frame, options, interval_us=STEP_US, words=(), *, steps=100, times=SHORT):
    """steps: between two ticks, which put all senders in step again."""
    size, senders, receivers = payload_of_frame(frame), *name.split(",")[0].split("to")
    scenario, layout = ("18to6", ["--producers", senders, "--consumers",
                                  receivers]) if name.startswith(("3to", "24to")) else (name.split(",")[0], [])
    simulation("step", name, frame, size, scenario,
               [*layout, "--event-size", f"{size}B", "--rate", f"{size * 8 / interval_us:.4f}Mb/s",
                "--shaping", f"in-step:{interval_us:g}us,tick={interval_us * steps:.9g}us", *times, *words],
               options=options)


def one_turn(name, options):
    """24 senders, all to the same receiver at a time. Clocks that drift: by up to 25 us until the next tick, two
    frames."""
    if name == "24to24":
        one_step(name, 1436, options, page.TURN_US)
        return
    steps = 21460
    faults = [word for sender in range(24) for word in ("--fault",
                                                        f"drift:producer={sender},ppm={-100 * sender / 23:.4g}")]
    one_step(name, 1436, options, page.TURN_US, faults, steps=steps,
             times=["--duration", "250ms", "--warmup", f"{page.TURN_US * steps:.9g}us"])


def one_socket(kernel_us, read_us, overhead, options):
    """Interrupts 6000 times a second: the time until the next one is what the kernel's work leaves of 1/6 ms."""
    gap_us = wire_cost(1540)[1] * 8e-3 / 2  # of a frame, on average
    delay = INTERRUPT_US * (1 - kernel_us / gap_us)
    simulation("socket", f"{kernel_us:g},{overhead}", f"{read_us:g}", 1540, "link",
               ["--event-size", f"{64 * 1540}B", "--slots", "512", *host_words(
                   {"interrupt-delay": f"{delay * 1000:.0f}ns", "receive-time": f"{kernel_us * 1000:.0f}ns",
                    "read-time": f"{read_us * 1000:.0f}ns", "socket-buffer": "1MiB", "socket-overhead": f"{overhead}B"},
                   0),
                "--buffer", "4MiB", *SECOND], options=options)


def simulate(options):
    for name in HOSTS:
        for size in SIZES if name == page.NETWORK else HOST_SIZES:
            one_size(name, size, options)
    for name in SWITCHES:
        for percent in RATES:
            one_rate(name, percent, options)
    for seed in page.SEEDS:
        one_seed(seed, options)
    simulate_steps(options)
    for name, words in page.GRANTED.items():
        simulation("mesh", name, 1436, 1390, "mesh", [*words, *SHORT], options=options)
    for kernel, read, overhead in page.socket_points():
        one_socket(kernel, read, overhead, options)


def simulate_steps(options):
    for name, frames in FRAMES.items():
        for frame in frames:
            one_step(name, frame, options)
    for bytes_ in page.PORTS["23to1"]:
        one_step(f"23to1,{bytes_}", 114, options, words=("--port-buffer", f"{bytes_}B"))
    for room in page.EXCESS_ROOMS:
        one_step(f"3to1,24.691us,{room}", 1009, options, 24.691, ("--port-buffer", room), times=SECOND)
    for name in page.TURNS:
        one_turn(name, options)


def replay_cheap(trial):
    for size in (1472, 4096):
        one_size(page.NETWORK, size, trial)
    one_size("program", 1000, trial)
    one_rate("port", 99, trial)
    one_seed(3, trial)
    one_step("3to1", 1009, trial)
    one_step("18to6", 64, trial)
    one_socket(1, 10, 0, trial)


# -------------------------------------------------------------------------------------------------------------------
# measured


def measured(part, name, x, size, world, words, *, options, lab=(), ranks=0):
    run, sums, load = studies.run(["--scenario", f"lhcb2004-{name}", "--chunk-size", f"{size}B", *words], world,
                                  options.weir, lab, ranks)
    account = run["datagrams"]
    line = common(part, f"{world}, {name}", x, size, run, sums)
    buffers = account["socket_buffers"] or {}
    line |= {"unexplained": account["unexplained"], "wire_mbps": account["wire"]["wire_bits_per_second"] / 1e6,
             "frames_sent_per_second": account["wire"]["frames_per_second"],
             "occupancy_max_bytes": buffers.get("receive_occupancy_max_bytes"),
             "occupancy_limit_bytes": buffers.get("receive_occupancy_limit_bytes"),
             "poll_gap_us_max": max(rank["poll_gap_max_us"] for rank in run["ranks"]), "load_before": load}
    print(f"   {line['received_mbps']:.1f} Mb/s, missing {line['missing']} of {line['sent']}", flush=True)
    studies.store(options.out / "measured.csv", MEASURED_NAMES, line, KEY)


def at_rate(percent, size, link):
    """So many percent of a link of so many Mb/s, on the wire."""
    payload = percent / 100 * link * 1e6 * size / wire_cost(size)[1]
    return ["--generation", "steady", "--rate", f"{payload / 1e3:.0f}kb/s", "--event-size", "64KiB"]


def lab(options):
    one_to_one = ["--name", "datagrams", "--producers", "1", "--consumers", "1", "--link", f"{LAB_LINK}Mb/s",
                  "--buffer", "256KiB"]
    short = ["--duration", "3s", "--warmup", "1s"]
    for size in LAB_SIZES:
        measured("size", "link", size, size, "lab", short, options=options, lab=one_to_one)
    uneven = ["--name", "datagrams", "--producers", "1", "--consumers", "1", "--producer-link", f"{LAB_LINK}Mb/s",
              "--consumer-link", f"{LAB_LINK * 98 / 100:g}Mb/s", "--buffer", "64KiB"]
    for percent in (80, 90, 94, 96, 97, 98, 99, 100):
        measured("rate", "link", percent, 1472, "lab", [*at_rate(percent, 1472, LAB_LINK), *short], options=options,
                 lab=uneven)
    # 8 sources in step, a frame each 1 ms: what two cores keep.
    for frame in (64, 1006):
        size = payload_of_frame(frame)
        measured("step", "23to1", frame, size, "lab",
                 ["--producers", "8", "--event-size", f"{size}B", "--rate", f"{size * 8}kb/s",
                  "--shaping", "in-step:1ms,tick=10ms", *short],
                 options=options,
                 lab=["--name", "datagrams", "--producers", "8", "--consumers", "1", "--link", f"{LAB_LINK}Mb/s",
                      "--buffer", "64KiB"])


def local(options):
    steady = ["--generation", "steady", "--warmup", "500ms"]
    short = ["--duration", "2s"]
    for repetition in range(REPETITIONS):
        measured("repeat", "link", repetition, 4096, "local",
                 [*steady, *short, "--rate", "800Mb/s", "--socket-buffer", "64KiB"], options=options, ranks=3)
    for rate in LOCAL_RATES:
        measured("occupancy", "link", rate, 1472, "local", [*steady, *short, "--rate", f"{rate}Mb/s"], options=options,
                 ranks=3)
    # 191 events/s, so 5.1 ms each keep the consumer's other core busy for 97 % of the time.
    for share, busy in ((0, []), (97, ["--busy", "fixed:5100us", "--busy-cpu", "burn"])):
        measured("load", "link", share, 4096, "local", [*steady, "--rate", "400Mb/s", "--duration", "5s", *busy],
                 options=options, ranks=3)


STUDY = studies.Study(page.page, runs={"simulate": simulate, "lab": lab, "local": local}, keys={"runs.csv": KEY},
                      replay=replay_cheap,
                      draw=page.draw)
