#!/usr/bin/env python3
"""Every Python file passes the rules of ruff.toml, by the version of requirements.txt."""

import argparse
import pathlib
import subprocess
import sys

import pinned_tools

SKIPPED = 77


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", required=True, type=pathlib.Path)
    source = parser.parse_args().source
    program = pinned_tools.find("ruff")
    if not program:
        print(f"skipped: ruff {pinned_tools.MISSING}")
        return SKIPPED
    # Also the scripts without an ending, which git knows by their first line.
    listed = subprocess.run(["git", "-C", source, "grep", "-lI", "^#!/usr/bin/env python3"], capture_output=True,
                            text=True, check=False)
    scripts = [source / name for name in listed.stdout.splitlines() if "." not in pathlib.Path(name).name]
    return subprocess.run([program, "check", "--no-cache", "--output-format", "concise", source, *scripts],
                          check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
