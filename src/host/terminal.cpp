#include "host/terminal.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string_view>

namespace weir::host {

namespace {

bool started_by_launcher() {
    for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
        if (std::getenv(variable) != nullptr) {
            return true;
        }
    }
    return false;
}

/// Looks at the parent process: mpirun on its own host, a daemon elsewhere (whose output is no terminal).
bool launcher_writes_to_terminal() {
    std::array<char, 256> target{};
    const std::string link = fmt::format("/proc/{}/fd/1", getppid());
    const ssize_t length = readlink(link.c_str(), target.data(), target.size() - 1);
    const std::string_view name(target.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
    return name.starts_with("/dev/pts/") || name.starts_with("/dev/tty");
}

}  // namespace

bool colours_wanted() {
    const char* no_color = std::getenv("NO_COLOR");
    const char* terminal = std::getenv("TERM");
    if ((no_color != nullptr && *no_color != '\0') ||
        (terminal != nullptr && std::string_view(terminal) == "dumb")) {
        return false;
    }
    return started_by_launcher() ? launcher_writes_to_terminal() : isatty(STDOUT_FILENO) != 0;
}

}  // namespace weir::host
