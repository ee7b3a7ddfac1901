// The program explorer: random scenarios under the checkers of simulations (explore.hpp).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <thread>

#include "cli/command_functions.hpp"
#include "explorer/explore.hpp"
#include "participant/exit_status.hpp"

int main(int argc, char** argv) {
    weir::explorer::ExploreRequest request;
    request.jobs = std::max(1U, std::thread::hardware_concurrency());
    CLI::App app(
        "Checks the rules on random scenarios of `weir simulate`, and makes the first that fails smaller.",
        "explorer");
    app.add_option("N", request.scenarios, "how many")->required()->check(CLI::Range(1.0, 1e12));
    app.add_option("--seed", request.first_seed, "of the first one")->capture_default_str();
    app.add_option("--jobs", request.jobs, "at a time; all cores")->check(CLI::Range(1, 1024));
    app.add_flag("-q,--quiet", request.quiet, "nothing to standard output");
    app.set_version_flag("--version", [] { return weir::cli::version_text(weir::cli::mpi_library()); });
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? weir::participant::exit_ok : weir::participant::exit_usage;
    }
    return weir::explorer::explore(request);
}
