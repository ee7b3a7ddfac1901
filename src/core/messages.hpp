// Control messages between scheduler, producers and consumers. One fixed-size struct for all kinds, so that
// many fit into one packet of the runtime and none needs parsing. Field use per kind is listed at each kind;
// other fields are 0.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/ids.hpp"

namespace weir::core {

enum class MessageKind : std::uint8_t {
    /// consumer -> scheduler. The receives of `slot` are posted: one credit.
    ready,
    /// producer -> scheduler. Cumulative: `events` and `bytes` offered since the start.
    offer,
    /// scheduler -> producer (policy `none`: consumer -> producer). Send your oldest waiting event into
    /// `slot` of
    /// consumer `node`. `events`: number of grants to this producer before this one (not with policy `none`).
    grant,
    /// producer -> the node that granted. The grant for `slot` of consumer `node` cannot be used: nothing is
    /// left.
    decline,
    /// consumer -> scheduler. `event` of `bytes` arrived in `slot` whole; `flag` 1: the slot is free again
    /// (the
    /// credit is given with this message). `hash`: Tally mix of the event.
    done,
    /// producer -> scheduler. Generation is over, nothing waits, no transfer is under way. `events`, `bytes`:
    /// sent.
    drained,
    /// scheduler -> consumer. All producers have drained: say what you have received, now and at each change.
    settle,
    /// consumer -> scheduler. Answer to settle: `events`, `bytes` received whole so far.
    progress,
    /// scheduler -> all. The run is over: close and report the ledger.
    finish,
    /// producer, consumer -> scheduler. One entry of the ledger: `slot` says which (LedgerEntry); `events`,
    /// `bytes`,
    /// `hash`. Entries are sent in order; the last one ends the report.
    ledger,
    /// any node -> scheduler and back, several times a second: the sender is alive. From the scheduler also
    /// `bytes`: nanoseconds so far in which offers waited and no consumer had a credit.
    heartbeat,
};

enum class LedgerEntry : std::uint32_t { generated, sent, lost, received, corrupt, incomplete, duplicate };

struct ControlMessage {
    MessageKind kind = MessageKind::ready;
    std::uint8_t flag = 0;
    std::uint16_t reserved = 0;
    std::uint32_t node = 0;  ///< index of the consumer or producer that the message is about
    std::uint32_t slot = 0;
    std::uint32_t reserved2 = 0;
    std::uint64_t event = 0;
    std::uint64_t events = 0;
    std::int64_t bytes = 0;
    std::uint64_t hash = 0;
    bool operator==(const ControlMessage&) const = default;
};
static_assert(sizeof(ControlMessage) == 48 && std::is_trivially_copyable_v<ControlMessage>);

}  // namespace weir::core
