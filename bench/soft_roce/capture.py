"""Counts the RoCE v2 packets of a capture (pcap): which verbs went over the link.

    read(path)["RDMA READ request"]
"""

import collections
import struct

ROCE_PORT = 4791   # of UDP
UDP = 17
IPV4, IPV6 = 0x0800, 0x86DD

# Operations of reliable connections, by the first byte of the base transport header. InfiniBand architecture, volume 1,
# 9.2.1
OPERATIONS = {0: "SEND", 1: "SEND", 2: "SEND", 3: "SEND", 4: "SEND", 5: "SEND", 22: "SEND", 23: "SEND",
              6: "RDMA WRITE", 7: "RDMA WRITE", 8: "RDMA WRITE", 9: "RDMA WRITE", 10: "RDMA WRITE", 11: "RDMA WRITE",
              12: "RDMA READ request", 13: "RDMA READ response", 14: "RDMA READ response", 15: "RDMA READ response",
              16: "RDMA READ response", 17: "acknowledgement", 18: "atomic acknowledgement", 19: "compare and swap",
              20: "fetch and add"}
UNRELIABLE_DATAGRAM = (100, 101)


def read(path):
    """Packets by operation. ValueError: not a capture of Ethernet frames."""
    counts = collections.Counter()
    with open(path, "rb") as file:
        header = file.read(24)
        if len(header) < 24 or header[:4] not in (b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\xc3\xd4"):
            raise ValueError(f"{path}: not a pcap file")
        order = "<" if header[0] == 0xD4 else ">"
        if struct.unpack_from(order + "I", header, 20)[0] != 1:
            raise ValueError(f"{path}: not a capture of Ethernet frames")
        # A capture that was cut off ends in the middle of a packet.
        while len(header := file.read(16)) == 16:
            length = struct.unpack_from(order + "I", header, 8)[0]
            frame = file.read(length)
            if len(frame) == length and (operation := operation_of(frame)):
                counts[operation] += 1
    return counts


def operation_of(frame):
    """None: not a RoCE v2 packet."""
    if len(frame) < 34:
        return None
    kind, = struct.unpack_from(">H", frame, 12)
    if kind == IPV4:
        protocol, begin = frame[23], 14 + 4 * (frame[14] & 15)
    elif kind == IPV6:
        protocol, begin = frame[20], 54
    else:
        return None
    if protocol != UDP or len(frame) < begin + 8 + 12 or struct.unpack_from(">H", frame, begin + 2)[0] != ROCE_PORT:
        return None
    code = frame[begin + 8]
    return "datagram" if code in UNRELIABLE_DATAGRAM else OPERATIONS.get(code, f"operation {code}")


def summary(path):
    """For people: how many of which."""
    counts = read(path)
    parts = ", ".join(f"{number} {operation}" for operation, number in counts.most_common())
    return f"{sum(counts.values())} RoCE v2 packets" + (f" ({parts})" if parts else "")
