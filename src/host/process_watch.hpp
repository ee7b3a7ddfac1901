// Which ranks' processes on this host still exist. Unlike silence (failure_detector.hpp), this is known at
// once and for certain: watched is only whose process number means the same process here, and gone is only
// what the kernel does not have any more. What cannot be looked at (no descriptor is left) may live.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/host_facts.hpp"

namespace weir::host {

class ProcessWatch {
  public:
    /// `locations` by rank; `self` is this rank.
    ProcessWatch(const std::vector<RankLocation>& locations, int self);

    /// The ranks that are watched: those on this host, without this one.
    [[nodiscard]] std::vector<int> ranks() const;
    /// A watched rank whose process does not exist any more.
    [[nodiscard]] std::optional<int> gone() const;
    /// The same, but looks at one rank only: every call costs one system call, whatever the number of ranks.
    [[nodiscard]] std::optional<int> next_gone();

    /// What the kernel says of processes of this host that have ended since this was made; empty: nothing, or
    /// the rank is not watched, such as one of another host.
    [[nodiscard]] std::string why_gone(int rank) const;

    /// The process of this rank is not watched any more.
    void forget(int rank);
    /// Another process of this host is.
    void watch(int rank, std::int64_t pid);

    /// Whether the kernel may still have it.
    [[nodiscard]] static bool exists(pid_t pid);
    /// Processes of this host that the kernel has killed since its start because they, their control group or
    /// the host had too little memory; by a text like /proc/vmstat's.
    [[nodiscard]] static std::uint64_t memory_kills(const std::string& file = "/proc/vmstat");

  private:
    struct Process {
        int rank = -1;
        pid_t pid = 0;
    };

    std::vector<Process> processes_;
    std::size_t next_ = 0;
    std::uint64_t memory_kills_ = memory_kills();
};

}  // namespace weir::host
