"""Runs `check` of a page's program with the weir that is tested: check.py PROGRAM check [--program FILE: tested instead]

Of a page that was measured: check.py PROGRAM ARGUMENT..., which compares its text with its data."""

import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(os.environ["WEIR_SOURCE_DIR"])
program, *words = sys.argv[1:]
tested = [] if "--program" in words or "check" not in words else ["--weir", os.environ["WEIR"]]
sys.exit(subprocess.run([sys.executable, SOURCE / program, *words, *tested], check=False).returncode)
