// Addressed events: from a file or from the rate to the plan of who sends how much to whom.
#pragma once

#include "config/run_request.hpp"

namespace weir::config {

/// Before anything is scaled: the interval of a sequence, the numbers of ranks that a file needs; refuses
/// what contradicts addressed events. Throws UsageError.
void prepare_traffic(RunRequest& request);
/// When everything is scaled: makes plan.traffic and plan.rate if events are addressed and the numbers of
/// ranks are known. Throws UsageError.
void derive_traffic(RunRequest& request);
/// The largest transfer, which the default size of an event follows; 0 if events have no address.
core::Bytes largest_transfer(const RunRequest& request);
/// What addressed events cannot be combined with. Throws UsageError.
void check_traffic(const RunRequest& request);
/// With policy `none`, a slot for every producer that sends to a consumer. Throws UsageError.
void check_senders(const core::Plan& plan);

}  // namespace weir::config
