#!/usr/bin/env python3
"""Checks what the compiler cannot: which directory of src/ may include which, which room of the Python package may
import which, and what each must not use.

    check_structure.py DIRECTORY      the directory that holds core/, transport/, ...

Prints one line per violation (file:line: what and why) and exits with 1 if there is any.

The text is searched, without comments and string literals; nothing is compiled. That is exact for includes and
near enough for calls: a name that only looks like a forbidden one can be given another name.
"""

import ast
import functools
import itertools
import pathlib
import re
import sys

LONGEST_FILE = 500
LONGEST_FUNCTION = 70
LONGEST_LINE = 110
MOST_FUNCTIONS = 40
# In the comment before a class that has more: why.
MORE_FUNCTIONS = "More functions:"

# Lines of each room, all files together. A change that needs more raises its number here and says why in its message;
# one that leaves more than SLACK unused lowers it.
BUDGET = {
    "cli": 7250, "config": 8559, "core": 10676, "ending": 1085, "files": 918, "host": 6161, "job": 5641,
    "judge": 6211, "loop": 2212, "packet": 5697, "participant": 1227, "record": 8394, "report": 1220,
    "show": 2527, "simulation": 9886, "transport": 7302, "twin": 1532, "weir_compare/comparison": 6506,
    "weir_compare/sweep": 5848, "weir_runs/basics": 1304, "weir_runs/figures": 3249, "weir_runs/pages": 1192,
    "weir_runs/reading": 3395, "weir_suites/bmwg": 3410, "weir_suites/switches": 2714,
    "weir_suites/traffic": 2143, "weir_suites/tune": 3274,
}
SLACK = 0.03

# What each directory may include besides itself. Includes point inward only.
MAY_INCLUDE = {
    "core": set(),
    "core/policies": {"core"},
    "transport": {"core"},
    "transport/mpi": {"core", "transport"},
    "transport/ucx": {"core", "transport"},
    "transport/datagram": {"core", "transport", "transport/mpi"},
    "files": {"core"},
    "record": {"core", "files"},
    "judge": {"core", "files", "record"},
    "show": {"core", "files", "record", "judge"},
    "participant": {"core", "core/policies", "files", "record", "judge", "show"},
    "host": {"core", "files", "record", "judge"},
    "packet": {"core"},
    "simulation": {"core", "core/policies", "packet", "files", "record", "judge", "show", "participant"},
    "twin": {"core", "files", "record"},
    "config": {"core", "core/policies", "files"},
    "job": {"core", "transport", "transport/mpi", "transport/datagram", "files", "record", "show", "participant",
            "host"},
    "ending": {"core", "files", "record", "show", "participant", "host", "job"},
    "loop": {"core", "transport", "transport/mpi", "transport/ucx", "transport/datagram", "files", "record", "show",
             "participant", "host", "job", "ending"},
    "cli": {"core", "files", "record", "judge", "show", "participant", "simulation", "twin", "config", "transport",
            "host", "job", "ending", "loop"},
}

# What each room of the Python packages in src/report may import besides itself, the version, and what Python has. The
# commands on top of a package may import all rooms, and no room a command. A campaign's table is a comparison of its
# settings: sweep uses comparison. A test of the draft is campaigns with traffic: bmwg uses both. What tune confirms is
# a comparison of campaigns, and it proposes in the words of a switch.
READING = {"weir_runs/basics", "weir_runs/reading"}
MAY_IMPORT = {
    "weir_runs/basics": set(),
    "weir_runs/reading": {"weir_runs/basics"},
    "weir_runs/figures": READING,
    "weir_runs/pages": {*READING, "weir_runs/figures"},
    "weir_compare/comparison": {*READING, "weir_runs/figures"},
    "weir_compare/sweep": {*READING, "weir_compare/comparison"},
    "weir_suites/traffic": READING,
    "weir_suites/bmwg": {*READING, "weir_runs/figures", "weir_compare/sweep", "weir_suites/traffic"},
    "weir_suites/switches": {"weir_runs/basics"},
    "weir_suites/tune": {*READING, "weir_runs/figures", "weir_compare/comparison", "weir_compare/sweep",
                         "weir_suites/switches"},
}
VERSION = "weir_runs/version"

MAY_USE_MPI = {"transport/mpi", "transport/datagram", "job", "loop", "cli"}
MPI_HEADERS = {"mpi.h", "mpi-ext.h", "mpio.h"}

# The core is a state machine: time and chance come in as arguments, and it reaches nothing outside itself. What
# is not on this list of standard headers is forbidden there, so that a new header is a decision.
CORE_HEADERS = {
    "algorithm", "array", "bit", "bitset", "cfloat", "cmath", "compare", "concepts", "cstddef", "cstdint", "cstdlib",
    "cstring", "deque", "exception", "functional", "initializer_list", "iterator", "limits", "list", "map",
    "memory", "new", "numbers", "numeric", "optional", "queue", "ranges", "set", "source_location", "span",
    "stack", "stdexcept", "string", "string_view", "tuple", "type_traits", "typeinfo", "unordered_map",
    "unordered_set", "utility", "variant", "vector", "version",
}
# Reachable through a header that is allowed.
CORE_CALLS = (
    "abort exit _Exit quick_exit atexit getenv system rand srand random drand48 arc4random time clock gettimeofday "
    "clock_gettime nanosleep usleep sleep printf fprintf puts putchar fputs fwrite fopen open read write perror"
).split()
# In this one file of the core: a broken invariant ends the process, and prints which one it was.
CORE_EXEMPT_FILE = "core/assertion.cpp"
CORE_EXEMPT_NAMES = {"cstdio", "cstdlib", "abort", "fprintf", "fputs"}

# Assertions stay on in every build, so nothing may depend on NDEBUG.
FORBIDDEN_EVERYWHERE = {
    "headers": {"cassert": "assertions that vanish in release", "assert.h": "assertions that vanish in release"},
    "names": {"NDEBUG": "a release build must behave like the tested one", "typedef": "write using"},
}

# Names of types that may have several meanings: why.
MAY_HAVE_SEVERAL_MEANINGS = {}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
COMMENT_OR_LITERAL = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|'
    r'\'(?:\\.|[^\'\\\n])+\'(?![0-9])', re.DOTALL)


@functools.cache
def code_of(text):
    """The text without comments and literals, line numbers intact."""
    # Digit separators look like character literals.
    text = re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", "", text)
    return COMMENT_OR_LITERAL.sub(lambda match: " " + "\n" * match.group(0).count("\n"), text)


NO_FUNCTION = re.compile(r"(?:if|for|while|switch|else|do|catch|try|namespace|class|struct|enum|union|extern)\b")


def functions_of(code):
    """First line and number of lines of each function. A lambda is part of the function that it stands in."""
    depth, inside, begin, line, head, head_line = 0, None, 0, 1, "", 1
    for part in re.split(r"([;{}\n])", code):
        if part == "\n":
            line += 1
        elif part == "{":
            text = head.strip()
            if inside is None and ")" in text and not NO_FUNCTION.match(text) and "=" not in text.split("(")[0]:
                inside, begin = depth, head_line
            depth += 1
        elif part == "}":
            depth -= 1
            if depth == inside:
                yield begin, line - begin + 1
                inside = None
        if part in ";{}":
            head = ""
        elif part.strip():
            head_line = head_line if head else line
            head += part


NAMESPACE = re.compile(r"\bnamespace\b[\w:\s]*$")
TYPE = re.compile(r"\b(?:struct|class|enum(?:\s+class)?|union)\s+(\w+)\s*(?:final\s*)?(?::(?!:)[^()]*)?$")
ALIAS = re.compile(r"\busing\s+(\w+)\s*=\s*(.+)$", re.DOTALL)


def types_of(code):
    """(line, name, inner, meaning) of each type outside of functions. inner: stands in a class; meaning: the type of an
    alias."""
    blocks, line, head, head_line = [], 1, "", 1
    for part in re.split(r"([;{}\n])", code):
        line += part == "\n"
        if part in {"{", ";"} and "function" not in blocks:
            found = TYPE.search(head.strip()) if part == "{" else ALIAS.search(head)
            if found and not head.lstrip().startswith("friend"):
                meaning = " ".join(found.group(2).split()) if part == ";" else None
                # `using Form = Description::Form` is a short way to write one name, not a second meaning of it.
                if meaning is None or re.split(r"\W+", meaning)[-1] != found.group(1):
                    yield head_line, found.group(1), "type" in blocks, meaning
        if part == "{":
            text = head.strip()
            blocks.append("namespace" if NAMESPACE.search(text) else "type" if TYPE.search(text) else "function")
        elif part == "}" and blocks:
            blocks.pop()
        if part in {";", "{", "}"}:
            head = ""
        elif head or part.strip():
            head_line = head_line if head else line
            head += part


def functions_of_types(code):
    """(line, name, number of member functions) of each class, what it defines and what it only declares; without
    `= default`."""
    types, depth, line, head, head_line = [], 0, 1, "", 1
    for part in re.split(r"([;{}\n])", code):
        line += part == "\n"
        if part in {"{", ";"}:
            text = head.strip()
            while (without := re.sub(r"<[^<>]*>", "", text)) != text:
                text = without
            if (types and types[-1][0] == depth and "(" in text
                    and "=" not in text.split("(")[0].replace("operator=", "")
                    and not re.search(r"=\s*(?:default|delete)$|^(?:using|friend|static_assert)\b", text)):
                types[-1][3] += 1
            found = TYPE.search(text) if part == "{" else None
            depth += part == "{"
            if found and not text.startswith("enum"):
                types.append([depth, head_line, found.group(1), 0])
        elif part == "}":
            if types and types[-1][0] == depth:
                yield tuple(types.pop()[1:])
            depth -= 1
        if part in {";", "{", "}"}:
            head = ""
        elif head or part.strip():
            head_line = head_line if head else line
            head += part


def check_type_names(root):
    """A type of a namespace shares its name with no other type; types inside of classes may share theirs: Fault::Kind,
    Notice::Kind."""
    found = {}
    for file in sorted(path for path in root.rglob("*") if path.suffix in {".hpp", ".cpp"}):
        path = file.relative_to(root).as_posix()
        for line, name, inner, meaning in types_of(code_of(file.read_text(encoding="utf-8"))):
            found.setdefault(name, []).append((f"{path}:{line}", inner, meaning or f"{path}:{line}"))
    for name, types in sorted(found.items()):
        several = len({meaning for _, _, meaning in types}) > 1 and not all(inner for _, inner, _ in types)
        if several and name not in MAY_HAVE_SEVERAL_MEANINGS:
            *others, last = (place for place, _, _ in types)
            yield f"{last}: {name}: also a type in {', '.join(others)}; give each its own name"


def room_of(path):
    """The room of a path below src: the longest that MAY_INCLUDE has, or the first directory."""
    first, *rest = path.split("/")
    return f"{first}/{rest[0]}" if rest and f"{first}/{rest[0]}" in MAY_INCLUDE else first


def check_include(directory, path, quoted, name):
    """Why this include is wrong, or None."""
    if name in FORBIDDEN_EVERYWHERE["headers"]:
        return f"<{name}>: {FORBIDDEN_EVERYWHERE['headers'][name]}"
    if name in MPI_HEADERS and directory not in MAY_USE_MPI:
        return f"<{name}>: only {', '.join(sorted(MAY_USE_MPI))} may use MPI"
    if quoted:
        if "/" not in name:
            return None if name == "weir_version.hpp" and directory in {"show", "cli"} else \
                f'"{name}": write the path from src/, as in "core/units.hpp"'
        target = room_of(name)
        if target == directory or target in MAY_INCLUDE[directory]:
            return None
        allowed = ", ".join(sorted(MAY_INCLUDE[directory])) or "nothing but itself"
        return f'"{name}": {directory} may include {allowed}'
    if name.split("/")[0] in MAY_INCLUDE:
        return f'<{name}>: files of this project are included as "{name}"'
    if directory.startswith("core") and name not in CORE_HEADERS:
        if path == CORE_EXEMPT_FILE and name in CORE_EXEMPT_NAMES:
            return None
        return f"<{name}>: not among the headers that the core may use (no clock, random source, I/O, thread or MPI)"
    return None


def check_names(directory, path, line):
    for name, reason in FORBIDDEN_EVERYWHERE["names"].items():
        if re.search(rf"\b{name}\b", line):
            yield f"{name}: {reason}"
    if not directory.startswith("core"):
        return
    for name in CORE_CALLS:
        if path == CORE_EXEMPT_FILE and name in CORE_EXEMPT_NAMES:
            continue
        # A call of a free function: not a member, not a declaration of a function with this name.
        match = re.search(rf"(?<![\w.>])(?:(?:std)?::)?{name}\s*\(", line)
        if match and not re.search(rf"\b(?!return\b)\w+[\s*&]+{name}\s*\(", line):
            yield f"{name}(): the core takes time and chance as arguments, and does no I/O"


def check_lengths(path, original, code_text):
    """Of the file, its lines and functions, and of classes in functions."""
    if len(original) > LONGEST_FILE:
        yield f"{path}:{len(original)}: {len(original)} lines; more than {LONGEST_FILE} in a file are too many"
    for number, line in enumerate(original, start=1):
        if len(line) > LONGEST_LINE and "NOLINT" not in line and "://" not in line:
            yield f"{path}:{number}: {len(line)} characters; a line has {LONGEST_LINE} at most"
    for number, lines in functions_of(code_text):
        if lines > LONGEST_FUNCTION:
            yield f"{path}:{number}: a function of {lines} lines; more than {LONGEST_FUNCTION} are too many"
    for number, name, functions in functions_of_types(code_text):
        comment = itertools.takewhile(lambda line: line.startswith("//"), reversed(original[:number - 1]))
        if functions > MOST_FUNCTIONS and not any(MORE_FUNCTIONS in line for line in comment):
            yield (f"{path}:{number}: {name} has {functions} functions; more than {MOST_FUNCTIONS} are too many: make "
                   f"parts of it objects, or say in the comment before it why not (\"{MORE_FUNCTIONS} ...\")")


def check_file(root, file):
    path = file.relative_to(root).as_posix()
    directory = room_of(path)
    if directory not in MAY_INCLUDE:
        yield f"{path}:1: {directory}/ is no directory that this test knows: add it to MAY_INCLUDE"
        return
    text = file.read_text(encoding="utf-8")
    original = text.splitlines()
    code_text = code_of(text)
    yield from check_lengths(path, original, code_text)
    for number, line in enumerate(original, start=1):
        # From the original, as the name in quotes is a literal; a comment does not start with #.
        include = INCLUDE.match(line)
        if include:
            problem = check_include(directory, path, include.group(1) == '"', include.group(2))
            if problem:
                yield f"{path}:{number}: {problem}"
    for number, line in enumerate(code_text.splitlines(), start=1):
        for problem in check_names(directory, path, line):
            yield f"{path}:{number}: {problem}"


def check(root):
    files = sorted(path for path in root.rglob("*") if path.suffix in {".hpp", ".cpp", ".h", ".cc"})
    if not files:
        return [f"{root}: no source files here"]
    return [violation for file in files for violation in check_file(root, file)]


def imports_of(root, file):
    """(line, module) of what a file imports of the packages in `root`, also inside functions; a module is a path:
    weir_compare/sweep/worker, weir_runs/version."""
    here = file.relative_to(root).parent.parts
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            of_module = tuple(node.module.split(".")) if node.module else ()
            start = here[:1 + len(here) - node.level] if node.level else ()
            named = [(*start, *of_module, alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            named = [tuple(alias.name.split(".")) for alias in node.names]
        else:
            continue
        for path in named:
            while path and not (root / "/".join(path)).with_suffix(".py").is_file():
                path = path[:-1]
            if path:
                yield node.lineno, "/".join(path)


def python_room(module):
    """weir_runs/basics of weir_runs/basics/units; None of what lies on top of a package."""
    return module.rpartition("/")[0] if module.count("/") > 1 else None


def check_packages(root):
    """Rooms import what MAY_IMPORT allows, and modules import each other in no circle."""
    graph = {}
    for file in sorted(root.glob("weir_*/**/*.py")):
        path = file.relative_to(root).as_posix()
        room = python_room(path)
        if room is not None and room not in MAY_IMPORT:
            yield f"{path}:1: {room}/ is no room that this test knows: add it to MAY_IMPORT"
            continue
        graph[path.removesuffix(".py")] = found = list(imports_of(root, file))
        for line, module in found:
            if room is not None and module != VERSION and python_room(module) not in {room, *MAY_IMPORT[room]}:
                may = ", ".join(sorted(MAY_IMPORT[room])) or "nothing but itself"
                yield f"{path}:{line}: {module}: {room} may import {may}"
    # Modules that import nothing that is left are taken away, until only circles and what imports them are left.
    left = {module: {target for _, target in found if target in graph} for module, found in graph.items()}
    while free := [module for module, targets in left.items() if not targets & left.keys()]:
        for module in free:
            del left[module]
    if left:
        yield f"{min(left)}.py:1: imports in a circle, or imports what does: {', '.join(sorted(left))}"


def check_readme(readme):
    """Its table of what a room may include is MAY_INCLUDE."""
    told = {room: set(re.findall(r"`([a-z/]+)`", may))
            for room, may in re.findall(r"^\| `([a-z/]+)` \| ((?:`[a-z/]+`(?:, )?)+|nothing else) \|$",
                                        readme.read_text(encoding="utf-8"), re.MULTILINE)}
    for room in sorted(told.keys() | MAY_INCLUDE.keys()):
        if told.get(room) != MAY_INCLUDE.get(room):
            yield ("README.md:1: the table of what rooms may include has "
                   f"{', '.join(sorted(told.get(room, ()))) or 'nothing'} for {room}, and MAY_INCLUDE "
                   f"{', '.join(sorted(MAY_INCLUDE.get(room, ()))) or 'nothing'}")


def room_with_lines(path):
    """The key of BUDGET for a file, by its path from src: `core` has its policies, and Python's rooms stand for
    themselves."""
    parts = path.parts
    return "/".join(parts[1:3]) if parts[0] == "report" and len(parts) > 3 else parts[0]


def check_budget(root, budget):
    """No room is larger than its number in `budget`, nor much smaller."""
    lines = dict.fromkeys(budget, 0)
    for path in sorted(root.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts and path.parent != root:
            room = room_with_lines(path.relative_to(root))
            lines[room] = lines.get(room, 0) + path.read_bytes().count(b"\n")
    for room, count in sorted(lines.items()):
        if room not in budget:
            yield f"{room}: {count} lines, and no number in BUDGET of tests/structure/check_structure.py"
        elif count > budget[room]:
            yield f"{room}: {count} lines; BUDGET has {budget[room]}: shorten it, or raise the number and say why"
        elif count < (1 - SLACK) * budget[room]:
            yield f"{room}: {count} lines; BUDGET has {budget[room]}: lower the number"


def check_tests(root):
    """Catch2 has two versions, with other names in its namespace: what tests need of it is in tests/catch.hpp."""
    for file in sorted(root.rglob("*_test.cpp")):
        for number, line in enumerate(code_of(file.read_text(encoding="utf-8")).splitlines(), start=1):
            if "Catch::" in line:
                yield (f"tests/{file.relative_to(root).as_posix()}:{number}: Catch::...: not the same in both versions "
                       "of Catch2; see catch.hpp")


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    source = pathlib.Path(sys.argv[1])
    violations = [*check(source), *check_type_names(source), *check_packages(source / "report"),
                  *check_readme(source / "README.md"),
                  *check_tests(source.parent / "tests"), *check_budget(source, BUDGET)]
    print("\n".join(violations) if violations else "structure: no violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
