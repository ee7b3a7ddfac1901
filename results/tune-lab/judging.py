"""What of weir-report the page is judged with, and the figures of a run are read with. Needs its libraries."""

import sys

import studies

sys.path.append(str(studies.TOP / "src/report"))
try:
    from weir_runs.reading.key_figures import key_figures  # noqa: F401
    from weir_runs.reading.run import read_run  # noqa: F401
    from weir_suites.tune import decide, objective  # noqa: F401
except ModuleNotFoundError as missing:
    sys.exit(f"tune-lab: this Python has no {missing.name}, which the page is judged with; try /usr/bin/python3 "
             "bench/study tune-lab ...")
