// A ledger travels to the scheduler as one control message per entry, in the order of LedgerEntry.
#pragma once

#include "core/actions.hpp"
#include "core/ledger.hpp"
#include "core/messages.hpp"

namespace weir::core {

/// Appends the messages that report `ledger` to the scheduler.
void append_ledger_report(const Ledger& ledger, Actions& out);

/// Adds one received entry to `ledger`. False if there is no such entry, or no sum can hold it.
[[nodiscard]] bool add_ledger_entry(const LedgerPart& part, Ledger& ledger);

/// Number of messages in a report.
inline constexpr std::uint32_t ledger_report_messages = 8;

}  // namespace weir::core
