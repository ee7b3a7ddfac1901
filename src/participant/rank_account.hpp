// What a rank hands in after a regular end, as bytes: its summary, latencies, clock and what went wrong. Own
// encoding of plain structs rather than a library: both sides are the same executable, and 4500 blocks of 50
// kB should be a memcpy each (with 500 producers a consumer's traffic adds up to 12 kB).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "participant/rank_node.hpp"
#include "record/latencies.hpp"
#include "show/run_record.hpp"

namespace weir::participant {

struct RankAccount : NodeAccount {
    record::Latencies latencies;
    std::int64_t clock_error_ns = 0;  ///< instants of this rank are at most this far from the scheduler's
    core::Duration started_late;      ///< the loop began this much after the agreed start
    std::uint64_t fault_count = 0;
    std::vector<show::FaultRecord> faults;
    std::string log_error;      ///< of the last row or of closing the file; empty: none
    std::string ucx_paths;      ///< engine ucx: a line each, network, connections and path
    std::string host_counters;  ///< record::encode_host, from the rank that records them; else empty
};

std::vector<std::byte> encode_account(const RankAccount& account);

/// Nothing if the bytes are no account.
std::optional<RankAccount> decode_account(std::span<const std::byte> bytes);

}  // namespace weir::participant
