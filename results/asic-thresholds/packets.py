"""How many packets of a cell to one blocked port bring the first pause, the first loss, and the end of a pause.

A dynamic threshold is `alpha` times what is free, so a group that alone fills a pool of B cells is paused with the
first cell n for which n >= floor(alpha * (B - n)), beside the cells that are reserved for it."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

from weir_suites.switches.asics import cells, shared_cells_of_all


@dataclasses.dataclass(frozen=True)
class Profile:
    """A BUFFER_PROFILE in bytes: of a priority group, or of a queue without xoff. dynamic_th: alpha is 2 to its
    power; without one static_th_bytes is the threshold."""
    size_bytes: int
    dynamic_th: int | None = None
    static_th_bytes: int = 0
    xoff_bytes: int = 0
    xon_offset_bytes: int = 0


def shared_cells(asic, pool):
    """Cells that one packet's part of the memory shares out among groups."""
    return shared_cells_of_all(asic, pool) // asic.slices


def reserved_cells(asic, pool, profile):
    """Cells that a group or queue has for itself: in a pool without `xoff`, `size` holds its headroom too."""
    return cells(profile.size_bytes - (0 if pool.headroom_bytes else profile.xoff_bytes), asic)


def dynamic_cells(shared, dynamic_th):
    """The first n with n >= floor(alpha * (shared - n)): cells with which a group alone is at its threshold."""
    alpha = Fraction(2) ** dynamic_th
    reached = max(0, math.floor(shared * alpha / (1 + alpha)) - 2)
    while reached < math.floor(alpha * (shared - reached)):
        reached += 1
    return reached


def threshold_cells(asic, pool, profile):
    """Cells of the pool and reserved ones with which a group or queue that alone fills the pool is at its threshold."""
    shared = shared_cells(asic, pool)
    reached = (cells(profile.static_th_bytes, asic) // asic.slices if profile.dynamic_th is None
               else dynamic_cells(shared, profile.dynamic_th))
    return reserved_cells(asic, pool, profile) + min(reached, shared)


def packets_to_pause(asic, pool, profile):
    """Packets of a cell from one ingress port to a blocked port, until the first PAUSE of a lossless group."""
    return threshold_cells(asic, pool, profile)


def packets_to_ingress_drop(asic, pool, profile):
    """Packets until the first that is lost at the ingress port: its headroom is full."""
    return packets_to_pause(asic, pool, profile) + cells(profile.xoff_bytes, asic) + 1


def packets_to_egress_drop(asic, pool, profile):
    """Packets until the first that a lossy queue of the blocked port loses."""
    return threshold_cells(asic, pool, profile) + 1


def packets_to_resume(asic, profile):
    """By how many packets a paused group must fall at most, until its pause ends."""
    return cells(profile.xon_offset_bytes, asic) + 1
