#!/usr/bin/env python3
"""clang-tidy on every source file of src/, with the checks in .clang-tidy; any finding is a failure. In a unity build
it reads what the compiler reads, each library in one piece.

A file that was found clean is not looked at again until something changes that the answer depends on: the
file, one of the project's headers that it includes (directly or not), the command that compiles it, the checks,
or clang-tidy itself. What is known to be clean is kept beside clang-tidy, for all builds of this user, wherever they
are.
"""

import argparse
import concurrent.futures
import contextlib
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import pinned_tools

SKIPPED = 77
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def compile_commands(source, build):
    """The entries for src/, each file or library once: the sanitized targets compile the same again."""
    with open(build / "compile_commands.json", encoding="utf-8") as file:
        entries = json.load(file)
    found = {}
    for entry in entries:
        path = pathlib.Path(entry["directory"], entry["file"]).resolve()
        ours = path.is_relative_to(source / "src") or \
            path.is_relative_to(build / "src") and path.parent.name == "Unity"
        if ours and "_sanitized.dir" not in entry["command"]:
            # Precompiled headers are GCC's, and so are its parameters: clang-tidy reads the real headers.
            command = re.sub(r"-Winvalid-pch|-include \S*cmake_pch\.hxx|--param=\S+", "", entry["command"])
            found.setdefault(path, {**entry, "command": command})
    return dict(sorted(found.items()))


class Fingerprints:
    def __init__(self, source, build, common):
        self.roots = [source / "src", build / "generated"]
        self.places = [(str(build), "BUILD"), (str(source), "SOURCE")]
        self.common = common
        self.headers = {}

    def wherever(self, text):
        """The text as it would be of any other source and build directory."""
        for place, name in self.places:
            text = text.replace(place, name)
        return text.encode()

    def included_by(self, path):
        """The project's files that this file includes, by reading and not by preprocessing."""
        if path not in self.headers:
            names = INCLUDE.findall(path.read_text(encoding="utf-8"))
            self.headers[path] = [root / name for name in names for root in self.roots if (root / name).is_file()]
        return self.headers[path]

    def of(self, path, entry):
        reached, waiting = set(), [path]
        while waiting:
            current = waiting.pop()
            if current not in reached:
                reached.add(current)
                waiting += self.included_by(current)
        digest = hashlib.sha256(self.common)
        digest.update(self.wherever(entry["command"]))
        for file in sorted(reached, key=lambda file: self.wherever(str(file))):
            # The header with the version changes with each commit, and only in its constants.
            if file.name != "weir_version.hpp":
                digest.update(self.wherever(f"{file}\0{file.read_text(encoding='utf-8')}\0"))
        return digest.hexdigest()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", required=True, type=pathlib.Path)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    program = pinned_tools.find("clang-tidy")
    if not program:
        print(f"skipped: clang-tidy {pinned_tools.MISSING}")
        return SKIPPED

    source, build = arguments.source.resolve(), arguments.build.resolve()
    version = subprocess.run([str(program), "--version"], capture_output=True).stdout
    common = version + (source / ".clang-tidy").read_bytes()
    commands = compile_commands(source, build)
    fingerprints = Fingerprints(source, build, common)
    clean = pinned_tools.directory() / "clean"
    clean.mkdir(exist_ok=True)
    known = {file.name for file in clean.iterdir()}

    wanted = {path: fingerprints.of(path, entry) for path, entry in commands.items()}
    # The longest files first, so that the last ones are quick and no core waits.
    waiting = sorted((path for path in wanted if wanted[path] not in known), key=lambda path: -path.stat().st_size)

    # clang-tidy runs every entry of a file: a database of its own, with one each.
    database = build / "clang-tidy"
    database.mkdir(exist_ok=True)
    (database / "compile_commands.json").write_text(json.dumps(list(commands.values())))

    def run(path):
        start = time.monotonic()
        # clang's own warnings are findings too (clang-diagnostic-*), so that clang builds without any; it does not
        # have all options of the compiler that builds here, and what libstdc++ deprecates it uses itself. Format
        # strings are checked by the compiler that builds here: to do it again takes a fifth of the time.
        command = [str(program), "--quiet", "-p", str(database), "--extra-arg=-Wno-unknown-warning-option",
                   "--extra-arg=-Wno-deprecated-declarations", "--extra-arg=-DFMT_CONSTEVAL=", str(path)]
        result = subprocess.run(command, capture_output=True, text=True)
        return path, result, time.monotonic() - start

    failed = []
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for path, result, seconds in pool.map(run, waiting):
            name = path.relative_to(build if path.is_relative_to(build) else source)
            print(f"{name}: {'clean' if result.returncode == 0 else 'FINDINGS'} ({seconds:.1f} s)", flush=True)
            if result.returncode != 0:
                failed.append(str(name))
                print(result.stdout + result.stderr)
            else:
                (clean / wanted[path]).touch()
    for fingerprint in set(wanted.values()) & known:
        (clean / fingerprint).touch()
    # Of files that nobody has had for a month.
    for file in clean.iterdir():
        with contextlib.suppress(OSError):  # another process was first
            if time.time() - file.stat().st_mtime > 30 * 86400:
                file.unlink()

    print(f"{len(commands)} files, {len(commands) - len(waiting)} of them known to be clean")
    if failed:
        print("with findings: " + ", ".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
