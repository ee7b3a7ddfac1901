#include "record/datagram_recorder.hpp"

#include <algorithm>
#include <iterator>

namespace weir::record {

using core::Observation;

DatagramRecorder::DatagramRecorder(const core::Plan& plan, std::uint32_t peers) {
    by_peer_.resize(plan.lossy() ? peers : 0);
    for (std::uint32_t peer = 0; peer < by_peer_.size(); ++peer) {
        by_peer_[peer].peer = peer;
    }
}

void DatagramRecorder::count(const Observation& observation, DatagramCounts& second) {
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
            second.received += observation.chunks;
            break;
        case Observation::Kind::chunk_duplicate:
            peer.duplicate += observation.chunks;
            second.duplicate += observation.chunks;
            break;
        case Observation::Kind::chunk_late:
            peer.late += observation.chunks;
            second.late += observation.chunks;
            break;
        case Observation::Kind::chunk_corrupt:
            peer.corrupt += observation.chunks;
            second.corrupt += observation.chunks;
            break;
        default:
            break;
    }
}

void DatagramRecorder::socket(const core::SocketState& state, DatagramCounts& second) {
    second.sent += state.sent_datagrams - seen_.sent_datagrams;
    second.sent_bytes += state.sent_bytes - seen_.sent_bytes;
    second.sent_frames += state.sent_frames - seen_.sent_frames;
    second.wire_bytes += state.wire_bytes - seen_.wire_bytes;
    second.send_retries += state.send_retries - seen_.send_retries;
    second.strays += state.strays - seen_.strays;
    second.socket_drops += state.receive_drops - seen_.receive_drops;
    const std::int64_t most_bytes = std::max(seen_.occupancy_bytes, state.occupancy_bytes);
    seen_ = state;
    seen_.occupancy_bytes = most_bytes;
}

std::vector<PeerDatagrams> DatagramRecorder::entries() const {
    std::vector<PeerDatagrams> counted;
    std::copy_if(by_peer_.begin(), by_peer_.end(), std::back_inserter(counted),
                 [](const PeerDatagrams& peer) { return peer != PeerDatagrams{.peer = peer.peer}; });
    return counted;
}

}  // namespace weir::record
