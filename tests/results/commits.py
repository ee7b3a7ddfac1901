"""The commits that a page and its data name are published: commits.py PAGE [REASON]

With a reason, commits which are not are no failure but a skipped test; without such commits the reason must go.
"""

import os
import pathlib
import re
import sys

SOURCE = pathlib.Path(os.environ["WEIR_SOURCE_DIR"])
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "bench"))
import provenance  # noqa: E402

SKIPPED = 77
# 0.1.0+g1234567 or 0.1.0+5.g1234567.dirty; "commit 1234567"; any word like a commit that has digits and letters
# (62000000000b/s is a rate), but not behind an @: other-repository@1234567.
PATTERNS = (r"\+(?:\d+\.)?g([0-9a-f]{7,40})\b(\.dirty)?", r"\bcommits? `?([0-9a-f]{7,40})\b()",
            r"(?<![\w.+@-])(?=[0-9]*[a-f])(?=[a-f]*[0-9])([0-9a-f]{7,12}|[0-9a-f]{40})()(?![\w/.-]\w)\b")


def commits_of(text):
    """{commit: whether the program was dirty} of what a text names."""
    found = {}
    for pattern in PATTERNS:
        for commit, dirty in re.findall(pattern, text):
            found[commit] = found.get(commit, False) or bool(dirty)
    return found


def files_of(page):
    path = SOURCE / "results" / page
    return [path.with_suffix(".md")] if not path.is_dir() else sorted(
        file for file in path.rglob("*") if file.suffix in (".md", ".csv", ".json", ".txt", ".toml"))


def main():
    page, reason = sys.argv[1], " ".join(sys.argv[2:])
    if not provenance.is_repository(SOURCE):
        print("no git repository: what main contains is not known")
        sys.exit(SKIPPED)
    if provenance.is_shallow(SOURCE):
        print("a shallow clone: older commits of main are not there")
        sys.exit(SKIPPED)
    named, faults = 0, []
    for file in files_of(page):
        for commit, dirty in sorted(commits_of(file.read_text()).items()):
            named += 1
            if dirty:
                faults.append(f"{file.relative_to(SOURCE)}: {commit} with changed files")
            elif not provenance.is_published(commit, SOURCE):
                faults.append(f"{file.relative_to(SOURCE)}: {' or '.join(provenance.published_heads(SOURCE))} does not "
                              f"contain {commit}")
    if named == 0:
        sys.exit(f"results/{page} names no commit: a reader cannot know which program made it")
    print("\n".join(faults))
    if reason:
        if not faults:
            sys.exit(f"all commits are published: MADE_ANEW of {page} in tests/results/CMakeLists.txt is to be removed")
        print(reason)
        sys.exit(SKIPPED)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
