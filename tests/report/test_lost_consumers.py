"""The page of a run that went on without consumers that were lost."""


import numpy as np
from conftest import editing
from weir_runs.figures import lost_consumers, time_charts
from weir_runs.pages.report_page import write_report
from weir_runs.reading.run import read_run

SMALL = ("--producers", "2", "--consumers", "3", "--rate", "8Mb/s", "--generation", "steady", "--event-size", "100kB",
         "--duration", "12s", "--warmup", "0s", "--producer-link", "32Mb/s", "--consumer-link", "32Mb/s",
         "--on-failure", "continue", "--silence-timeout", "1s")


def test_losses_are_in_the_table_and_the_plot(simulate, no_pictures, tmp_path):
    run = read_run(simulate(*SMALL, "--fault", "die:consumer=1,at=4s,back=6.9s", "--fault", "die:consumer=2,at=6.5s"))
    table = lost_consumers.table(run)
    assert [row[:4] for row in table["rows"]] == [["consumer 1", "4 s", "5 s", "6.9 s"],
                                                  ["consumer 2", "6.5 s", "7.5 s", "not"]]
    assert table["more"] == 0
    line = lost_consumers.panel(run).lines[0]
    at = dict(zip(line.x.tolist(), line.y.tolist(), strict=True))
    assert [at[second] for second in (3, 4, 5, 6, 7, 8, 11)] == [0, 1, 1, 2, 1, 1, 1]
    page = tmp_path / "page.html"
    write_report([run], page, tmp_path / "figures", [], "")
    assert "Consumers that were lost" in page.read_text()
    assert "Consumers silent or lost" in [panel.title for panel in time_charts.throughput(run).panels]


def test_a_run_without_a_loss_has_neither(simulate):
    run = read_run(simulate(*SMALL))
    assert lost_consumers.table(run) is None
    assert lost_consumers.panel(run) is None


def test_what_is_not_known_is_missing_and_not_zero(simulate):
    directory = simulate(*SMALL, "--fault", "die:consumer=1,at=4s")
    with editing(directory) as record:
        for name in ("rate_before_bits_per_second", "lowest_bits_per_second", "recovery_s", "max_occupancy"):
            record["recovery"]["losses"][0][name] = None
    assert lost_consumers.table(read_run(directory))["rows"][0][4:] == ["-", "-", "-", "-"]
    assert np.isfinite(lost_consumers.panel(read_run(directory)).lines[0].y).all()
