"""Runs `check` of a page's program with the weir that is tested: check.py PROGRAM ARGUMENT..."""

import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(os.environ["WEIR_SOURCE_DIR"])
program, *words = sys.argv[1:]
sys.exit(subprocess.run([sys.executable, SOURCE / program, *words, "--weir", os.environ["WEIR"]], check=False).returncode)
