// UCX's transports over memory that processes of one host share, by the value of UCX_TLS (nullptr: not set).
#pragma once

#include <optional>
#include <string>

namespace weir::transport {

/// Whether UCX may use one of them.
[[nodiscard]] bool may_use_shared_memory(const char* transports);

/// The same transports without those whose receivers are stuck when a sender dies: UCX's queues in shared
/// memory (alias `mm`). A sender takes the place of its message first and writes it then; if it is killed in
/// between, the receiver waits for this message for ever, and reads nothing more from anybody. That the
/// kernel copies between processes (`cma`, `knem`) does no harm. nullopt: to be left as it is, because
/// nothing is to be taken out or nothing else would be left.
[[nodiscard]] std::optional<std::string> without_queues_in_shared_memory(const char* transports);

}  // namespace weir::transport
