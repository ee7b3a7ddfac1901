"""Switches that do not do what they are told: each is named as what it is, and nothing rests on its runs.

A switch is a script here, with what it has in the file `has`; the launcher simulates."""

import json
import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from conftest import call_inside, script
from weir_compare.sweep import in_force

LAUNCHER = """
weir=$3
shift 4
test -e slow && sleep "$(cat slow)"
exec $weir simulate "$@" --quiet"""
SWEEP = """
repetitions = {repetitions}
[run]
producers = 2
consumers = 2
rate = "100Mb/s"
event-size = "1MiB"
duration = "1s"
warmup = "0s"
[local]
launcher = ["./launcher"]
[switch]
settings = [{settings}]
on-change = "./set-switch"
verify = "{verify}"
{more}
"""


@pytest.fixture
def sweep(weir, tmp_path):
    """sweep(what the switch does with $1, keys of [switch]): what collect says, on one line, and the page."""
    def write(more, repetitions, verify="cat has", settings='"a", "b"'):
        (tmp_path / "some.toml").write_text(SWEEP.format(more=more, repetitions=repetitions, verify=verify,
                                                         settings=settings))

    def make(body, more="", repetitions=1, *, slow=None, verify="cat has", settings='"a", "b"', begins="mode none"):
        write(more, repetitions, verify, settings)
        (tmp_path / "has").write_text(f"{begins}\n")
        if slow:
            (tmp_path / "slow").write_text(slow)
        script(tmp_path / "launcher", LAUNCHER)
        script(tmp_path / "set-switch", body)
        made.submitted = call_inside("weir-sweep", "submit", tmp_path / "some.toml", "--local", expect=made.expect)
        made.collected = " ".join(call_inside("weir-sweep", "collect", tmp_path / "some.toml").split())
        page = tmp_path / "some/comparison.html"
        made.page = page.read_text() if page.exists() else ""
        return made

    def again(*words, expect=0):
        return call_inside("weir-sweep", "submit", tmp_path / "some.toml", "--local", *words, expect=expect)

    made = make
    made.expect, made.again, made.write, made.directory = 1, again, write, tmp_path
    return made


def states(directory):
    """{switch setting: state of its last run}"""
    said = call_inside("weir-sweep", "status", directory / "some.toml", "--json", expect=None)
    return {point["setting"].partition("=")[2]: point["state"] for point in json.loads(said)["worlds"][0]["points"]}


def test_a_switch_that_does_what_it_is_told_is_compared_and_its_words_are_on_the_page(sweep):
    sweep.expect = 0
    made = sweep('echo "mode $1" > has; echo "taken: $1"', repetitions=3)
    assert states(sweep.directory) == {"a": "complete", "b": "complete"}
    assert "not measured" not in made.collected and "do not count" not in made.collected
    for switch in ("a", "b"):
        assert f"$ ./set-switch {switch}\ntaken: {switch}\n-&gt; set" in made.page and f"mode {switch}" in made.page
    kept = sorted((sweep.directory / "some/local/runs").glob("*/switch/verify-*.txt"))
    assert len(kept) == 12 and {path.read_text() for path in kept} == {"mode a\n", "mode b\n"}


def test_a_switch_that_acts_late_is_named_and_waited_for_with_settle(sweep):
    late = '(sleep 1; echo "mode $1" > has) > /dev/null 2>&1 &'
    made = sweep(f"setsid sh -c '{late}' sh $1", slow="1.5")
    assert "the switch changed during the run: 'mode none' before, 'mode a' after it" in made.submitted \
        or "the switch changed during the run: 'mode none' before, 'mode b' after it" in made.submitted
    assert "was not measured: the switch changed during the run" in made.collected and "0 complete" in made.collected
    assert set(states(sweep.directory).values()) == {"not in force"}
    sweep.write('settle = "1.5s"', 1)
    (sweep.directory / "slow").unlink()
    sweep.again("--retry-failed")
    assert states(sweep.directory) == {"a": "complete", "b": "complete"}


def test_a_switch_that_does_nothing_is_named(sweep):
    made = sweep("echo done", repetitions=3)
    assert "ended with 0, but the switch showed the same as with" in made.submitted
    assert set(states(sweep.directory).values()) == {"waiting"}  # those of the last round
    for switch in ("a", "b"):
        assert f"{switch} was not measured: " in made.collected
    assert "and which of the two was in effect is not known" in made.collected
    assert "$ ./set-switch" in made.collected and "done -> ended with 0, but the switch showed the" in made.collected
    assert "stopped: a run of every setting failed" in made.submitted
    # Once it does what it is told, all is made again.
    script(sweep.directory / "set-switch", 'echo "mode $1" > has')
    sweep.again("--retry-failed")
    assert set(states(sweep.directory).values()) == {"complete"}


def test_what_counts_does_not_rest_on_which_of_two_settings_came_first(sweep):
    """The switch has b from the beginning and does not take a, so that a's runs would be those of b."""
    made = sweep('test $1 = a || echo "mode $1" > has', settings='"a", "b", "c"', begins="mode b")
    assert states(sweep.directory)["a"] != "complete" != states(sweep.directory)["b"]
    assert states(sweep.directory)["c"] == "complete"
    assert "a was not measured: " in made.collected and "b was not measured: " in made.collected
    assert "-&gt; ended with 0, but the switch showed the same as with" in made.page


@pytest.mark.parametrize("answer", ["% Invalid input (at token 0: 'random-detect')", "syntax error, expecting <data>."])
def test_a_switch_that_refuses_what_is_typed_and_ends_with_0_is_named(sweep, answer):
    made = sweep(f'if test $1 = b; then echo "sw1(config)#random-detect"; echo "{answer}"; exit 0; fi; '
                 'echo "mode $1" > has')
    assert f"the switch answered: {answer}" in made.submitted
    assert states(sweep.directory) == {"a": "complete", "b": "hook failed"}
    assert f"b was not measured: ./set-switch b ended with 0, but the switch answered: {answer[:20]}" in made.collected
    assert "sw1(config)#random-detect\n" in made.page and answer.replace("'", "&#39;").replace("<", "&lt;").replace(
        ">", "&gt;") in made.page


@pytest.mark.parametrize("body", ["sleep 60", "trap '' TERM; sleep 60; sleep 60",
                                  "(trap '' TERM; sleep 60; sleep 60) & wait"])
def test_a_switch_command_that_hangs_is_ended_with_what_it_started(sweep, body):
    begun = time.monotonic()
    made = sweep(f'if test $1 = b; then echo $$ > pid; echo "password:"; {body}; fi; echo "mode $1" > has',
                 'change-limit = "300ms"')
    assert time.monotonic() - begun < 20.0
    assert "./set-switch b took more than 0.3 s" in made.submitted
    assert states(sweep.directory) == {"a": "complete", "b": "hook failed"}
    assert "b was not measured: ./set-switch b took more than 0.3 s" in made.collected
    assert "password:\n-&gt; took more than 0.3 s" in made.page
    session = int((sweep.directory / "pid").read_text())
    assert session not in (os.getsid(int(name)) for name in _processes())


def _processes():
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            os.getsid(int(name))
            yield name
        except OSError:
            continue


@pytest.mark.parametrize("verify, why", [("exit 3", "it exited with 3"), ("true", "it printed nothing"),
                                         ("sleep 60", "its command did not end within 1 s")])
def test_a_campaign_in_which_nothing_can_be_verified_is_stopped(sweep, verify, why):
    made = sweep("true", 'read-limit = "1s"', 2, verify=verify)
    assert f"ended with 0, but what the switch has could not be read: {why}" in made.submitted
    assert "stopped: a run of every setting failed" in made.submitted
    assert not list((sweep.directory / "some/local/runs").iterdir())


def test_all_settings_that_cannot_be_set_for_one_reason_stop_the_campaign(sweep):
    made = sweep('echo "% Authorization denied for command"', repetitions=4)
    assert "stopped: a run of every setting failed, and each as this one: ./set-switch" in made.submitted
    assert len(list((sweep.directory / "some/local/hooks").iterdir())) == 6  # three tries for each of two settings


def test_a_line_that_always_changes_is_named_afterwards(sweep):
    made = sweep('echo "mode $1" > has', verify="cat has; date +%N")
    assert "the switch changed during the run: '" in made.submitted and "name it in verify-ignores" in made.submitted
    sweep.write('verify-ignores = ["^[0-9]+$"]', 1, "cat has; date +%N")
    assert "nothing to do" in sweep.again() and states(sweep.directory) == {"a": "complete", "b": "complete"}


# --- Which runs count, by the texts alone.


def readings(*runs):
    """(setting, text before, text after), or of both."""
    return [in_force.Reading(Path(f"r{number}"), switch, tuple((text,) if text else None for text in
                                                               (texts * 2 if len(texts) == 1 else texts)))
            for number, (switch, *texts) in enumerate(runs)]


@pytest.mark.parametrize("runs, bad", [
    ([("a", "A"), ("b", "B"), ("b", "B"), ("a", "A")], []),
    ([("a", "A"), ("b", "A"), ("b", "B"), ("b", "B")], [1]),  # it failed once
    ([("a", "A"), ("b", "A")], [0, 1]),
    ([("a", "A"), ("b", "A"), ("b", "B"), ("a", "A")], [1, 2]),  # which of its two texts is that of b?
    ([("a", "A", "B"), ("a", "A"), ("b", "B"), ("a", "A")], [0]),
    ([("a", "A", "B"), ("a", "B", "C")], [0, 1]),
    ([("a", "A"), ("b", None)], [1])])
def test_which_runs_count(runs, bad):
    assert [str(directory) for directory in in_force.doubts_of(readings(*runs))] == [f"r{number}" for number in bad]


def test_a_setting_that_was_refused_puts_the_one_with_its_text_in_doubt():
    made = readings(("a", "A"), ("c", "C"))
    assert list(in_force.doubts_of(made, {"b": ("A",)})) == [Path("r0")]
    assert not in_force.doubts_of(readings(("a", "A"), ("b", "B")), {"b": ("A",)})  # it was set later


def test_what_is_kept_of_a_setting_is_not_that_of_one_whose_name_ends_alike(tmp_path):
    names = ("0001-pfc.txt", "0002-no-pfc.txt", "0002-no-pfc-shows.txt", "0003-x_y-pfc.txt", "12345-pfc.txt",
             "0004-pfc-shows.txt")
    (tmp_path / "hooks").mkdir()
    for name in names:
        (tmp_path / "hooks" / name).touch()
    world = SimpleNamespace(directory=tmp_path)
    assert [path.name for path in in_force.hook_files(world, "pfc")] == ["0001-pfc.txt", "12345-pfc.txt"]
    assert [path.name for path in in_force.hook_files(world, "pfc", "-shows")] == ["0004-pfc-shows.txt"]
    assert [path.name for path in in_force.hook_files(world, "no-pfc")] == ["0002-no-pfc.txt"]


def test_names_that_differ_in_signs_alone_have_files_of_their_own():
    names = ("a b", "a/b", "a_b", "a%20b", "ä b", "a\nb")
    kept = {in_force.safe(name) for name in names}
    assert len(kept) == len(names) and not any(set(name) & set("/ \n") for name in kept)
    assert in_force.safe("ecn=50kB+pfc_on.2-x") == "ecn=50kB+pfc_on.2-x"


def test_what_verify_printed_is_read_once_until_it_changes(tmp_path, monkeypatch):
    path, asked = tmp_path / "verify-before.txt", []
    monkeypatch.setattr(in_force, "read_text", lambda path, *_: asked.append(path) or path.read_text())
    path.write_text("mode a\nup 3\n")
    assert [in_force._lines_in(path, ["up"]) for _ in range(3)] == [("mode a",)] * 3 and len(asked) == 1
    path.write_text("mode b\n")
    os.utime(path, ns=(0, time.time_ns() + 10**9))
    assert in_force._lines_in(path, ["up"]) == ("mode b",) and len(asked) == 2
