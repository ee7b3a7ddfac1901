#include "cli/launcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "files/formatting.hpp"
#include "participant/exit_status.hpp"

namespace weir::cli {

namespace {

using namespace std::chrono_literals;

std::optional<std::uint32_t> number_in(const char* text) {
    return text == nullptr ? std::nullopt : files::number_in<std::uint32_t>(text);
}

struct Names {
    const char* rank;
    const char* size;
};
// The innermost launcher first: mpirun inside a SLURM job leaves SLURM's variables of the batch step in
// place.
constexpr std::array launchers{
    Names{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    Names{"PMIX_RANK", "SLURM_STEP_NUM_TASKS"},
    Names{"PMI_RANK", "PMI_SIZE"},
    Names{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
};

}  // namespace

LaunchedAs launched_as(const std::function<const char*(const char*)>& lookup) {
    LaunchedAs launched;
    for (const Names& names : launchers) {
        if (const auto rank = number_in(lookup(names.rank))) {
            launched.rank = rank;
            launched.size = number_in(lookup(names.size));
            break;
        }
    }
    if (!launched.rank) {
        return launched;
    }
    launched.first_of_application = *launched.rank == 0;
    // Open MPI 4.1 has OMPI_FIRST_RANKS too, but wrong ("0 0"); the sizes are right.
    if (const char* sizes = lookup("OMPI_APP_CTX_NUM_PROCS")) {
        std::uint32_t first = 0;
        std::uint32_t applications = 0;
        std::string_view rest(sizes);
        while (!rest.empty()) {
            const std::string_view piece = rest.substr(0, rest.find(' '));
            rest.remove_prefix(std::min(rest.size(), piece.size() + 1));
            const std::uint32_t size = files::number_in<std::uint32_t>(piece).value_or(0);
            if (*launched.rank >= first && *launched.rank < first + size) {
                launched.application = applications;
                launched.first_of_application = *launched.rank == first;
            }
            first += size;
            ++applications;
        }
        launched.applications = std::max(1U, applications);
    } else {
        // prterun passes this to Open MPI only when it is called as mpirun.
        launched.application_unknown = lookup("PRTE_LAUNCHED") != nullptr;
    }
    return launched;
}

LaunchedAs launched_as() {
    return launched_as([](const char* name) -> const char* { return std::getenv(name); });
}

ErrorReport report_of(const LaunchedAs& launched, config::UsageError::Reach reach) {
    if (!launched.rank) {
        return {};
    }
    // Open MPI 4.1's mpirun hangs for good if a rank exits with an error while others are still being
    // started: seen 6 times in 8 with 33 ranks on 2 loaded cores without a pause, never with half a second.
    constexpr std::uint32_t most_ranks = 600;
    const auto start_up = 500ms + 15ms * std::min(launched.size.value_or(1), most_ranks);
    if (launched.is_first()) {
        return {0ms, true, start_up};
    }
    // Waiting costs nothing under mpirun, which ends all ranks as soon as the one that printed exits; and on
    // a loaded machine ranks start seconds apart, so one that exits early without printing could end the job
    // before the other prints. Each application's first rank has a turn: if the error is in all of them, the
    // first one's exit ends the rest.
    const auto turn = start_up + 1500ms;
    constexpr std::uint32_t most_turns = 4;
    if (launched.first_of_application) {
        return {turn * std::min(launched.application, most_turns), true, start_up};
    }
    const auto silence = turn * std::min(launched.applications, most_turns + 1) + 3s;
    if (launched.application_unknown || reach == config::UsageError::Reach::this_host) {
        // Other ranks may not have the error, so this rank prints it if it is still there; rank by rank, each
        // ending the job before the next one's turn (prterun takes 250 ms for that). All ranks have long been
        // started.
        constexpr std::uint32_t most_steps = 20;
        return {silence + 700ms * std::min(*launched.rank, most_steps), true, 50ms};
    }
    return {silence, false, 0ms};
}

int report_usage_error(std::string_view command, const config::UsageError& error) {
    const ErrorReport report = report_of(launched_as(), error.reach());
    std::this_thread::sleep_for(report.wait);
    if (report.print) {
        // In one write, so that no other rank's line comes in between.
        const std::string line = fmt::format("{}: {}\n", command, error.what());
        std::fputs(line.c_str(), stderr);
        std::fflush(stderr);
    }
    std::this_thread::sleep_for(report.linger);
    return participant::exit_usage;
}

}  // namespace weir::cli
