// The messages that go with one-sided transfers: an operation moves bytes without notice to its target. Small
// structs, gathered by rank and sent as packets on a communicator of their own; those between two ranks
// arrive in order.
#pragma once

#include <mpi.h>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "transport/mpi/mpi_control.hpp"
#include "transport/transport.hpp"
#include "transport/transport_error.hpp"

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
    RmaNotices(MPI_Comm comm, std::size_t receives, std::size_t sends, int ranks)
        : packets_(comm, receives, sends), gathered_(static_cast<std::size_t>(ranks)) {}

    /// Gathers a notice; it leaves with send(), or before if a packet is full.
    void add(int to, const RmaNotice& notice) {
        std::vector<RmaNotice>& gathered = gathered_[static_cast<std::size_t>(to)];
        if (gathered.size() == notices_per_packet) {
            send(to);
        } else if (gathered.empty()) {
            gathering_.push_back(to);
        }
        gathered.push_back(notice);
    }

    /// Sends what was gathered.
    void send() {
        for (const int to : gathering_) {
            send(to);
        }
        gathering_.clear();
    }

    /// What has arrived since the last call, valid until the next one. Throws TransportError, also for
    /// packets that are no notices.
    [[nodiscard]] const std::vector<Received>& poll() {
        polled_.clear();
        received_.clear();
        packets_.poll(polled_);
        for (const PacketArrived& packet : polled_.packets) {
            const auto content = polled_.content(packet);
            if (content.empty() || content.size() % sizeof(RmaNotice) != 0) {
                throw TransportError(
                    "receiving a notice", packet.source,
                    "it sent " + std::to_string(content.size()) + " bytes, no multiple of a notice's " +
                        std::to_string(sizeof(RmaNotice)) + ": do all ranks run the same build?");
            }
            for (std::size_t at = 0; at < content.size(); at += sizeof(RmaNotice)) {
                Received one{packet.source.value, {}};
                std::memcpy(&one.notice, content.data() + at, sizeof(RmaNotice));
                received_.push_back(one);
            }
        }
        return received_;
    }

    /// Packets of notices that have not left, gathered ones included.
    [[nodiscard]] std::size_t under_way() const { return packets_.under_way() + gathering_.size(); }

    /// See MpiControl.
    bool close(Deadline deadline) { return packets_.close(deadline); }

  private:
    static constexpr std::size_t notices_per_packet = MpiControl::packet_limit / sizeof(RmaNotice);

    void send(int to) {
        std::vector<RmaNotice>& gathered = gathered_[static_cast<std::size_t>(to)];
        packets_.send(Rank{to}, std::as_bytes(std::span(gathered)));
        gathered.clear();
    }

    MpiControl packets_;
    std::vector<std::vector<RmaNotice>> gathered_;  ///< by rank
    std::vector<int> gathering_;                    ///< ranks with some gathered
    Polled polled_;
    std::vector<Received> received_;
};

/// Throws TransportError: `from` sent a notice that it cannot have meant.
[[noreturn]] inline void refuse_notice(const RmaNotices::Received& received) {
    const RmaNotice& notice = received.notice;
    throw TransportError(
        "receiving a notice", Rank{received.from},
        "it cannot be right: kind " + std::to_string(static_cast<std::uint32_t>(notice.kind)) + ", place " +
            std::to_string(notice.place.value) + ", stream " + std::to_string(notice.stream) + ", sequence " +
            std::to_string(notice.sequence) + ", buffer " + std::to_string(notice.buffer) + ", " +
            std::to_string(notice.message_bytes) + " bytes");
}

}  // namespace weir::transport
