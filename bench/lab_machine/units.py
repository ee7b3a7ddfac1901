"""Values of options: how they are written, and how they are shown.
"""

import argparse
import re

RATE_UNITS = {"b/s": 1, "kb/s": 10**3, "Mb/s": 10**6, "Gb/s": 10**9, "Tb/s": 10**12}
SIZE_UNITS = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
TIME_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}


def quantity(text, units, example):
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z/]+)", text)
    if not match or match[2] not in units or float(match[1]) <= 0:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a number above 0 with one of the units {' '.join(units)}; right would be {example}")
    return float(match[1]) * units[match[2]]


def link_rate(text):
    """Bits per second; 0: no limit."""
    return 0 if text == "none" else round(quantity(text, RATE_UNITS, "500Mb/s, or none for no limit"))


def size(text):
    return round(quantity(text, SIZE_UNITS, "256KiB"))


def port_buffer(text):
    """Bytes, or the word for time x link."""
    return text if text == "deep" else round(quantity(text, SIZE_UNITS, "256KiB, or deep"))


def marking(text):
    """[begin, all] in bytes: queues longer than `all` mark every packet, between `begin` and `all` a growing share. []:
    no marks."""
    if text == "none":
        return []
    ends = [round(quantity(part, SIZE_UNITS, "15kB, 10kB..30kB, or none")) for part in text.split("..")]
    if len(ends) > 2 or ends[0] > ends[-1]:
        raise argparse.ArgumentTypeError(f"'{text}' is neither a size nor a range of two; right would be 15kB, "
                                         "10kB..30kB, or none")
    return [ends[0], ends[-1]]


def delay(text):
    return quantity(text, TIME_UNITS, "5ms")


def time_limit(text):
    return quantity(text, TIME_UNITS, "10min")


def congestion_control(text):
    if not re.fullmatch(r"[a-z0-9_]{1,15}", text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a congestion control of the kernel's TCP; right would be "
                                         "cubic, reno or dctcp")
    return text


def count(text):
    if not re.fullmatch(r"[1-9][0-9]*", text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number above 0; right would be 4")
    return int(text)


def lab_name(text):
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,30}", text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a name of at most 31 small letters, digits and '-'")
    return text


def rate_text(bits_per_second):
    if not bits_per_second:
        return "no limit"
    for unit, factor in reversed(RATE_UNITS.items()):
        if bits_per_second >= factor:
            return f"{bits_per_second / factor:g} {unit}"
    return f"{bits_per_second} b/s"


def size_text(size_bytes):
    for unit in ("GiB", "MiB", "KiB"):
        if size_bytes >= SIZE_UNITS[unit]:
            return f"{size_bytes / SIZE_UNITS[unit]:.4g} {unit}"
    return f"{size_bytes} B"
