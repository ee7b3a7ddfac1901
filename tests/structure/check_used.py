#!/usr/bin/env python3
"""Checks that nothing is there for tests alone: declarations of src/, and files of src/, bench/ and slurm/.

    check_used.py DIRECTORY      the top of the repository

Prints one line per finding (file:line: what and why) and exits with 1 if there is any.

Programs of bench/ count as users, tests do not. The text is searched by name, without comments and literals: a
declaration counts as used where its name stands in any other place than a declaration or a definition. So what is
found is unused; what shares its name with something that is used is not found.
"""

import collections
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from check_structure import code_of  # noqa: E402

# Declarations that only tests use: why.
MAY_BE_UNUSED = {
    "bytes_inside": "asked by whoever checks that no byte is lost while a simulation runs",
    "create_module": "Python's import calls it",
    "do_GET": "http.server calls it",
    "exec_module": "Python's import calls it",
    "handle_error": "socketserver calls it",
    "has_drained": "asked by schedulers that tests break on purpose",
    "log_message": "http.server calls it",
    "start_weir": "the command weir of the wheel, by pyproject.toml",
    "worst_error_ns": "the bound without a measurement at the end, which tests that know the truth compare with it",
}

# `Type name(`, `Type* name(`: the type ends just before. A product has a space in front of its star.
DECLARED = re.compile(r"(?<![\w:.>])([\w:]+|[\w:]*<[^;{}()=]*>)[*&]*\s+~?(\w+)\s*\(")
NO_TYPE = {"return", "else", "throw", "case", "new", "delete", "and", "or", "not", "explicit", "operator", "do"}
NAMED = re.compile(
    r"\b(?:struct|class|enum class|enum|union)\s+(\w+)\s*(?:final\s*)?(?::[^:;{]+)?\{|\busing\s+(\w+)\s*=|"
    r"\b(?:inline|static) constexpr\s+[\w:<>,*\s]+?\s\*?(\w+)\s*(?:=|\{|\[)")
PYTHON_DEFINED = re.compile(r"^\s*(?:def|class)\s+(\w+)", re.MULTILINE)
PYTHON_TEXT = re.compile(r"#[^\n]*")
WORD = re.compile(r"[A-Za-z_]\w*")
FILE_NAME = re.compile(r"[\w-]+(?:\.\w+)?")
INCLUDED = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
TEXT_FILES = {".cpp", ".hpp", ".py", ".txt", ".cmake", ".md", ".toml", ".sh", ".in", ".json", ".def", ".yaml", ".yml",
              ""}


def declared_in(line):
    """The names that a line of a header declares, or of a source defines: functions, types and constants."""
    if line.lstrip().startswith("#"):
        return
    for match in DECLARED.finditer(line):
        before = line[:match.start()]
        if match.group(1) not in NO_TYPE and not re.search(r"[=(]|\breturn\b", before):
            yield match.group(2)
    for match in NAMED.finditer(line):
        yield next(name for name in match.groups() if name)


def defined_in(line):
    """The same of a source, with `Class::name(`, which begins a line: only outside of functions nothing is indented."""
    before, parenthesis, _ = line.partition("(")
    if parenthesis and line[0] not in " #})" and "=" not in before:
        yield from WORD.findall(before)[-1:]
        yield from (next(name for name in match.groups() if name) for match in NAMED.finditer(line))
    else:
        yield from declared_in(line)


def unused_declarations(top):
    source = top / "src"
    codes = {file: code_of(file.read_text(encoding="utf-8"))
             for directory in ("src", "bench") for file in sorted((top / directory).rglob("*.[ch]pp"))}
    mentions, own = collections.Counter(), collections.Counter()
    for code in codes.values():
        mentions.update(WORD.findall(code))
        own.update(name for line in code.splitlines() for name in defined_in(line))
    for file, code in codes.items():
        if file.suffix == ".hpp" and source in file.parents:
            for number, line in enumerate(code.splitlines(), start=1):
                for name in declared_in(line):
                    if mentions[name] <= own[name] and name not in MAY_BE_UNUSED:
                        yield f"{file.relative_to(top).as_posix()}:{number}: {name}: only tests use it, or nothing"


def unused_python(top):
    texts = {file: PYTHON_TEXT.sub("", file.read_text(encoding="utf-8"))
             for directory in ("src", "bench", "results") for file in sorted((top / directory).rglob("*"))
             if is_python(file)}
    mentions = collections.Counter(word for text in texts.values() for word in WORD.findall(text))
    defined = collections.Counter(name for text in texts.values() for name in PYTHON_DEFINED.findall(text))
    for file, text in texts.items():
        for match in PYTHON_DEFINED.finditer(text):
            name = match.group(1)
            if (mentions[name] <= defined[name] and not name.startswith("__") and name not in MAY_BE_UNUSED
                and top / "src" in file.parents):
                line = text[:match.start(1)].count("\n") + 1
                yield f"{file.relative_to(top).as_posix()}:{line}: {name}: only tests use it, or nothing"


def is_python(file):
    return file.is_file() and (file.suffix == ".py"
                               or (not file.suffix and file.read_bytes()[:22].startswith(b"#!/usr/bin/env python3")))


def unread_files(top):
    """Headers that nothing includes but their own source and tests, and other files that no other file names."""
    texts = {file: file.read_text(encoding="utf-8", errors="replace")
             for directory in ("src", "bench", "slurm", "tests", "docs", "cmake", "packaging", "results")
             for file in (top / directory).rglob("*")
             if file.suffix in TEXT_FILES and file.is_file() and "corpus" not in file.parts and "runs" not in file.parts
             and (directory != "slurm"
                  or len(file.relative_to(top).parts) <= 3)  # deeper: campaigns, beside their sweep files
             and (directory != "results" or file.suffix in {".toml", ".md", ".py"})}
    texts.update({file: file.read_text(encoding="utf-8", errors="replace") for file in top.iterdir() if file.suffix
                  and file.is_file() and file.suffix in TEXT_FILES})
    includers, named_by = collections.defaultdict(set), collections.defaultdict(set)
    for file, text in texts.items():
        for name in INCLUDED.findall(text):
            includers[name].add(file)
        for name in set(FILE_NAME.findall(text)):
            named_by[name].add(file)
    for file in texts:
        path = file.relative_to(top)
        if path.parts[0] not in {"src", "bench", "slurm"} or file.suffix == ".cpp" or "__pycache__" in path.parts:
            continue
        if file.suffix == ".hpp":
            readers = includers[path.relative_to(path.parts[0]).as_posix()] | includers[path.name]
            readers = {reader for reader in readers if reader != file.with_suffix(".cpp")
                       and top / "tests" not in reader.parents}
        else:
            readers = (named_by[path.stem] | named_by[path.name]) - {file}
        if not readers and path.name not in {"CMakeLists.txt", "__init__.py", "README.md"}:
            yield f"{path.as_posix()}:1: nothing reads or names this file, but perhaps tests"


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    top = pathlib.Path(sys.argv[1])
    findings = [*unused_declarations(top), *unused_python(top), *unread_files(top)]
    print("\n".join(findings) if findings else "used: nothing is there for tests alone")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
