// Counts a rank's datagrams, by second and by peer. Part of the recorders of producers and consumers; idle
// where chunks are not datagrams.
#pragma once

#include <cstdint>
#include <vector>

#include "core/actions.hpp"
#include "core/plan.hpp"
#include "core/socket_state.hpp"
#include "record/datagram_counts.hpp"
#include "record/datagram_matrix.hpp"

namespace weir::record {

class DatagramRecorder {
  public:
    /// `peers`: how many consumers or producers there are at the other end.
    DatagramRecorder(const core::Plan& plan, std::uint32_t peers);

    /// Counts are added to `second`, that of the second at hand, and kept by peer.
    void observe(const core::Observation& observation, DatagramCounts& second) {
        using Kind = core::Observation::Kind;
        const Kind kind = observation.kind;
        const bool counts = kind == Kind::chunk_sent || kind == Kind::chunk_sent_again ||
                            (kind >= Kind::chunk_received && kind <= Kind::chunk_corrupt);
        if (counts && !by_peer_.empty()) {
            count(observation, second);
        }
    }
    /// Adds what has come since the last call.
    void socket(const core::SocketState& state, DatagramCounts& second);

    /// As it was last, but for occupancy_bytes, which is the most that it was.
    [[nodiscard]] const core::SocketState& socket() const { return seen_; }
    /// By peer; those of which nothing was counted are left out.
    [[nodiscard]] std::vector<PeerDatagrams> entries() const;

  private:
    void count(const core::Observation& observation, DatagramCounts& second);

    core::SocketState seen_;
    std::vector<PeerDatagrams> by_peer_;  ///< empty where chunks are not datagrams
};

}  // namespace weir::record
