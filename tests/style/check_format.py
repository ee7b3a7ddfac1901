#!/usr/bin/env python3
"""Every C++ file of src/ and tests/ is as clang-format would write it. Repair: clang-format -i FILE."""

import argparse
import os
import pathlib
import subprocess
import sys

SKIPPED = 77


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--source", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    if not os.access(arguments.program, os.X_OK):
        print("skipped: clang-format is not installed (bench/install-dependencies --tests)")
        return SKIPPED

    files = sorted(path for directory in ("src", "tests", "bench") for path in (arguments.source / directory).rglob("*")
                   if path.suffix in {".cpp", ".hpp"})
    print(subprocess.run([arguments.program, "--version"], capture_output=True, text=True).stdout.strip())
    result = subprocess.run([arguments.program, "--dry-run", "-Werror", "--style=file", *map(str, files)])
    print(f"{len(files)} files" + ("" if result.returncode == 0 else ": repair with clang-format -i FILE"))
    return 1 if result.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
