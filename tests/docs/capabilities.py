"""docs/capabilities.toml: every command, option, page and file of code has its place in it, once, and what is made of
it is up to date."""

import collections
import subprocess
import sys
import unittest

from markdown import SOURCE, user_pages
from options import WEIR, python_commands, weir_options

sys.path.insert(0, str(SOURCE / "tools"))
import capabilities  # noqa: E402

# Options of no command that a capability has.
OWN = {"--version", "-h", "-q"}


class Capabilities(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.table = capabilities.read()
        cls.rows = cls.table["capability"]

    def assert_placed_once(self, key, wanted):
        placed = collections.Counter(word for row in self.rows for word in row.get(key, ()))
        self.assertEqual({word for word, count in placed.items() if count > 1}, set(), f"{key} that stand twice")
        self.assertEqual(set(placed), set(wanted), f"{key} of docs/capabilities.toml")

    def test_options(self):
        self.assert_placed_once("options", set().union(*weir_options().values()) - OWN)

    def test_commands(self):
        scripts = {"bench/lab", "bench/soft-roce"}
        named = {f"weir {name}" for name in weir_options() if name != "weir"}
        for command in python_commands():
            subcommands = [part.name for part in command.commands if command.name == "weir-sweep"]
            named |= {command.name, *subcommands}
        self.assert_placed_once("commands", named | scripts)

    def test_pages(self):
        named = [name.partition("#")[0] for row in self.rows for name in row["pages"].values()]
        named += self.table["reference"].values()
        pages = {path.relative_to(SOURCE / "docs").as_posix() for path in user_pages()
                 if path.parent == SOURCE / "docs"}
        self.assertEqual(pages - set(named), set(), "pages without a place in docs/capabilities.toml")
        for name in named:
            self.assertTrue((SOURCE / "docs" / name).is_file(), name)

    def test_code(self):
        names = capabilities.tracked()
        lost = [name
                for name in names
                if capabilities.CODE.fullmatch(name) and not capabilities.owner(self.rows, "code", name)]
        self.assertEqual(lost, [], "code without a place in docs/capabilities.toml")
        for row in self.rows:
            for key in ("code", "tests"):
                for pattern in row[key]:
                    self.assertTrue(any(capabilities.expression(pattern).fullmatch(name) for name in names),
                                    f"{row['name']}: {key}: {pattern} matches no file")

    def test_what_is_made_of_it(self):
        done = subprocess.run([sys.executable, "-B", SOURCE / "tools/capabilities.py", "--check"], capture_output=True,
                              text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_help(self):
        printed = subprocess.run([WEIR, "--help"], capture_output=True, text=True, check=True).stdout
        for row in self.rows:
            if row.get("commands"):
                self.assertRegex(printed, rf"  {row['commands'][0]} +{row['question'].replace('?', '[?]')}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
