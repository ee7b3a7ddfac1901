#!/usr/bin/env python3
"""Writes what is made of docs/capabilities.toml: docs/what-is-here.md, and the index of docs in README.md.

    tools/capabilities.py [--check]

--check writes nothing, and exits with 1 if a file is not as it would be written; numbers of lines may be off by a
tenth.
"""

import argparse
import functools
import re
import subprocess
import sys
from pathlib import Path

try:
    import tomllib
except ImportError:  # Python before 3.11
    import tomli as tomllib

SOURCE = Path(__file__).resolve().parents[1]
TABLE = SOURCE / "docs/capabilities.toml"
CODE = re.compile(r"(?:src|slurm)/.*\.(?:cpp|hpp|py|js|css|j2|json|in|sbatch)|bench/(?:lab|soft)[^/]*(?:/.*\.py)?")
TESTS = re.compile(r"tests/.*\.(?:cpp|hpp|py|js)|tests/run")
BEGIN, END = "<!-- made by tools/capabilities.py -->\n", "<!-- end -->\n"
TAIL = """
Next: [how weir works inside](ARCHITECTURE.md), or [which file has what](../src/README.md).
"""
HEAD = """# What is here

For whoever wants to know what weir can do, which question each part answers and how large it is. Made from
[capabilities.toml](capabilities.toml) by `tools/capabilities.py`. Lines are those of code and of tests, with comments
and blanks, in thousands. A new capability needs a row, and a question that no other row answers.

| capability | the question it answers | who needs it | commands and options | code | tests |
|---|---|---|---|---|---|
"""


def read():
    with open(TABLE, "rb") as file:
        return tomllib.load(file)


def tracked():
    listed = subprocess.run(["git", "-C", SOURCE, "ls-files"], capture_output=True, text=True, check=True).stdout
    return [name for name in listed.splitlines() if (SOURCE / name).is_file()]


@functools.cache
def expression(pattern):
    return re.compile(re.escape(pattern).replace(r"\*\*", ".*").replace(r"\*", "[^/]*"))


def owner(capabilities, key, name):
    """The capability with the longest pattern that `name` matches, or None."""
    matching = [(len(pattern.replace("*", "")), -place) for place, one in enumerate(
                    capabilities) for pattern in one[key] if expression(pattern).fullmatch(name)]
    return capabilities[-max(matching)[1]] if matching else None


def lines_of(capabilities, names, key, which):
    """{capability: lines of the files that are its own}."""
    found = dict.fromkeys((one["name"] for one in capabilities), 0)
    for name in filter(which.fullmatch, names):
        if (one := owner(capabilities, key, name)) is not None:
            found[one["name"]] += (SOURCE / name).read_bytes().count(b"\n")
    return found


def row(capability, code, tests):
    commands = [f"`{command}`" for command in capability.get("commands", ())]
    options = capability.get("options", ())
    if options:
        commands.append(f"{len(options)} option{'s' if len(options) > 1 else ''}")
    name, pages = capability["name"], list(capability["pages"].values())
    cells = (f"[{name}]({pages[0]})" if pages else name, capability["question"], capability["needs"],
             ", ".join(commands), f"{code / 1000:.1f}", f"{tests / 1000:.1f}")
    return f"| {' | '.join(cells)} |\n"


def page(table):
    names, capabilities = tracked(), table["capability"]
    code, tests = (lines_of(capabilities, names, key, which) for key, which in (("code", CODE), ("tests", TESTS)))
    return HEAD + "".join(row(one, code[one["name"]], tests[one["name"]]) for one in capabilities) + TAIL


def title(name):
    """That of the page, without what follows a colon."""
    first = (SOURCE / "docs" / name.partition("#")[0]).read_text(encoding="utf-8").splitlines()[0]
    return first.lstrip("# ").partition(":")[0]


def link(name):
    return f"[{title(name)}]({'docs/' + name if not name.startswith('../') else name[3:]})"


def index(table):
    made = "| I want to | page |\n|---|---|\n"
    for one in table["capability"]:
        made += "".join(f"| {want} | {link(name)} |\n" for want, name in one["pages"].items())
    made += "\n| I look up | page |\n|---|---|\n"
    return made + "".join(f"| {what} | {link(name)} |\n" for what, name in table["reference"].items())


def is_near(one, other):
    """Equal but for numbers of lines, which may differ by a tenth, or by 0.2."""
    number = re.compile(r"(?<=\| )\d+\.\d(?= \|)")
    if number.sub("", one) != number.sub("", other):
        return False
    pairs = zip(*(map(float, number.findall(text)) for text in (one, other)))
    return all(abs(a - b) <= max(0.2, 0.1 * a) for a, b in pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    table, readme = read(), SOURCE / "README.md"
    before, _, rest = readme.read_text(encoding="utf-8").partition(BEGIN)
    made = {SOURCE / "docs/what-is-here.md": page(table),
            readme: before + BEGIN + index(table) + END + rest.partition(END)[2]}
    stale = [path for path, text in made.items()
             if not (path.exists() and is_near(path.read_text(encoding="utf-8"), text))]
    for path in stale:
        if check:
            print(f"{path.relative_to(SOURCE)} is not as tools/capabilities.py would write it")
        else:
            path.write_text(made[path], encoding="utf-8")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
