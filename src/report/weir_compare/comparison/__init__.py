"""Are settings different, why, and what comes of it: weir-compare, its answer, its page."""
