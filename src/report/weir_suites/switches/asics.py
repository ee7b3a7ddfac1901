"""Switch chips, and what the pools of a configuration are in their memory: bytes that are shared, and bytes beside
them. A chip counts cells: a packet of 64 B takes one.

What is known of each chip, and from where, stands in its `source`:
- measured: Tomahawk and Trident 2, from packets that switches took (tests/qos/files/qos_params.th.yaml and
  qos_params.td2.yaml of sonic-mgmt@b4ba9de3c9) with the configurations of sonic-buildimage of the time.
- Juniper: "QFX5K-Series Switches Packet Buffer Architecture" (community.juniper.net, 2025-04-25): sizes of cells, and
  how many parts a memory has of which a packet can use only one. Its chips: QFX5100 Trident 2, QFX5120 Trident 3,
  QFX5200 Tomahawk, QFX5210 Tomahawk 2, QFX5220 Tomahawk 3, QFX5230 Tomahawk 4, QFX5240 Tomahawk 5, QFX5130 Trident 4.
- after looking: found when predictions were held against the numbers of other chips; results/asic-thresholds has the
  predictions as they were before.

What SONiC's `size` of a pool holds, its documents say in two ways. sonic-swss, doc/swss-schema.md (2026-08-21): "size
of the shared buffer pool", with `xoff` beside it, and SONiC, doc/qos/dynamically-headroom-calculation.md: without
headroom pool, too, headroom is no part of it. SAI, inc/saibuffer.h (since 34b790a2, 2019-07-02): `size` includes
`xoff`. Where the chip is known, what was measured decides (size_holds_all), else SONiC's own words."""

import dataclasses
import itertools
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


@dataclasses.dataclass(frozen=True)
class Memory:
    """Bytes of a pool, in all parts of the memory. headroom_bytes: those of the pool's own, or without one those of all
    groups together."""
    shared_bytes: int
    headroom_bytes: int
    slices: int
    how: str


def of_pool(configuration, pool):
    """The Memory of an ingress pool, or None if its size is not there."""
    if pool is None or pool.size is None:
        return None
    chip, size, xoff = of_sku(configuration.model), pool.size.value, headroom_of(pool)
    groups = [(profile, len(port.names)) for port in configuration.ports for profile in port.groups.values()
              if profile.pool is pool and profile.lossless]
    own = sum(profile.headroom.value * count for profile, count in groups if profile.headroom)
    if chip is None:
        return Memory(size, xoff or own, 1, f"{size} B to share")
    counted = not xoff or chip.size_holds_all
    reserved = tuple(_reserved(configuration, pool, chip, groups)) if counted else ()
    shared = shared_cells_of_all(chip, Pool(size, xoff, reserved)) * chip.cell_bytes
    less = " and ".join(filter(None, ("xoff" if counted and xoff else "", reserved and
                                      f"what {len(reserved)} groups and queues reserve")))
    return Memory(shared, xoff or own, chip.slices, f"{shared} B to share{f' (size less {less})' if less else ''}")


def headroom_of(pool):
    """Bytes of its shared headroom, 0 without one."""
    return pool.headroom.value if pool and pool.headroom else 0


def reserved_bytes(profile):
    """For a group or queue alone, without the headroom that `size` holds where its pool has none."""
    size = profile.reserved.value if profile and profile.reserved else 0
    own = profile.headroom.value if size and profile.headroom and not headroom_of(profile.pool) else 0
    return size - own if own <= size else size


def _reserved(configuration, pool, chip, groups):
    for profile, count in groups:
        if profile.reserved:
            yield from itertools.repeat(profile.reserved.value, count)
    for port in configuration.ports:
        if chip.reserving_queues and any(profile.pool is pool for profile in port.groups.values()):
            most = max((reserved_bytes(queue.profile) for queue in port.queues.values()), default=0)
            yield from itertools.repeat(most, chip.reserving_queues * len(port.names))
