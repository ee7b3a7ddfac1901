"""The project's Markdown files: their links, headings and fenced blocks."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(os.environ["WEIR_SOURCE_DIR"])
# Directories that hold no documents of this project: outputs, and what tools keep.
OUTPUTS = {"build", "runs", "node_modules", "__pycache__"}


def documents():
    """All Markdown files of the repository."""
    found = []
    for directory, names, files in os.walk(SOURCE):
        names[:] = sorted(name
                          for name in names if name not in OUTPUTS and (not name.startswith(".") or name == ".github"))
        found += [Path(directory) / file for file in sorted(files) if file.endswith(".md")]
    return found


def user_pages():
    """What users read: the README, docs/ and the README of slurm/."""
    return [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md")), SOURCE / "slurm/README.md"]


@dataclass
class Block:
    """A fenced block."""
    page: Path
    line: int  # of its first line of text, from 1
    language: str
    text: str
    remarks: list  # of the comments <!-- ... --> in the lines right above it

    @property
    def place(self):
        return f"{self.page.relative_to(SOURCE)}:{self.line}"

    def remark(self, beginning):
        """What follows `beginning` in a comment above the block; None without one."""
        return next((remark[len(beginning):].strip() for remark in self.remarks if remark.startswith(beginning)), None)


def blocks(page):
    found = []
    lines = page.read_text(encoding="utf-8").splitlines()
    number = 0
    while number < len(lines):
        fence = re.match(r"( *)```(\w*)$", lines[number])
        number += 1
        if not fence:
            continue
        above, remarks = number - 2, []
        while above >= 0 and (remark := re.fullmatch(r" *<!-- (.*) -->", lines[above])):
            remarks.append(remark[1])
            above -= 1
        end = next(end for end in range(number, len(lines)) if lines[end] == fence[1] + "```")
        text = "\n".join(line[len(fence[1]):] for line in lines[number:end])
        found.append(Block(page, number + 1, fence[2], text, remarks))
        number = end + 1
    return found


def prose(page):
    """The text without fenced blocks, which keep their number of lines."""
    fenced = False
    kept = []
    for line in page.read_text(encoding="utf-8").splitlines():
        fence = re.match(r" *```", line) is not None
        kept.append("" if fenced or fence else line)
        fenced = fenced != fence
    return "\n".join(kept)


def code_spans(page):
    return re.findall(r"`([^`\n]+)`", prose(page))


def links(page):
    """Targets of links and pictures, without those in code."""
    text = re.sub(r"`[^`\n]*`", "", prose(page))
    return re.findall(r"\]\(([^)\s]+)\)", text)


def anchors(page):
    """The names that a page's headings can be linked by."""
    found, seen = set(), {}
    text = prose(page)
    for heading in re.findall(r"(?m)^#{1,6} +(.*)$", text):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        name = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        number = seen.get(name, 0)
        seen[name] = number + 1
        found.add(f"{name}-{number}" if number else name)
    return found | set(re.findall(r'<a id="([^"]+)"', text))
