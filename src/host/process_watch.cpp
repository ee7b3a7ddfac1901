#include "host/process_watch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

namespace weir::host {

namespace {

/// From /proc; 0: nothing can be read now, and `error` has the reason.
std::size_t read_status(pid_t pid, std::array<char, 512>& text, int& error) {
    const int file = ::open(fmt::format("/proc/{}/stat", pid).c_str(), O_RDONLY | O_CLOEXEC);
    error = file < 0 ? errno : 0;
    if (file < 0) {
        return 0;
    }
    const ssize_t count = ::read(file, text.data(), text.size());
    error = count < 0 ? errno : 0;
    ::close(file);
    return count > 0 ? static_cast<std::size_t>(count) : 0;
}

}  // namespace

bool ProcessWatch::exists(pid_t pid) {
    std::array<char, 512> text;
    int error = 0;
    const std::string_view line(text.data(), read_status(pid, text, error));
    if (line.empty()) {
        return error != ENOENT && error != ESRCH;
    }
    // A killed process whose parent has not collected it yet is a zombie: it exists for kill(2), not for us.
    const auto end_of_name = line.rfind(')');
    return end_of_name == std::string_view::npos || end_of_name + 2 >= line.size() ||
           (line[end_of_name + 2] != 'Z' && line[end_of_name + 2] != 'X');
}

std::uint64_t ProcessWatch::memory_kills(const std::string& file) {
    std::ifstream lines(file);
    std::string name;
    std::uint64_t count = 0;
    while (lines >> name >> count) {
        if (name == "oom_kill") {
            return count;
        }
    }
    return 0;
}

std::string ProcessWatch::why_gone(int rank) const {
    if (std::none_of(processes_.begin(), processes_.end(),
                     [rank](const Process& process) { return process.rank == rank; })) {
        return {};
    }
    // 0 if it cannot be read any more.
    const std::uint64_t now = memory_kills();
    const std::uint64_t kills = now > memory_kills_ ? now - memory_kills_ : 0;
    return kills == 0 ? std::string{}
                      : fmt::format(
                            "since the start the kernel has killed {} {} of this host (signal 9) for "
                            "want of memory, or at the memory limit of a job or container",
                            kills, kills == 1 ? "process" : "processes");
}

ProcessWatch::ProcessWatch(const std::vector<RankLocation>& locations, int self) {
    const RankLocation& here = locations[static_cast<std::size_t>(self)];
    for (int rank = 0; rank < std::ssize(locations); ++rank) {
        const RankLocation& location = locations[static_cast<std::size_t>(rank)];
        // Ranks in containers of their own have the host's name but not its process numbers.
        if (rank != self && location.host == here.host && location.pids() == here.pids()) {
            watch(rank, location.pid);
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

void ProcessWatch::watch(int rank, std::int64_t pid) {
    forget(rank);
    if (pid > 0 && std::in_range<pid_t>(pid) && exists(static_cast<pid_t>(pid))) {
        processes_.push_back({rank, static_cast<pid_t>(pid)});
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

}  // namespace weir::host
