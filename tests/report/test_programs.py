"""Which programs are started."""

import pytest
from conftest import script

from weir_runs.basics import programs
from weir_runs.basics.errors import ReportError


def program(path, version):
    path.parent.mkdir(parents=True, exist_ok=True)
    return str(script(path, f"echo weir {version}\necho more"))


def test_simulations_take_the_program_without_mpi_if_it_is_of_the_same_version(tmp_path):
    weir = program(tmp_path / "same/bin/weir", "1.0.0+gabc")
    offline = program(tmp_path / "same/libexec/weir/weir-offline", "1.0.0+gabc")
    assert programs.simulator(weir) == offline

    weir = program(tmp_path / "older/bin/weir", "1.0.0+gabc")
    program(tmp_path / "older/libexec/weir/weir-offline", "1.0.0+gdef")
    assert programs.simulator(weir) == weir

    weir = program(tmp_path / "broken/bin/weir", "1.0.0+gabc")
    (tmp_path / "broken/libexec/weir").mkdir(parents=True)
    (tmp_path / "broken/libexec/weir/weir-offline").write_text("no program", encoding="utf-8")
    (tmp_path / "broken/libexec/weir/weir-offline").chmod(0o755)
    assert programs.simulator(weir) == weir

    weir = program(tmp_path / "alone/bin/weir", "1.0.0+gabc")
    assert programs.simulator(weir) == weir


def test_options_are_those_of_weirs_help(weir):
    simulate, run = ({option: (group, default) for group, option, default in programs.options_of(weir, command)}
                     for command in ("simulate", "run"))
    assert simulate["producers"] == run["producers"] and "producer-link" in simulate.keys() - run.keys()


@pytest.mark.parametrize("does", ["exit 3", "echo no JSON", "echo '{}'",
                                  'echo \'{"commands": [{"name": "simulate", "groups": [{"options": 3}]}]}\''])
def test_a_program_without_such_a_help_is_refused(tmp_path, does):
    path = script(tmp_path / "weir", does)
    for other in (path, tmp_path / "none"):
        with pytest.raises(ReportError, match=f"{other} --help json: options of weir simulate are expected"):
            programs.options_of(str(other), "simulate")
