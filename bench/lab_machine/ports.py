"""The queues of a lab: of its hosts and of the switch's ports, which can be set and read while the lab is up.

A port is a token bucket (tbf) with the link's speed, and below it a queue: of bytes, which drops what does not fit, or
RED, which marks packets of ECN-capable connections as well (IETF RFC 3168).
"""

import math

from lab_machine.kernel_calls import command, set_sysctl
from lab_machine.plan import ETHERNET_HEADER, ETHERNET_REST
from soft_roce.problem import Problem

HOST_QUEUE_BYTES = 16 * 2**20  # a host's own queue: TCP stops by itself long before
DELAYED_PACKETS = 100000       # at most on their way to a port
BURST_S = 0.002                # how long a link may have been idle by accident and still catch up
# Share of packets marked where a range of --mark ends. RFC 2309's authors used 0.02 to 0.1.
RANGE_PROBABILITY = 0.1


def rate_on_wire(rate_bits_per_second, lab):
    """What tbf has to be given: it counts a frame without preamble, checksum and gap. Exact for full packets."""
    counted = lab.mtu_bytes + ETHERNET_HEADER
    return rate_bits_per_second * counted // (counted + ETHERNET_REST)


def shape(device, rate_bits_per_second, queue_bytes, lab, place="root handle 1:"):
    """A line for `tc -batch`: a link's speed, and behind it a queue that drops what does not fit."""
    rate = rate_on_wire(rate_bits_per_second, lab)
    # Tokens for BURST_S: on a machine with fewer cores than hosts the kernel's timers come late, and what is not
    # caught up is lost speed. A burst below a frame, or below a bundle of them, would stop it.
    burst = max(round(BURST_S * rate / 8), lab.bundle_bytes + 2 * (lab.mtu_bytes + ETHERNET_HEADER))
    return f"qdisc replace dev {device} {place} tbf rate {rate}bit burst {burst}b limit {queue_bytes}b\n"


def host_lines(host, lab):
    """Lines for `tc -batch`: what a host's own interface does with what the host sends."""
    return shape("eth0", host.link_bits_per_second, HOST_QUEUE_BYTES, lab) if host.link_bits_per_second else ""


def port_lines(host, lab):
    """Lines for `tc -batch`: the switch's port to a host. Packets are delayed before they come into its queue, and not
    on the host that sends them: there, a delayed packet no longer counts as one that TCP has in the host's queue (TCP
    small queues), which then becomes longer than those of the switch."""
    lines, parent = "", "root"
    if lab.delay_s:
        lines = (f"qdisc replace dev {host.name} root handle 1: netem delay {lab.delay_s * 1e6:.0f}us limit "
                 f"{DELAYED_PACKETS}\n")
        parent = "parent 1:1"
    if host.link_bits_per_second:
        lines += shape(host.name, host.link_bits_per_second, host.buffer_bytes, lab, f"{parent} handle 2:")
        if host.mark_bytes:
            lines += f"qdisc replace dev {host.name} parent 2:1 handle 3: {red(host, lab)}\n"
    return lines


def red(host, lab):
    """Marks by the queue's length as it is now, not by a mean over many packets. tc takes the greatest weight of the
    newest value, 1/2, if `burst` is 1/4 more than `min` in units of `avpkt`; the kernel needs this unit for idle times
    only."""
    begin, everything = host.mark_bytes
    packet = lab.mtu_bytes + ETHERNET_HEADER
    burst = max(2, math.ceil(begin / packet))
    probability = RANGE_PROBABILITY if everything > begin else 1.0
    return (f"red limit {host.buffer_bytes}b min {begin}b max {max(everything, begin + packet)}b avpkt "
            f"{round(begin / (burst - 0.25))} burst {burst} probability {probability} "
            f"bandwidth {rate_on_wire(host.link_bits_per_second, lab)}bit ecn")


def set_queues(lines):
    if not lines:
        return
    try:
        command(["tc", "-batch", "-"], lines)
    except Problem as problem:
        missing = [kind for kind in ("red", "netem") if f" {kind} " in lines
                   and "qdisc kind is unknown" in str(problem)]
        if missing:
            raise Problem(f"this kernel has no queue that marks or delays packets ({', '.join(missing)}), which --mark "
                          "and --delay need; right would be bench/lab with --kernel debian") from None
        raise


def set_tcp(lab):
    """For connections that the host of this network namespace begins or accepts from now on."""
    if lab.tcp:
        try:
            set_sysctl("ipv4/tcp_congestion_control", lab.tcp)
        except OSError as error:
            raise Problem(f"--tcp {lab.tcp}: {error.strerror}; the kernel has no such congestion control, or does not "
                          "leave it to network namespaces (net.ipv4.tcp_allowed_congestion_control); right would be "
                          "bench/lab with --kernel debian") from None
    # 2, Linux's own setting, accepts ECN and does not request it.
    set_sysctl("ipv4/tcp_ecn", 1 if lab.uses_ecn else 2)
