"""Who suffers: ranks whose rate falls while their own link is idle."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Victim:
    """`share`: its rate over what it is held against. `link_use`: of its own link, 0 to 1; None: not known."""

    role: str
    index: int
    host: str | None
    share: float
    link_use: float | None
    runs: int  # in which it was one


@dataclasses.dataclass(frozen=True)
class Victims:
    """Of one setting; `known` False: it could not be found out, and `reason` has why."""

    setting: str
    known: bool
    reason: str | None
    ranks: tuple  # of Victim, the worst first
    runs: int
    ports: tuple = ()  # sentences on ports whose counters stand out
