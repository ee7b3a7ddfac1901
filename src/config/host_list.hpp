// Host lists in SLURM's syntax: 'eb[01-14],fn[1-3,7]', zero padding kept, several brackets per name
// ('r[1-2]n[01-04]'). Own code rather than `scontrol show hostnames`: it has to work where there is no SLURM.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::config {

/// A list never expands to more hosts than this.
inline constexpr std::size_t host_limit = 65536;

/// The hosts in the order written, each once. Throws UsageError that names the position of what is wrong.
std::vector<std::string> expand_hosts(std::string_view list);

/// A list that expands to the same hosts in the same order, with runs of numbers joined.
std::string compress_hosts(std::span<const std::string> hosts);

/// Whether two names may be the same host: equal, or one is the short form of the other ("eb01",
/// "eb01.cern.ch"). Case does not matter.
bool same_host(std::string_view a, std::string_view b);

}  // namespace weir::config
