"""What a command is, for whoever writes about it: read from `weir --help json`, or from the parser of a Python command.

Both kinds end in the same few classes, so that there is one writer of manual pages and one of completions for each
shell.
"""

import argparse
import importlib
import importlib.abc
import importlib.machinery
import json
import re
import subprocess
import sys
import types
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional
from unittest import mock


@dataclass
class Option:
    names: list  # ["-q", "--quiet"]
    syntax: Optional[str] = None  # "RATE"; None: a flag
    help: str = ""
    default: Optional[str] = None
    values: list = field(default_factory=list)  # the words that it takes, where they can be listed
    repeatable: bool = False
    value_is_optional: bool = False
    is_path: bool = False  # whatever the syntax calls it

    @property
    def takes_files(self):
        return self.syntax is not None and (re.search(r"\bFILE\b", self.syntax) is not None
                                            or self.is_path and not self.takes_directories)

    @property
    def takes_directories(self):
        return self.syntax is not None and re.search(r"\b(DIRECTORY|RUN|BASELINE)\b", self.syntax) is not None

    @property
    def takes_a_list(self):
        return self.syntax is not None and self.syntax.endswith(",...")

    @property
    def file_ending(self):
        """".toml", if the help allows such files only; else nothing."""
        found = re.search(r"\bfile(\.[a-z]+)\b|\bFILE(\.[a-z]+)\b", f"{self.help} {self.syntax}")
        return (found[1] or found[2]) if found else ""


@dataclass
class Group:
    title: str
    options: list
    note: str = ""
    name: str = ""  # "transfer": as `--help GROUP` takes it


@dataclass
class Command:
    name: str  # "weir run": as it is typed
    summary: str
    usage: list
    description: str = ""
    examples: str = ""
    exit_status: str = ""
    remarks: str = ""
    groups: list = field(default_factory=list)
    arguments: list = field(default_factory=list)  # as options: the name is the syntax
    commands: list = field(default_factory=list)
    has_pages_of_its_own: bool = False  # each of `commands` has

    @property
    def word(self):
        """What is typed for it after its parent: "run"."""
        return self.name.rsplit(" ", 1)[-1]

    @property
    def page(self):
        return self.name.replace(" ", "-")

    @property
    def options(self):
        return [option for group in self.groups for option in group.options]


def read_weir(program):
    """weir itself, with its commands; its version, and the date of its commit (None: not known)."""
    everything = json.loads(subprocess.run([program, "--help", "json"], check=True, capture_output=True,
                                           text=True).stdout)
    weir = _command_of_json(everything, "weir")
    weir.commands = [_command_of_json(command, f"weir {command['name']}") for command in everything["commands"]]
    weir.has_pages_of_its_own = True
    return weir, everything["version"], everything["date"]


def _command_of_json(command, name):
    groups = [Group(group["title"], [_option_of_json(option) for option in group["options"]], group["note"],
                    group["name"])
              for group in command["groups"]]
    arguments = [Option([], argument["name"], argument["help"], values=argument["values"])
                 for argument in command["arguments"]]
    return Command(name, command["summary"], [command["usage"]], command["description"], command["examples"],
                   command["exit_status"], groups=groups, arguments=arguments)


def _option_of_json(option):
    names = [name for name in (option["short"], option["name"]) if name]
    syntax = option["syntax"]
    optional = syntax is not None and syntax.startswith("[")
    return Option(names, syntax.strip("[]") if optional else syntax, option["help"], option["default"],
                  option["values"], option["repeatable"], optional)


def read_python_commands(project):
    """The commands that pyproject.toml in the directory `project` declares as scripts. The module of each lies in
    src/report there and has a function parser()."""
    declared = (project / "pyproject.toml").read_text(encoding="utf-8")
    scripts = re.findall(r'(?m)^([a-z-]+) = "([\w.]+):main"$', declared)
    requirements = re.findall(r'"([A-Za-z0-9_-]+)>=', declared)
    sys.path.insert(0, str(project / "src/report"))
    with _absent(requirements):
        return [_command_of_parser(importlib.import_module(module).parser(), name) for name, module in scripts]


class _absent:
    """Stand-ins for the libraries of these names: a parser does without them, and they need not be there to build."""

    def __init__(self, libraries):
        self._finder = _StandIns({name.replace("-", "_") for name in libraries})

    def __enter__(self):
        sys.meta_path.insert(0, self._finder)

    def __exit__(self, *_):
        sys.meta_path.remove(self._finder)


class _StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, names):
        self._names = names

    def find_spec(self, name, path=None, target=None):
        del path, target
        return importlib.machinery.ModuleSpec(name, self,
                                              is_package=True) if name.split(".")[0] in self._names else None

    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        module.__getattr__ = lambda name: mock.MagicMock(name=f"{spec.name}.{name}")
        return module

    def exec_module(self, module):
        pass


def _command_of_parser(parser, name, summary=""):
    """From argparse's own objects, some of which it calls its own; their names are as old as argparse."""
    formatter = parser._get_formatter()
    usage = re.sub(r"\Ausage:\s*", "", parser.format_usage())
    lines = [" ".join(line.split()) for line in (usage.splitlines() if parser.usage else [usage]) if line.strip()]
    epilogue, exit_status = _cut_exit_status(parser.epilog or "")
    command = Command(name, summary, lines, _with_program(parser.description, parser), exit_status=exit_status,
                      remarks=_with_program(epilogue, parser))
    if not summary:
        # The first sentence, without what stands in brackets and after a colon.
        beginning = re.split(r"[.;:]\s|\.\Z", re.sub(r"\s*\(.*?\)", "", command.description), maxsplit=1)[0]
        command.summary = beginning[:1].lower() + " ".join(beginning[1:].split())
    for group in parser._action_groups:
        options = []
        for action in group._group_actions:
            if isinstance(action, argparse._SubParsersAction):
                # Those without a line of help are for the command itself.
                command.commands = [_command_of_parser(action.choices[shown.dest], f"{name} {shown.dest}",
                                                       shown.help or "") for shown in action._choices_actions]
            elif action.help != argparse.SUPPRESS:
                (options if action.option_strings else command.arguments).append(_option_of_action(action, formatter))
        if options:
            command.groups.append(Group(group.title, options, group.description or ""))
    return command


def _option_of_action(action, formatter):
    values = [str(choice) for choice in action.choices or []]
    syntax = None
    if action.nargs != 0:
        syntax = "|".join(values) or action.metavar or action.dest.upper()
        if action.nargs in ("+", "*") or isinstance(action.nargs, int) and action.nargs > 1:
            syntax += "..."
    return Option(list(action.option_strings), syntax, formatter._expand_help(action) if action.help else "", None,
                  values, isinstance(action, argparse._AppendAction), action.nargs == "?", action.type is Path)


def _with_program(text, parser):
    return (text or "") % {"prog": parser.prog}


def _cut_exit_status(text):
    """What stands before "Exit status: ", and what after it."""
    before, found, after = text.rpartition("Exit status: ")
    return (before.rstrip(), after) if found else (text, "")
