"""Compares a page with its data: check.py PROGRAM ARGUMENT..., a Python program of this tree and its words."""

import os
import pathlib
import subprocess
import sys

program, *words = sys.argv[1:]
sys.exit(subprocess.run([sys.executable, pathlib.Path(os.environ["WEIR_SOURCE_DIR"]) / program, *words], check=False).returncode)
