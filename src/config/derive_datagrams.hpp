// What resolve() derives and checks for the transport `datagram` only.
#pragma once

#include "config/run_request.hpp"

namespace weir::config {

/// Chunk size and window of a plan whose chunks are datagrams; the slot size is known. Throws UsageError.
void derive_datagrams(RunRequest& request);

/// Refuses options of datagrams where there are none.
void check_datagram_options(const RunRequest& request);

}  // namespace weir::config
