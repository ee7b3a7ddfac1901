"""What a lab is: hosts, links and switch ports."""

import dataclasses
import json
import pathlib

from lab_machine.units import rate_text, size_text
from soft_roce.problem import Problem

STATE = pathlib.Path("/run/weir-lab")

LOGIN, SWITCH = "login", "switch"
ROLES = ("scheduler", "producer", "consumer")
ROLE_PREFIX = {"scheduler": "ctl", "producer": "eb", "consumer": "fn"}
MOST_HOSTS = 1000  # a bridge has 1023 ports

# What a frame takes on a wire besides its 14 bytes of header and its IP packet: preamble, checksum and gap.
ETHERNET_HEADER, ETHERNET_REST = 14, 24

DEEP_S = 0.1           # as long as a deep-buffer switch of today can hold a port's traffic
SMALLEST_DEEP_BYTES = 2**20


# Hosts hand bundles of packets to their interface, and queues take or drop a bundle as a whole. Bundles as large as
# usual would make a shallow queue one of four places; small ones cost CPU time, which on few cores is what limits a
# lab.
MOST_BUNDLE_BYTES = 65536


@dataclasses.dataclass
class Host:
    name: str
    role: str
    index: int      # 1 for the first: the last bytes of addresses
    link_bits_per_second: int
    buffer_bytes: int               # of the switch's port to this host
    mark_bytes: list = dataclasses.field(default_factory=list)  # see units.marking

    @property
    def address(self):
        return f"198.{18 + (self.index >> 16)}.{self.index >> 8 & 255}.{self.index & 255}"

    @property
    def mac(self):
        return f"02:c6:12:00:{self.index >> 8:02x}:{self.index & 255:02x}"


@dataclasses.dataclass
class Lab:
    name: str
    mtu_bytes: int
    bundle_bytes: int
    hosts: list         # of Host, login first
    delay_s: float = 0  # of every packet on its way to a port of the switch, besides the queues
    tcp: str = ""       # congestion control of the hosts; empty: the kernel's own choice

    @property
    def uses_ecn(self):
        """Whether hosts request marks instead of losses."""
        return self.tcp == "dctcp" or any(host.mark_bytes for host in self.hosts)

    @property
    def directory(self):
        return STATE / self.name

    @property
    def inside(self):
        """A file system that only processes in the lab see: namespaces, temporary files, hosts file, launch agent."""
        return self.directory / "inside"

    def namespace(self, host_name):
        return self.inside / "net" / host_name

    def named(self, role):
        return [host.name for host in self.hosts if host.role == role]

    def ranks(self):
        return [host for host in self.hosts if host.role in ROLES]


def host_list(names):
    """fn01..fn72 as fn[01-72], the syntax of weir and SLURM."""
    if len(names) == 1:
        return names[0]
    prefix = names[0].rstrip("0123456789")
    return f"{prefix}[{names[0][len(prefix):]}-{names[-1][len(prefix):]}]"


def plan_lab(options):
    links = {role: getattr(options, f"{role}_link") for role in ("producer", "consumer", "scheduler")}
    for role in ("producer", "consumer"):
        links[role] = options.link if links[role] is None else links[role]
    links["scheduler"] = links["producer"] if links["scheduler"] is None else links["scheduler"]
    if options.mark and not all(links[role] for role in ROLES):
        raise Problem("--mark: a port without a limit has no queue that could be marked; right would be a --link", 2)
    counts = {"scheduler": 1, "producer": options.producers, "consumer": options.consumers}
    if sum(counts.values()) > MOST_HOSTS:
        raise Problem(f"--producers {options.producers} and --consumers {options.consumers}: a software switch carries "
                      f"at most {MOST_HOSTS} hosts", 2)
    if not 576 <= options.mtu <= 65535:
        raise Problem(f"--mtu: {options.mtu} B is not between 576B and 65535B; Ethernet has 1500B, jumbo frames 9000B",
                      2)

    hosts = [Host(LOGIN, LOGIN, 1, 0, 0)]
    for role in ROLES:
        width = max(2, len(str(counts[role])))
        for number in range(1, counts[role] + 1):
            link = links[role]
            hosts.append(Host(f"{ROLE_PREFIX[role]}{number:0{width}}", role, len(hosts) + 1, link,
                              port_buffer_bytes(options.buffer, link),
                              options.mark))
    smallest = 2 * (options.mtu + ETHERNET_HEADER)
    check_port(options.buffer, options.mark, options.mtu)
    bundle = options.bundle
    if bundle is None:
        shallowest = min((host.buffer_bytes for host in hosts if host.link_bits_per_second), default=MOST_BUNDLE_BYTES)
        bundle = max(smallest, min(MOST_BUNDLE_BYTES, shallowest // 16))
    return Lab(options.name, options.mtu, min(bundle, MOST_BUNDLE_BYTES), hosts, options.delay, options.tcp or "")


def port_buffer_bytes(text_or_bytes, link_bits_per_second):
    """The bytes of --buffer, for a port of that speed."""
    return max(round(DEEP_S * link_bits_per_second / 8),
               SMALLEST_DEEP_BYTES) if text_or_bytes == "deep" else text_or_bytes


def check_port(buffer, mark_bytes, mtu_bytes):
    """Refuses what a queue of the kernel cannot do. buffer: bytes or "deep"; both may be None."""
    smallest = 2 * (mtu_bytes + ETHERNET_HEADER)
    if buffer not in (None, "deep") and buffer < smallest:
        raise Problem(f"--buffer: {buffer} B holds less than two packets of --mtu {mtu_bytes}B; at least {smallest}B",
                      2)
    if mark_bytes and buffer not in (None, "deep") and mark_bytes[1] + mtu_bytes + ETHERNET_HEADER > buffer:
        raise Problem(f"--mark: a queue of {mark_bytes[1]} B and one packet more do not fit into --buffer {buffer}B, "
                      "which drops them before they are marked", 2)


def load_lab(name):
    try:
        found = json.loads((STATE / name / "lab.json").read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    return Lab(**found | {"hosts": [Host(**host) for host in found["hosts"]]})


def describe(lab):
    texts = []
    for role in ROLES:
        names = lab.named(role)
        host = next(host for host in lab.hosts if host.role == role)
        queue = f" with {size_text(host.buffer_bytes)} behind it" if host.link_bits_per_second else ""
        texts.append(f"{role} {host_list(names)}: "
                     f"{rate_text(host.link_bits_per_second)}{queue}{marking_text(host.mark_bytes)}")
    more = (f", {lab.delay_s * 1e3:g} ms of delay" if lab.delay_s else "") + (f", TCP {lab.tcp}" if lab.tcp else "")
    return (f"lab '{lab.name}': {len(lab.ranks())} hosts, MTU {lab.mtu_bytes} B, bundles of "
            f"{size_text(lab.bundle_bytes)}{more}; "
            + "; ".join(texts))


def marking_text(mark_bytes):
    if not mark_bytes:
        return ""
    begin, everything = mark_bytes
    return (f", marks above {size_text(begin)}" if begin == everything
            else f", marks from {size_text(begin)} to {size_text(everything)}")
