"""What comes from outside is shown harmlessly, and numbers that are none are refused."""

import json
import os
import sys

import pytest
from comparing import make, run  # noqa: F401 (a fixture)

from weir_compare import compare_command
from weir_suites import sweep_command
from weir_runs import report_command
from weir_runs.basics import terminal_text
from weir_runs.basics.errors import ReportError
from weir_runs.basics.input_file import read_json
from weir_runs.reading.run import read_run
from weir_suites import traffic_command

HOSTILE = "\x1b[31mred\x1b]0;title\x07 \u202eevil\u2066"


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_are_none_are_refused(capsys, make, tmp_path, text):
    directory = make("run")
    path = tmp_path / directory / "run.json"
    record = path.read_text()
    path.write_text(record.replace('"max_occupancy": ', '"max_occupancy": ' + text + ', "x": ', 1))
    with pytest.raises(ReportError, match=r"run\.json: .*; the file is damaged"):
        read_run(directory)
    assert report_command.main([directory]) == 2
    assert text in capsys.readouterr().err


def test_what_a_terminal_would_obey_is_spelt_out(capsys, make, tmp_path):
    a = [make(f"a-{index}", label=HOSTILE, goodput=1.0 + index / 1000) for index in range(3)]
    b = [make(f"b-{index}", label="b", goodput=0.8 + index / 1000) for index in range(3)]
    page, table = tmp_path / "page.html", tmp_path / "table.csv"
    status, out, _ = run(capsys, *a, "--against", *b, "--page", page, "--csv", table)
    assert status == 0
    for shown in (out, page.read_text(), table.read_text()):
        assert "\\u001b[31mred" in shown and "\\u202eevil" in shown
        assert not any(letter in shown for letter in "\x1b\x07\u202e\u2066")


def test_only_texts_with_such_characters_are_changed():
    assert read_json('{"a": "\u00e4\\n\u4e2d", "b": [1, 2.5, null]}') == {"a": "\u00e4\n\u4e2d", "b": [1, 2.5, None]}
    assert read_json(json.dumps({"\x9b": ["\ufeff"]})) == {"\\u009b": ["\\ufeff"]}


def test_a_label_of_5000_letters(capsys, make, tmp_path):
    runs = [make(f"run-{index}", label="x" * 5000 if index < 3 else "b", goodput=1.0 + index / 100)
            for index in range(6)]
    page = tmp_path / "page.html"
    status, out, _ = run(capsys, *runs[:3], "--against", *runs[3:], "--page", page, "--table")
    assert status == 0 and page.exists()
    three = [make(f"three-{index}", tags={"switch": "abc"[index % 3] * 5000}, goodput=1.0 + index / 100)
             for index in range(9)]
    assert run(capsys, "--by", "switch", *three, "--page", page, "--table", "--json", tmp_path / "x.json")[0] == 0
    assert report_command.main([runs[0]]) == 0
    assert report_command.main([*runs[:2], "--out", str(tmp_path / "both.html")]) == 0


def test_a_missing_measured_row_of_a_complete_run_is_remarked(stored):
    directory = stored("measured")
    path = sorted((directory / "ranks").glob("*-producer.csv"))[0]
    lines = path.read_text().splitlines()
    last = max(index for index, line in enumerate(lines) if ",measure," in line)
    path.write_text("\n".join(lines[:last]) + "\n")
    found = read_run(directory)
    found.rows("producer")
    assert any(f"{path}: 1 row of the 4 measured seconds is missing" in remark for remark in found.remarks)
    whole = read_run(stored("measured", "whole"))
    for role in ("scheduler", "producer", "consumer"):
        whole.rows(role)
    assert whole.remarks == []


def test_a_directory_that_does_not_exist_is_named(capsys, tmp_path):
    status, _, err = run(capsys, tmp_path / "nowhere")
    assert status == 2 and f"{tmp_path / 'nowhere'}: no such directory" in err


HEADER = "producer,consumer,bytes\n"


@pytest.mark.parametrize("text, shown", [
    (f"{HEADER}0,1,1\x1b[31mRED\n", "1\\u001b[31mRED"), ("producer,consumer,\x9bbytes\n", "\\u009b"),
    (f"{HEADER}0,\u202e1,1\n", "\\u202e1")])
def test_messages_about_traffic(capsys, tmp_path, text, shown):
    file = tmp_path / "\x1b[2J.csv"
    file.write_text(text)
    assert traffic_command.main(["show", str(file)]) == 2
    harmless(capsys, "\\u001b[2J.csv", shown)


@pytest.mark.parametrize("text",
                         ['[run]\n"\\u001b[31mred" = 1\n', '[axes]\n"\\u202eevil" = ["\\u001b[2J", "\\u009b2J"]\n',
                          'name = "\\u001b[31mred"\nx = 1\n'])
def test_messages_about_sweeps(capsys, tmp_path, text):
    (tmp_path / "a.toml").write_text(text)
    assert sweep_command.main(["plan", str(tmp_path / "a.toml")]) == 2
    harmless(capsys)


def test_messages_about_options(capsys):
    for command in (report_command, compare_command, sweep_command, traffic_command):
        with pytest.raises(SystemExit):
            command.main(["--\x1b[31mred", "\rweir: fine"])
        harmless(capsys)


def harmless(capsys, *expected):
    printed = capsys.readouterr()
    for text in expected:
        assert text in printed.err
    assert not any(letter in printed.err + printed.out for letter in "\x1b\x9b\r\u202e"), printed


def test_text_for_terminals(capsys):
    with terminal_text.safe_streams(), terminal_text.safe_streams():
        print(f"{terminal_text.RED}red{terminal_text.RESET} \x1b[31mno \u061c\ud800\udcff \U000e0041 a\rb\r\n\tc")
        print("\x07", file=sys.stderr)
    printed = capsys.readouterr()
    assert printed.out == "\x1b[31mred\x1b[0m \\u001b[31mno \\u061c\\ud800\\xff \\U000e0041 a\\u000db\r\n\tc\n"
    assert printed.err == "\\u0007\n"
    assert read_json('"\\udcff\\u061C\\ud83d\\ude00\\ufdd0"') == "\\xff\\u061c\U0001f600\\ufdd0"


def test_a_directory_whose_name_is_no_utf_8(capsys, stored, tmp_path):
    directory = os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff\xfedir")
    os.rename(stored("measured"), directory)
    record = json.loads(open(f"{directory}/run.json", encoding="utf-8").read())
    record["labels"] = {}
    with open(f"{directory}/run.json", "w", encoding="utf-8") as file:
        json.dump(record, file)
    assert report_command.main([directory]) == 0
    assert "bad\\xff\\xfedir: SUSTAINED" in capsys.readouterr().out
    with open(f"{directory}/report.html", encoding="utf-8") as page:
        assert "bad\\xff\\xfedir" in page.read()
    assert report_command.main([directory, "--prometheus", str(tmp_path / "x.prom")]) == 0
    assert 'run="bad\\\\xff\\\\xfedir"' in (tmp_path / "x.prom").read_text(encoding="utf-8")
    assert report_command.main([os.path.join(directory, "nowhere")]) == 2
    assert "bad\\xff\\xfedir/nowhere: no such directory" in capsys.readouterr().err
    page = tmp_path / "page.html"
    assert run(capsys, directory, "--against", stored("measured"), "--allow-different-plans", "--page", page, "--json",
               tmp_path / "x.json")[0] == 0
    in_file = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))
    assert in_file and page.exists()
    status, printed, _ = run(capsys, directory, "--against", tmp_path / "measured", "--allow-different-plans",
                             "--json", "-")
    assert status == 0 and json.loads(printed) == in_file


def test_json_that_is_printed_has_the_names_as_they_are(capsys, tmp_path):
    file = os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff") + "\U000e0041\u202e.csv"
    with open(file, "w", encoding="utf-8") as traffic:
        traffic.write(f"{HEADER}0,1,1\n")
    assert traffic_command.main(["show", file, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["file"] == file
