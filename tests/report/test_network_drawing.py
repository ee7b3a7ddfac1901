"""The drawing of a network: what of run.json is in it, which link is the busiest, and that many hosts stay few."""

import re

import pytest
from conftest import editing

from weir_runs.figures import network_drawing
from weir_runs.reading.run import read_run

LEAF_SPINE = ("--network", "packet", "--switch-set", "topology.kind=leaf-spine", "--switch-set", "topology.leaves=2",
              "--switch-set", "topology.spines=2", "--switch-set", "topology.uplink-rate=20Gb/s")


def port(switch, number, peer, use, **more):
    return {"switch": switch, "port": number, "peer": peer, "use": use, "link_bits_per_second": 10e9, "priority": 3,
            **more}


def star(hosts, use=lambda number: 0.1):
    return [port("switch-0", number, f"producer-{number}" if number % 2 else f"consumer-{number}", use(number))
            for number in range(hosts)]


def shown_nodes(drawn):
    return re.findall(r"<text(?! class)[^>]*>([^<]*)</text></svg>", drawn)


def test_the_busiest_link_is_marked_once_and_named(simulate):
    run = read_run(simulate("--producers", "3", "--consumers", "3", "--rate", "4Gb/s", "--event-size", "1MB",
                            "--interval", "10ms", "--duration", "50ms", "--warmup", "0s", *LEAF_SPINE))
    network = network_drawing.of_run(run)
    assert [len(names) for names in network.tiers[1:]] == [2, 2] and len(network.cables) == len(network.tiers[0]) + 4
    ports = run.record["switch"]["ports"]
    most = max(max(entry["use"] for entry in ports), 4e9 / max(entry["link_bits_per_second"] for entry in ports))
    drawn, about = network_drawing.drawing(network)
    assert max(cable.use for cable in network.cables) == pytest.approx(most, rel=1e-3)
    assert drawn.count("class=hot") == 1 and re.match(r"Busiest link: \S+ to \S+: [0-9.]+ % of [0-9.]+ Gb/s", about)
    assert set(shown_nodes(drawn)) == {name for names in network.tiers for name in names}


def test_priorities_of_a_port_are_one_link_and_both_directions_one_cable():
    ports = [port("switch-0", 0, "worker-0", 0.2), port("switch-0", 0, "worker-0", 0.3),
             port("switch-0", 1, "switch-1", 0.1), port("switch-1", 0, "switch-0", 0.95, dropped_packets=7),
             port("switch-1", 1, "worker-1", None)]
    cables = network_drawing.of_ports(ports).cables
    assert [(cable.low, cable.use) for cable in cables if cable.high == "switch-0"][0] == ("worker-0", 0.5)
    assert len(cables) == 3
    drawn, about = network_drawing.drawing(network_drawing.of_ports(ports))
    assert "switch-1 to switch-0: 95 % of 10 Gb/s, 7 packets dropped there" in about and "Red:" in about
    assert re.search(r'stroke="var\(--vermilion\)"[^>]*class=hot', drawn)


@pytest.mark.parametrize("hosts, most", [(3, 3), (40, 40), (500, 12), (4000, 12)])
def test_many_hosts_of_equal_use_are_one_and_the_busy_one_stands_alone(hosts, most):
    ports = star(hosts, lambda number: 0.9 if number == 2 else 0.1)
    drawn, about = network_drawing.drawing(network_drawing.of_ports(ports))
    nodes = shown_nodes(drawn)
    assert len(nodes) <= most + 1 and "consumer-2" in nodes and "switch-0 to consumer-2: 90 %" in about
    assert len(drawn) < 20_000
    if hosts > 40:
        assert f"producer-1 +{hosts // 2 - 1}" in nodes


def test_a_measured_run_is_drawn_by_host_without_what_stayed_on_it(stored):
    directory = stored("measured")
    assert network_drawing.of_run(read_run(directory)) is None  # one host
    with editing(directory) as record:
        for rank in record["ranks"]:
            rank["host"] = f"eb{rank['rank'] // 4}.example.org"
    run = read_run(directory)
    network = network_drawing.of_run(run)
    drawn, about = network_drawing.drawing(network)
    assert network.tiers == [["eb0.example.org", "eb1.example.org"], ["network"]]
    assert sorted(shown_nodes(drawn)) == ["eb0", "eb1", "network"]
    assert "Mb/s" in about and "%" not in about.split(". ")[0]
    of_host = {cable.low: cable for cable in network.cables}["eb0.example.org"]
    assert of_host.down == 0 and 0 < of_host.up <= 1 and not of_host.is_speed


def test_links_that_are_hardly_used_are_not_drawn(simulate):
    options = ("--producers", "2", "--consumers", "2", "--event-size", "1MB", "--rate", "80Mb/s", "--duration", "2s")
    assert network_drawing.of_run(read_run(simulate(*options))) is None
    network = network_drawing.of_run(read_run(simulate(*options, "--producer-link", "200Mb/s")))
    assert network_drawing.drawing(network)[1].startswith("Busiest link: producer-0 to network: 40 % of 200 Mb/s.")


def test_a_network_of_which_nothing_is_measured_marks_nothing():
    links = [["switch-0", number, f"worker-{number}", 100e9] for number in range(4)]
    drawn = network_drawing.of_links(links)
    assert "class=hot" not in drawn and "halo" not in drawn and len(shown_nodes(drawn)) == 5


def test_ports_without_use_or_speed_are_drawn():
    ports = [{"switch": "s", "port": number, "peer": f"h{number}", "priority": 0} for number in range(3)]
    assert set(shown_nodes(network_drawing.drawing(network_drawing.of_ports(ports))[0])) == {"s", "h0", "h1", "h2"}


def test_names_of_nodes_are_escaped():
    drawn, _ = network_drawing.drawing(network_drawing.of_ports([port("<i>", 0, "<b>", 0.5)]))
    assert "<i>" not in drawn and "<b>" not in drawn and "&lt;b&gt;" in drawn
