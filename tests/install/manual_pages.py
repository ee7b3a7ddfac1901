"""The manual pages: one per command, every option on it, and nothing that formatters complain about. The argument is
the build's share/."""

import json
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

PAGES = Path(sys.argv.pop(1)) / "man/man1"
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

from weir_command import CommandTest, environment  # noqa: E402

PROGRAMS = Path(os.environ["WEIR"]).parent


def plain(text):
    """The text of a page without the language it is written in."""
    text = re.sub(r"\\f[BIRP]", "", text)
    for escape, character in ((r"\-", "-"), (r"\(aq", "'"), (r"\(ga", "`"), (r"\(ti", "~"), (r"\(ha", "^"), (r"\&", ""),
                              (r"\e", "\\")):
        text = text.replace(escape, character)
    return text


def options_on(page):
    """The names of the entries that begin with a dash."""
    entries = re.findall(r"(?m)^\.TP\n(-.*)$", plain((PAGES / f"{page}.1").read_text()))
    return {name for entry in entries for name in re.findall(r"(?:^|, )(--?[a-z-]+)", entry)}


class Pages(CommandTest):
    def setUp(self):
        self.help = json.loads(self.succeeds("--help", "json"))

    def test_there_is_one_for_each_command(self):
        programs = {path.name for path in PROGRAMS.iterdir() if path.name.startswith("weir-")}
        commands = {f"weir-{command['name']}" for command in self.help["commands"]}
        self.assertEqual({path.name for path in PAGES.iterdir()},
                         {f"{name}.1" for name in {"weir"} | programs | commands})

    def test_every_option_is_on_its_page(self):
        for command in [self.help, *self.help["commands"]]:
            names = {name for group in command["groups"] for option in group["options"]
                     for name in (option["name"], option["short"]) if name}
            page = "weir" if command is self.help else f"weir-{command['name']}"
            self.assertEqual(options_on(page), names, page)

    def test_every_option_of_the_python_commands_is_on_its_page(self):
        tried = 0
        for program in sorted(path for path in PROGRAMS.iterdir() if path.name.startswith("weir-")):
            done = subprocess.run(
                [program, "--help"], capture_output=True, text=True, env=environment(COLUMNS="200"), check=False)
            if done.returncode == 2 and "no Python here has what it needs" in done.stderr:
                continue
            tried += 1
            commands = re.findall(r"(?m)^    ([a-z-]+)(?: {2,}\S|$)", done.stdout)
            texts = [done.stdout] + [subprocess.run([program, command, "--help"], capture_output=True, text=True,
                                                    check=True, env=environment(COLUMNS="200")).stdout
                                     for command in commands]
            names = {name for text in texts for line in re.findall(r"(?m)^  (-.*)$", text)
                     for name in re.findall(r"(?:^|, )(--?[a-z-]+)", line.split("  ")[0])}
            self.assertEqual(options_on(program.name), names, program.name)
        if tried == 0:
            self.skipTest("no Python here has what weir-report needs")

    def test_they_say_what_the_help_says(self):
        page = " ".join(plain((PAGES / "weir-simulate.1").read_text()).split())
        for text in ("(default: 100Gb/s)", "simulate again to prove what held the run up", "normal:MEAN,deviation=SIZE",
                     "degrade:producer=0,at=5s,for=1s,factor=0.1", "As for weir run."):
            self.assertIn(text, page)
        for command in self.help["commands"]:
            page = " ".join(plain((PAGES / f"weir-{command['name']}.1").read_text()).split())
            for group in command["groups"]:
                for option in group["options"]:
                    self.assertIn(" ".join(option["help"].split()), page)
            self.assertIn(" ".join(command["description"].split("\n\n")[0].split()), page)

    def test_formatters_have_no_complaints(self):
        tools = {"mandoc": ["mandoc", "-T", "lint", "-W", "warning"],
                 "groff": ["groff", "-man", "-T", "utf8", "-ww", "-z"]}
        found = [command for tool, command in tools.items() if shutil.which(tool)]
        if not found:
            self.skipTest("neither mandoc nor groff is installed")
        for command in found:
            for page in sorted(PAGES.iterdir()):
                done = subprocess.run([*command, str(page)], capture_output=True, text=True, check=False)
                # Without history there is no date.
                said = [line for line in (done.stdout + done.stderr).splitlines() if "missing date" not in line]
                self.assertEqual(said, [], page.name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
