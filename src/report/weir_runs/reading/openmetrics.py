"""Metrics as text: OpenMetrics 1.0, and the older text format 0.0.4 of Prometheus, which is all that node_exporter's
textfile collector reads. Plain data in, lines out.

Both name families, their types and their help; OpenMetrics also has units, an end (# EOF), and may have a series of
values with their times. The older format has one value for each series here, because the collector refuses times.
"""

import dataclasses
import math
import re

NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")


@dataclasses.dataclass
class Family:
    """Metrics of one name. `name`: with its unit at the end, without _total or _info. `kind`: counter, gauge or info.
    `series`: of (labels as {name: text}, [(value, seconds since 1970 or None)]), times ascending."""

    name: str
    kind: str
    unit: str
    help: str
    series: list = dataclasses.field(default_factory=list)

    def __post_init__(self):
        assert NAME.fullmatch(self.name) and self.kind in ("counter", "gauge", "info")
        assert not self.unit or self.name.endswith("_" + self.unit) and self.kind != "info"

    @property
    def sample_name(self):
        return self.name + {"counter": "_total", "info": "_info", "gauge": ""}[self.kind]


def openmetrics_lines(families):
    """Lines with their ends, of families with values only."""
    for family in families:
        if any(values for _, values in family.series):
            yield f"# TYPE {family.name} {family.kind}\n"
            if family.unit:
                yield f"# UNIT {family.name} {family.unit}\n"
            yield f"# HELP {family.name} {_escaped(family.help)}\n"
            for labels, values in family.series:
                start = f"{family.sample_name}{_labels(labels)}"
                for value, at in values:
                    yield f"{start} {_number(value)}" + (f" {at:.3f}\n" if at is not None else "\n")
    yield "# EOF\n"


def prometheus_lines(families):
    """Text format 0.0.4, the last value of each series, without its time."""
    for family in families:
        if any(values for _, values in family.series):
            yield f"# HELP {family.sample_name} {_escaped(family.help, quote=False)}\n"
            yield f"# TYPE {family.sample_name} {'gauge' if family.kind == 'info' else family.kind}\n"
            for labels, values in family.series:
                if values:
                    yield f"{family.sample_name}{_labels(labels)} {_number(values[-1][0])}\n"


def _labels(labels):
    """An empty label is the same as none."""
    shown = [f'{name}="{_escaped(text)}"' for name, text in labels.items() if text != ""]
    return "{" + ",".join(shown) + "}" if shown else ""


def _escaped(text, quote=True):
    text = text.replace("\\", "\\\\").replace("\n", "\\n")
    return text.replace('"', '\\"') if quote else text


def _number(value):
    value = float(value)
    if math.isnan(value) or math.isinf(value):
        return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
    return str(int(value)) if value == int(value) and abs(value) < 2**63 else repr(value)
