#include "participant/run_description.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "files/formatting.hpp"

namespace weir::participant {

std::string rank_text(const RunDescription& run, int rank) {
    const core::NodeId node = run.roles.node(rank);
    const std::string part = node.role == core::Role::scheduler ? "scheduler" : files::node_text(node);
    const std::string& host = run.rank_hosts.at(static_cast<std::size_t>(rank)).host;
    return fmt::format("rank {} ({}{}{})", rank, part, host.empty() ? "" : " on ", host);
}

std::string ranks_text(const RunDescription& run, const std::vector<int>& ranks) {
    constexpr std::size_t named_max = 4;
    std::string names;
    for (std::size_t i = 0; i < std::min(ranks.size(), named_max); ++i) {
        names += (i == 0 ? "" : ", ") + rank_text(run, ranks[i]);
    }
    return ranks.size() > named_max ? fmt::format("{} and {} more", names, ranks.size() - named_max) : names;
}

}  // namespace weir::participant
