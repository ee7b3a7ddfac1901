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

void DatagramRecorder::socket(const core::SocketState& state) {
    current_.known = true;
    DatagramFlow& flow = current_.flow;
    flow.sent += state.sent_datagrams - seen_.sent_datagrams;
    flow.sent_bytes += state.sent_bytes - seen_.sent_bytes;
    flow.sent_frames += state.sent_frames - seen_.sent_frames;
    flow.wire_bytes += state.wire_bytes - seen_.wire_bytes;
    flow.send_retries += state.send_retries - seen_.send_retries;
    flow.strays += state.strays - seen_.strays;
    flow.socket_drops += state.receive_drops - seen_.receive_drops;
    current_.occupancy_max_bytes = std::max(current_.occupancy_max_bytes, state.occupancy_bytes);
    const std::int64_t most_bytes = std::max(seen_.occupancy_bytes, state.occupancy_bytes);
    seen_ = state;
    seen_.occupancy_bytes = most_bytes;
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
