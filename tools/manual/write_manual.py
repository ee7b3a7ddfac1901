#!/usr/bin/env python3
"""Writes the manual pages and the shell completions of all commands, from what the commands print of themselves: `weir
--help json`, and the parsers of the Python package's commands. Run by the build; needs no library, not even those of
the package.

    write_manual.py --weir PROGRAM --project DIRECTORY --out DIRECTORY

The output has the form of an installation's share/: man/man1, bash-completion/completions, zsh/site-functions and
fish/vendor_completions.d. Files of commands that are gone are removed.
"""

import argparse
import pathlib
import sys

from bash_completion import bash_completion
from description import read_python_commands, read_weir
from manual_page import manual_page
from zsh_completion import zsh_completion


def files(weir, version, date, python_commands):
    """Path below share/ -> text."""
    pages = [weir, *weir.commands, *python_commands]
    written = {}
    for command in pages:
        others = [other.page for other in pages if other is not command]
        written[f"man/man1/{command.page}.1"] = manual_page(command, version, date, others)
    for command in [weir, *python_commands]:
        written[f"bash-completion/completions/{command.name}"] = bash_completion(command)
        written[f"zsh/site-functions/_{command.name}"] = zsh_completion(command)
    return written


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weir", required=True, help="the program")
    parser.add_argument("--project", required=True, type=pathlib.Path, help="the directory of pyproject.toml")
    parser.add_argument("--out", required=True, type=pathlib.Path)
    options = parser.parse_args()
    sys.dont_write_bytecode = True
    written = files(*read_weir(options.weir), read_python_commands(options.project))
    for directory in {(options.out / path).parent for path in written}:
        directory.mkdir(parents=True, exist_ok=True)
        for old in directory.iterdir():
            if old.relative_to(options.out).as_posix() not in written:
                old.unlink()
    for path, text in written.items():
        (options.out / path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
