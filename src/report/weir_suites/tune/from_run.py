"""What a run that was made gives a tuning: its options, and its twin, the simulation that reproduces it (weir
explain)."""

import subprocess

from weir_compare.sweep.sweep_file import OWN_OPTIONS
from weir_runs.basics import units
from weir_runs.basics.errors import ReportError
from weir_runs.reading import twin
from weir_runs.reading.run import read_run

EXPLAIN_LIMIT_S = 600.0
# Of one run, or of how it was shown.
_NOT_TAKEN = (*OWN_OPTIONS, "seed", "tag", "explain", "require")


def tables(directory, weir):
    """([run], [simulation]) for a tuning of the run in `directory`. Explains it if nobody has. Raises ReportError if
    the twin does not reproduce it, with what is missing."""
    run = read_run(directory)
    if run.status != "complete":
        raise ReportError(f"--from: {directory}: this run is not complete, so it has no twin")
    if not (run.directory / twin.FILE).exists():
        _explain(directory, weir)
    found = twin.read(run)
    if not found["near"]:
        off = next((figure for figure in found["figures"] if figure["name"] == found.get("differs_most")), None)
        values = [units.text(off[side], off["unit"]) for side in ("run", "twin")] if off else ()
        raise ReportError(f"--from: {directory}: the twin does not reproduce this run, so nothing that is found in it "
                          "holds for the run: " + (f"{off['name']} is {values[0]} in the run and {values[1]} in the "
                                                   "twin. " if off else "")
                          + f"weir explain {directory} says more; runs on hosts and links that nobody else uses are "
                            "reproduced best")
    given = (run.record["environment"].get("options_given") or ())
    return _table((one["option"], one["value"]) for one in given), _table((one["option"], one["value"])
                                                                          for one in found["twin"])


def _table(pairs):
    """{option: value, or values of one that is repeated}"""
    found = {}
    for option, value in pairs:
        if option not in _NOT_TAKEN:
            found.setdefault(option, []).append(value)
    return {option: values[0] if len(values) == 1 else values for option, values in found.items()}


def _explain(directory, weir):
    try:
        done = subprocess.run([weir, "explain", str(directory), "--quiet"], capture_output=True, text=True,
                              timeout=EXPLAIN_LIMIT_S, check=False, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired as error:
        raise ReportError(
            f"--from: {directory}: weir explain took more than {EXPLAIN_LIMIT_S:.0f} s; call it first") from error
    if done.returncode not in (0, 3):
        raise ReportError(f"--from: {directory}: {(done.stderr.strip() or 'weir explain failed').splitlines()[-1]}")
