"""Phrases that readers stumble over: none of them is in a page that users read, or in a text that the programs print.

A name of an option, a field or a state that other programs read stays what it is: KEPT names those, with the reason."""

import ast
import re
import tempfile
import unittest
from pathlib import Path

from markdown import SOURCE, user_pages

# (a pattern, what to say instead)
REFUSED = (
    (r"half hold\b|half of the runs hold (?!which|what)\d", "median limit"),
    (r"(?<!in )\bevery run held", "held in every run"),
    (r"(?i)held back by PFC", "PFC paused senders in 6 of 6 runs"),
    (r"(?i)\b(pfc|ecn) is (off|on) instead of", "PFC is off"),
    (r"for one run proves", "because a single run proves nothing"),
    (r"\bin some seconds", "in a few seconds"),
    (r"(?i)\b(not )?told apart", "different, or cannot tell"),
    (r"(?i)\bnot told\b(?! that)", "cannot tell"),
    (r"rank \d-\d", "1 (tied)"),
    (r"(?i)slowest delivery", "longest delivery time"),
    (r"with the one in work", "including the one being processed"),
    (r"what carries it", "which library moves the data"),
    (r"(?i)\bin force\b", "in effect"),
    (r"(?i)\bsuffers?\b", "affected"),
    (r"finer thresholds", "with fewer figures, smaller differences are detected"),
    (r"goes up and down is off by", "the error of the fitted slope is"),
    (r"Of who comes first", "Order of service"),
)
# {(end of the file's name, the text around): why it stays}
KEPT = {
    ("", "not in force"): "the state of a run in status, table.csv and JSON",
    ("", "told apart by their"): "distinguished: of transfers and groups of runs, which is no result",
    ("judge/cause_text.cpp", "not told"): "the name of a cause in verdict.text of run.json, which is read again",
    ("answer_why.py", "not told"): "that name, as it is read",
    ("tune/decide.py", "not told"): "the value of axes[].judged in tune.json",
}


def python_texts(path):
    """[(line, text)] of all strings but documentation."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documentation = {id(node.body[0].value) for node in ast.walk(tree) if isinstance(
        node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and node.body and isinstance(node.body[0], ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(str(part.value) if isinstance(part, ast.Constant) else "{}"
                                       for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node.lineno, node.value


def cpp_texts(path):
    """[(line, text)] of all string literals; those that stand one after the other are one."""
    text = path.read_text(encoding="utf-8")
    literal = r'R"\((?:.|\n)*?\)"|"(?:[^"\\\n]|\\.)*"'
    for found in re.finditer(rf"(?m)^\s*//.*$|(?:{literal})(?:\s*(?:{literal}))*", text):
        if not found[0].lstrip().startswith("//"):
            yield text.count("\n", 0, found.start()) + 1, re.sub(r'"\s*"', "", found[0])


def page_texts(path):
    """[(line, text)] of the paragraphs of a page, without what stands in backticks: names."""
    text = path.read_text(encoding="utf-8")
    for found in re.finditer(r"(?:.*\S.*\n?)+", text):
        shown = "\n".join(re.sub(r"`[^`]*`|\]\([^)]*\)", "", line) for line in found[0].splitlines())
        yield text.count("\n", 0, found.start()) + 1, shown


def texts():
    """(path, line, text) of everything that is read; a text may go over several lines, and is one here."""
    readers = {".py": python_texts, ".cpp": cpp_texts, ".hpp": cpp_texts, ".j2": page_texts}
    for path in [*user_pages(), *sorted((SOURCE / "src").rglob("*")), *sorted((SOURCE / "slurm").rglob("*.toml"))]:
        read = page_texts if path.suffix in (".md", ".toml") else readers.get(path.suffix)
        if read is not None and path.name != "README.md" or path in user_pages():
            for line, text in read(path):
                yield path, line, " ".join(text.split())


class Words(unittest.TestCase):
    def test_nobody_has_to_guess(self):
        wrong = []
        for path, line, text in texts():
            kept = [around for (end, around) in KEPT if str(path).endswith(end)]
            for around in kept:
                text = text.replace(around, "")
            for pattern, instead in REFUSED:
                found = re.search(pattern, text)
                if found:
                    wrong.append(f"{path.relative_to(SOURCE)}:{line}: '{found[0]}': say {instead}")
        self.assertFalse(wrong, "\n" + "\n".join(wrong))

    def test_what_is_refused_is_found(self):
        for phrase in ("half hold 5.7 Gb/s", "what every run held", "pfc is off instead of on", "rank 1-2: not told",
                       "the setting in force", "who suffers"):
            self.assertTrue(any(re.search(pattern, phrase) for pattern, _ in REFUSED), phrase)

    def test_a_phrase_over_two_lines_is_one(self):
        with tempfile.TemporaryDirectory() as directory:
            page = Path(directory) / "page.md"
            page.write_text("# A page\n\nIt runs in\nsome seconds, in\n\nforce.\n", encoding="utf-8")
            self.assertEqual([(line, " ".join(text.split())) for line, text in page_texts(page)],
                             [(1, "# A page"), (3, "It runs in some seconds, in"), (6, "force.")])


if __name__ == "__main__":
    unittest.main()
