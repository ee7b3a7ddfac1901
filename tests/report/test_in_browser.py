"""The page in headless Chromium: scripts run without an error, every chart is drawn, the numbers are there."""

import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import jobs
import pytest
from comparing import capacity_of

from weir_report import compare, compare_command, compare_page, report_command
from weir_report.run import read_run
from weir_report.run_groups import Group

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


def test_stored_runs_are_drawn(stored, in_browser, tmp_path, no_pictures):
    directories = [stored("measured"), stored("interrupted")]
    page = tmp_path / "page.html"
    assert report_command.main([*map(str, directories), "--quiet", "--figures", "none", "--out", str(page)]) == 0
    document = in_browser(page)
    drawn = check_drawn(document, 8)
    assert drawn == [f"run-{number}-{name}" for number in (1, 2)
                     for name in ("buffers", "over-time", "where-the-time-went", "heat-map")]
    for number, directory in enumerate(directories, start=1):
        # Curves and cells, not only empty axes: each panel has lines in it.
        for name, least in (("over-time", 10), ("where-the-time-went", 11)):
            section = document[document.index(f'id="run-{number}-{name}"'):]
            section = section[:section.index("</figure>")]
            assert section.count('class="js-line"') + section.count('class="js-fill"') >= least
        received = json.loads((directory / "run.json").read_text())["totals"]["received_events"]
        assert f'data-value="{received}">{received}<' in document
    # One view of a heat map at a time, and a button for each.
    heat_map = document[document.index('id="run-1-heat-map"'):]
    heat_map = heat_map[:heat_map.index("</figure>")]
    assert heat_map.count("<button") == heat_map.count('class="panel"') == 4 and heat_map.count('hidden=""') == 3
    assert "var(--" not in heat_map[heat_map.index("<svg"):]  # colours were replaced by those of the style


def test_a_fresh_simulated_run_has_every_chart(simulate, in_browser, no_pictures):
    directory = simulate("--producers", "3", "--consumers", "4", "--rate", "400Mb/s", "--event-size", "4MiB", "--busy",
                         "poisson:60ms,quantum=10ms", "--warmup", "1s", "--duration", "4s")
    assert report_command.main([str(directory), "--quiet", "--figures", "none"]) == 0
    drawn = check_drawn(in_browser(directory / "report.html"), 7)
    assert drawn[0] == "run-1-slowest-sets" and drawn[-2:] == ["run-1-traffic", "run-1-latencies"]


def test_a_job_with_several_groups_is_drawn_and_fits_every_screen(simulate, in_browser, layout, no_pictures, tmp_path):
    directory = jobs.make_job(simulate, tmp_path / "farm", [(), jobs.TOO_BUSY, None, (), ()])
    assert report_command.main([str(directory), "--quiet", "--figures", "none", "--group-pages", "1"]) == 0
    assert check_drawn(in_browser(directory / "report.html"), 3) == ["goodput", "buffers", "heat-map"]
    for width, one in layout(directory / "report.html").items():
        # Plots get their last width only when the page is as long as it will be, so that the page's own is not looked at.
        assert not one["wide"], (width, one["wide"])


WIDTHS = (1280, 2560, 390)
HARNESS = """<!DOCTYPE html><html><body><script>LAYOUT</script><script>
const page = PAGE;
for (const width of WIDTHS) {
  const frame = document.createElement("iframe");
  frame.width = width; frame.height = 800; frame.srcdoc = page;
  frame.onload = () => {
    const found = document.createElement("pre");
    found.textContent = JSON.stringify(window.examine(frame));
    document.body.append(found);
  };
  document.body.append(frame);
}
</script></body></html>"""


@pytest.fixture
def layout(in_browser, tmp_path):
    """layout(page): {width: what page_layout.js found}, at the widths of a laptop, a large screen and a phone."""
    def examine(page):
        script = (Path(__file__).parent / "page_layout.js").read_text()
        content = json.dumps(page.read_text()).replace("</", "<\\/")
        harness = tmp_path / "harness.html"
        harness.write_text(HARNESS.replace("LAYOUT", script).replace("WIDTHS", str(list(WIDTHS))).replace("PAGE", content, 1))
        found = [json.loads(html.unescape(one)) for one in re.findall(r"<pre>(.*?)</pre>", in_browser(harness))]
        # A frame's border is 2 pixels on each side.
        return {one["width"]: one for one in found}
    return examine


def check_layout(found):
    assert sorted(found) == sorted(WIDTHS)
    for width, one in found.items():
        assert one["scroll"] <= width and not one["wide"], (width, one["wide"])
        assert not one["overlapping"], (width, one["overlapping"])
        assert not one["small"], (width, one["small"])


def test_the_answer_is_seen_without_scrolling(simulate, layout, tmp_path):
    options = ("--producers", "3", "--consumers", "4", "--rate", "400Mb/s", "--event-size", "4MiB", "--duration", "2s")
    directories = [str(simulate(*options, "--seed", seed, "--network", "packet", *chosen, "--producer-link", "1Gb/s",
                                "--consumer-link", "1Gb/s", "--tag", f"setting={name}"))
                   for seed in "123" for name, chosen in (("none", ()), ("pfc", ("--pfc", "on")), ("ecn", ("--ecn", "on")))]
    page = tmp_path / "comparison.html"
    assert compare_command.main(["--by", "setting", *directories, "--page", str(page)]) == 0
    found = layout(page)
    check_layout(found)
    for width in (1280, 2560):
        assert 0 < found[width]["bottoms"]["headline"] < found[width]["bottoms"]["ranking"] < 800
    assert found[390]["bottoms"]["headline"] < 500


def test_limits_and_curves_fit_every_screen(simulate, layout, tmp_path):
    """A curve against thresholds, two of which lie close to each other."""
    directory = simulate("--producers", "2", "--consumers", "3", "--rate", "80Mb/s", "--event-size", "1MB", "--duration", "3s")
    limits = {"20kB": [61e9, 62e9, 61.5e9], "21kB": [62e9, 62.2e9, 62.1e9], "100kB": [80e9, 80.5e9, 81e9],
              "1MB": [70e9, 69e9, 70.5e9]}
    groups = []
    for name in limits:
        copies = [Path(shutil.copytree(directory, tmp_path / f"{name}-{number}-held")) for number in range(3)]
        for number, copy in enumerate(copies):
            record = json.loads((copy / "run.json").read_text())
            record["plan"].update(seed=str(number), interval=name)
            (copy / "run.json").write_text(json.dumps(record))
        groups.append(Group(f"switch={name}", [read_run(copy) for copy in copies]))
    page = tmp_path / "limits.html"
    compare_page.write_page(compare.compare_capacities(capacity_of(limits), groups), page, "")
    found = layout(page)
    check_layout(found)
    assert all(one["plots"] >= 1 + 2 * 4 * 3 for one in found.values())
    assert found[1280]["bottoms"]["ranking"] < 800


def test_a_comparison_fits_every_screen(simulate, layout, tmp_path):
    options = ("--producers", "3", "--consumers", "4", "--rate", "400Mb/s", "--event-size", "4MiB", "--busy",
               "poisson:60ms,quantum=10ms", "--duration", "4s")
    name = "the setting of the vendor's guide for lossless-traffic-in-data-centres, with {} slots"
    directories = [str(simulate(*options, "--seed", seed, "--slots", slots, "--tag", f"setting={name.format(slots)}"))
                   for seed in "123" for slots in ("2", "3", "4", "5", "6", "7", "8", "9")]
    page = tmp_path / "comparison.html"
    assert compare_command.main(["--by", "setting", *directories, "--allow-different-plans", "--page", str(page)]) == 0
    found = layout(page)
    check_layout(found)
    # All runs of all settings, by occupancy and by rate.
    assert all(one["plots"] >= 2 * len(directories) for one in found.values())


def test_a_script_that_fails_leaves_the_pictures_and_gives_the_reason(stored, in_browser, no_pictures):
    directory = stored("measured")
    assert report_command.main([str(directory), "--quiet", "--figures", "none"]) == 0
    page = directory / "report.html"
    page.write_text(page.read_text().replace('id="packed-figures">', 'id="packed-figures">damaged!'))
    document = in_browser(page)
    assert "data-script-error=" in document
    assert "data-figures-drawn" not in document and 'src="data:image/png;base64,' in document
