"""Tables as CSV, for programs and for spreadsheets."""

import csv
import io


def csv_text(rows):
    """Lines of `rows`. An absent value is empty, as in the files of a run. Spreadsheets take what begins like a formula
    for one, also =cmd|..., so a name that does gets an apostrophe in front."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue()


def _cell(value):
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t",
                                                                       "\r")) and not _is_number(value) else value


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True
