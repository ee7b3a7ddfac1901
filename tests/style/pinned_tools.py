#!/usr/bin/env python3
"""The clang-format, clang-tidy and ruff of requirements.txt, in the user's cache directory and not installed.

    pinned_tools.py install     fetches them with pip, once; exit status 1, with the reason, if that cannot be done
    pinned_tools.py clang-tidy  prints the path of one of them
"""

import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile

REQUIREMENTS = pathlib.Path(__file__).with_name("requirements.txt")
PROGRAMS = {"clang-format": "clang_format/data/bin/clang-format", "clang-tidy": "clang_tidy/data/bin/clang-tidy",
            "ruff": "bin/ruff"}
MISSING = "is not here in the version of tests/style/requirements.txt (tests/style/pinned_tools.py install)"


def directory():
    """Other versions go to another directory."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    return cache / "weir" / f"style-{hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:12]}"


def find(name):
    """The path of the program, or None."""
    path = directory() / PROGRAMS[name]
    return path if os.access(path, os.X_OK) else None


def install():
    """None, or why they cannot be had. Other processes may do the same at the same time."""
    if all(find(name) for name in PROGRAMS):
        return None
    target = directory()
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as work:
        fetched = pathlib.Path(work) / "tools"
        result = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                                 "--no-deps", "--only-binary", ":all:", "--target", str(fetched),
                                 "--requirement", str(REQUIREMENTS)],
                                capture_output=True, text=True)
        if result.returncode:
            return f"pip could not install {REQUIREMENTS}: {result.stderr.strip() or result.stdout.strip()}"
        try:
            fetched.rename(target)
        except OSError:
            pass  # another process was first
    missing = [name for name in PROGRAMS if not find(name)]
    return f"no {' and no '.join(missing)} in what pip installed in {target}" if missing else None


def main():
    if sys.argv[1:] == ["install"]:
        if reason := install():
            print(f"pinned_tools.py: {reason}", file=sys.stderr)
            return 1
        return 0
    if len(sys.argv) == 2 and sys.argv[1] in PROGRAMS:
        path = find(sys.argv[1])
        print(path or f"{sys.argv[1]} {MISSING}", file=sys.stdout if path else sys.stderr)
        return 0 if path else 1
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
