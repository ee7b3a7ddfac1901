#include "cli/assertion_report.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "core/assertion.hpp"

namespace weir::cli {

namespace {

void report_assertion(const char* expression, const char* file, int line) {
    fmt::print(stderr, "weir: internal error, please report: {} does not hold ({}:{})\n", expression, file,
               line);
}

}  // namespace

void report_assertions() {
    core::set_assertion_handler(report_assertion);
}

}  // namespace weir::cli
