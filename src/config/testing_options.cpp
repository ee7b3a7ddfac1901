// Options for weir's own tests, which no help shows.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/option_table.hpp"
#include "config/option_values.hpp"

namespace weir::config {

namespace {

constexpr Option testing_rows[] = {
    {.name = "inject",
     .syntax = "FAULT",
     .help = "make the transport damage a chunk; repeatable",
     .set = [](RunRequest& r, Text text) { r.injections.emplace_back(text); },
     .get = [](const RunRequest& r) { return fmt::format("{}", fmt::join(r.injections, " ")); },
     .repeatable = true},
};

}  // namespace

std::span<const Option> testing_options() {
    return testing_rows;
}

}  // namespace weir::config
