#include "cli/assertion_report.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "core/assertion.hpp"

namespace weir::cli {

namespace {

thread_local std::optional<std::uint64_t> explored_seed;

void report_assertion(const char* expression, const char* file, int line) {
    fmt::print(stderr, "weir: internal error, please report: {} does not hold ({}:{}){}\n", expression, file,
               line,
               explored_seed ? fmt::format("; weir simulate --explore 1 --seed {} shows it", *explored_seed)
                             : std::string{});
}

}  // namespace

void report_assertions() {
    core::set_assertion_handler(report_assertion);
}

void exploring(std::optional<std::uint64_t> seed) {
    explored_seed = seed;
}

}  // namespace weir::cli
