#include "transport/mpi/rma_notices.hpp"

#include <cstring>
#include <span>
#include <string>

#include "transport/transport_error.hpp"

namespace weir::transport {

namespace {

constexpr std::size_t notices_per_packet = MpiControl::packet_limit / sizeof(RmaNotice);

}  // namespace

RmaNotices::RmaNotices(MPI_Comm comm, std::size_t receives, std::size_t sends, int ranks)
    : packets_(comm, receives, sends), gathered_(static_cast<std::size_t>(ranks)) {}

void RmaNotices::add(int to, const RmaNotice& notice) {
    std::vector<RmaNotice>& gathered = gathered_[static_cast<std::size_t>(to)];
    if (gathered.size() == notices_per_packet) {
        send(to);
    } else if (gathered.empty()) {
        gathering_.push_back(to);
    }
    gathered.push_back(notice);
}

void RmaNotices::send() {
    for (const int to : gathering_) {
        send(to);
    }
    gathering_.clear();
}

void RmaNotices::send(int to) {
    std::vector<RmaNotice>& gathered = gathered_[static_cast<std::size_t>(to)];
    packets_.send(Rank{to}, std::as_bytes(std::span(gathered)));
    gathered.clear();
}

const std::vector<RmaNotices::Received>& RmaNotices::poll() {
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

void refuse_notice(const RmaNotices::Received& received) {
    const RmaNotice& notice = received.notice;
    throw TransportError(
        "receiving a notice", Rank{received.from},
        "it cannot be right: kind " + std::to_string(static_cast<std::uint32_t>(notice.kind)) + ", place " +
            std::to_string(notice.place.value) + ", stream " + std::to_string(notice.stream) + ", sequence " +
            std::to_string(notice.sequence) + ", buffer " + std::to_string(notice.buffer) + ", " +
            std::to_string(notice.message_bytes) + " bytes");
}

}  // namespace weir::transport
