#!/usr/bin/env python3
"""The structure check itself: small trees, good and bad, and what it finds in them."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import check_structure
import check_used


class StructureCheck(unittest.TestCase):
    def check(self, files):
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            return check_structure.check(root)

    def assert_found(self, name, text, *expected):
        violations = self.check({name: text})
        self.assertEqual(len(violations), 1, violations)
        for part in (name, *expected):
            self.assertIn(part, violations[0])

    def assert_clean(self, name, text):
        self.assertEqual(self.check({name: text}), [])

    def test_inward_includes_are_accepted(self):
        self.assertEqual(self.check({
            "core/a.cpp": '#include "core/a.hpp"\n#include <vector>\n',
            "transport/mpi/a.cpp": '#include "core/a.hpp"\n#include "transport/a.hpp"\n#include <mpi.h>\n'
                                   '#include <xxhash.h>\n',
            "core/policies/a.cpp": '#include "core/a.hpp"\n#include "core/policies/b.hpp"\n#include <vector>\n',
            "loop/a.cpp": '#include "transport/a.hpp"\n#include "record/a.hpp"\n#include "core/a.hpp"\n'
                          '#include <mpi.h>\n',
            "show/a.cpp": '#include "weir_version.hpp"\n#include <fmt/format.h>\n#include <chrono>\n',
            "cli/a.cpp": '#include "config/a.hpp"\n#include "loop/a.hpp"\n',
        }), [])

    def test_outward_and_sideways_includes(self):
        for name, included in [
                ("core/a.hpp", "core/policies/a.hpp"), ("transport/a.cpp", "transport/mpi/a.hpp"),
                ("transport/ucx/a.cpp", "transport/mpi/a.hpp"), ("judge/a.cpp", "show/a.hpp"),
                ("core/a.hpp", "transport/a.hpp"), ("core/a.hpp", "cli/a.hpp"),
                ("transport/a.cpp", "loop/a.hpp"), ("transport/a.cpp", "record/a.hpp"),
                ("show/a.cpp", "transport/a.hpp"), ("show/a.cpp", "config/a.hpp"),
                ("config/a.cpp", "record/a.hpp"), ("config/a.cpp", "loop/a.hpp"),
                ("loop/a.cpp", "config/a.hpp"), ("loop/a.cpp", "cli/a.hpp"),
                ("simulation/a.cpp", "transport/a.hpp"), ("show/a.cpp", "simulation/a.hpp")]:
            with self.subTest(name=name, included=included):
                self.assert_found(name, f'\n#include "{included}"\n', ":2:", included)

    def packages(self, files):
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            rooms = ("weir_runs/reading/a.py", "weir_compare/comparison/a.py", "weir_compare/comparison/b.py",
                     "weir_compare/sweep/a.py", "weir_runs/version.py")
            for name, text in {**dict.fromkeys(rooms, ""), **files}.items():
                (root / name).parent.mkdir(exist_ok=True, parents=True)
                (root / name).write_text(text)
            return list(check_structure.check_packages(root))

    def test_imports_of_rooms(self):
        sweep, reading, compare = "weir_compare/sweep/a.py", "weir_runs/reading/a.py", "weir_compare/comparison/a.py"
        for name, text in [
                (sweep, "import numpy\nfrom . import b\nfrom ..comparison import a\nfrom weir_runs.reading.a import b\n"
                 "from weir_runs.version import V\n"),
                ("weir_compare/command.py", "from .sweep import a\nfrom weir_compare.comparison.a import b\n"
                 "from weir_runs.version import V\n")]:
            self.assertEqual(self.packages({"weir_compare/sweep/b.py": "", name: text}), [])
        for name, text in [(reading, "from weir_compare.sweep import a\n"),
                           (reading, "def f():\n    from weir_compare.comparison.a import b\n"),
                           (compare, "import weir_compare.sweep.a\n"), (compare, "from ..sweep import a\n"),
                           (sweep, "from ..command import main\n"), (sweep, "from .. import command\n")]:
            with self.subTest(name=name, text=text):
                found = self.packages({"weir_compare/command.py": "", name: text})
                self.assertEqual(len(found), 1, found)
                self.assertIn(f"{name}:{text.count(chr(10))}: ", found[0])
        self.assertIn("cellar/", self.packages({"weir_runs/cellar/a.py": ""})[0])

    def test_imports_in_a_circle(self):
        room = "weir_compare/comparison/"
        circle = self.packages({f"{room}a.py": "from . import b\n", f"{room}b.py": "def f():\n    from .a import g\n",
                                "weir_compare/sweep/a.py": "from ..comparison import a\n"})
        self.assertEqual(len(circle), 1)
        self.assertIn(f"{room}a, {room}b, weir_compare/sweep/a", circle[0])

    def test_budget_of_rooms(self):
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            for name, lines in {"core/policies/a.cpp": 40, "core/b.cpp": 60, "report/weir_runs/basics/a.py": 10,
                                "report/a.md": 1}.items():
                (root / name).parent.mkdir(exist_ok=True, parents=True)
                (root / name).write_text("\n" * lines)
            enough = {"core": 101, "weir_runs/basics": 10, "report": 1}
            self.assertEqual(list(check_structure.check_budget(root, enough)), [])
            for budget, said in [({**enough, "core": 99}, "raise the number"),
                                 ({**enough, "core": 104}, "lower the number"),
                                 ({"core": 100, "report": 1}, "weir_runs/basics: 10 lines, and no number")]:
                found = list(check_structure.check_budget(root, budget))
                self.assertEqual(len(found), 1, found)
                self.assertIn(said, found[0])

    def test_types_of_one_name(self):
        def found(**texts):
            with tempfile.TemporaryDirectory() as name:
                for file, text in texts.items():
                    (pathlib.Path(name) / f"{file}.hpp").write_text(text)
                return list(check_structure.check_type_names(pathlib.Path(name)))

        place = "namespace weir::core {\n/// Room.\nstruct Place final : Base<int> {\n    int a;\n};\n}\n"
        for other in ("namespace {\nenum class Place : int { here };\n}\n", "class A {\n  public:\n"
                      "    using Place = B;\n};\n", "namespace a::b {\nclass A {\n    struct Place {};\n};\n}\n",
                      "using Place =\n    std::pair<int, B>;\n"):
            with self.subTest(other=other):
                violations = found(a=place, b=other)
                self.assertEqual(len(violations), 1, violations)
                self.assertRegex(violations[0], r"^b.hpp:[1-3]: Place: also a type in a.hpp:3;")
        for other in ("using Place = core::Place;\n", "struct Place;\nenum class B { Place };\n",
                      "void f() {\n    struct Place {};\n}\n", "// struct Place {};\n"):
            with self.subTest(other=other):
                self.assertEqual(found(a=place, b=other), [])
        self.assertEqual(found(a="using J = x::J2;\n", b="using J = x::J2;\n"), [])
        self.assertEqual(found(a="class A {\n    struct Kind {};\n};\n",
                               b="class B {\n    enum class Kind { c };\n};\n"), [])

    def test_include_without_directory(self):
        self.assert_found("core/a.cpp", '#include "a.hpp"\n', "from src/")
        self.assert_found("core/a.cpp", '#include "weir_version.hpp"\n', "from src/")
        self.assert_found("core/a.cpp", "#include <core/b.hpp>\n", '"core/b.hpp"')

    def test_mpi_outside_its_directories(self):
        for directory in ("record", "config", "simulation"):
            with self.subTest(directory=directory):
                self.assert_found(f"{directory}/a.cpp", "#include <mpi.h>\n", "mpi.h")

    def test_headers_that_the_core_must_not_use(self):
        for header in ("mpi.h", "chrono", "random", "iostream", "fstream", "sstream", "cstdio", "thread", "mutex",
                       "atomic", "ctime", "filesystem", "fmt/format.h", "unistd.h", "time.h", "format"):
            with self.subTest(header=header):
                self.assert_found("core/a.cpp", f"# include <{header}>\n", header)

    def test_calls_that_the_core_must_not_make(self):
        for call in ("time(nullptr)", "std::time(nullptr)", "::time(0)", "rand()", "std::rand()", 'getenv("A")',
                     "std::abort()", 'printf("%d", 1)', "clock ()"):
            with self.subTest(call=call):
                self.assert_found("core/a.cpp", f"int f() {{ return {call}; }}\n", "core/a.cpp:1:")

    def test_names_that_only_look_forbidden(self):
        self.assert_clean("core/a.cpp", "auto a = event.time(); auto b = event->clock(); transfer_time(1);\n")
        self.assert_clean("core/a.cpp", "Instant time() const;\nRandom& random() { return random_; }\n")
        self.assert_clean("core/a.cpp", '// rand() and NDEBUG\n/* time(0)\n getenv("A") */\nauto s = "rand()";\n')
        self.assert_clean("core/a.cpp", 'auto s = R"(time(0) " rand())"; int n = 1\'000\'000;\n')

    def test_the_assertion_may_end_the_process_and_nothing_else_may(self):
        text = '#include <cstdio>\nvoid f() { std::fprintf(stderr, ""); std::abort(); }\n'
        self.assert_clean("core/assertion.cpp", text)
        self.assertEqual(len(self.check({"core/other.cpp": text})), 3)
        self.assert_found("core/assertion.cpp", "#include <chrono>\n", "chrono")

    def test_assertions_that_vanish(self):
        self.assert_found("loop/a.cpp", "#include <cassert>\n", "cassert")
        self.assert_found("loop/a.cpp", "#ifdef NDEBUG\n#endif\n", "NDEBUG")

    def test_long_files_and_lines(self):
        self.assert_clean("core/a.cpp", "int a;\n" * 500)
        self.assert_found("core/a.cpp", "int a;\n" * 501, "501 lines")
        self.assert_clean("core/a.cpp", "// " + "a" * 107 + "\n")
        self.assert_found("core/a.cpp", "// " + "a" * 108 + "\n", "111 characters")

    def test_a_name_of_one_version_of_catch(self):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            (root / "catch.hpp").write_text("using Catch::Approx;\n")
            (root / "a_test.cpp").write_text("// Catch::Contains\n")
            self.assertEqual(list(check_structure.check_tests(root)), [])
            (root / "a_test.cpp").write_text("int a;\nauto b = Catch::Contains(c);\n")
            self.assertEqual([found[:18] for found in check_structure.check_tests(root)], ["tests/a_test.cpp:2"])

    def test_long_functions(self):
        body = "    int a = b;\n"
        self.assert_clean("core/a.cpp", "int f() {\n" + body * 68 + "}\n")
        self.assert_found("core/a.cpp", "int a;\nint f() {\n" + body * 69 + "}\n", "core/a.cpp:2:", "71 lines")
        self.assert_found("core/a.cpp", "class A {\n    void f(\n        int b) const {\n" + body * 69 + "    }\n};\n",
                          "core/a.cpp:2:")
        self.assert_clean("core/a.cpp", "class A {\n" + body * 80 + "};\n")
        self.assert_found("core/a.cpp", "A::A() : a_(1) {\n    run([] {\n" + body * 69 + "    });\n}\n",
                          "core/a.cpp:1:", "73 lines")

    def test_classes_of_many_functions(self):
        body = "    void f(int a);\n    std::function<void(int)> g;\n    int h = most(1);\n    A(const A&) = delete;\n"
        self.assert_clean("core/a.hpp", "class A {\n" + body * 40 + "};\n")
        more = "class A {\n    struct B {\n        int c() { return d(1); }\n    };\n" + body * 41 + "};\n"
        self.assert_found("core/a.hpp", more, "core/a.hpp:1:", "41 functions")
        self.assert_clean("core/a.hpp", "// More functions: they share everything.\n" + more)

    def unused(self, files):
        with tempfile.TemporaryDirectory() as name:
            top = pathlib.Path(name)
            for path, text in files.items():
                (top / path).parent.mkdir(parents=True, exist_ok=True)
                (top / path).write_text(text)
            return [found.split(": ")[0] + " " + found.split(": ")[1]
                    for check in (check_used.unused_declarations, check_used.unused_python) for found in check(top)]

    def test_declarations_that_only_tests_use(self):
        header = "struct A {\n    int used() const;\n    int left() const { return 1; }\n};\nA make(int b);\n"
        source = "int A::used() const {\n    return 2;\n}\nA make(int b) {\n    return {b};\n}\n"
        tests = {"tests/a_test.cpp": "int main() { return make(1).left(); }\n"}
        self.assertEqual(self.unused({"src/core/a.hpp": header, "src/core/a.cpp": source, **tests}),
                         ["src/core/a.hpp:2 used", "src/core/a.hpp:3 left", "src/core/a.hpp:5 make"])
        self.assertEqual(
            self.unused({"src/core/a.hpp": header, "src/core/a.cpp": source, **tests,
                         "src/cli/b.cpp": "int f() {\n    A a = make(3);  // left()\n    return a.used();\n}\n"}),
            ["src/core/a.hpp:3 left"])
        self.assertEqual(self.unused({"src/core/a.hpp": "inline constexpr int most = 3;\nusing B = int;\n"}),
                         ["src/core/a.hpp:1 most", "src/core/a.hpp:2 B"])

    def test_python_that_only_tests_use(self):
        self.assertEqual(self.unused({"src/report/a.py": "def f():\n    pass\n\n\ndef g():\n    f()  # g\n",
                                      "tests/report/test_a.py": "g()\n"}), ["src/report/a.py:5 g"])

    def test_files_without_a_reader(self):
        files = {"src/core/a.hpp": "", "src/core/a.cpp": '#include "core/a.hpp"\n',
                 "src/core/b.hpp": '#include "core/c.hpp"\n',
                 "src/core/c.hpp": "", "tests/a_test.cpp": '#include "core/a.hpp"\n#include "core/b.hpp"\n',
                 "bench/run": "", "bench/data.toml": "", "docs/a.md": "`bench/run`\n"}
        with tempfile.TemporaryDirectory() as name:
            top = pathlib.Path(name)
            for path, text in files.items():
                (top / path).parent.mkdir(parents=True, exist_ok=True)
                (top / path).write_text(text)
            self.assertEqual([found.split(":")[0] for found in check_used.unread_files(top)],
                             ["src/core/a.hpp", "src/core/b.hpp", "bench/data.toml"])

    def test_unknown_directory_and_empty_tree(self):
        self.assert_found("helpers/a.cpp", "int a;\n", "helpers/")
        self.assertEqual(len(self.check({})), 1)


if __name__ == "__main__":
    unittest.main()
