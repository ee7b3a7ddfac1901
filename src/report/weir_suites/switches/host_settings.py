"""What hosts say of their NICs, as far as a switch must agree: trust, PFC, DSCPs, notification and reaction points.

Read are: `mlnx_qos -i INTERFACE` (as in NVIDIA's MLNX_OFED manual, 5.8 and 24.10), listings `file:value` of
/sys/class/net/*/ecn, rdma_cm's default_roce_tos and infiniband's tc/1/traffic_class (`grep . FILES`), the number that
`cma_roce_tos` prints, sysctl's dev.mce of FreeBSD (NVIDIA's FreeBSD manual 3.7.1), TLVs as `niccli -dev N get_qos`
(AMD's guide to networks of clusters with Broadcom's NICs, 2025) and `lldptool -t -i INTERFACE` print them, and `weir
check --json`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from weir_runs.basics import units
from weir_runs.basics.errors import ReportError

from .audit import SERIOUS, WARNING, Finding
from .qos_description import path_of

LISTED = re.compile(r"(?<!\w)(ecn/roce_(?:np|rp)/enable/\d|roce_np/cnp_dscp|default_roce_tos|traffic_class)"
                    r"\s*[:=]\s*(?:Global tclass=)?(\d{1,3})\s*$", re.MULTILINE)
TLV = "IEEE 8021QAZ PFC TLV"
PFC_OF_TLV = re.compile(r"PFC enabled: *(none|\d(?:[ ,]+\d)*)")
DSCP_OF_TLV = re.compile(r"Priority: *(\d)\s+Sel: *5\s+DSCP: *(\d{1,2})")
PFC_OF_FREEBSD = re.compile(r"dev\.mce\.\d+\.[rt]x_priority_flow_control_(\d):\s*([01])")


@dataclass
class HostSettings:
    """Absent: not known. Numbers are those of DSCPs and priorities."""
    source: str
    trusts_dscp: bool | None = None
    pfc: frozenset | None = None
    priority_of_dscp: dict = field(default_factory=dict)
    data_dscp: int | None = None
    cnp_dscp: int | None = None
    notifies: dict = field(default_factory=dict)  # priority: whether receivers send CNPs
    reacts: dict = field(default_factory=dict)

    def findings(self, port, dscp):
        """What does not agree with a port of the switch. `dscp`: of data, unless the hosts say which they send."""
        sent = dscp if self.data_dscp is None else self.data_dscp
        path = path_of(port, sent)
        # Without a map of its own a NIC takes the upper three bits.
        priority = None if self.trusts_dscp is False else self.priority_of_dscp.get(sent, sent >> 3)
        yield from self._about_data(port, dscp, sent)
        if self.trusts_dscp is False:
            yield Finding(WARNING, "host-trust", f"{self.source}: the NICs trust PCP, and not the DSCP: without a VLAN "
                          "all has priority 0", "mlnx_qos -i INTERFACE --trust=dscp")
        if self.pfc is not None and port.pfc is not None:
            yield from self._about_pfc(port, path, sent, priority)
        queue = port.queues.get(path.queue.value) if path.queue else None
        if queue and queue.marking and queue.marking.marks.value and priority is not None:
            for name, states in (("send no CNPs (notification point, NP)", self.notifies),
                                 ("do not react to CNPs (reaction point, RP)", self.reacts)):
                if states.get(priority) is False:
                    yield Finding(SERIOUS, "host-ecn", f"{self.source}: the switch marks DSCP {sent}, and the NICs "
                                  f"{name} for priority {priority}",
                                  f"write 1 to ecn/roce_np/enable/{priority} and ecn/roce_rp/enable/{priority}")

    def _about_data(self, port, dscp, sent):
        if sent != dscp:
            yield Finding(WARNING, "host-dscp", f"{self.source}: hosts send RoCE with DSCP {sent}, and the audit is "
                          f"for DSCP {dscp}", f"--dscp {sent}, or cma_roce_tos -t {4 * dscp + 2}")
        cnp = None if self.cnp_dscp is None else path_of(port, self.cnp_dscp)
        if cnp and cnp.queue and (same := path_of(port, sent).queue) and same.value == cnp.queue.value:
            yield Finding(WARNING, "host-cnp", f"{self.source}: hosts send CNPs with DSCP {self.cnp_dscp}, which the "
                          f"switch puts into the queue of data ({same.value})", "use a DSCP with a queue of its own")

    def _about_pfc(self, port, path, sent, priority):
        of_nics, of_switch = (units.listed(map(str, sorted(mask)), most=8) or "none"
                              for mask in (self.pfc, port.pfc.value))
        expected = path.priority
        agree = expected in self.pfc and (priority is None or priority == expected)
        if expected is not None and expected in port.pfc.value and not agree:
            taken = f" and take it for priority {priority}" if priority not in (None, expected) else ""
            yield Finding(SERIOUS, "host-pfc", f"{self.source}: of RoCE with DSCP {sent} the NICs pause "
                          f"priority {of_nics}{taken}, the switch expects it in priority {expected}",
                          "set the same priority on both sides", (str(port.pfc.place), str(path.traffic_class.place)))
        elif self.pfc != port.pfc.value:
            yield Finding(WARNING, "host-pfc", f"{self.source}: the NICs have PFC for priority {of_nics}, the switch "
                          f"for {of_switch}", "set the same on both sides", (str(port.pfc.place),))


def is_hosts(text):
    return bool("PFC configuration:" in text or TLV in text or LISTED.search(text) or PFC_OF_FREEBSD.search(text)
                or re.fullmatch(r"\s*\d{1,3}\s*", text))


def of_text(source, text):
    made = HostSettings(source)
    if trust := re.search(r"Priority trust state:\s*(\w+)", text):
        made.trusts_dscp = trust[1] == "dscp"
    for priority, dscps in re.findall(r"prio:(\d)\s+dscp:([\d,]+)", text):
        made.priority_of_dscp.update((int(dscp), int(priority)) for dscp in dscps.split(",") if dscp)
    if enabled := re.search(r"PFC configuration:\s*priority[\s\d]*?enabled((?:\s+[01]){8})", text):
        made.pfc = frozenset(number for number, on in enumerate(enabled[1].split()) if on == "1")
    if TLV in text and (enabled := PFC_OF_TLV.search(text)):
        made.pfc = frozenset(int(priority) for priority in re.findall(r"\d", enabled[1]))
        made.priority_of_dscp.update((int(dscp), int(priority)) for priority, dscp in DSCP_OF_TLV.findall(text))
    if pairs := PFC_OF_FREEBSD.findall(text):
        made.pfc = frozenset(int(priority) for priority, on in pairs if on == "1")
    if alone := re.fullmatch(r"\s*(\d{1,3})\s*", text):
        made.data_dscp = int(alone[1]) >> 2
    for name, value in LISTED.findall(text):
        _take_listed(made, name, int(value))
    return made


def _take_listed(made, name, value):
    if name.endswith("cnp_dscp"):
        made.cnp_dscp = value
    elif "enable" in name:
        (made.notifies if "roce_np" in name else made.reacts)[int(name[-1])] = value != 0
    else:
        made.data_dscp = value >> 2


def of_check(source, document):
    """One for each interface with RDMA of `weir check --json`. Raises ReportError."""
    try:
        return [_of_interface(source, host, interface, port) for host in document["hosts"]
                for port in host["rdma_ports"] for interface in host["interfaces"]
                if interface["name"] == port["interface"]]
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise ReportError(f"{source}: not as weir check --json writes it ({type(error).__name__})") from error


def _of_interface(source, host, interface, port):
    made = HostSettings(f"{source}, {host['host']} {interface['name']}", interface["dscp_trusted"])
    made.pfc = _set(interface["pfc_priorities"])
    made.priority_of_dscp = {int(dscp): int(priority) for dscp, priority in interface["priority_of_dscp"]}
    made.data_dscp = None if port["traffic_class"] is None else int(port["traffic_class"]) >> 2
    for states, on in ((made.notifies, _set(interface["ecn_notification_priorities"])),
                       (made.reacts, _set(interface["ecn_reaction_priorities"]))):
        states.update({} if on is None else {priority: priority in on for priority in range(8)})
    return made


def _set(priorities):
    return None if priorities is None else frozenset(priorities)
