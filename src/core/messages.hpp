// Control messages between scheduler, producers and consumers. One fixed-size struct for all kinds, so
// that many fit into one packet of the runtime and none needs parsing. Field use per kind is listed at
// each kind; other fields are 0.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/ids.hpp"

namespace weir::core {

enum class MessageKind : std::uint8_t {
    /// consumer -> scheduler. The receives of slot `slot` are posted: one credit. `result_bytes`: of the
    /// result of the event that was in it before, which went ahead; 0: none did.
    ready,
    /// producer -> scheduler. Cumulative: `events` and `bytes` offered since the start. `flag` 1: the
    /// last offer, generation is over.
    offer,
    /// scheduler -> producers (shaping `in_step`). Tick `events` (a signed number: 0 is at instant 0).
    tick,
    /// scheduler -> producers (pattern `build`). Generation is over everywhere: there are `events`
    /// events, and each producer makes its fragments of all of them.
    complete,
    /// scheduler -> producer; policy `none` and initiation `pull`: consumer -> producer. Send your oldest
    /// waiting event (pattern `build`: your fragment of event number `events`) into place `slot` of
    /// consumer `node`. Pattern `distribute`, from the scheduler: `events` is the number of grants to
    /// this producer before.
    grant,
    /// scheduler -> consumer (initiation `pull`). Slot `slot` is for the oldest event of producer `node`
    /// (pattern `build`: for event number `events`). Ask for it.
    assign,
    /// producer -> scheduler; wherever a consumer waits for the answer (policy `none`, pattern `build`,
    /// initiation `pull`): -> consumer `node`. What the grant for place `slot` asks for is not there.
    /// Pattern `build`: `events` is the event's number.
    decline,
    /// producer -> consumer (lossy transports). Every chunk of `event`, which has `bytes`, was sent to
    /// place `slot`. `events`: when it was generated, in ns. `hash`: when its first chunk was handed over,
    /// in ns.
    sent,
    /// consumer -> producer (lossy transports that ask again). `event` did not come into place `slot`
    /// whole: send it again.
    again,
    /// consumer -> producer (lossy transports that ask again). `event` for place `slot` will not be asked
    /// for any more.
    taken,
    /// consumer -> scheduler. `events` fragments of `bytes` in all arrived in slot `slot` whole, which is
    /// all that will come. `flag`: DoneFlag. `hash`: sum of their ledger mixes. `event`: one of the
    /// fragments asked for. `result_bytes`: as with ready, if the credit is given.
    done,
    /// producer -> scheduler. Generation is over, nothing waits, no transfer is under way. `events`,
    /// `bytes`: sent.
    drained,
    /// scheduler -> consumer. All producers have drained: say what you have received, now and at each
    /// change.
    settle,
    /// consumer -> scheduler. Answer to settle: `events`, `bytes` received whole, or given up, so far.
    progress,
    /// scheduler -> all. The run is over: close and report the ledger.
    finish,
    /// producer, consumer -> scheduler. One entry of the ledger: `slot` says which (LedgerEntry);
    /// `events`, `bytes`, `hash`. Entries are sent in order; the last one ends the report.
    ledger,
    /// any node -> scheduler and back, as often as core/heartbeat.hpp says: the sender is alive. From the
    /// scheduler also `bytes`: nanoseconds so far in which offers waited and no consumer had a credit. The
    /// runtime adds instants of the senders' clocks.
    heartbeat,
};

/// Bits of `flag` in `done`.
struct DoneFlag {
    static constexpr std::uint8_t slot_is_free = 1;  ///< the credit is given with this message
    static constexpr std::uint8_t incomplete = 2;    ///< a fragment is missing: the event was given up
};

enum class LedgerEntry : std::uint32_t {
    generated,
    sent,
    lost,
    received,
    corrupt,
    incomplete,
    duplicate,
    results
};

struct ControlMessage {
    MessageKind kind = MessageKind::ready;
    std::uint8_t flag = 0;
    std::uint16_t reserved = 0;
    std::uint32_t node = 0;  ///< index of the consumer or producer that the message is about
    std::uint32_t slot = 0;  ///< of a consumer, or one of its places (core::Plan::places)
    std::uint32_t result_bytes = 0;
    std::uint64_t event = 0;
    std::uint64_t events = 0;
    std::int64_t bytes = 0;
    std::uint64_t hash = 0;
    bool operator==(const ControlMessage&) const = default;
};
static_assert(sizeof(ControlMessage) == 48 && std::is_trivially_copyable_v<ControlMessage>);

}  // namespace weir::core
