"""Numbers as people read them: three to four digits, with a unit that keeps them short."""

import math

_SCALES = {
    "b/s": ((1e12, "Tb/s"), (1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s"), (1.0, "b/s")),
    "B": ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")),
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")),
}


def scale(unit, largest):
    """The factor and the name of the unit in which a value as large as `largest` reads well."""
    steps = _SCALES.get(unit)
    if steps is None:
        return 1.0, unit
    for factor, name in steps:
        if abs(largest) >= factor:
            return factor, name
    # Nothing to go by: zero in the plain unit.
    return (1.0, unit) if not largest else steps[-1]


def number(value):
    """Four digits at most; whole numbers whole."""
    if value is None or math.isnan(value):
        return "-"
    if math.isinf(value):
        return "-∞" if value < 0 else "∞"
    # 0.35 s is 349.99999999999994 ms.
    if math.isclose(value, round(value), rel_tol=1e-12) and abs(value) < 1e7:
        return f"{round(value)}"
    digits = max(0, 3 - int(math.floor(math.log10(abs(value)))))
    return f"{value:.{min(digits, 6)}f}"


def share(part, whole):
    """A part of a whole, with two digits however small it is: 4.2 %, 0.006 %, 6e-05. None if there is no whole."""
    if part is None or not whole:
        return None
    value = part / whole
    if value == 0.0:
        return "0 %"
    if value < 1e-4:
        return f"{value:.2g}"
    # Not all is not 100 %, however little is missing.
    shown = f"{100.0 * value:.2g}" if value < 0.1 else number(round(100.0 * value, 2))
    return "> 99.99 %" if value < 1.0 and shown == "100" else f"{shown} %"


def part(count, whole):
    """4 (6e-05): a number with its share of the whole, if that is known."""
    said = share(count, whole) if count else None
    return number(count) + (f" ({said})" if said else "")


def text(value, unit=""):
    """`value` with its unit: 85.79 Gb/s, 12.5 %, 0.6766. Absent is '-'. `unit`: b/s, B, s, %, 1 or any word."""
    if value is None or math.isnan(value):
        return "-"
    if unit == "%":
        return f"{number(100.0 * value)} %"
    factor, name = scale(unit, value)
    return number(value / factor) + (f" {name}" if name not in ("", "1") else "")
