"""Builds a lab's namespaces, interfaces and queues."""

from lab_machine import ports
from lab_machine.kernel_calls import (CLONE_NEWIPC, CLONE_NEWNET, CLONE_NEWNS, CLONE_NEWUTS, MS_BIND, MS_NODEV,
                                      MS_NOEXEC, MS_NOSUID, MS_REC,
                                      MS_SLAVE, command, enter, mount, set_sysctl, unshare)
from lab_machine.plan import ROLES, SWITCH

def build_host(host, lab):
    unshare(CLONE_NEWNET)
    path = lab.namespace(host.name)
    path.touch()
    mount("/proc/self/ns/net", path, flags=MS_BIND)
    set_up_network()
    lines = [
        "link set dev lo up",
        f"link add name eth0 mtu {lab.mtu_bytes} address {host.mac} type veth peer name {host.name} mtu "
        f"{lab.mtu_bytes} netns {lab.namespace(SWITCH)}",
        f"address add {host.address}/15 dev eth0",
        f"link set dev eth0 gso_max_size {lab.bundle_bytes}" if host.role in ROLES else "",
        "link set dev eth0 up",
    ]
    # Neighbours are written down: the kernel keeps permanent ones without a limit, and learnt ones only up to a number
    # (gc_thresh3) that all namespaces of a machine share.
    lines += [f"neighbour add {other.address} lladdr {other.mac} dev eth0 nud permanent"
              for other in lab.hosts if other is not host]
    command(["ip", "-batch", "-"], "\n".join(lines) + "\n")
    ports.set_queues(ports.host_lines(host, lab))
    ports.set_tcp(lab)


# How often a host repeats what is not acknowledged before it gives a connection up: some 13 s. With Linux's own 15
# times it is a quarter of an hour, and for as long mpirun, whose daemon on a lost host does not answer, may not end.
RETRANSMISSIONS = 5


def set_up_network():
    """Only what weir sends: no IPv6 address search. Settings of this network namespace, as are all here."""
    for name in ("all", "default"):
        set_sysctl(f"ipv6/conf/{name}/disable_ipv6", 1)
    set_sysctl("core/somaxconn", 4096)
    set_sysctl("ipv4/tcp_retries2", RETRANSMISSIONS)


def build_switch(lab):
    lines = ["link set dev lo up", "link add name br0 type bridge stp_state 0 mcast_snooping 0 forward_delay 0",
             f"link set dev br0 mtu {lab.mtu_bytes}"]
    for host in lab.hosts:
        lines += [f"link set dev {host.name} master br0", f"link set dev {host.name} up"]
    lines.append("link set dev br0 up")
    command(["ip", "-batch", "-"], "\n".join(lines) + "\n")
    command(["bridge", "-batch", "-"], "".join(f"fdb replace {host.mac} dev {host.name} master static\n"
                                               for host in lab.hosts))
    ports.set_queues("".join(ports.port_lines(host, lab) for host in lab.hosts))


# What mpirun calls instead of ssh: AGENT HOST COMMAND...; the host's own /sys has its interfaces.
AGENT = """#!/bin/sh
host=$1
shift
exec nsenter --net={inside}/net/"$host" unshare --mount --uts sh -c '
    mount -t sysfs weir-lab /sys && echo "$0" > /proc/sys/kernel/hostname && exec sh -c "$*"' "$host" "$@"
"""


def build(lab):
    unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET)
    mount("none", "/", flags=MS_REC | MS_SLAVE)
    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    mount("weir-lab", lab.inside, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755")
    mount("weir-lab", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777")
    for name in ("net", "tmp"):
        (lab.inside / name).mkdir()
    (lab.inside / "hosts").write_text(
        "127.0.0.1 localhost\n" + "".join(f"{host.address} {host.name}\n" for host in lab.hosts))
    mount(lab.inside / "hosts", "/etc/hosts", flags=MS_BIND)
    (lab.inside / "hostfile").write_text("".join(f"{host.name} slots=1\n" for host in lab.ranks()))
    agent = lab.inside / "agent"
    agent.write_text(AGENT.format(inside=lab.inside))
    agent.chmod(0o755)

    set_up_network()
    lab.namespace(SWITCH).touch()
    mount("/proc/self/ns/net", lab.namespace(SWITCH), flags=MS_BIND)
    for host in lab.hosts:
        build_host(host, lab)
    enter(lab.namespace(SWITCH), CLONE_NEWNET)
    build_switch(lab)
