"""The documents as a site: it is built, no link or anchor leads nowhere, and its search knows every page."""

import json
import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(os.environ["WEIR_SOURCE_DIR"])

made = subprocess.run([SOURCE / "tools/site/build", "site"], capture_output=True, text=True, check=False)
if "pip cannot fetch" in made.stderr:
    print(made.stderr + "skipped: mkdocs-material cannot be fetched")
    sys.exit(77)
assert (made.returncode, made.stderr) == (0, ""), made.stderr
index = json.loads(Path("site/search/search_index.json").read_text(encoding="utf-8"))
found = {entry["location"].partition("#")[0] for entry in index["docs"]}
expected = {f"docs/{page.stem}/" for page in (SOURCE / "docs").glob("*.md")}
assert expected and expected <= found, expected - found
