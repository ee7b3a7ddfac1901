"""Every page of results/ is declared in CMakeLists.txt beside this file, and stands in the index, results/README.md."""

import os
import pathlib
import re
import unittest

SOURCE = pathlib.Path(os.environ["WEIR_SOURCE_DIR"])
CMAKE = (SOURCE / "tests/results/CMakeLists.txt").read_text()
DECLARED = [*re.findall(r"^weir_results_page\(([\w-]+)", CMAKE, re.MULTILINE),
            *re.search(r"foreach\(page IN ITEMS ([^)]*)", CMAKE)[1].split()]
PAGES = sorted(path.stem
               for path in (SOURCE / "results").iterdir()
               if path.is_dir() or path.suffix == ".md" and path.name != "README.md")


class Coverage(unittest.TestCase):
    def test_every_page_is_tested_once(self):
        self.assertEqual(sorted(DECLARED), PAGES)

    def test_every_page_is_in_the_index(self):
        index = (SOURCE / "results/README.md").read_text()
        missing = [page for page in PAGES if f"({page}/README.md)" not in index and f"({page}.md)" not in index]
        self.assertEqual(missing, [])

    def test_studies_that_pages_and_documents_name_exist(self):
        found = [(file, study) for file in SOURCE.rglob("*.md") if "build" not in file.parts
                 for study in re.findall(r"bench/study ([\w-]+)", file.read_text())]
        self.assertGreater(len(found), 50)
        missing = [(file, study) for file, study in found
                   if study != "NAME" and not (SOURCE / "results" / study / "study.py").exists()]
        self.assertEqual(missing, [])

    def test_every_page_names_a_program_that_exists(self):
        index = (SOURCE / "results/README.md").read_text()
        rows = [line for line in index.splitlines() if line.startswith("| [")]
        self.assertEqual(len(rows), len(PAGES))
        for row in rows:
            programs = re.findall(r"`(bench/[^` ]+)", row)
            with self.subTest(row=row[:40]):
                self.assertTrue(programs)
                self.assertEqual([program for program in programs if not (SOURCE / program).exists()], [])


if __name__ == "__main__":
    unittest.main()
