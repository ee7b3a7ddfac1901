#include "telemetry/datagram_recorder.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace weir::telemetry {

using core::Observation;

DatagramRecorder::DatagramRecorder(const core::Plan& plan, std::uint32_t peers) {
    by_peer_.resize(plan.lossy() ? peers : 0);
    for (std::uint32_t peer = 0; peer < by_peer_.size(); ++peer) {
        by_peer_[peer].peer = peer;
    }
}

void DatagramRecorder::count(const Observation& observation) {
    if (observation.peer.index >= by_peer_.size()) {
        return;
    }
    PeerDatagrams& peer = by_peer_[observation.peer.index];
    switch (observation.kind) {
        case Observation::Kind::chunk_sent:
            peer.sent += observation.chunks;
            break;
        case Observation::Kind::chunk_sent_again:
            peer.sent_again += observation.chunks;
            break;
        case Observation::Kind::chunk_received:
            peer.received += observation.chunks;
            current_.flow.received += observation.chunks;
            break;
        case Observation::Kind::chunk_duplicate:
            peer.duplicate += observation.chunks;
            current_.flow.duplicate += observation.chunks;
            break;
        case Observation::Kind::chunk_late:
            peer.late += observation.chunks;
            current_.flow.late += observation.chunks;
            break;
        case Observation::Kind::chunk_corrupt:
            peer.corrupt += observation.chunks;
            current_.flow.corrupt += observation.chunks;
            break;
        default:
            break;
    }
}

void DatagramRecorder::socket(const SocketCounts& counts) {
    current_.known = true;
    DatagramFlow& flow = current_.flow;
    flow.sent += counts.sent - seen_.sent;
    flow.sent_bytes += counts.sent_bytes - seen_.sent_bytes;
    flow.sent_frames += counts.sent_frames - seen_.sent_frames;
    flow.wire_bytes += counts.wire_bytes - seen_.wire_bytes;
    flow.send_retries += counts.send_retries - seen_.send_retries;
    flow.strays += counts.strays - seen_.strays;
    flow.socket_drops += counts.receive_drops - seen_.receive_drops;
    seen_ = counts;
    current_.occupancy_max_bytes = std::max(current_.occupancy_max_bytes, counts.occupancy_bytes);
    summary_ = {.send_buffer_bytes = counts.send_buffer_bytes,
                .receive_buffer_bytes = counts.receive_buffer_bytes,
                .occupancy_max_bytes = std::max(summary_.occupancy_max_bytes, counts.occupancy_bytes),
                .mtu_bytes = counts.mtu_bytes,
                .refused_by_queue = counts.refused_by_queue};
}

DatagramSecond DatagramRecorder::end_second() {
    return std::exchange(current_, {.known = current_.known, .flow = {}, .occupancy_max_bytes = 0});
}

std::vector<PeerDatagrams> DatagramRecorder::entries() const {
    std::vector<PeerDatagrams> counted;
    std::copy_if(by_peer_.begin(), by_peer_.end(), std::back_inserter(counted),
                 [](const PeerDatagrams& peer) { return peer != PeerDatagrams{.peer = peer.peer}; });
    return counted;
}

}  // namespace weir::telemetry
