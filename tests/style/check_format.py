#!/usr/bin/env python3
"""Every C++ file of src/ and tests/ is as clang-format would write it. Repair: $(tests/style/pinned_tools.py
clang-format) -i FILE."""

import argparse
import pathlib
import subprocess
import sys

import pinned_tools

SKIPPED = 77


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    program = pinned_tools.find("clang-format")
    if not program:
        print(f"skipped: clang-format {pinned_tools.MISSING}")
        return SKIPPED

    files = sorted(path for directory in ("src", "tests", "bench") for path in (arguments.source / directory).rglob("*")
                   if path.suffix in {".cpp", ".hpp"})
    print(subprocess.run([program, "--version"], capture_output=True, text=True).stdout.strip())
    result = subprocess.run([program, "--dry-run", "-Werror", "--style=file", *map(str, files)])
    print(f"{len(files)} files" + ("" if result.returncode == 0 else f": repair with {program} -i FILE"))
    return 1 if result.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
