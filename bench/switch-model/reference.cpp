// Holds the packet model against reference values: a line of CSV for each, with the band that it must lie in,
// and PASS or MISS. results/switch-model is made of them.
//
//   switch_reference [--only CASE | --list | --version]
//
// Exit status: 0 all values lie in their bands, 1 one does not, 2 bad usage.
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cases.hpp"
#include "weir_version.hpp"

namespace {

using namespace weir::switch_model;

int refuse(const std::string& what) {
    fmt::print(stderr, "switch_reference: {}; known are --only CASE, --list and --version\n", what);
    return 2;
}

/// Prints the values of a case; returns how many miss their bands.
int print_case(const Case& one) {
    int missed = 0;
    for (const Value& value : one.run()) {
        fmt::print("{},\"{}\",\"{}\",\"{}\",\"{}\",{},{:.6g},{:.6g},{:.6g},{}\n", one.name, one.section,
                   one.inputs, value.what, value.reference, value.source, value.low, value.high, value.found,
                   value.passes() ? "PASS" : "MISS");
        missed += value.passes() ? 0 : 1;
    }
    std::fflush(stdout);
    return missed;
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (arguments == std::vector<std::string>{"--version"}) {
        fmt::print("weir {}\ncommit    {}\n", weir::build_info::version, weir::build_info::git_commit);
        return 0;
    }
    std::vector<Case> cases = all_cases();
    if (arguments == std::vector<std::string>{"--list"}) {
        for (const Case& one : cases) {
            fmt::print("{}\n", one.name);
        }
        return 0;
    }
    if (arguments.size() == 2 && arguments[0] == "--only") {
        std::erase_if(cases, [&](const Case& one) { return one.name != arguments[1]; });
        if (cases.empty()) {
            return refuse("there is no case " + arguments[1]);
        }
    } else if (!arguments.empty()) {
        return refuse("unknown argument " + arguments[0]);
    }
    fmt::print("case,section,inputs,what,reference,source,low,high,found,verdict\n");
    int missed = 0;
    for (const Case& one : cases) {
        missed += print_case(one);
    }
    return missed > 0 ? 1 : 0;
}
