// What only the transport `datagram` has: its options, and the sizes of datagrams.
#pragma once

#include <span>

#include "config/option_table.hpp"
#include "config/run_request.hpp"

namespace weir::config {

std::span<const Option> datagram_option_rows();

/// Chunk size and window of a plan whose chunks are datagrams; the slot size is known. Throws UsageError.
void derive_datagrams(RunRequest& request);

/// Refuses options of datagrams where there are none.
void check_datagram_options(const RunRequest& request);

}  // namespace weir::config
