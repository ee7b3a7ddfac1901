"""Reads and changes a lab that is up: what its ports and hosts have counted, and how its ports are set."""

import dataclasses
import json
import pathlib

from lab_machine import ports
from lab_machine.children import result_of_child
from lab_machine.keeper import need_keeper, write_whole
from lab_machine.kernel_calls import CLONE_NEWNET, command, enter
from lab_machine.plan import SWITCH, check_port, port_buffer_bytes
from soft_roce.problem import Problem


class Namespaces:
    """Those of a lab that is up, for a process of its own."""

    def __init__(self, lab):
        self.lab = lab
        # The lab's mounts are seen through its keeper: inside, /proc would not have this process.
        self.root = f"/proc/{need_keeper(lab.name)}/root"

    def enter(self, host_name):
        enter(f"{self.root}{self.lab.namespace(host_name)}", CLONE_NEWNET)


# ---------------------------------------------------------------------------------------------------------- reading


def port_statistics():
    """(by port, of its queue as a whole; of the queue that marks), as tc counts them. In the switch's namespace."""
    whole, marking = {}, {}
    for entry in json.loads(command(["tc", "-json", "-statistics", "qdisc", "show"])):
        if entry.get("root"):
            whole[entry["dev"]] = entry
        elif entry["kind"] == "red":
            marking[entry["dev"]] = entry
    return whole, marking


def read_counters(lab):
    """By host: what its switch port and its TCP have counted since the lab came up."""
    namespaces = Namespaces(lab)

    def read_all():
        namespaces.enter(SWITCH)
        links = {entry["ifname"]: entry["stats64"]
                 for entry in json.loads(command(["ip", "-json", "-statistics", "link", "show"]))}
        queues, marking = port_statistics()
        found = {}
        for host in lab.hosts:
            namespaces.enter(host.name)
            tcp = tcp_counters("/proc/self/net/snmp") | tcp_counters("/proc/self/net/netstat")
            # What the port receives is what the host has sent.
            link, queue = links[host.name], queues.get(host.name, {})
            found[host.name] = {
                "role": host.role, "sent_bytes": link["rx"]["bytes"], "received_bytes": link["tx"]["bytes"],
                "port_drops_packets": queue.get("drops", 0),
                "port_marked_packets": marking.get(host.name, {}).get("marked", 0),
                "segments_sent": tcp["Tcp.OutSegs"], "segments_retransmitted": tcp["Tcp.RetransSegs"],
                "timeouts": tcp["TcpExt.TCPTimeouts"],
            }
        return found

    return result_of_child(read_all)


def tcp_counters(path):
    lines = [line.split() for line in pathlib.Path(path).read_text().splitlines()]
    return {f"{names[0].rstrip(':')}.{name}": int(value)
            for names, values in zip(lines[::2], lines[1::2]) for name, value in zip(names[1:], values[1:])}


def print_counters(found):
    print(f"{'host':<8} {'role':<10} {'sent bytes':>15} {'received bytes':>15} {'port drops':>11} {'marks':>8} "
          f"{'TCP segments':>13} {'retransmitted':>14} {'timeouts':>9}")
    for name, row in found.items():
        print(f"{name:<8} {row['role']:<10} {row['sent_bytes']:>15} {row['received_bytes']:>15} "
              f"{row['port_drops_packets']:>11} {row['port_marked_packets']:>8} {row['segments_sent']:>13} "
              f"{row['segments_retransmitted']:>14} {row['timeouts']:>9}")


def read_ports(lab):
    """Lines `PORT PRIORITY COUNTER VALUE` of the hosts' ports, since they were set last. tc counts no priorities
    apart."""
    namespaces = Namespaces(lab)

    def read():
        namespaces.enter(SWITCH)
        return port_statistics()

    whole, marking = result_of_child(read)
    lines = []
    for host in lab.ranks():
        queue = whole.get(host.name)
        if queue is None or not host.link_bits_per_second:
            continue
        counters = {"sent_packets": queue["packets"], "sent_bytes": queue["bytes"], "dropped_packets": queue["drops"],
                    "queue_now_bytes": queue["backlog"]}
        if host.name in marking:
            counters |= {"marked_packets": marking[host.name]["marked"],
                         "early_dropped_packets": marking[host.name]["early"]}
        lines += [f"{host.name} - {name} {value}" for name, value in counters.items()]
    return lines


# --------------------------------------------------------------------------------------------------------- changing


def change_ports(lab, names, buffer, mark_bytes, tcp):
    """Sets the ports of these hosts (none: of all) and the hosts' TCP; None: as it is. Ports count from 0 then."""
    known = {host.name: host for host in lab.ranks()}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise Problem(f"HOST: '{unknown[0]}' is not in lab '{lab.name}'; right would be one of {' '.join(known)}", 2)
    changed = []
    for name in names or known:
        host = known[name]
        if not host.link_bits_per_second:
            raise Problem(f"the port to {name} has no limit and so no queue; right would be a lab with --link", 2)
        if buffer is not None:
            host.buffer_bytes = port_buffer_bytes(buffer, host.link_bits_per_second)
        if mark_bytes is not None:
            host.mark_bytes = mark_bytes
        check_port(host.buffer_bytes, host.mark_bytes, lab.mtu_bytes)
        changed.append(host)
    if tcp is not None:
        lab.tcp = tcp
    namespaces = Namespaces(lab)

    def change():
        for host in lab.hosts:
            namespaces.enter(host.name)
            ports.set_tcp(lab)
        namespaces.enter(SWITCH)
        # A root queue of another kind first: replacing a queue by one of its kind would keep those below it.
        ports.set_queues("".join(f"qdisc replace dev {host.name} root pfifo\n" for host in changed))
        ports.set_queues("".join(ports.port_lines(host, lab) for host in changed))
        return True

    result_of_child(change)
    write_whole(lab.directory / "lab.json", dataclasses.asdict(lab))
