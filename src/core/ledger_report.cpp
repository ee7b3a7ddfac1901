#include "core/ledger_report.hpp"

namespace weir::core {

void append_ledger_report(const Ledger& ledger, NodeId node, Actions& out) {
    const auto append = [&](LedgerEntry entry, const Tally& tally) {
        out.messages.push_back({scheduler_node(),
                                {.kind = MessageKind::ledger,
                                 .node = node.index,
                                 .slot = static_cast<std::uint32_t>(entry),
                                 .events = tally.events,
                                 .bytes = tally.bytes.count,
                                 .hash = tally.hash}});
    };
    append(LedgerEntry::generated, ledger.generated);
    append(LedgerEntry::sent, ledger.sent);
    append(LedgerEntry::lost, ledger.lost);
    append(LedgerEntry::received, ledger.received);
    append(LedgerEntry::corrupt, ledger.corrupt);
    append(LedgerEntry::incomplete, ledger.incomplete);
    append(LedgerEntry::duplicate, {.events = ledger.duplicate_events, .bytes = {}, .hash = 0});
    append(LedgerEntry::results, ledger.results);
}

bool add_ledger_entry(const ControlMessage& message, Ledger& ledger) {
    const Tally tally{message.events, {message.bytes}, message.hash};
    switch (static_cast<LedgerEntry>(message.slot)) {
        case LedgerEntry::generated:
            ledger.generated += tally;
            return true;
        case LedgerEntry::sent:
            ledger.sent += tally;
            return true;
        case LedgerEntry::lost:
            ledger.lost += tally;
            return true;
        case LedgerEntry::received:
            ledger.received += tally;
            return true;
        case LedgerEntry::corrupt:
            ledger.corrupt += tally;
            return true;
        case LedgerEntry::incomplete:
            ledger.incomplete += tally;
            return true;
        case LedgerEntry::duplicate:
            ledger.duplicate_events += tally.events;
            return true;
        case LedgerEntry::results:
            ledger.results += tally;
            return true;
    }
    return false;
}

}  // namespace weir::core
