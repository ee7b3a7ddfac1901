"""Numbers as people read them: three to four digits, with a unit that keeps them short."""

import math

_SCALES = {
    "b/s": ((1e12, "Tb/s"), (1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s"), (1.0, "b/s")),
    "B": ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")),
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")),
}


def scale(unit, largest):
    """The factor and the name of the unit in which a value as large as `largest` reads well."""
    if unit == "%":
        return 0.01, unit
    steps = _SCALES.get(unit)
    if steps is None:
        return 1.0, unit
    for factor, name in steps:
        if abs(largest) >= factor:
            return factor, name
    # Nothing to go by: zero in the plain unit.
    return (1.0, unit) if not largest else steps[-1]


def number(value, digits=4):
    """So many digits at most; whole numbers whole."""
    if value is None or math.isnan(value):
        return "-"
    if math.isinf(value):
        return "-∞" if value < 0 else "∞"
    # 0.35 s is 349.99999999999994 ms.
    if math.isclose(value, round(value), rel_tol=1e-12) and abs(value) < 1e7:
        return f"{round(value)}"
    decimals = max(0, digits - 1 - int(math.floor(math.log10(abs(value)))))
    return f"{value:.{min(decimals, 6)}f}"


def short(value):
    """Three digits at most, without zeros at the end: 85.8, 12, 0.91"""
    if value == 0 or abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}".rstrip("0").rstrip(".") or "0"


def short_text(value, unit):
    """85.8 Gb/s, 1.5 MB, 0.91 s. `unit`: b/s, B or s."""
    factor, name = scale(unit, float(f"{value:.3g}"))  # 999.9 ns are 1 us
    return f"{short(value / factor)} {name}"


def exact_percent(value):
    """A share that somebody chose: 1 %, 0.25 %"""
    return f"{100.0 * value:g} %"


def change(value, before):
    """How much `value` is above `before`: +3.1 %, x 12"""
    if not before:
        return "0 %" if not value else "-"
    percents = 100.0 * (value / before - 1.0)
    return f"{percents:+.1f} %" if abs(percents) < 999.95 else f"x {number(value / before)}"


def percent(value):
    """A share in percent, as the summary on the terminal has it: 41 %, 4.2 %, below 0.1 %, above 99.9 %."""
    shown = 100.0 * value
    if 99.5 <= shown < 100:
        return "above 99.9 %" if shown >= 99.95 else f"{shown:.1f} %"
    if shown == 0 or abs(shown) >= 9.95:
        return f"{shown:.0f} %"
    return "below 0.1 %" if abs(shown) < 0.05 else f"{shown:.1f} %"


def percentage(value):
    """A share of 1 with two digits in per cent, however small it is: 41 %, 0.42 %, 0.0061 %."""
    if value == 0 or value >= 0.1:
        return percent(value)
    if value < 1e-7:
        return share(value, 1.0)
    return f"{float(f'{100.0 * value:.2g}'):.8f}".rstrip("0").rstrip(".") + " %"


def share(part, whole):
    """A part of a whole with two digits, however small it is, as the summary has it (loss_share in
    src/files/formatting.cpp): 41 %, 0.42 %, 6.1e-5. None if there is no whole."""
    if part is None or not whole:
        return None
    value = part / whole
    if value == 0 or value >= 0.1:
        return percent(value)
    if value >= 0.001:
        return f"{100.0 * value:.2g} %"
    return f"{value:.1e}".replace("e-0", "e-")


def part(count, whole):
    """4 (6.1e-5): a number with its share of the whole, if that is known."""
    of_whole = share(count, whole) if count else None
    return number(count) + (f" ({of_whole})" if of_whole else "")


def counted(count, singular):
    """1 consumer, 2 consumers"""
    return f"{count} {singular}{'' if count == 1 else 's'}"


def text(value, unit="", like=None, digits=4):
    """`value` with its unit: 85.79 Gb/s, 12.5 %, 0.6766. Absent is '-'. `unit`: b/s, B, s, %, 1 or any word. `like`: a value
    whose unit is used, so that values that stand side by side have one unit. `digits`: at most."""
    if value is None or math.isnan(value):
        return "-"
    factor, name = scale(unit, value if like is None else like)
    return number(value / factor, digits) + (f" {name}" if name not in ("", "1") else "")


def counter(value, unit):
    """What a device counted, to the last digit; bytes and times as `text` has them."""
    if unit in ("B", "s"):
        return text(value, unit)
    return f"{value:.0f}" if value == int(value) else f"{value:g}"


def duration(seconds):
    """1 h 12 min; 4.5 min; 40 s"""
    if seconds >= 3600:
        return f"{int(seconds // 3600)} h {int(seconds % 3600 // 60)} min"
    return f"{seconds / 60:.3g} min" if seconds >= 100 else f"{seconds:.0f} s"
