"""What a user can choose of a comparison, and the results that a key figure can have. It needs Python's own library
only, so that commands say what is wrong with their options before all else is loaded."""

from __future__ import annotations

import dataclasses

BETTER, WORSE, NO_DIFFERENCE, INCONCLUSIVE = "better", "worse", "no difference", "inconclusive"


@dataclasses.dataclass(frozen=True)
class Settings:
    relevant: float = 0.02  # share of the larger median; of yes or no: of the runs
    ignore_below: float = 0.0  # in the same measure: smaller differences are never called
    pairs: bool = True
    allow_different_plans: bool = False
    figures: tuple | None = None  # names; None: all
    decide_by: str | None = None  # name of the figure that decides; None: the first that differs
