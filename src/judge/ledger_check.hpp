// The integrity check of every run: what producers sent, what consumers received and what the scheduler was
// informed about must be the same events, by count, bytes and hash.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/ledger.hpp"
#include "core/plan.hpp"
#include "record/pairs.hpp"
#include "record/rank_summary.hpp"
#include "record/recovery.hpp"

namespace weir::judge {

/// Sums of the ranks' ledgers by role.
struct LedgerSums {
    core::Ledger producers;
    core::Ledger consumers;
    core::Ledger scheduler;
};
LedgerSums sum_ledgers(std::span<const record::RankRecord> ranks);

/// One sentence for each difference; empty if the check passed. A rank without a ledger is a difference.
/// `recovery`: of a run that outlived consumers; for those that were lost, the scheduler's account of what
/// they had done stands in. nullptr: of any other run.
std::vector<std::string> ledger_differences(const core::Plan& plan, std::span<const record::RankRecord> ranks,
                                            const record::Recovery* recovery = nullptr);

/// The same for the traffic: what a consumer counted, producer by producer, is what its ledger received, and
/// what all consumers counted of a producer is what that one sent. Its sums are then those of the ledgers.
/// Over a transport that loses chunks it may be less. What lost consumers had received
/// is not split by producer.
std::vector<std::string> traffic_differences(const core::Plan& plan, const record::TrafficMatrix& matrix,
                                             std::span<const record::RankRecord> ranks,
                                             const record::Recovery* recovery = nullptr);

}  // namespace weir::judge
