"""Two submissions side by side. A single figure (B / A) is formed only where all that must be equal is: nothing is
judged."""

from weir_runs.basics import text_table, units
from weir_runs.basics.errors import ReportError


def differences(first, second):
    """[(what must be equal, of A, of B)] that is not."""
    both = [("document", first["document"]["revision"], second["document"]["revision"])]
    both += [(key, first["comparability"].get(key), second["comparability"].get(key))
             for key in dict.fromkeys((*first["comparability"], *second["comparability"]))]
    return [(key, one, other) for key, one, other in both if one != other]


def lines(names, first, second):
    """For a terminal. `names`: of A and B. Raises ReportError where a submission is damaged."""
    try:
        return list(_lines(names, first, second))
    except (KeyError, TypeError, AttributeError) as error:
        raise ReportError(
            f"{names[0]}, {names[1]}: damaged ({error!r}); what weir-sweep bmwg writes is expected") from error


def _lines(names, first, second):
    yield from (f"A  {names[0]}", f"B  {names[1]}", "")
    found = differences(first, second)
    for key, one, other in found:
        yield f"not equal: {key.replace('_', ' ')}: A {_shown(one)}, B {_shown(other)}"
    if found:
        yield "So no single figure is formed: A and B stand beside each other."
        yield ""
    table = [("section", "figure", "setting", "A", "runs", "B", "runs",
              "B / A")] + list(_rows(first, second, not found))
    yield from text_table.aligned(table, left=(0, 1, 2))
    yield from _not_in_both(first, second)


def _rows(first, second, comparable):
    """Primary figures of the same section, name, unit, observation point and setting; of sections run with the same
    parameters a ratio, too."""
    of_second = {_key(row): row for row in second["repeatability"]}
    same = _same_parameters(first, second)
    for row in first["repeatability"]:
        other = of_second.get(_key(row))
        if other:
            ratio = units.number(other["mean"] / row["mean"]) if comparable and row["section"] in same and row[
                "mean"] else "-"
            yield (row["section"], row["figure"], row["setting"], units.text(row["mean"], row["unit"]),
                   str(row["runs"]), units.text(other["mean"], other["unit"]), str(other["runs"]), ratio)


def _key(row):
    return tuple(row[name] for name in ("section", "figure", "unit", "point", "setting"))


def _same_parameters(first, second):
    """Sections whose runs had the same parameters, but for how often they were repeated."""
    def used(submission):
        return {result["section"]: {name: values["used"] for name, values in result["parameters"].items()
                                    if name != "repetitions"}
                for result in submission["results"] if result["state"] == "done"}

    one, other = used(first), used(second)
    return {section for section in one if section in other
            and _but_settings(one[section]) == _but_settings(other[section])}


def _but_settings(parameters):
    """Lists of settings may differ: rows of the same setting are compared. Single values make a run."""
    return {name: values for name, values in parameters.items() if len(values) == 1}


def _not_in_both(first, second):
    for name, one, other in (("A", first, second), ("B", second, first)):
        keys = {_key(row) for row in other["repeatability"]}
        gone = sorted({row["section"] for row in one["repeatability"] if _key(row) not in keys},
                      key=lambda number: [len(number), number])
        if gone:
            yield f"only in {name}: settings of {', '.join(gone)}"


def _shown(value):
    return "-" if value is None else str(value)
