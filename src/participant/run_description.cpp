#include "participant/run_description.hpp"

#include <fmt/format.h>

namespace weir::participant {

std::string rank_text(const RunDescription& run, int rank) {
    const core::NodeId node = run.roles.node(rank);
    const std::string part = node.role == core::Role::scheduler ? "scheduler" : files::node_text(node);
    const std::string& host = run.rank_hosts.at(static_cast<std::size_t>(rank)).host;
    return fmt::format("rank {} ({}{}{})", rank, part, host.empty() ? "" : " on ", host);
}

std::string ranks_text(const RunDescription& run, const std::vector<int>& ranks) {
    constexpr std::size_t named_max = 4;
    std::vector<std::string> names;
    names.reserve(ranks.size());
    for (const int rank : ranks) {
        names.push_back(rank_text(run, rank));
    }
    return files::listed(names, named_max);
}

}  // namespace weir::participant
