#!/usr/bin/env python3
"""Writes the lists of docs/options.md: all options of all commands, and the built-in scenarios, from the same
descriptions that manual pages are made of; the keys of switch files in docs/simulating-a-switch.md; and the counters in
docs/counters.md. The text around them is written by hand and stays.

    write_options_page.py --weir PROGRAM [--check]

With --check nothing is written; exit status 1 if the page is not what would be written.
"""

import argparse
import functools
import json
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from description import read_python_commands, read_weir  # noqa: E402

SOURCE = pathlib.Path(__file__).resolve().parents[2]
COMMAND = "python3 tools/manual/write_options_page.py --weir build/release/bin/weir"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weir", required=True, help="the program")
    parser.add_argument("--check", action="store_true", help="only compare")
    options = parser.parse_args()
    weir, _, _ = read_weir(options.weir)
    pages = {"options.md": {"options": option_lists(weir, read_python_commands(SOURCE)),
                            "scenarios": scenario_table(options.weir)},
             "simulating-a-switch.md": {"keys": key_table(described(options.weir))},
             "counters.md": {"families": family_table(described(options.weir)),
                             "counters": counter_lists(described(options.weir))}}
    for name, lists in pages.items():
        write_page(SOURCE / "docs" / name, lists, options.check)


def write_page(path, lists, check):
    before = path.read_text(encoding="utf-8")
    page = before
    for name, text in lists.items():
        page = replaced(page, name, text)
    if not check:
        path.write_text(page, encoding="utf-8")
    elif page != before:
        sys.exit(f"{path} is not in step with the program. Run: {COMMAND}")


def replaced(page, name, text):
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    if page.count(begin) != 1 or page.count(end) != 1:
        sys.exit(f"write_options_page: the page must have one line {begin} and one line {end}")
    head, rest = page.split(begin)
    return f"{head}{begin}\n{text}\n{end}{rest.split(end)[1]}"


def option_lists(weir, python_commands):
    sections = {}  # group's name -> [(command, group), ...]
    for command in weir.commands:
        for group in command.groups:
            sections.setdefault(group.name, []).append((command.name, group))
    return "\n\n".join([section(name, members) for name, members in sections.items()]
                       + [python_section(command) for command in python_commands])


def section(name, members):
    """A group of options that one or several of weir's commands have."""
    _, widest = max(members, key=lambda member: len(member[1].options))
    commands = [command for command, _ in members]
    options, owners = {}, {}
    for option in widest.options:
        options[tuple(option.names)] = option
    for command, group in members:
        for option in group.options:
            options.setdefault(tuple(option.names), option)
            owners.setdefault(tuple(option.names), []).append(command)
    rows = [row(option, owners[names], commands) for names, option in options.items()]
    note = f"\n\n```text\n{widest.note.strip()}\n```" if widest.note.strip() else ""
    about = "" if widest.title == name else f"{widest.title[:1].upper()}{widest.title[1:]}. "
    return f"### Group {name}\n\n{about}Options of {joined(commands)}.\n\n{table(rows)}{note}"


def python_section(command):
    """A Python command; what several of its sub-commands have stands first, once."""
    rows = {part.name: [row(option) for option in part.options if not {"--help", "--version"} & set(option.names)]
            for part in [command, *command.commands]}
    owners = {}
    for name, own in rows.items():
        for one in own:
            owners.setdefault(one, []).append(name.removeprefix(f"{command.name} "))
    shared = {one: of for one, of in owners.items() if len(of) > 1}
    names = [part.name.removeprefix(f"{command.name} ") for part in command.commands]
    lines = ["| **of several sub-commands** | |"] if shared else []
    lines += [one.removesuffix(" |") + f" ({those_of(names, of)}) |" for one, of in shared.items()]
    for name, own in rows.items():
        own = [one for one in own if one not in shared]
        lines += ([f"| **`{name}`** | |"] if own and command.commands else []) + own
    # What an option is without a value stands in its meaning.
    lines = [line.replace(" |  | ", " | ", 1) for line in lines]
    return "\n".join([f"### {command.name}\n\n| option | meaning |\n|---|---|", *lines])


def those_of(names, owners):
    others = [name for name in names if name not in owners]
    return joined(owners) if len(owners) <= len(others) + 1 else f"all but {joined(others)}"


def table(rows):
    return "\n".join(["| option | default | meaning |", "|---|---|---|", *rows])


def row(option, owners=(), commands=()):
    syntax = f" [{option.syntax}]" if option.value_is_optional else f" {option.syntax}" if option.syntax else ""
    names = in_cell(", ".join(option.names) + syntax)
    only = f" (only {joined(owners)})" if len(owners) < len(commands) else ""
    return f"| `{names}` | {prose(option.default or '')} | {prose(option.help)}{only} |"


def in_cell(text):
    return " ".join(text.split()).replace("|", "\\|")


def prose(text):
    return in_cell(text).replace("<", "&lt;")


def joined(names):
    names = [f"`{name}`" for name in names]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def scenario_table(program):
    listed = subprocess.run([program, "scenarios"], check=True, capture_output=True, text=True).stdout
    lines = ["| name | producers -> consumers | what it is; of papers: what they found |", "|---|---|---|"]
    for line in listed.split("\n\n")[0].splitlines()[1:]:
        name, layout, what = re.split(r"\s{2,}", line, maxsplit=2)
        lines.append(f"| `{name}` | {prose(layout)} | {prose(what)} |")
    return "\n".join(lines)


@functools.cache
def described(program):
    return json.loads(subprocess.run([program, "--help", "json"], check=True, capture_output=True, text=True).stdout)


def key_table(everything):
    """The keys of a switch file."""
    lines = ["| key | what is written | default | meaning | source of the default |", "|---|---|---|---|---|"]
    section = None
    for key in everything["switch_keys"]:
        if key["section"] != section:
            section = key["section"]
            lines.append(f"| **`[{section}]`** | | | | |")
        default = f"`{key['default']}`" if key["default"] else "none"
        lines.append(f"| `{key['name']}` | {in_cell(key['kind'])} | {default} | {prose(key['help'])} | "
                     f"{prose(key['source'])} |")
    return "\n".join(lines)


def family_table(everything):
    lines = ["| family | counts | unit | what to do |", "|---|---|---|---|"]
    for family in everything["counter_families"]:
        lines.append(f"| `{family['name']}` | {family['title']} | {family['unit']} | {prose(family['remedy'])} |")
    return "\n".join(lines)


def counter_lists(everything):
    """The rows of each driver, in their order; Ethernet drivers after the RDMA devices of the same name."""
    lists = {}
    for row in everything["counters"]:
        lists.setdefault(row["driver"], {}).setdefault(row["source"], []).append(row)
    lines = []
    for driver, sources in lists.items():
        lines += ["", f"### {driver}"]
        for source, rows in sources.items():
            lines += ["", f"From {source}.", "", "| name | counts | unit | family |", "|---|---|---|---|"]
            lines += [counter_row(row) for row in rows]
    return "\n".join(lines[1:])


def counter_row(row):
    names = ", ".join(f"`{name.replace(':_', ': ').replace('#', '3').replace('%', '0')}`"
                      for name in row["names"].split(" "))
    unit = row["unit"] if row["bits"] == 64 else f"{row['unit']}, {row['bits']} bits"
    return f"| {names} | {prose(row['what'])} | {unit} | {row['family'] or 'none'} |"


if __name__ == "__main__":
    main()
