"""Manual page and completions of a Python command that has what weir's own may come to have: subcommands, one of them
not in the help, words to choose from, paths, and libraries that are not installed."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools/manual"))

from bash_completion import bash_completion  # noqa: E402
from description import read_python_commands  # noqa: E402
from manual_page import manual_page  # noqa: E402
from zsh_completion import zsh_completion  # noqa: E402

PROJECT = """
dependencies = ["no_such_library>=1.5; python_version < '9'"]
[project.scripts]
weir-made-up = "weir_made_up.command:main"
"""
COMMAND = '''
import argparse
from pathlib import Path
import no_such_library.part
from no_such_library import Something

WORST = no_such_library.part.worst(3)

def parser():
    made = argparse.ArgumentParser(prog="weir-made-up", description="Makes things up (or not); with care.",
                                   epilog="THING is anything. Exit status: 0 made; 2 'not' made.")
    made.add_argument("--version", action="version", version="1")
    commands = made.add_subparsers(dest="command", metavar="COMMAND")
    plan = commands.add_parser("plan", help="what would be made", description="Says what %(prog)s would make.")
    plan.add_argument("thing", metavar="THING", type=Path, help="something that lies somewhere")
    plan.add_argument("--colour", choices=("red", "green"), default="red", help="its colour (default: %(default)s)")
    plan.add_argument("--out", metavar="DIRECTORY", type=Path, help="where to: .hidden\\\\places")
    plan.add_argument("--secret", help=argparse.SUPPRESS)
    commands.add_parser("work")
    commands._choices_actions = [action for action in commands._choices_actions if action.dest != "work"]
    return made
'''
BASH = """
eval "$1"
cd "$2"
COMP_WORDS=("${@:3}")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_weir_made_up_completion
((${#COMPREPLY[@]} == 0)) || printf '%s\\n' "${COMPREPLY[@]}"
"""


class MadeUp(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.project = Path(directory.name)
        package = cls.project / "src/report/weir_made_up"
        package.mkdir(parents=True)
        (cls.project / "pyproject.toml").write_text(PROJECT)
        (package / "command.py").write_text(COMMAND)
        (cls.command,) = read_python_commands(cls.project)

    def complete(self, *words):
        done = subprocess.run(
                ["bash", "--norc", "-c", BASH, "bash", bash_completion(self.command), str(self.project), *words],
                capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.splitlines()

    def test_what_is_read(self):
        self.assertEqual(self.command.name, "weir-made-up")
        self.assertEqual(self.command.summary, "makes things up")
        self.assertEqual([(inner.name, inner.summary) for inner in self.command.commands],
                         [("weir-made-up plan", "what would be made")])
        self.assertEqual(self.command.exit_status, "0 made; 2 'not' made.")

    def test_the_page(self):
        page = manual_page(self.command, "1.0", "2026-01-31", ["weir"])
        for line in ('.TH WEIR\\-MADE\\-UP 1 "2026-01-31" "weir 1.0" "User Commands"',
                     "weir\\-made\\-up \\- makes things up", "THING is anything.", "0 made; 2 \\(aqnot\\(aq made.",
                     '.SH "WEIR\\-MADE\\-UP PLAN"', "\\fB\\-\\-colour\\fR \\fBred\\fR|\\fBgreen\\fR",
                     "its colour (default: red)", "where to: .hidden\\eplaces"):
            self.assertIn("\n" + line + "\n", "\n" + page)
        for hidden in ("secret", "work"):
            self.assertNotIn(hidden, page)

    def test_no_line_becomes_a_request(self):
        self.command.commands[0].description = "\n.so /etc/passwd\n\n'br\n  .ab\n"
        page = manual_page(self.command, "1.0", "2026-01-31", ["weir"])
        for line in (".so", "'br", ".ab"):
            self.assertNotIn("\n" + line, page)

    def test_bash(self):
        self.assertEqual(self.complete("weir-made-up", ""), ["plan", "-h", "--help", "--version"])
        self.assertEqual(self.complete("weir-made-up", "plan", "--colour", ""), ["red", "green"])
        self.assertEqual(self.complete("weir-made-up", "plan", "--out", "sr"), ["src"])
        self.assertEqual(self.complete("weir-made-up", "plan", "pyp"), ["pyproject.toml"])

    def test_zsh(self):
        text = zsh_completion(self.command)
        self.assertIn("colour", text)
        self.assertIn("red green", text)
        for hidden in ("secret", "work"):
            self.assertNotIn(hidden, text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
