"""Numbers as people read them: the same in Python and, of the same cases, in C++ (formatting_test.cpp)."""

import ast
from pathlib import Path

import pytest

from weir_runs.basics import quantities, units

CASES = Path(__file__).resolve().parents[1] / "unit/files/number_cases.inc"
RULES = {
    "number": units.number,
    "rate": lambda value: units.text(value, "b/s"),
    "bytes": lambda value: units.text(value, "B"),
    "time": lambda value: units.text(value, "s"),
    "percent": units.percent,
    "share": units.share,
    "change": lambda value: units.change(value, 1.0),
    "instant": units.instant,
    "rough": units.duration}


def cases():
    """Each a line of an initializer: {"rate", 17, "17 b/s"},"""
    lines = CASES.read_text(encoding="utf-8").splitlines()
    return [ast.literal_eval(f"({line[1:-2]})") for line in lines if line.startswith("{")]


@pytest.mark.parametrize("rule, value, text", cases())
def test_numbers_have_one_style(rule, value, text):
    assert RULES[rule](value) == text


def test_values_side_by_side_have_powers_of_the_same_number():
    assert quantities.spaced("250KiB", "670kB") == "256 kB" and quantities.spaced("1MiB", "2MB") == "1.048576 MB"
    assert quantities.spaced("250KiB", "512KiB") == quantities.spaced("250KiB") == "250 KiB"
    assert quantities.spaced("670kB", "250KiB") == "670 kB" and quantities.spaced("off", "on") == "off"
