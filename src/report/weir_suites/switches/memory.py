"""What the pools of a configuration are to the model: bytes that are shared, and bytes beside them.

What SONiC's `size` of a pool holds, its documents say in two ways. sonic-swss, doc/swss-schema.md (2026-08-21): "size
of the shared buffer pool", with `xoff` beside it, and SONiC, doc/qos/dynamically-headroom-calculation.md: without
headroom pool, too, headroom is no part of it. SAI, inc/saibuffer.h (since 34b790a2, 2019-07-02): `size` includes
`xoff`. Where the chip is known, what was measured decides (asics.size_holds_all), else SONiC's own words."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from . import asics


@dataclass(frozen=True)
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
    chip, size, xoff = asics.of_sku(configuration.model), pool.size.value, headroom_of(pool)
    groups = [(profile, len(port.names)) for port in configuration.ports for profile in port.groups.values()
              if profile.pool is pool and profile.lossless]
    own = sum(profile.headroom.value * count for profile, count in groups if profile.headroom)
    if chip is None:
        return Memory(size, xoff or own, 1, f"{size} B to share")
    counted = not xoff or chip.size_holds_all
    reserved = tuple(_reserved(configuration, pool, chip, groups)) if counted else ()
    shared = asics.shared_cells_of_all(chip, asics.Pool(size, xoff, reserved)) * chip.cell_bytes
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
