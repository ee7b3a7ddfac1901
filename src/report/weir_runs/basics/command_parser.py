"""Command lines of weir's Python programs: what they say when one is wrong, or when a command is missing."""

import argparse


class CommandParser(argparse.ArgumentParser):
    commands = None  # with sub-commands: what add_commands made

    def add_commands(self):
        """As add_subparsers, for parsers of the same kind."""
        self.commands = self.add_subparsers(dest="command", metavar="COMMAND", required=True,
                                            parser_class=CommandParser)
        return self.commands

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
