"""The page of a run that was explained."""

import json
import subprocess

import pytest
from weir_runs.basics.errors import ReportError
from weir_runs.pages.report_page import write_report
from weir_runs.reading import twin
from weir_runs.reading.run import read_run

LATE = ("--producers", "2", "--consumers", "2", "--duration", "3s", "--warmup", "1s", "--rate", "800Mb/s",
        "--event-size", "4MB", "--slots", "1", "--busy", "exponential:30ms", "--producer-link", "3Gb/s",
        "--consumer-link", "3Gb/s", "--explain", "off")


def test_what_was_explained_is_on_the_page(weir, simulate, no_pictures, tmp_path):
    directory = simulate(*LATE)
    assert twin.of_run(read_run(directory)) is None
    subprocess.run([weir, "explain", str(directory), "--quiet"], check=True, timeout=60)
    run = read_run(directory)
    found = json.loads((directory / "explain.json").read_text())
    shown = twin.of_run(run)
    assert shown["answer"]["because"].startswith("Too few slots: ") and shown["answer"]["certainty"] == "likely"
    assert shown["sentences"][-1].startswith("A simulation with what this run showed, its twin, ")
    assert [row["cells"][0] for row in shown["rows"]] == [figure["name"] for figure in found["figures"]]
    assert shown["command"].startswith("weir simulate --producers 2 ")
    page = tmp_path / "page.html"
    write_report([run], page, tmp_path / "figures", [], "")
    # One list of causes for each page: that of weir explain.
    assert page.read_text().count("<b>Why:</b> Too few slots: ") == 1 and "Main cause: " not in page.read_text()
    assert "The twin of this run" in page.read_text()


@pytest.mark.parametrize("content",
                         ("{", "[]", '{"schema": "weir-explain/2"}', '{"schema": "weir-explain/1", "near": 3}'))
def test_a_broken_file_is_refused_with_its_name(stored, content):
    directory = stored("measured")
    (directory / "explain.json").write_text(content)
    with pytest.raises(ReportError, match="explain.json"):
        twin.of_run(read_run(directory))
