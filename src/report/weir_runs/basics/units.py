"""Numbers and lists as people read them, on terminals, pages and charts.

A number has three significant digits, no zeros at its end that carry nothing, and a space before its unit: 4.8 Gb/s,
90 ms, 1.36 s, 16 MiB. Shares have one decimal at most. src/files/formatting.hpp has the same rules for C++. What
programs read is exact instead: quantities.py."""

import math

DIGITS = 3
_SCALES = {
    "b/s": ((1e12, "Tb/s"), (1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s"), (1.0, "b/s")),
    "B": ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")),
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")),
}
_BINARY = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


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


def number(value, digits=DIGITS):
    """2.4, 0.85, 1234, 6.1e-5: so many significant digits, and all of those before the decimal point."""
    if value is None or math.isnan(value):
        return "-"
    if math.isinf(value):
        return "-∞" if value < 0 else "∞"
    rounded = f"{value:.{digits - 1}e}"
    exponent = int(rounded[rounded.index("e") + 1:])
    if value and exponent < -4:
        return f"{_without_zeros(rounded[:rounded.index('e')])}e{exponent}"
    return _without_zeros(f"{value:.{max(0, digits - 1 - exponent)}f}")


def _without_zeros(text):
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "+0") else text


def text(value, unit="", like=None, digits=DIGITS):
    """`value` with its unit: 85.8 Gb/s, 13 %, 0.677. Absent is '-'. `unit`: b/s, B, s, %, 1 or any word. `like`: a
    value whose unit is used, so that values that stand side by side have one unit."""
    if value is None or math.isnan(value):
        return "-"
    if unit == "%":
        return percent(value)
    if unit == "B" and like is None and (exact := _binary(value, digits)):
        return exact
    # 999.9 ns are 1 us.
    factor, name = scale(unit, float(f"{value:.{digits - 1}e}") if like is None else like)
    return number(value / factor, digits) + (f" {name}" if name not in ("", "1") else "")


def _binary(value, digits):
    """16 MiB, where that is exact and a decimal unit is not, or takes more digits; else None."""
    decimal = next((factor for factor, _ in _SCALES["B"] if value >= factor), 1.0)
    for factor, name in _BINARY:
        if value >= factor and _is_exact(value / factor, digits):
            exact = number(value / factor, digits)
            shorter = len(exact) < len(number(value / decimal, digits)) or not _is_exact(value / decimal, digits)
            return f"{exact} {name}" if shorter else None
    return None


def _is_exact(value, digits):
    return float(f"{value:.{digits - 1}e}") == value


def percent(value):
    """A share with one decimal at most: 41 %, 4.2 %, below 0.1 %, above 99.9 %."""
    if value is None or math.isnan(value):
        return "-"
    shown = 100.0 * value
    if 99.95 <= shown < 100:
        return "above 99.9 %"
    if shown and abs(shown) < 0.05:
        return "below 0.1 %"
    whole = abs(shown) >= 9.95 and not 99.5 <= shown < 100
    return f"{_without_zeros(f'{shown:.{0 if whole else 1}f}')} %"


def percentage(value):
    """A share in per cent with two digits, however small it is: 41 %, 0.42 %, 0.0061 %."""
    return percent(value) if value == 0 or value >= 0.1 else f"{number(100.0 * value, 2)} %"


def share(part, whole=1.0):
    """A part of a whole with two digits, however small it is: 41 %, 0.42 %, 6.1e-5. None if there is no whole."""
    if part is None or not whole:
        return None
    value = part / whole
    return number(value, 2) if 0 < value < 0.001 else percentage(value)


def part(count, whole):
    """4 (6.1e-5): a number with its share of the whole, if that is known."""
    of_whole = share(count, whole) if count else None
    return number(count) + (f" ({of_whole})" if of_whole else "")


def exact_percent(value):
    """A share that somebody chose: 1 %, 0.25 %"""
    return f"{100.0 * value:g} %"


def change(value, before):
    """How much `value` is above `before`: +3.1 %, x 12"""
    if not before:
        return "0 %" if not value else "-"
    percents = 100.0 * (value / before - 1.0)
    return f"{_without_zeros(f'{percents:+.1f}')} %" if abs(percents) < 999.95 else f"x {number(value / before)}"


def instant(seconds, decimals=3):
    """A time in a run: 12.345 s. So many decimals and no more."""
    return _without_zeros(f"{seconds:.{decimals}f}") + " s"


def counter(value, unit):
    """What a device counted, to the last digit; bytes and times as `text` has them."""
    if unit in ("B", "s"):
        return text(value, unit)
    return f"{value:.0f}" if value == int(value) else f"{value:g}"


def duration(seconds):
    """1 h 12 min; 4.5 min; 40 s"""
    if seconds >= 3600:
        minutes = int(seconds % 3600 // 60)
        return f"{int(seconds // 3600)} h{f' {minutes} min' if minutes else ''}"
    return f"{seconds / 60:.3g} min" if seconds >= 100 else f"{seconds:.0f} s"


# --- Words.


def counted(count, singular):
    """1 consumer, 2 consumers"""
    return f"{count} {singular}{'' if count == 1 else 's'}"


def listed(names, most=3, between=", "):
    """a; a and b; a, b and c; of many the first: a, b, c and 3 more. One more than `most` is named as well."""
    names = list(names)
    if len(names) > most + 1:
        return f"{between.join(names[:most])} and {len(names) - most} more"
    return between.join([*names[:-2], " and ".join(names[-2:])])


def capital(text):
    """With a capital at its beginning."""
    return text[:1].upper() + text[1:]
