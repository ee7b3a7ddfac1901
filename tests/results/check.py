"""Runs a Python program of this tree that may need the libraries of weir-report: check.py PROGRAM ARGUMENT... Its exit
status is the program's."""

import importlib.util
import os
import pathlib
import subprocess
import sys

program, *words = sys.argv[1:]


def python():
    """This one, or the system's where that alone has the libraries of weir-report, which some studies judge with."""
    found = importlib.util.find_spec("numpy") is not None and importlib.util.find_spec("scipy") is not None
    return sys.executable if found or not os.access("/usr/bin/python3", os.X_OK) else "/usr/bin/python3"


sys.exit(subprocess.run([python(), pathlib.Path(os.environ["WEIR_SOURCE_DIR"]) / program, *words],
                        check=False).returncode)
