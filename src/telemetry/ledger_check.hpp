// Do the ledgers of all ranks agree? The last word on every run: what producers sent is what consumers
// received is what the scheduler was told, by count, bytes and hash.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/ledger.hpp"
#include "core/plan.hpp"
#include "telemetry/rank_summary.hpp"
#include "telemetry/traffic_matrix.hpp"

namespace weir::telemetry {

/// Sums of the ranks' ledgers by role.
struct LedgerSums {
    core::Ledger producers;
    core::Ledger consumers;
    core::Ledger scheduler;
};
LedgerSums sum_ledgers(std::span<const RankRecord> ranks);

/// One sentence for everything that disagrees; empty if all agree. A rank without a ledger is a disagreement.
std::vector<std::string> ledger_differences(const core::Plan& plan, std::span<const RankRecord> ranks);

/// The same for the traffic: what a consumer counted, producer by producer, is what its ledger received, and
/// what all consumers counted of a producer is what that one sent. Its sums are then those of the ledgers.
/// Over a transport that loses chunks it may be less.
std::vector<std::string> traffic_differences(const core::Plan& plan, const TrafficMatrix& matrix,
                                             std::span<const RankRecord> ranks);

}  // namespace weir::telemetry
