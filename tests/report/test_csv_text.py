"""Tables for spreadsheets."""

import csv
import io

from weir_runs.basics.csv_text import csv_text


def test_what_begins_like_a_formula_is_text():
    cells = ["=1+1", "=cmd|' /C calc'!A0", "+a", "-a", "@SUM(1)", "\t=1", "a=1", "'", "", None, "-1.5e3", -2, 3.25,
             "+inf"]
    [read] = csv.reader(io.StringIO(csv_text([cells])))
    assert read == ["'=1+1", "'=cmd|' /C calc'!A0", "'+a", "'-a", "'@SUM(1)", "'\t=1", "a=1", "'", "", "", "-1.5e3",
                    "-2", "3.25", "+inf"]
