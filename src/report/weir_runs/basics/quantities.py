"""Numbers, sizes, rates, times and shares as weir takes them on its command line: exact, in bytes, b/s and ns. units.py
writes numbers for people, rounded; what is written here can be read again."""

import argparse
import re
from fractions import Fraction

_NUMBER = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,18})?)([A-Za-z/]+)")
_PLAIN = re.compile(r"-?[0-9]{1,18}(?:\.[0-9]{1,18})?(?:e[+-]?[0-9]{1,2})?")
_SHARE = re.compile(r"([0-9]{1,18}\.?[0-9]{0,18}|\.[0-9]{1,18}) ?%")
_KILO = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
BYTES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30,
         "TiB": 2**40}
RATES = {f"{prefix}b/s": factor for prefix, factor in _KILO.items()}
TIMES_NS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}
_UNITS = {unit: (base, factor) for base, factors in (("B", BYTES), ("b/s", RATES), ("ns", TIMES_NS))
          for unit, factor in factors.items()}
LARGEST = 2**62


class QuantityError(argparse.ArgumentTypeError):
    """What was found, and what would be right. argparse puts the option's name in front."""


def number_of(text):
    """(exact number in the base unit, base unit) of '50kB', '62.5Gb/s', '10us', or of a number without a unit, such as
    '-4' or '1e-5', of which it is ''. Base units are B, b/s and ns. None: it is none of these."""
    if _PLAIN.fullmatch(text):
        return Fraction(text), ""
    match = _NUMBER.fullmatch(text)
    if not match or match[2] not in _UNITS:
        return None
    base, factor = _UNITS[match[2]]
    return Fraction(match[1]) * factor, base


def spaced(text, beside=""):
    """The value of an option as it stands in a sentence: 62.5 Gb/s of '62.5Gb/s', with all its digits. A word stays.
    `beside`: the value that it is compared with; where that one has powers of ten, this one has, too."""
    match, other = _NUMBER.fullmatch(text), _NUMBER.fullmatch(beside)
    if match and other and match[2].endswith("iB") and other[2] in ("kB", "MB", "GB", "TB") and match[2] in _UNITS:
        text = size_text(round(number_of(text)[0]))
        match = _NUMBER.fullmatch(text)
    return f"{match[1]} {match[2]}" if match and match[2] in _UNITS else text


def seconds_of(text):
    """Seconds of '90s' or '1.5min'; None if it is no time."""
    found = number_of(text)
    return float(found[0] / 10**9) if found and found[1] == "ns" else None


def share(text):
    """0.02 of '2%' or '2 %'; None if it is no share in percent."""
    match = _SHARE.fullmatch(text)
    return float(match[1]) / 100.0 if match else None


def share_text(value):
    """2% of 0.02."""
    return f"{100 * value:g}%"


def _whole(base, what, unit):
    """What reads a whole number of the base unit."""
    def read(text):
        value, of = number_of(text) or (None, None)
        if of != base:
            raise QuantityError(f"'{text}' is not {what}")
        if value.denominator != 1:
            raise QuantityError(f"'{text}' is not a whole number of {unit}")
        if not 0 < value <= LARGEST:
            raise QuantityError(f"'{text}' is {'0' if not value else 'too large'}; expected is {what}")
        return int(value)
    return read


# Bytes of '1MiB'; b/s of '100Gb/s'; nanoseconds of '2.5ms'.
size = _whole("B", "a size with its unit (B kB MB GB TB KiB MiB GiB TiB), such as 1MiB", "bytes")
rate = _whole("b/s", "a rate with its unit (b/s kb/s Mb/s Gb/s Tb/s), such as 100Gb/s", "b/s")
time_ns = _whole("ns", "a time with its unit (ns us ms s min h), such as 2ms", "ns")


def _text(value, factors):
    """Exact, in the largest unit of which it is 1 or more. `factors`: the largest first."""
    unit = next((name for name, factor in factors.items() if value >= factor), list(factors)[-1])
    return _decimal(Fraction(value, factors[unit])) + unit


def time_text(value_ns):
    """2.5ms"""
    return _text(value_ns, {name: TIMES_NS[name] for name in ("s", "ms", "us", "ns")})


def size_text(size_bytes):
    """1.5MB"""
    return _text(size_bytes, {name: BYTES[name] for name in ("TB", "GB", "MB", "kB", "B")})


def rate_text(bits_per_second):
    """100Gb/s"""
    return _text(bits_per_second, dict(reversed(RATES.items())))


def _decimal(value):
    """A fraction of a power of ten, without its last zeros."""
    digits = f"{value.numerator * 10**12 // value.denominator:013d}"
    return f"{digits[:-12]}.{digits[-12:]}".rstrip("0").rstrip(".")


def rounded_up_ns(value_ns):
    """The next time of which the first two digits are not 0: 1.17 ms -> 1.2 ms."""
    value_ns = max(1, -(-value_ns // 1))
    step = 10**max(0, len(str(int(value_ns))) - 2)
    return int(-(-value_ns // step) * step)
