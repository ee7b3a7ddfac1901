"""Tests of category 3: how evenly parallel links are loaded (sections 8.1 to 8.4)."""

from weir_runs.basics import quantities
from weir_runs.basics.errors import ReportError
from ..traffic.traffic_files import matrix_text
from ..traffic.traffic_model import Matrix
from . import arithmetic
from .campaign_steps import Step, of_case
from .draft_setup import RECEIVERS_KEEP
from .result_tables import (ARITHMETIC, Column, HOST, NIC, Outcome, Primary, SETTING, SWITCH, Table, by_name, mean,
                            mean_of)

INTERVALS = 4
QUEUE_PAIRS = 4  # of 8.2 and 8.3


def ecmp(setup):
    _need_parallel_links(setup)
    cases = [(int(leaves) or setup.fabric.leaves, int(count), kind) for leaves in setup.values("leaves")
             for count in setup.values("queue-pairs") for kind in setup.values("hash")]
    cases = list(dict.fromkeys(cases))
    named = {f"{leaves} leaves Q={count} {kind}": (leaves, count, kind) for leaves, count, kind in cases}
    trials = yield _step(setup, "ecmp", [_case(setup, name, leaves, count, "balancing.kind=ecmp",
                                               f"balancing.hash-queue-pairs={'true' if kind == 'with' else 'false'}")
                                         for name, (leaves, count, kind) in named.items()])
    rows = []
    for name, (leaves, count, kind) in named.items():
        flows = _hosts_of_a_leaf(setup) * (count if kind == "with" else 1)
        evenness = _evenness(of_case(trials, name))
        links = setup.fabric.parallel
        rows.append((leaves, count, kind, *evenness, arithmetic.expected_most(flows, links) * links / flows,
                     arithmetic.expected_jain(flows, links)))
    columns = (Column("leaves", "1", SETTING), Column("Q", "1", SETTING), Column("queue pair in the hash", "", SETTING),
               *_EVENNESS, Column("MMR, balls in bins", "1", ARITHMETIC,
                                  "expectation for the flows of a leaf thrown at its uplinks"),
               Column("JFI, balls in bins", "1", ARITHMETIC,
                      f"expectation of k flows on n links; above {arithmetic.EXACT_BALLS} flows k / (n + k - 1)"))
    lines = {}
    for leaves, count, kind, _, _, jain, *_ in rows:
        lines.setdefault(f"{leaves} leaves, {kind}", []).append((str(count), jain))
    return Outcome((Table("Load of the uplinks of a leaf", columns, tuple(rows)), _links_table(trials, named)),
                   (_primary(trials, named),),
                   (by_name("JFI over queue pairs", "queue pairs of a pair of hosts", "1", lines),),
                   deviations=_simulated_leaves(setup))


def flowlets(setup):
    _need_parallel_links(setup)
    cases = [_case(setup, "ecmp", setup.fabric.leaves, QUEUE_PAIRS, "balancing.kind=ecmp",
                   f"nic.reorder={RECEIVERS_KEEP}"),
             *(_case(setup, f"flowlets {gap}", setup.fabric.leaves, QUEUE_PAIRS, "balancing.kind=flowlets",
                     f"balancing.gap={gap}", f"nic.reorder={RECEIVERS_KEEP}") for gap in setup.values("gaps"))]
    return _against_ecmp(cases, (yield _step(setup, "flowlets", cases)),
                         ("Receivers keep 1 MiB that comes ahead of a missing packet.",))


def spraying(setup):
    _need_parallel_links(setup)
    cases = [_case(setup, "ecmp", setup.fabric.leaves, QUEUE_PAIRS, "balancing.kind=ecmp"),
             *(_case(setup, f"spray, {reorder} kept", setup.fabric.leaves, QUEUE_PAIRS, "balancing.kind=spray",
                     f"nic.reorder={reorder}") for reorder in setup.values("reorder"))]
    return _against_ecmp(cases, (yield _step(setup, "spray", cases)),
                         ("A receiver that keeps nothing takes packets that overtake each other for lost.",))


def jain(setup):
    """From the runs of the others."""
    yield from ()
    of_ecmp, of_flowlets, of_spray = (setup.results[number].primary[0].values for number in ("8.1", "8.2", "8.3"))
    chosen = {"ecmp": of_ecmp.get(f"{setup.fabric.leaves} leaves Q={QUEUE_PAIRS} with"),
              **{name: values for name, values in list(of_flowlets.items())[1:2]},
              **{name: values for name, values in list(of_spray.items())[-1:]}}
    chosen = {name: values for name, values in chosen.items() if values}
    rows = tuple((name, mean(values), min(values), len(values)) for name, values in chosen.items())
    return Outcome((Table("Fairness of the uplinks of a leaf",
                          (Column("balancing", "", SETTING), Column("JFI, mean", "1", SWITCH),
                           Column("JFI, worst run", "1", SWITCH), Column("runs", "1", SETTING)), rows),),
                   (Primary("JFI", "1", SWITCH, chosen),),
                   (by_name("JFI by way of balancing", "", "1", {"JFI": [row[:2] for row in rows]}),),
                   deviations=() if "ecmp" in chosen
                   else (f"8.1 had no runs with {QUEUE_PAIRS} queue pairs at the fabric's own leaves.",))


# --- What they share.

_EVENNESS = (Column("MMR, mean of leaves", "1", SWITCH, "bytes on the wire that leaves send upwards, all intervals "
                                                        "together"),
             Column("MMR, worst leaf", "1", SWITCH), Column("JFI, mean of leaves", "1", SWITCH),
             Column("JFI, worst leaf", "1", SWITCH))


def _need_parallel_links(setup):
    if setup.fabric.parallel < 2:
        raise ReportError(f"{setup.plan.path}: {setup.section.number} {setup.section.title}: fabric.switch: "
                          f"{setup.plan.switch} has no parallel links; a switch file with [topology] kind = "
                          "\"leaf-spine\" is expected")


def _hosts_of_a_leaf(setup):
    return max(1, setup.plan.hosts // setup.fabric.leaves)


def _step(setup, name, cases):
    sizes = quantities.size(setup.value("bytes"))
    # Eight times what a leaf needs for it, so that collisions do not reach into the next interval.
    share = max(1.0, _hosts_of_a_leaf(setup) / setup.fabric.parallel)
    interval_us = 10 * -(-int(8e6 * sizes * 8 * share * 8 / setup.plan.link) // 10) + 1000
    files = {file: text for _, more in cases for file, text in more.items()}
    return Step(name, {"policy": "none", "window": 64, "interval": f"{interval_us}us",
                       "duration": f"{INTERVALS * interval_us}us",
                       "warmup": "0s"}, {"case": [value for value, _ in cases]}, setup.repetitions, files)


def _case(setup, name, leaves, count, *keys):
    """(value of the axis, its traffic file): host i of each leaf sends to host i of the next one."""
    each = _hosts_of_a_leaf(setup)
    hosts = leaves * each
    size = quantities.size(setup.value("bytes"))
    file = f"next-leaf-{hosts}.csv"
    text = matrix_text(Matrix({(index, (index + each) % hosts): size for index in range(hosts)}))
    simulation = setup.simulation(f"topology.leaves={leaves}", "placement.kind=by-worker", *keys)
    simulation["switch-set"] = [f"topology.hosts={hosts}", *simulation["switch-set"][1:]]
    event = -(-size // count)
    return {"name": name, "pattern": f"matrix:{file}", "event-size": f"{event}B", "slot-size": f"{event}B",
            "streams": count, "slots": count, "simulate": {**simulation, "queue-pairs": str(count)}}, {file: text}


def _upwards(trial):
    """Parallel links by which leaves send to spines."""
    hosts = {port["switch"] for port in trial.switch["ports"] if not str(port["peer"]).startswith("switch")}
    return [links for links in trial.switch["parallel_links"]
            if links["direction"] == "out" and links["switch"] in hosts and links["most_over_mean"] is not None]


def _evenness(trials):
    links = [one for trial in trials for one in _upwards(trial)]
    return (mean_of(links, "most_over_mean"), max((one["most_over_mean"] for one in links), default=None),
            mean_of(links, "jain_index"), min((one["jain_index"] for one in links), default=None))


def _primary(trials, names):
    values = {name: [] for name in names}
    for trial in trials:
        values[trial.values["case"]].append(mean([one["jain_index"] for one in _upwards(trial)]))
    return Primary("JFI", "1", SWITCH, values)


def _links_table(trials, names):
    """Of the first repetition of each case: what each uplink of the first leaf carried."""
    rows = []
    for trial in sorted((trial for trial in trials if trial.repetition == 1),
                        key=lambda trial: list(names).index(trial.values["case"])):
        if links := _upwards(trial):
            total = sum(one["sent_bytes"] for one in links[0]["links"])
            rows += [(trial.values["case"], f"{links[0]['switch']} to {one['to']}, port {one['port']}",
                      one["sent_bytes"], one["sent_bytes"] / total * len(links[0]["links"]))
                     for one in links[0]["links"]]
    return Table("Uplinks of one leaf, first run", (Column("case", "", SETTING), Column("link", "", SETTING),
                                                    Column("sent", "B", SWITCH), Column("over the mean", "1", SWITCH)),
                 tuple(rows))


def _against_ecmp(cases, trials, deviations):
    names = [value["name"] for value, _ in cases]
    rows, base = [], None
    for name in names:
        found = of_case(trials, name)
        rate = mean([_completion_rate(trial) for trial in found])
        base = base or rate
        rows.append((name, *_evenness(found), rate, rate / base - 1.0, mean([_out_of_order(trial) for trial in found]),
                     mean([trial.switch["packets_sent_again"] / trial.seconds for trial in found])))
    columns = (Column("case", "", SETTING), *_EVENNESS,
               Column("rate while sending", "b/s", HOST, "payload of all senders / median time until the last of an "
                                                         "interval was there"),
               Column("against ECMP", "%", HOST), Column("out of order", "packets/s", NIC,
                                                         "came ahead of a missing one, at all receivers"),
               Column("sent again", "packets/s", NIC, "by all senders"))
    return Outcome((Table("Load of the uplinks of a leaf, and order", columns, tuple(rows)),
                    _links_table(trials, names)), (_primary(trials, names),), deviations=deviations)


def _completion_rate(trial):
    phase = trial.record["phases"][0]
    return phase["bytes"] * 8.0 / phase["completion_s_median"]


def _out_of_order(trial):
    """Per second: kept until the missing one came, and others."""
    kept = sum(host["totals"].get("nic0.reordered_packets", 0) for host in trial.record["hosts"])
    return (kept + (trial.counted_by_nics("out_of_sequence") or 0)) / trial.seconds


def _simulated_leaves(setup):
    others = [int(leaves) for leaves in setup.values("leaves") if leaves and int(leaves) != setup.fabric.leaves]
    return () if not others else (f"Fabrics of {', '.join(map(str, others))} leaves are that of the plan with so many "
                                  "leaves, each with as many hosts and uplinks.",)
