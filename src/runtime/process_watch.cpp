#include "runtime/process_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace weir::runtime {

bool ProcessWatch::exists(pid_t pid) {
    // A killed process whose parent has not collected it yet is a zombie: it exists for kill(2), not for us.
    std::ifstream file(fmt::format("/proc/{}/stat", pid));
    std::string line;
    if (!std::getline(file, line)) {
        return false;
    }
    const auto end_of_name = line.rfind(')');
    return end_of_name != std::string::npos && end_of_name + 2 < line.size() &&
           line[end_of_name + 2] != 'Z' && line[end_of_name + 2] != 'X';
}

ProcessWatch::ProcessWatch(const std::vector<Place>& places, int self) {
    for (int rank = 0; rank < std::ssize(places); ++rank) {
        const Place& place = places[static_cast<std::size_t>(rank)];
        const auto pid = static_cast<pid_t>(place.pid);
        // Ranks in containers of their own have the host's name but not its process numbers: leave them out.
        if (rank != self && place.host == places[static_cast<std::size_t>(self)].host && exists(pid)) {
            processes_.push_back({rank, pid});
        }
    }
}

std::vector<int> ProcessWatch::ranks() const {
    std::vector<int> ranks;
    ranks.reserve(processes_.size());
    for (const Process& process : processes_) {
        ranks.push_back(process.rank);
    }
    return ranks;
}

void ProcessWatch::forget(int rank) {
    std::erase_if(processes_, [rank](const Process& process) { return process.rank == rank; });
}

void ProcessWatch::watch(int rank, pid_t pid) {
    forget(rank);
    if (exists(pid)) {
        processes_.push_back({rank, pid});
    }
}

std::optional<int> ProcessWatch::gone() const {
    const auto found = std::find_if(processes_.begin(), processes_.end(),
                                    [](const Process& process) { return !exists(process.pid); });
    return found == processes_.end() ? std::nullopt : std::optional(found->rank);
}

std::optional<int> ProcessWatch::next_gone() {
    if (processes_.empty()) {
        return std::nullopt;
    }
    next_ = (next_ + 1) % processes_.size();
    return exists(processes_[next_].pid) ? std::nullopt : std::optional(processes_[next_].rank);
}

}  // namespace weir::runtime
