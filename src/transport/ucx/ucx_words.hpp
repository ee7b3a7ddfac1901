// What weir sets in UCX's environment, and what it reads out of that and out of what UCX prints.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::transport {

/// Whether UCX may use one of them.
[[nodiscard]] bool may_use_shared_memory(const char* transports);

/// The same transports without those whose receivers are stuck when a sender dies: UCX's queues in shared
/// memory (alias `mm`). A sender takes the place of its message first and writes it then; if it is killed in
/// between, the receiver waits for this message for ever, and reads nothing more from anybody. That the
/// kernel copies between processes (`cma`, `knem`) does no harm. nullopt: to be left as it is, because
/// nothing is to be taken out or nothing else would be left.
[[nodiscard]] std::optional<std::string> without_queues_in_shared_memory(const char* transports);

/// `printed` by ucp_ep_print_info. "tcp/eth0 for am am_bw": one text for each lane that is used for more than
/// to connect; none if UCX prints something else.
std::vector<std::string> ucx_lanes(std::string_view printed);

/// What is to be set, by `value_of`: the value of a variable as it is, or nullptr. Where the user has set one
/// of two that belong together, the other one stays as it is, too.
[[nodiscard]] std::vector<std::pair<const char*, const char*>> ucx_variables(
    const std::function<const char*(const char* name)>& value_of);

}  // namespace weir::transport
