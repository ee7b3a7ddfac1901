"""The page in headless Chromium: scripts run without an error, every chart is drawn, the numbers are there."""

import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import grouped
import pytest
from comparing import capacity_of
from conftest import editing

from weir_compare import compare_command
from weir_compare.comparison import comparison, comparison_page as compare_page
from weir_compare.comparison.run_groups import Group
from weir_runs import report_command
from weir_runs.reading.run import read_run

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
    assert f'data-figures-ready="{figures}"' in document
    drawn = re.findall(r'<figure id="([^"]*)"', document)
    assert len(drawn) == figures
    return drawn


def test_stored_runs_are_drawn(stored, in_browser, tmp_path):
    directories = [stored("measured"), stored("interrupted")]
    page = tmp_path / "page.html"
    assert report_command.main([*map(str, directories), "--quiet", "--out", str(page)]) == 0
    document = in_browser(page)
    drawn = check_drawn(document, 8)
    assert drawn == [f"run-{number}-{name}" for number in (1, 2)
                     for name in ("buffers", "where-the-time-went", "over-time", "heat-map")]
    for number, directory in enumerate(directories, start=1):
        # Curves and cells, not only empty axes: each panel has lines in it.
        for name, least in (("over-time", 8), ("where-the-time-went", 11)):
            section = document[document.index(f'id="run-{number}-{name}"'):]
            section = section[:section.index("</figure>")]
            assert section.count('class="line') + section.count('class="area') >= least
        received = json.loads((directory / "run.json").read_text())["totals"]["received_events"]
        assert f'data-value="{received}">{received}<' in document
    # One view of a heat map at a time, and a button for each.
    heat_map = document[document.index('id="run-1-heat-map"'):]
    heat_map = heat_map[:heat_map.index("</figure>")]
    assert heat_map.count("<button") == heat_map.count('class="panel heat"') == 2 and heat_map.count('hidden=""') == 1


def test_a_fresh_simulated_run_has_every_chart(simulate, in_browser):
    directory = simulate("--producers", "3", "--consumers", "4", "--rate", "400Mb/s", "--event-size", "4MiB", "--busy",
                         "poisson:60ms,quantum=10ms", "--warmup", "1s", "--duration", "4s")
    assert report_command.main([str(directory), "--quiet"]) == 0
    drawn = check_drawn(in_browser(directory / "report.html"), 7)
    assert drawn[0] == "run-1-slowest-sets" and drawn[-2:] == ["run-1-heat-map", "run-1-traffic"]


def test_a_job_with_several_groups_is_drawn_and_fits_every_screen(simulate, in_browser, layout, tmp_path):
    directory = grouped.make_groups(simulate, tmp_path / "farm", [(), grouped.TOO_BUSY, None, (), ()])
    assert report_command.main([str(directory), "--quiet", "--group-pages", "1"]) == 0
    assert check_drawn(in_browser(directory / "report.html"), 3) == ["goodput", "buffers", "heat-map"]
    check_layout(layout(directory / "report.html"))
    check_layout(layout(directory / "group-01" / "report.html"))


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
        harness.write_text(
            HARNESS.replace("LAYOUT", script).replace("WIDTHS", str(list(WIDTHS))).replace("PAGE", content, 1))
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
                   for seed in "123"
                   for name, chosen in (("none", ()), ("pfc", ("--pfc", "on")), ("ecn", ("--ecn", "on")))]
    page = tmp_path / "comparison.html"
    assert compare_command.main(["--by", "setting", *directories, "--page", str(page)]) == 0
    found = layout(page)
    check_layout(found)
    for width in (1280, 2560):
        assert 0 < found[width]["bottoms"]["verdict"] < found[width]["bottoms"]["ranking"] < 800
    assert found[390]["bottoms"]["verdict"] < 500


def test_limits_and_curves_fit_every_screen(simulate, layout, tmp_path):
    """A curve against thresholds, two of which lie close to each other."""
    directory = simulate("--producers", "2", "--consumers", "3", "--rate", "80Mb/s", "--event-size", "1MB",
                         "--duration", "3s")
    limits = {"20kB": [61e9, 62e9, 61.5e9], "21kB": [62e9, 62.2e9, 62.1e9], "100kB": [80e9, 80.5e9, 81e9],
              "1MB": [70e9, 69e9, 70.5e9]}
    groups = []
    for name in limits:
        copies = [Path(shutil.copytree(directory, tmp_path / f"{name}-{number}-held")) for number in range(3)]
        for number, copy in enumerate(copies):
            with editing(copy) as record:
                record["plan"].update(seed=str(number), interval=name)
        groups.append(Group(f"switch={name}", [read_run(copy) for copy in copies]))
    page = tmp_path / "limits.html"
    compare_page.write_page(comparison.compare_capacities(capacity_of(limits), groups), page, "")
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


USER = """<script>(async () => {
  const found = {}, area = name => document.querySelector(`#run-1-${name} .plot-area`);
  const send = (target, type, share, y = 0.5) => {
    const box = target.getBoundingClientRect();
    const place = {clientX: box.left + share * box.width, clientY: box.bottom - y * box.height};
    target.dispatchEvent(new PointerEvent(type, {...place, button: 0, pointerType: "mouse", bubbles: true}));
  };
  const shown = async (target, share, y) => {
    send(target, "pointermove", share, y);
    await new Promise(done => setTimeout(done, 300));
    return document.querySelector(".tip").hidden ? null : document.querySelector(".tip").innerText.split("\\n");
  };
  const labels = target => [...target.parentElement.querySelectorAll(".x-labels span")].map(label => label.textContent);
  for (const name of ["slowest-sets", "buffers", "where-the-time-went", "traffic", "latencies"])
    found[name] = await shown(area(name), 0.6, 0.9);
  const plot = area("buffers"), whole = labels(plot);
  send(plot, "pointerdown", 0.5); send(plot, "pointermove", 0.75); send(plot, "pointerup", 0.75);
  found.zoomed = [whole, labels(plot), await shown(plot, 0.5), plot.querySelector("svg").getAttribute("viewBox")];
  found.others = [labels(area("over-time")), area("over-time").querySelector(".cross b").textContent,
                  document.querySelectorAll("#run-1-latencies .cross, #run-1-slowest-sets .cross").length];
  plot.dispatchEvent(new MouseEvent("dblclick"));
  found.whole = labels(plot);
  const key = [...document.querySelectorAll("#run-1-buffers .key")].find(one => one.textContent === "mean");
  key.click();
  found.without = await shown(plot, 0.6);
  key.click();
  found.with = await shown(plot, 0.6);
  const result = document.createElement("pre");
  result.textContent = JSON.stringify(found);
  document.body.append(result);
})()</script>"""


def test_the_pointer_shows_values_and_zooms(simulate, in_browser, tmp_path):
    directory = simulate("--producers", "3", "--consumers", "4", "--rate", "400Mb/s", "--event-size", "4MiB", "--busy",
                         "poisson:120ms,quantum=10ms", "--warmup", "0s", "--duration", "8s", "--row-interval", "1s")
    page = tmp_path / "page.html"
    assert report_command.main([str(directory), "--quiet", "--out", str(page)]) == 0
    page.write_text(page.read_text().replace("</body>", USER + "</body>"))
    document = in_browser(page)
    assert "data-script-error=" not in document
    found = json.loads(html.unescape(re.search("<pre>(.*?)</pre>", document)[1]))
    run = read_run(directory)
    x = found["buffers"][0]
    assert re.fullmatch("second [0-9]+", x)
    second = list(run.rows("producer").seconds).index(int(x.split()[1]))
    peaks = run.rows("producer").column("occupancy_peak")[:, second]
    values = {line.split(": ")[0]: line.split(": ")[1] for line in found["buffers"][1:]}
    assert float(values["mean"]) == pytest.approx(peaks.mean(), rel=1e-3)
    number, name = re.fullmatch(r"(\S+) \((.*)\)", values["highest"]).groups()
    assert float(number) == pytest.approx(peaks.max(), rel=1e-3) and name in [f"producer {index}" for index in range(3)]
    assert re.fullmatch(r"producer 1: [0-9.]+ m?s", found["slowest-sets"][0])
    shares = [float(re.search(r": ([0-9.]+) % of time", line)[1]) for line in found["where-the-time-went"][1:]]
    assert len(shares) == 4 and sum(shares) == pytest.approx(100, abs=1)
    matrix = run.traffic()
    producer, consumer, shown = re.fullmatch(r"producer (\d), consumer (\d): ([0-9.]+) MB",
                                             found["traffic"][0]).groups()
    assert float(shown) == pytest.approx(matrix[int(producer), int(consumer)] / 1e6, abs=matrix.max() / 1e6 / 254)
    assert found["latencies"]
    assert all(re.fullmatch(r"[a-z ]+: [0-9.e-]+ \([0-9.e-]+ ms\)", line) for line in found["latencies"])
    whole, zoomed, values, _ = found["zoomed"]
    assert found["whole"] == whole
    assert found["others"][0] == zoomed and found["others"][2] == 0
    assert re.match(r"lowest: [0-9.]+, mean: [0-9.]+", found["others"][1]), found["others"]
    assert zoomed != whole and float(zoomed[-1]) - float(zoomed[0]) < float(whole[-1]) - float(whole[0])
    assert float(zoomed[0]) <= float(values[0].split()[1]) <= float(zoomed[-1]) + 1
    assert not any(line.startswith("mean") for line in found["without"])
    assert any(line.startswith("mean") for line in found["with"])


def test_a_run_fits_every_screen(stored, layout):
    """With names of hosts that are long."""
    directory = stored("measured")
    with editing(directory) as record:
        for rank in record["ranks"]:
            rank["host"] = "eb-readout-unit-0042.cluster.example.org"
    assert report_command.main([str(directory), "--quiet"]) == 0
    found = layout(directory / "report.html")
    check_layout(found)
    # The answer, and the first plot of the chart that proves it.
    for width in (1280, 2560):
        assert 0 < found[width]["bottoms"]["verdict"] < found[width]["bottoms"]["panel"] < 800


def test_a_script_that_fails_leaves_the_figures_and_gives_the_reason(stored, in_browser):
    directory = stored("measured")
    assert report_command.main([str(directory), "--quiet"]) == 0
    page = directory / "report.html"
    page.write_text(page.read_text().replace("const tip =", "const tip = absent ="))
    document = in_browser(page)
    assert "data-script-error=" in document
    assert "data-figures-ready" not in document
    assert document.count('class="line') > 10 and 'src="data:image/png;base64,' in document
