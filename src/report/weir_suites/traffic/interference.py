"""By how much collectives took longer beside others than alone: JCT beside / JCT alone, the interference factor of
draft-calabria-bmwg-ai-fabric-training-bench (editor's copy of 2026-10-01)."""

from weir_runs.basics import units
from weir_runs.basics.errors import ReportError
from weir_runs.reading.run_record import read_run_record

SCHEMA = "weir-interference/1"
# What a collective is: the factor compares equals.
_SAME = ("kind", "algorithm", "workers", "bytes", "compute_s")


def collectives_of(directory):
    """By name, as run.json has them. Raises ReportError."""
    directory, record = read_run_record(directory)
    found = record.get("collectives")
    if not found:
        raise ReportError(f"{directory / 'run.json'}: it has no collectives; a run with --pattern collectives:FILE "
                          "that has ended is expected")
    return {one["name"]: one for one in found}


def compare(beside, alone):
    """A record for --json. Raises ReportError."""
    together, lines = collectives_of(beside), []
    for directory in alone:
        for name, single in collectives_of(directory).items():
            if name not in together:
                raise ReportError(f"{directory}: its collective {name} is not in {beside}; there are "
                                  f"{', '.join(together)}")
            other = together[name]
            for key in _SAME:
                if other[key] != single[key]:
                    raise ReportError(f"{directory}: {name} has {key} {single[key]}, and in {beside} {other[key]}; "
                                      "equal ones are compared")
            lines.append({"name": name, "alone": str(directory), "jct_beside_s": other["jct_s_p50"],
                          "jct_alone_s": single["jct_s_p50"],
                          "factor": _factor(other, single, "p50"), "factor_p99": _factor(other, single, "p99")})
    return {"schema": SCHEMA, "beside": str(beside), "collectives": lines}


def _factor(beside, alone, quantile):
    over, under = beside[f"jct_s_{quantile}"], alone[f"jct_s_{quantile}"]
    return over / under if over and under else None


def text_lines(record):
    width = max(len(line["name"]) for line in record["collectives"]) + 2
    return [f"{line['name']:<{width}}" + ("no iteration is complete" if line["factor"] is None else
            f"interference factor {units.number(line['factor'])} (p99 {units.number(line['factor_p99'])}): JCT "
            f"{units.text(line['jct_beside_s'], 's')}, alone {units.text(line['jct_alone_s'], 's')}")
            for line in record["collectives"]]
