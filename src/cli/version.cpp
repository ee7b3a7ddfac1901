// `weir --version`: what this weir is, and the libraries that it would run with.
#include "cli/command_functions.hpp"

#include <fmt/format.h>

#include "host/ucx_library.hpp"
#include "job/mpi_job.hpp"
#include "weir_version.hpp"

namespace weir::cli {

namespace {

/// MPICH's text has many lines on how it was built; the first one names it. Runs of spaces become one.
std::string first_line(const std::string& text) {
    std::string line;
    for (const char character : text.substr(0, text.find('\n'))) {
        const bool space = character == ' ' || character == '\t';
        if (!space) {
            line += character;
        } else if (!line.empty() && line.back() != ' ') {
            line += ' ';
        }
    }
    return line;
}

}  // namespace

std::string mpi_library() {
    return job::MpiJob::library_version();
}

std::string version_text(const std::string& mpi) {
    const auto ucx = host::loadable_ucx();
    return fmt::format(
        "weir {}\n"
        "commit    {}\n"
        "compiler  {}, {}\n"
        "MPI       {}\n"
        "UCX       {}\n",
        build_info::version, build_info::git_commit, build_info::compiler, build_info::build_type,
        first_line(mpi),
        ucx ? fmt::format("{} ({})", ucx->version, ucx->file)
            : fmt::format("not found ({})", host::ucx_library_name));
}

}  // namespace weir::cli
