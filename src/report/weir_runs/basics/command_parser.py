"""Command lines of weir's Python programs: what they say when one is wrong, or when a command is missing."""

import argparse
from typing import NamedTuple


class Either(NamedTuple):
    """Of these rows one at most is given."""

    rows: tuple
    required: bool = False


def value(name, metavar, what, **more):
    """The row of an option with a value, or of an argument: (name, what add_argument takes)."""
    return name, {"metavar": metavar, "help": what, **more}


def flag(name, what):
    return name, {"action": "store_true", "help": what}


class CommandParser(argparse.ArgumentParser):
    commands = None  # with sub-commands: what add_commands made

    def add_commands(self, rows):
        """`rows`: (name, summary, description, rows of its options, what its help ends with)."""
        self.commands = self.add_subparsers(dest="command", metavar="COMMAND", required=True,
                                            parser_class=CommandParser)
        for name, summary, description, options, epilog in rows:
            self.commands.add_parser(name, help=summary, description=description, epilog=epilog).add_rows(options)
        return self.commands

    def add_rows(self, rows):
        for row in rows:
            of_row = self.add_mutually_exclusive_group(required=row.required) if isinstance(row, Either) else self
            for name, settings in row.rows if isinstance(row, Either) else (row,):
                of_row.add_argument(name, **settings)

    def parse_args(self, args=None, namespace=None):
        if self.commands and not args:
            listed = {action.dest: action.help for action in self.commands._choices_actions}
            width = max(map(len, listed))
            self.exit(2, "\n".join([f"{self.prog}: a command is expected:",
                                    *(f"  {name:<{width}}  {text}" for name, text in listed.items()),
                                    f"{self.prog} COMMAND --help shows its options\n"]))
        return super().parse_args(args, namespace)

    def error(self, message):
        self.exit(2, f"{self.prog}: {message} ({self.prog} --help shows the usage)\n")
