#include "core/ledger_report.hpp"

#include "core/plan_limits.hpp"

namespace weir::core {

namespace {

/// False, and nothing is added, if that is negative or beyond what a sum can hold.
bool add(const Tally& tally, Tally& sum) {
    if (tally.bytes < Bytes{0} || !adds_up(sum.bytes, tally.bytes) || tally.events > ~sum.events) {
        return false;
    }
    sum += tally;
    return true;
}

}  // namespace

void append_ledger_report(const Ledger& ledger, Actions& out) {
    const auto append = [&](LedgerEntry entry, const Tally& tally) {
        out.messages.emplace_back(scheduler_node(), LedgerPart{entry, tally});
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

bool add_ledger_entry(const LedgerPart& part, Ledger& ledger) {
    const Tally& tally = part.tally;
    switch (part.entry) {
        case LedgerEntry::generated:
            return add(tally, ledger.generated);
        case LedgerEntry::sent:
            return add(tally, ledger.sent);
        case LedgerEntry::lost:
            return add(tally, ledger.lost);
        case LedgerEntry::received:
            return add(tally, ledger.received);
        case LedgerEntry::corrupt:
            return add(tally, ledger.corrupt);
        case LedgerEntry::incomplete:
            return add(tally, ledger.incomplete);
        case LedgerEntry::duplicate:
            if (tally.events > ~ledger.duplicate_events) {
                return false;
            }
            ledger.duplicate_events += tally.events;
            return true;
        case LedgerEntry::results:
            return add(tally, ledger.results);
    }
    return false;
}

}  // namespace weir::core
