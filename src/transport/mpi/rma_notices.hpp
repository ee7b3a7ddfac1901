// The messages that go with one-sided transfers: an operation moves bytes without notice to its target. Small
// structs, gathered by rank and sent as packets on a communicator of their own; those between two ranks
// arrive in order.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "transport/mpi/mpi_control.hpp"
#include "transport/transport.hpp"

namespace weir::transport {

/// Plain memory on the wire: both sides run the same executable, which is checked at the start. Fields that a
/// kind does not use are 0.
struct RmaNotice {
    enum class Kind : std::uint32_t {
        written,  ///< producer -> consumer: the chunk lies in your `place`, as the one of this `sequence`
        offered,  ///< producer -> consumer: the chunk for your `place` lies in my `buffer`
        taken,    ///< consumer -> producer: I have read the chunk of `stream` and `sequence`
        refused,  ///< consumer -> producer: I take no chunks any more, and have not read that one
    };
    Kind kind = Kind::written;
    core::PlaceId place{};
    std::uint32_t sequence = 0;       ///< of the chunk in its event
    std::uint32_t message_bytes = 0;  ///< header and payload
    std::uint32_t stream = 0;
    std::uint32_t buffer = 0;  ///< of all of the producer's chunk buffers
    std::uint64_t event = 0;   ///< as the chunk's header has it

    bool operator==(const RmaNotice&) const = default;
};
static_assert(sizeof(RmaNotice) == 32 && std::is_trivially_copyable_v<RmaNotice>);

class RmaNotices {
  public:
    struct Received {
        int from = -1;
        RmaNotice notice;
    };

    /// `comm` belongs to the caller and must outlive this object; nothing else may use its point-to-point
    /// messages. `receives` and `sends` as in MpiControl; `ranks` is the size of `comm`.
    RmaNotices(MPI_Comm comm, std::size_t receives, std::size_t sends, int ranks);

    /// Gathers a notice; it leaves with send(), or before if a packet is full.
    void add(int to, const RmaNotice& notice);
    /// Sends what was gathered.
    void send();

    /// What has arrived since the last call, valid until the next one. Throws TransportError, also for
    /// packets that are no notices.
    [[nodiscard]] const std::vector<Received>& poll();

    /// Packets of notices that have not left, gathered ones included.
    [[nodiscard]] std::size_t under_way() const { return packets_.under_way() + gathering_.size(); }

    /// See MpiControl.
    bool close(Deadline deadline) { return packets_.close(deadline); }

  private:
    void send(int to);

    MpiControl packets_;
    std::vector<std::vector<RmaNotice>> gathered_;  ///< by rank
    std::vector<int> gathering_;                    ///< ranks with some gathered
    Polled polled_;
    std::vector<Received> received_;
};

/// Throws TransportError: `from` sent a notice that it cannot have meant.
[[noreturn]] void refuse_notice(const RmaNotices::Received& received);

}  // namespace weir::transport
