"""The page in headless Chromium: scripts run without an error, every chart is drawn, the numbers are there."""

import json
import os
import re
import shutil
import subprocess

import pytest

from weir_report import compare_command, report_command

CHROMIUM = next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None)
# No sandbox as root, no network, no profile of anybody.
OPTIONS = ("--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
           "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--virtual-time-budget=30000",
           *(("--no-sandbox",) if os.geteuid() == 0 else ()))


@pytest.fixture
def in_browser(tmp_path):
    """in_browser(page): the document after its scripts have run."""
    if CHROMIUM is None:
        pytest.fail("Chromium is not installed: bench/install-dependencies --tests")

    def dump(page):
        ended = subprocess.run([CHROMIUM, *OPTIONS, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom",
                                f"file://{page}"], capture_output=True, text=True, timeout=90, check=False,
                               env={**os.environ, "HOME": str(tmp_path)})
        assert "</html>" in ended.stdout, ended.stderr
        return ended.stdout
    return dump


def check_drawn(document, figures):
    assert "data-script-error=" not in document, re.findall('data-script-error="[^"]*"', document)
    assert f'data-figures-drawn="{figures}"' in document
    drawn = re.findall(r'<figure id="([^"]*)" class="drawn">', document)
    assert len(drawn) == figures
    return drawn


@pytest.mark.parametrize("name", ["measured", "interrupted"])
def test_a_stored_run_is_drawn(stored, in_browser, name):
    directory = stored(name)
    assert report_command.main([str(directory), "--quiet", "--figures", "none"]) == 0
    document = in_browser(directory / "report.html")
    drawn = check_drawn(document, 4)
    assert drawn == ["run-1-buffers", "run-1-over-time", "run-1-where-the-time-went", "run-1-heat-map"]
    # Curves and cells, not only empty axes: each panel has lines in it.
    for identity, least in (("run-1-over-time", 10), ("run-1-where-the-time-went", 11)):
        section = document[document.index(f'id="{identity}"'):]
        section = section[:section.index("</figure>")]
        assert section.count('class="js-line"') + section.count('class="js-fill"') >= least
    record = json.loads((directory / "run.json").read_text())
    assert f'data-value="{record["totals"]["received_events"]}">{record["totals"]["received_events"]}<' in document


def test_a_fresh_simulated_run_has_every_chart(simulate, in_browser):
    directory = simulate("--producers", "3", "--consumers", "4", "--rate", "400Mb/s", "--event-size", "4MiB", "--busy",
                         "poisson:60ms,quantum=10ms", "--warmup", "1s", "--duration", "4s")
    assert report_command.main([str(directory), "--quiet", "--figures", "none"]) == 0
    drawn = check_drawn(in_browser(directory / "report.html"), 7)
    assert drawn[0] == "run-1-slowest-sets" and drawn[-2:] == ["run-1-traffic", "run-1-latencies"]


def test_a_comparison_is_drawn(simulate, in_browser, tmp_path):
    options = ("--producers", "3", "--consumers", "4", "--rate", "400Mb/s", "--event-size", "4MiB", "--busy",
               "poisson:60ms,quantum=10ms", "--duration", "4s")
    sides = [[str(simulate(*options, "--seed", seed, "--slots", slots)) for seed in "123"] for slots in "42"]
    page = tmp_path / "comparison.html"
    assert compare_command.main([*sides[1], "--against", *sides[0], "--allow-different-plans", "--page", str(page)]) == 0
    check_drawn(in_browser(page), 2)


def test_a_script_that_fails_leaves_the_pictures_and_says_so(stored, in_browser):
    directory = stored("measured")
    assert report_command.main([str(directory), "--quiet", "--figures", "none"]) == 0
    page = directory / "report.html"
    page.write_text(page.read_text().replace('id="packed-figures">', 'id="packed-figures">damaged!'))
    document = in_browser(page)
    assert "data-script-error=" in document
    assert "data-figures-drawn" not in document and 'src="data:image/png;base64,' in document
