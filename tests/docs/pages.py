"""The documents as a whole: links and anchors resolve, and every page has the form that CONTRIBUTING.md requires."""

import json
import re
import unittest
from urllib.parse import unquote

from markdown import SOURCE, anchors, documents, links, prose

README_LINES = 250
WORKFLOWS = sorted((SOURCE / ".github/workflows").glob("*.yml"))


class Links(unittest.TestCase):
    def test_all_links_inside_the_repository_resolve(self):
        checked = 0
        for page in documents():
            for link in links(page):
                if re.match(r"[a-z]+:", link):
                    continue
                checked += 1
                name, _, anchor = unquote(link).partition("#")
                target = (page.parent / name).resolve() if name else page
                with self.subTest(page=str(page.relative_to(SOURCE)), link=link):
                    self.assertTrue(target.exists(), "no such file")
                    if anchor and target.suffix == ".md":
                        self.assertIn(anchor, anchors(target), "no such heading")
        self.assertGreater(checked, 100)

    def test_every_page_can_be_reached_from_the_readme(self):
        reached, left = set(), [SOURCE / "README.md"]
        while left:
            page = left.pop()
            if page not in reached:
                reached.add(page)
                targets = ((page.parent / link.partition("#")[0]).resolve() for link in links(page))
                left += [target for target in targets if target.suffix == ".md" and target.exists()]
        for page in (SOURCE / "docs").glob("*.md"):
            self.assertIn(page.resolve(), reached)


class Form(unittest.TestCase):
    def test_the_readme_is_short(self):
        self.assertLessEqual(len((SOURCE / "README.md").read_text(encoding="utf-8").splitlines()), README_LINES)

    def test_every_page_opens_with_its_readers_and_ends_with_what_to_read_next(self):
        pages = sorted((SOURCE / "docs").glob("*.md"))
        self.assertGreater(len(pages), 10)
        for page in pages:
            with self.subTest(page=page.name):
                paragraphs = [part for part in prose(page).split("\n\n") if part.strip()]
                self.assertRegex(paragraphs[0], r"\A# \S", "the title comes first")
                self.assertRegex(paragraphs[1], r"\AFor ", "the first paragraph names who needs the page")
                self.assertRegex(paragraphs[-1].strip(), r"\ANext: \[", "the last paragraph names what to read next")

    def test_no_place_holder_is_left(self):
        for page in documents():
            self.assertIsNone(re.search(r"@@[A-Z]", page.read_text(encoding="utf-8")), page)


class Builds(unittest.TestCase):
    """What the weekly run and the pages call is seldom run: it must be there."""

    def test_presets_exist_for_what_is_done_with_them(self):
        presets = json.loads((SOURCE / "CMakePresets.json").read_text(encoding="utf-8"))
        kinds = {"cmake": "configurePresets", "cmake --build": "buildPresets", "cmake --workflow": "workflowPresets",
                 "ctest": "testPresets"}
        checked = set()
        for page in [*documents(), SOURCE / "tests/run", *WORKFLOWS]:
            for command, name in re.findall(
                r"(cmake(?: --build| --workflow)?|ctest) --preset ([a-z]+)", page.read_text(encoding="utf-8")):
                checked.add((command, name))
                with self.subTest(page=str(page.relative_to(SOURCE)), command=command, preset=name):
                    self.assertIn(name, [one["name"] for one in presets[kinds[command]]])
        self.assertGreater(len(checked), 8)

    def test_what_workflows_call_exists(self):
        calls = {call
                 for page in WORKFLOWS
                 for call in re.findall(r"(?<![\w/])(?:bench|tests)/[\w/.-]*\w", page.read_text(encoding="utf-8"))}
        self.assertGreaterEqual(calls, {"bench/quickstart", "tests/run"})
        for call in calls:
            self.assertTrue((SOURCE / call).exists(), call)


if __name__ == "__main__":
    unittest.main()
