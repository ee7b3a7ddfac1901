#include "runtime/run_settings.hpp"

#include <fmt/format.h>

#include "telemetry/text.hpp"

namespace weir::runtime {

std::string rank_text(const RunSettings& settings, int rank) {
    const core::NodeId node = settings.roles.node(rank);
    const std::string part = node.role == core::Role::scheduler ? "scheduler" : telemetry::node_text(node);
    return fmt::format("rank {} ({} on {})", rank, part,
                       settings.places.at(static_cast<std::size_t>(rank)).host);
}

}  // namespace weir::runtime
