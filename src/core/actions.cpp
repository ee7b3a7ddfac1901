#include "core/actions.hpp"

#include <array>

#include "core/plan.hpp"

namespace weir::core {

namespace {

struct EntryTally {
    LedgerEntry entry;
    Tally Ledger::* tally;
};
constexpr std::array<EntryTally, ledger_report_messages> ledger_entries{
    {{LedgerEntry::generated, &Ledger::generated},
     {LedgerEntry::sent, &Ledger::sent},
     {LedgerEntry::lost, &Ledger::lost},
     {LedgerEntry::received, &Ledger::received},
     {LedgerEntry::corrupt, &Ledger::corrupt},
     {LedgerEntry::incomplete, &Ledger::incomplete},
     {LedgerEntry::duplicate, &Ledger::duplicate},
     {LedgerEntry::results, &Ledger::results}}};

}  // namespace

void append_ledger_report(const Ledger& ledger, Actions& out) {
    for (const EntryTally& entry : ledger_entries) {
        out.messages.emplace_back(scheduler_node(), LedgerPart{entry.entry, ledger.*entry.tally});
    }
}

bool add_ledger_entry(const LedgerPart& part, Ledger& ledger) {
    const auto found = std::find_if(ledger_entries.begin(), ledger_entries.end(),
                                    [&](const EntryTally& entry) { return entry.entry == part.entry; });
    if (found == ledger_entries.end()) {
        return false;
    }
    Tally& sum = ledger.*found->tally;
    if (part.tally.bytes < Bytes{0} || !adds_up(sum.bytes, part.tally.bytes) ||
        part.tally.events > ~sum.events) {
        return false;
    }
    sum += part.tally;
    return true;
}

}  // namespace weir::core
