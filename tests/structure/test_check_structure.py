#!/usr/bin/env python3
"""The structure check itself: small trees, good and bad, and what it says about them."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import check_structure


class StructureCheck(unittest.TestCase):
    def check(self, files):
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            for name, text in files.items():
                (root / name).parent.mkdir(exist_ok=True)
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
            "transport/a.cpp": '#include "core/a.hpp"\n#include <mpi.h>\n#include <xxhash.h>\n',
            "runtime/a.cpp": '#include "transport/a.hpp"\n#include "telemetry/a.hpp"\n#include "core/a.hpp"\n#include <mpi.h>\n',
            "telemetry/a.cpp": '#include "weir_version.hpp"\n#include <fmt/format.h>\n#include <chrono>\n',
            "cli/a.cpp": '#include "config/a.hpp"\n#include "runtime/a.hpp"\n',
        }), [])

    def test_outward_and_sideways_includes(self):
        for name, included in [
                ("core/a.hpp", "transport/a.hpp"), ("core/a.hpp", "cli/a.hpp"),
                ("transport/a.cpp", "runtime/a.hpp"), ("transport/a.cpp", "telemetry/a.hpp"),
                ("telemetry/a.cpp", "transport/a.hpp"), ("telemetry/a.cpp", "config/a.hpp"),
                ("config/a.cpp", "telemetry/a.hpp"), ("config/a.cpp", "runtime/a.hpp"),
                ("runtime/a.cpp", "config/a.hpp"), ("runtime/a.cpp", "cli/a.hpp"),
                ("simulation/a.cpp", "transport/a.hpp"), ("telemetry/a.cpp", "simulation/a.hpp")]:
            with self.subTest(name=name, included=included):
                self.assert_found(name, f'\n#include "{included}"\n', ":2:", included)

    def test_include_without_directory(self):
        self.assert_found("core/a.cpp", '#include "a.hpp"\n', "from src/")
        self.assert_found("core/a.cpp", '#include "weir_version.hpp"\n', "from src/")
        self.assert_found("core/a.cpp", "#include <core/b.hpp>\n", '"core/b.hpp"')

    def test_mpi_outside_its_directories(self):
        for directory in ("telemetry", "config", "simulation"):
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
        self.assert_found("runtime/a.cpp", "#include <cassert>\n", "cassert")
        self.assert_found("runtime/a.cpp", "#ifdef NDEBUG\n#endif\n", "NDEBUG")

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

    def test_unknown_directory_and_empty_tree(self):
        self.assert_found("helpers/a.cpp", "int a;\n", "helpers/")
        self.assertEqual(len(self.check({})), 1)


if __name__ == "__main__":
    unittest.main()
