"""The documents as a site: it is built, no link or anchor leads nowhere, and its search knows the pages."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ["WEIR_SOURCE_DIR"])


class Site(unittest.TestCase):
    def test_it_is_built_with_every_page(self):
        with tempfile.TemporaryDirectory() as directory:
            made = subprocess.run([SOURCE / "tools/site/build", directory], capture_output=True, text=True, check=False)
            if "pip cannot fetch" in made.stderr:
                print(made.stderr + "skipped: mkdocs-material cannot be fetched")
                sys.exit(77)
            self.assertEqual((made.returncode, made.stderr), (0, ""))
            found = json.loads((Path(directory) / "search/search_index.json").read_text(encoding="utf-8"))
            places = {entry["location"].partition("#")[0] for entry in found["docs"]}
            for page in (SOURCE / "docs").glob("*.md"):
                self.assertIn(f"docs/{page.stem}/", places)


if __name__ == "__main__":
    unittest.main()
