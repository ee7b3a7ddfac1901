"""Which programs are started."""

from weir_report.basics import programs


def program(path, version):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho weir {version}\necho more\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


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
