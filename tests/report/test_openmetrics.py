"""Metrics of runs: the text formats, checked line by line, and with the parser of prometheus_client where it is
installed."""

import json
import re
import shutil
from pathlib import Path

import pytest

from conftest import ROOT, RUNS, call_inside
from weir_compare.sweep import switch_reader
from weir_runs import report_command
from weir_runs.basics.errors import ReportError
from weir_runs.reading import metrics as run_metrics, openmetrics

NAME = "[a-zA-Z_][a-zA-Z0-9_]*"
LABEL = rf'{NAME}="(?:[^"\\\n]|\\["\\n])*"'
NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]Inf|NaN"
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? ({NUMBER})(?: ([0-9]+(?:\.[0-9]+)?))?")


def checked(text):
    """{(sample name, labels): [(value, time)]} of OpenMetrics text. Fails where it is not as the specification has it:
    the grammar, one block of lines for each family, metadata before samples, suffixes, times that ascend, values of
    counters that do not fall, and the end."""
    assert text.endswith("# EOF\n") and text.count("# EOF") == 1
    found, families, family, last = {}, {}, None, None
    for line in text.splitlines()[:-1]:
        if line.startswith("#"):
            kind, name, rest = re.fullmatch(rf"# (TYPE|UNIT|HELP) ({NAME}) (.+)", line).groups()
            if name != family:
                assert name not in families, f"{name} is in two places"
                family, families[name] = name, {}
            assert last is None or not last[0].startswith(name), "metadata behind samples"
            assert kind not in families[name]
            families[name][kind] = rest
            if kind == "TYPE":
                assert rest in ("counter", "gauge", "info")
            if kind == "UNIT":
                assert name.endswith("_" + rest) and families[name]["TYPE"] != "info"
            continue
        name, labels, value, at = SAMPLE.fullmatch(line).groups()
        suffix = {"counter": "_total", "info": "_info", "gauge": ""}[families[family]["TYPE"]]
        assert name == family + suffix, line
        names = re.findall(rf"({NAME})=\"", labels or "")
        assert len(set(names)) == len(names)
        key, value, at = (name, labels or ""), float(value), float(at) if at else None
        if key in found:
            assert last == key, f"{key} is in two places"
            assert found[key][-1][1] < at
            assert suffix != "_total" or value >= found[key][-1][0]
        assert suffix != "_total" or value >= 0
        found.setdefault(key, []).append((value, at))
        last = key
    with_parser(text)
    return found


def with_parser(text):
    try:
        from prometheus_client.openmetrics import parser
    except ImportError:
        return
    assert sum(len(family.samples) for family in parser.text_string_to_metric_families(text)) == len(
        [line for line in text.splitlines() if not line.startswith("#")])


def with_everything(tmp_path, simulate):
    """A run that has all kinds of metrics: of a simulated one with hosts' counters, with times and readings of a
    switch."""
    run = simulate("--producers", "2", "--consumers", "2", "--rate", "100Mb/s", "--event-size", "1MB",
                   "--duration", "3s", "--warmup", "1s", "--network", "packet", "--pfc", "on")
    target = Path(shutil.copytree(run, tmp_path / "everything"))
    for path in (target / "ranks").glob("*.csv"):
        lines = path.read_text().splitlines()
        for number, line in enumerate(lines[1:], start=1):
            cells = line.split(",")
            cells[2] = f"2026-01-01T00:00:{10 + int(cells[0]):02}.000Z"
            lines[number] = ",".join(cells)
        path.write_text("\n".join(lines) + "\n")
    rows = [",".join(switch_reader.COLUMNS)]
    for second, when, factor in ((5, "before", 1), (11, "during", 2), (20, "after", 3)):
        for port, priority, name in (("swp1", "3", "pauses_sent"), ("swp1", "", "queue_now_bytes"),
                                     ("swp2", "3", "marked_packets")):
            rows.append(f"2026-01-01T00:00:{second:02}.250Z,{when},{port},{priority},{name},{100 * factor}")
    (target / "switch/read.csv").write_text("\n".join(rows) + "\n")
    return target


def test_sums_are_those_of_the_run(tmp_path):
    found = checked(call_inside("weir-report", RUNS / "measured", "--openmetrics", "-"))
    totals = json.loads((RUNS / "measured/run.json").read_text())["totals"]
    for name in ("generated_events", "generated_bytes", "sent_bytes", "received_events", "received_bytes",
                 "processed_events", "lost_events"):
        last = [values[-1][0] for (sample, _), values in found.items() if sample == f"weir_{name}_total"]
        assert sum(last) == totals[name], name
    [consumer] = [values for (sample, labels), values in found.items() if sample == "weir_received_bytes_total"
                  and 'rank="4"' in labels]
    # The first row: second -1, which began at 12:35:18.360 UTC and is over a second later.
    assert consumer[:2] == [(22902848, 1795264519.36), (22902848 + 22020096, 1795264520.36)]
    assert ("weir_run_sustained", 'run="measured"') in found
    assert ('weir_received_bytes_total', 'run="measured",role="consumer",rank="4",index="0",host="vm"') in found


def test_the_older_format_has_the_newest_values_without_times(tmp_path):
    text = call_inside("weir-report", RUNS / "measured", "--prometheus", "-")
    totals = json.loads((RUNS / "measured/run.json").read_text())["totals"]
    kinds, sums = {}, {}
    for line in text.splitlines():
        if line.startswith("# TYPE"):
            _, _, name, kind = line.split(" ")
            assert name not in kinds
            kinds[name] = kind
        elif not line.startswith("# HELP"):
            name, _, value, at = SAMPLE.fullmatch(line).groups()
            # node_exporter refuses times; there is no kind `info`
            assert at is None and kinds[name] in ("counter", "gauge")
            sums[name] = sums.get(name, 0.0) + float(value)
    assert "# EOF" not in text and "# UNIT" not in text
    assert kinds["weir_received_bytes_total"] == "counter"
    assert sums["weir_received_bytes_total"] == totals["received_bytes"]


def test_everything(tmp_path, simulate):
    found = checked(call_inside("weir-report", with_everything(tmp_path, simulate), "--openmetrics", "-"))
    names = {name for name, _ in found}
    assert {"weir_host_counter_total", "weir_switch_counter_total", "weir_switch_level", "weir_occupancy_ratio",
            "weir_run_info"} <= names
    [values] = [values for (name, labels), values in found.items() if name == "weir_switch_counter_total"
                and "swp2" in labels]
    assert [value for value, _ in values] == [100, 200, 300] and values[1][1] - values[0][1] == 6.0
    # promtool refuses a file in which any value has no time.
    assert all(at is not None for values in found.values() for _, at in values)


def test_a_simulation_has_no_times(simulate):
    found = checked(call_inside("weir-report", simulate("--duration", "2s", "--warmup", "0s"), "--openmetrics", "-"))
    assert found and all(len(values) == 1 and values[0][1] is None for values in found.values())


def test_a_line_that_is_written_just_now_waits(tmp_path):
    run = Path(shutil.copytree(RUNS / "measured", tmp_path / "run"))
    (run / "run.json").unlink()
    path = run / "ranks/rank-00004-consumer.csv"
    path.write_text("\n".join(path.read_text().splitlines()[:2]) + "\n1,meas")
    text = call_inside("weir-report", run, "--prometheus", "-")
    assert 'weir_received_bytes_total{run="run",role="consumer",rank="4",index="0"} 22902848\n' in text
    assert "weir_run" not in text  # no verdict, which is not one that is false


def test_labels_and_help_are_escaped():
    family = openmetrics.Family("a_bytes", "gauge", "bytes", 'say "this"\nor \\that',
                                [({"x": 'a"b\\c\nd', "none": ""}, [(1.5, None)]), ({}, [(2**60, None)])])
    text = "".join(openmetrics.openmetrics_lines([family, openmetrics.Family("empty", "counter", "", "Nothing.")]))
    assert 'a_bytes{x="a\\"b\\\\c\\nd"} 1.5\n' in text
    assert "a_bytes 1152921504606846976\n" in text and "empty" not in text
    checked(text)
    assert '# HELP a_bytes say "this"\\nor \\\\that\n' in "".join(openmetrics.prometheus_lines([family]))


@pytest.mark.parametrize("bad", ["# TYPE a counter\na 1\n# EOF\n", "# TYPE a gauge\na 1\n",
                                 "# TYPE a gauge\na 1\n# TYPE b gauge\nb 1\na 2\n# EOF\n", "# TYPE a counter\n"
                                 "a_total 2 1\na_total 1 2\n# EOF\n", "# TYPE a gauge\n# UNIT a bytes\na 1\n# EOF\n",
                                 '# TYPE a gauge\na{b="c",b="d"} 1\n# EOF\n', "# TYPE a gauge\na 1 2\na 1 2\n# EOF\n"])
def test_the_check_itself(bad):
    with pytest.raises((AssertionError, AttributeError)):
        checked(bad)


@pytest.mark.parametrize("words, message", [
    ([str(RUNS / "overflow"), "--openmetrics", "-"], "2 runs were given"),
])
def test_wrong_options_are_refused(capsys, words, message):
    assert report_command.main([str(RUNS / "measured"), *words]) == 2
    assert message in capsys.readouterr().err


def test_what_is_no_run_is_refused(tmp_path):
    with pytest.raises(ReportError, match="this is no run directory"):
        run_metrics.families(tmp_path, history=True)


def test_a_record_that_is_none_is_refused(stored, tmp_path, capsys):
    run = stored("measured")
    (run / "run.json").write_text("[]\n")
    assert report_command.main([str(run), "--prometheus", str(tmp_path / "weir.prom")]) == 2
    assert f"{run / 'run.json'}: schema is null, not \"weir-run/" in capsys.readouterr().err
    assert not (tmp_path / "weir.prom").exists()


def test_metrics_of_ranks_are_columns():
    header = (ROOT / "src/record/rows.hpp").read_text(encoding="utf-8")
    assert {*run_metrics.COUNTERS, *run_metrics.GAUGES} <= set(re.findall(r'\{"(\w+)", "', header))


def test_the_dashboard_uses_metrics_that_exist(tmp_path, simulate):
    """packaging/grafana: every name, label and matcher value's label is in the metrics of a run that has all."""
    dashboard = json.loads((ROOT / "packaging/grafana/weir.json").read_text())
    labels = {}
    said = call_inside("weir-report", with_everything(tmp_path, simulate), "--openmetrics", "-")
    for (name, text), _ in checked(said).items():
        labels.setdefault(name, set()).update(re.findall(rf"({NAME})=\"", text))
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", ())]
    queries += [variable["query"]["query"] if isinstance(variable["query"], dict) else variable["query"]
                for variable in dashboard["templating"]["list"] if variable["type"] == "query"]
    assert len(queries) >= 12
    for query in queries:
        names = re.findall(r"\bweir_[a-z0-9_]+", query)
        assert names, query
        for name, matchers in re.findall(r"\b(weir_[a-z0-9_]+)\{([^}]*)\}", query):
            used = set(re.findall(rf"({NAME})\s*=~?\s*\"", matchers))
            assert used <= labels.get(name, set()), f"{query}: {name} has {sorted(labels.get(name, ()))}"
        for name in names:
            assert name in labels, f"{query}: there is no {name}"
        grouped = {label.strip() for found in re.findall(r"\bby \(([^)]*)\)", query) for label in found.split(",")}
        assert grouped <= set.union(*(labels[name] for name in names)), query
