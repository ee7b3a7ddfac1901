"""Switch chips: what their memory makes of the bytes of a configuration. A chip counts cells: a packet of 64 B takes
one.

What is known of each chip, and from where, stands in its `source`:
- measured: Tomahawk and Trident 2, from packets that switches took (tests/qos/files/qos_params.th.yaml and
  qos_params.td2.yaml of sonic-mgmt@b4ba9de3c9) with the configurations of sonic-buildimage of the time.
- Juniper: "QFX5K-Series Switches Packet Buffer Architecture" (community.juniper.net, 2025-04-25): sizes of cells, and
  how many parts a memory has of which a packet can use only one. Its chips: QFX5100 Trident 2, QFX5120 Trident 3,
  QFX5200 Tomahawk, QFX5210 Tomahawk 2, QFX5220 Tomahawk 3, QFX5230 Tomahawk 4, QFX5240 Tomahawk 5, QFX5130 Trident 4.
- after looking: found when predictions were held against the numbers of other chips; results/asic-thresholds has the
  predictions as they were before."""

import dataclasses
import math
import re


@dataclasses.dataclass(frozen=True)
class Asic:
    """slices: equal parts of the memory; a packet can use one. size_holds_all: `size` of a pool that has an `xoff`
    counts the headroom pool and what is reserved too, else only what is shared. reserving_queues: of each port, whose
    reserve is in the ingress pool too."""
    name: str
    title: str
    cell_bytes: int
    slices: int
    size_holds_all: bool
    skus: str  # regular expression of SONiC's hwsku
    source: str
    reserving_queues: int = 0


# From Trident 3 on, size + xoff of the pools in sonic-buildimage is more than the whole memory, so size holds both.
HOLDS = "size + xoff of the pools of sonic-buildimage exceeds the memory ({}); after looking: reserved cells too"
ASICS = {asic.name: asic for asic in (
    Asic("td2", "Trident 2", 208, 1, False, r"(Arista-7050-?QX|Force10-S6000|ACS-S6000)",
         "measured; Juniper: cells of 208 B, memory shared by all ports"),
    Asic("th", "Tomahawk", 208, 4, False, r"(Arista-7060CX-|Force10-S6100|Force10-Z9100|Celestica-DX010)",
         "measured; Juniper: cells of 208 B, 4 cross-points"),
    Asic("th2", "Tomahawk 2", 208, 4, False, r"(Arista-7260CX3|DellEMC-Z9264f)",
         "Juniper: cells of 208 B, 4 cross-points; SAI divides pools by 4 (sonic-buildimage@7b0a5ba6ae); size + xoff "
         "is below the memory (42 MB), as in Tomahawk"),
    Asic("td3", "Trident 3", 256, 1, True, r"(Arista-7050CX3|DellEMC-S52)",
         f"Juniper: cells of 256 B, memory shared by all ports; {HOLDS.format('32 MiB')}"),
    Asic("th3", "Tomahawk 3", 254, 2, True, r"(DellEMC-Z9332f)",
         f"Juniper: cells of 254 B, 2 ITMs; {HOLDS.format('64 MB')}", 10),
    Asic("th5", "Tomahawk 5", 254, 2, True, r"(Arista-7060X6|NH-4010|Nokia-IXR7220-H5)",
         f"Juniper: cells of 254 B, 2 ITMs; {HOLDS.format('165 MB')}", 10),
    Asic("th6", "Tomahawk 6", 420, 1, True, r"(NH-4210|Nokia-IXR7220-H6-[OP])",
         "cells of 420 B: comment in device/nokia/x86_64-nokia_ixr7220_h6_128-r0 of sonic-buildimage@c402b1ff76; "
         "pools as in Tomahawk 5, no document; after looking: one part"),
)}


@dataclasses.dataclass(frozen=True)
class Pool:
    """A pool of buffers in bytes, as SONiC's BUFFER_POOL has it. headroom_bytes: `xoff`, 0 without one. reserved_bytes:
    `size` of the profile of each priority group and queue that counts against the pool: of lossless groups of all ports
    with a cable, and with uniform buffers (Tomahawk 3 and later) of all queues."""
    size_bytes: int
    headroom_bytes: int = 0
    reserved_bytes: tuple = ()


def of_sku(hwsku):
    """The chip of a SONiC hwsku, or None if it is not in the table."""
    return next((asic for asic in ASICS.values() if re.match(asic.skus, hwsku)), None)


def cells(size_bytes, asic):
    """Cells that hold so many bytes."""
    return math.ceil(size_bytes / asic.cell_bytes)


def shared_cells_of_all(asic, pool):
    """Cells that all parts of the memory share out among groups."""
    if pool.headroom_bytes and not asic.size_holds_all:
        return pool.size_bytes // asic.cell_bytes
    reserved = sum(cells(size_bytes, asic) for size_bytes in pool.reserved_bytes)
    return (pool.size_bytes - pool.headroom_bytes) // asic.cell_bytes - reserved
