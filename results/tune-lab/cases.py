"""What bench/study tune-lab runs: the settings of its sweep files, as options of weir, and as ports of the lab.
ports.toml has what they share."""

import shlex
import tomllib

GOODPUT = "goodput_bits_per_second"
# Column: key figure of weir-compare.
FIGURES = {GOODPUT: "goodput", "slowest_consumer_mean_bits_per_second": "slowest_consumer_mean",
           "delivery_p99_s": "delivery_p99"}
SHARES = ("marked_share", "again_share", "grant_wait_share", "data_wait_share")
FILE, CONFIRM, SCAN = "ports.toml", "ports-confirm.toml", "ports-scan.toml"
CAMPAIGNS = {"confirm": CONFIRM, "scan": SCAN}
AXIS = "ecn.all-above"
# The axis, walked by measurement.
SCANNED = ("3kB", "6kB", "13kB", "20kB", "30kB")
# Of the confirmation, for weir-sweep tune asks for six and a run takes a minute here; of the scan.
TURNS, SCAN_TURNS = 5, 2
# Of the simulations beside what is measured: as many seeds as tune confirms with, and none that its search or its
# confirmation has seen.
SEEDS = range(5001, 5006)
HOSTS = ("--producers", "3", "--consumers", "1", "--bundle", "3040B")
NETWORK = (*HOSTS, "--delay", "50ms")
# Without a delay, so that the rate is the machine's and not that of the round trips.
UNSHAPED_RUN = ("run", "--rate", "2.6Mb/s", "--event-size", "65kB", "--slots", "16", "--streams", "2", "--interval",
                "1s",
                "--duration", "6s", "--warmup", "2s", "--idle", "nap", "--seed", "1")


def read(path):
    return tomllib.loads(path.read_text())


def keys(options):
    """{key of the switch: text} of options that have switch-set."""
    return dict(pair.split("=", 1) for pair in options["switch-set"])


def settings(out):
    """{setting: its threshold} of both campaigns, as far as they are there."""
    files = [read(out / name) for name in CAMPAIGNS.values() if (out / name).exists()]
    return {setting["name"]: keys(setting["simulate"])[AXIS] for file in files
            for setting in file["switch"]["settings"]}


def thresholds(out):
    """All of them once, in rising order."""
    return sorted(set(settings(out).values()), key=size)


def size(text):
    """Bytes of 5kB or 1500B."""
    return float(text.removesuffix("kB")) * 1000 if text.endswith("kB") else float(text.removesuffix("B"))


def switch_keys(file, threshold):
    return [*file["simulation"]["switch-set"], f"{AXIS}={threshold}"]


def port_options(file, threshold):
    """Options of `bench/lab set` for ports that mark as those of the simulator do."""
    known = keys(file["simulation"])
    return ("--buffer", file["simulation"]["port-buffer"], "--mark", f"{known['ecn.none-below']}..{threshold}", "--tcp",
            known["tcp.control"])


def command(file, threshold, seed):
    """Of one simulation."""
    options = {**file["run"], **file["simulation"], "switch-set": switch_keys(file, threshold), "seed": seed}
    words = [word for name, value in options.items() for one in (value if isinstance(value, list) else [value])
             for word in (f"--{name}", str(one))]
    return shlex.join(["weir", "simulate", *words])


# Of ports that mark from one packet on, as `none-below` has it.
OF_PORTS = 'acts-at = "1500B"\nchange = "10s"\n'


def measured(text):
    """A sweep file that weir-sweep tune wrote, as it is measured: with what its switch is, and fewer turns."""
    return text.replace("\non-change = ", f"\n{OF_PORTS}on-change = ",
                        1).replace("\nrepetitions = 6\n", f"\nrepetitions = {TURNS}\n", 1)


def scan(file):
    """The sweep file of the scan."""
    def value(given):
        if isinstance(given, list):
            return "[" + ", ".join(map(value, given)) + "]"
        return f'"{given}"' if isinstance(given, str) else str(given)

    def lines(name):
        return [f"\n[{name}]", *(f"{key} = {value(given)}" for key, given in file[name].items())]

    head = ["# Made by bench/study tune-lab tune: the axis of ports.toml, walked by measurement, all values in turns.",
            'name = "ports-scan"', f"repetitions = {SCAN_TURNS}", f'start = "{file["start"]}"']
    simulated = [f'{{ name = "{threshold}", simulate = {{ switch-set = {value(switch_keys(file, threshold))} }} }},'
                 for threshold in SCANNED]
    switch = ["\n[switch]", f'{OF_PORTS}on-change = "{file["tune"]["on-change"]}"', "settings = [",
              *(f"    {line}" for line in simulated), "]"]
    return "\n".join([*head, *lines("run"), *lines("simulation"), *lines("local"), *switch]) + "\n"
