// What one host saw of a probe: how its counters rose, which way MPI went.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host/counter_table.hpp"
#include "host/kernel_calls.hpp"
#include "host/probe_result.hpp"

namespace weir::host {

/// Reads all network counters of this host before and after, those of single priorities too.
class CounterRises {
  public:
    /// `root`: what the paths of the kernel's files begin with; empty on a real host.
    CounterRises(std::string root, std::unique_ptr<KernelCalls> calls);

    /// How they rose since the construction.
    std::vector<CounterRise> since();

  private:
    struct ByPriority {
        std::string interface;
        std::vector<std::string> names;
        std::vector<std::uint64_t> values;
    };
    std::vector<ByPriority> priorities() const;

    std::string root_;
    std::unique_ptr<KernelCalls> calls_;
    CounterTable table_;
    std::vector<ByPriority> before_;
};

/// To travel to the rank that reports.
std::string encode_host_probe(const HostProbe& host);
/// Throws nlohmann::json::exception if the text is none of encode_host_probe.
HostProbe decode_host_probe(const std::string& text);

}  // namespace weir::host
