// A collective operation that a traffic file describes, and the factor by which its size becomes a bandwidth
// of the bus. Names and formulas: draft-calabria-bmwg-ai-fabric-training-bench, editor's copy of 2026-10-01.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/units.hpp"

namespace weir::core {

enum class CollectiveKind : std::uint8_t { all_reduce, reduce_scatter, all_gather, all_to_all };

inline constexpr std::array<std::pair<std::string_view, CollectiveKind>, 4> collective_kinds = {
    {{"all-reduce", CollectiveKind::all_reduce},
     {"reduce-scatter", CollectiveKind::reduce_scatter},
     {"all-gather", CollectiveKind::all_gather},
     {"all-to-all", CollectiveKind::all_to_all}}};

constexpr std::string_view collective_kind_name(CollectiveKind kind) {
    return collective_kinds[static_cast<std::size_t>(kind)].first;
}

/// Workers first_worker to first_worker + workers - 1 take part; each is a producer and a consumer.
struct Collective {
    CollectiveKind kind = CollectiveKind::all_reduce;
    std::string algorithm;  ///< "ring", "tree", ...: what the file calls it
    std::uint32_t first_worker = 0;
    std::uint32_t workers = 0;
    Bytes size;         ///< S, of each participant
    Duration compute;   ///< C, before the communication of each iteration
    BitRate line_rate;  ///< B, of a participant's NIC, for runs whose links are not known; 0: not given
    bool operator==(const Collective&) const = default;

    /// f: what each participant's NIC carries at least, in units of S.
    [[nodiscard]] double bus_factor() const {
        const double share = static_cast<double>(workers - 1) / workers;
        return kind == CollectiveKind::all_reduce ? 2 * share : share;
    }
};

}  // namespace weir::core
