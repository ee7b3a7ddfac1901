"""The completions, asked through the shells themselves: bash by its function, zsh by keys that are pressed
at its prompt. The argument is the build's share/."""

import json
import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

SHARE = Path(sys.argv.pop(1))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

from weir_command import CommandTest  # noqa: E402

BASH = """
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
"$(complete -p "$1" | sed 's/.*-F \\([^ ]*\\) .*/\\1/')"
((${#COMPREPLY[@]} == 0)) || printf '%s\\n' "${COMPREPLY[@]}"
"""


class Completions(CommandTest):
    def setUp(self):
        self.help = json.loads(self.succeeds("--help", "json"))
        self.commands = {command["name"]: command for command in self.help["commands"]}
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.here = Path(directory.name)
        (self.here / "mine.toml").touch()
        (self.here / "notes.txt").touch()
        (self.here / "a directory").mkdir()

    def options(self, command):
        return [option for group in self.commands[command]["groups"] for option in group["options"]]

    def names(self, command):
        return {name for option in self.options(command) for name in (option["name"], option["short"]) if name}

    def enumerated(self):
        """Command, option and its values, of all that list any."""
        return [(command, option) for command in self.commands for option in self.options(command) if option["values"]]


@unittest.skipUnless(shutil.which("bash"), "bash is not installed")
class Bash(Completions):
    def complete(self, *words):
        file = SHARE / "bash-completion/completions" / words[0]
        done = subprocess.run(["bash", "--norc", "-c", BASH, "bash", str(file), *words], cwd=self.here,
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout.splitlines()

    def test_commands(self):
        self.assertEqual(self.complete("weir", ""), [*self.commands, "-h", "--help", "--version"])
        self.assertEqual(self.complete("weir", "sc"), ["scenarios"])
        self.assertEqual(self.complete("weir", "--v"), ["--version"])
        self.assertEqual(self.complete("weir", "--help", ""), ["json"])

    def test_options(self):
        for command in self.commands:
            self.assertEqual(set(self.complete("weir", command, "-")), self.names(command))
        self.assertEqual(self.complete("weir", "run", "--rate", "2Gb/s", "--pol"), ["--policy"])
        self.assertEqual(self.complete("weir", "run", "--rate", "=", "2Gb/s", "--pol"), ["--policy"])

    def test_values(self):
        for command, option in self.enumerated():
            with self.subTest(command, option=option["name"]):
                found = self.complete("weir", command, option["name"], "")
                self.assertEqual([word for word in found if word not in ("mine.toml", "a directory")], option["values"])
                # bash hands --option=value over in three words.
                self.assertEqual(self.complete("weir", command, option["name"], "="), found)
                first = option["values"][0]
                self.assertIn(first, self.complete("weir", command, option["name"], "=", first[:2]))
                self.assertIn(f"{option['name']}={first}",
                              self.complete("weir", command, f"{option['name']}={first[:2]}"))

    def test_no_words_for_numbers(self):
        for command in self.commands:
            for option in self.options(command):
                if option["syntax"] and option[
                        "syntax"] != "FILE" and not option["values"] and option["name"] != "--out":
                    self.assertEqual(self.complete("weir", command, option["name"], ""), [], option["name"])

    def test_lists(self):
        self.assertEqual(self.complete("weir", "run", "--require", "sustained,lo"), ["sustained,lossless"])

    def test_files(self):
        scenarios = self.complete("weir", "run", "--scenario", "")
        self.assertIn("lhcb2021-farm", scenarios)
        self.assertIn("mine.toml", scenarios)
        self.assertNotIn("notes.txt", scenarios)
        self.assertEqual(self.complete("weir", "run", "--out", ""), ["a directory"])
        self.assertEqual(self.complete("weir-report", ""), [*self.complete("weir-report", "-"), "a directory"])
        self.assertIn("notes.txt", self.complete("weir-compare", "--json", ""))

    def test_the_python_commands(self):
        self.assertLessEqual({"--out", "--figures", "--quiet", "--version", "--help", "-h"},
                             set(self.complete("weir-report", "-")))
        self.assertEqual(self.complete("weir-compare", "a", "--agai"), ["--against"])
        self.assertEqual(self.complete("weir-traffic", "mix"), ["mixture-of-experts"])
        self.assertEqual(self.complete("weir-traffic", "prefill-to-decode", "--decode-choice", "r"),
                         ["round-robin", "random"])
        self.assertIn("a directory", self.complete("weir-traffic", "slowdown", ""))

    def test_scenarios(self):
        self.assertEqual(self.complete("weir", "scenarios", "lhcb2021-f"), ["lhcb2021-farm"])


@unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
class Zsh(Completions):
    """One key completes, another one writes what then stands at the prompt into a file."""

    LIMIT_S = 60

    def setUp(self):
        super().setUp()
        self.answers = self.here / "answers"
        process, self.terminal = pty.fork()
        if process == 0:
            os.environ.update(HOME=str(self.here), ZDOTDIR=str(self.here), TERM="dumb", LC_ALL="C.UTF-8")
            os.chdir(self.here)
            os.execvp("zsh", ["zsh", "-f", "-i"])
        self.addCleanup(self.end, process)
        self.type(f"""fpath=({SHARE}/zsh/site-functions $fpath); autoload -U compinit; compinit -u -D; LISTMAX=1000
answer() {{ print -r -- "$BUFFER" >> {self.answers}; BUFFER=; }}; zle -N answer; bindkey '^X' answer
print -r -- ready >> {self.answers}
""")
        self.await_answers(1)

    def end(self, process):
        os.close(self.terminal)
        os.kill(process, 9)
        os.waitpid(process, 0)

    def type(self, keys):
        os.write(self.terminal, keys.encode())

    def await_answers(self, count):
        """The lines of the file, once there are so many. What zsh prints is read and left aside, lest it wait."""
        deadline = time.monotonic() + self.LIMIT_S
        printed = b""
        while time.monotonic() < deadline:
            if select.select([self.terminal], [], [], 0.05)[0]:
                printed += os.read(self.terminal, 65536)
            lines = self.answers.read_text().splitlines() if self.answers.exists() else []
            if len(lines) >= count:
                return lines
        self.fail(f"zsh has not answered; it printed: {printed.decode(errors='replace')}")

    def test_what_keys_complete(self):
        cases = {"weir sim": "weir simulate ", "weir run --pol": "weir run --policy=",
                 "weir run --policy ro": "weir run --policy round-robin ",
                 "weir run --policy=ro": "weir run --policy=round-robin ",
                 "weir run --scenario lhcb2021-f": "weir run --scenario lhcb2021-farm ",
                 "weir run --scenario mi": "weir run --scenario mine.toml ",
                 "weir run --require sustained,lo": "weir run --require sustained,lossless,",
                 "weir simulate --explain fa": "weir simulate --explain fast ",
                 "weir scenarios quick": "weir scenarios quickstart ",
                 "weir run --help tra": "weir run --help transfer ", "weir-report a": "weir-report a\\ directory/",
                 "weir-compare --agai": "weir-compare --against="}
        for keys in cases:
            self.type(keys + "\t\x18")
        self.assertEqual(dict(zip(cases, self.await_answers(1 + len(cases))[1:])), cases)

    def test_all_options_are_in_the_function(self):
        text = (SHARE / "zsh/site-functions/_weir").read_text()
        for command in self.commands:
            part = text.split(f"                {command})\n")[1].split(";;")[0]
            for option in self.options(command):
                self.assertRegex(part, rf"[)*]{option['name']}[=\[]")


if __name__ == "__main__":
    unittest.main(verbosity=2)
