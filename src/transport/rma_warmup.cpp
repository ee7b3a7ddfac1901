#include "transport/rma_warmup.hpp"

#include <algorithm>

#include "core/assertion.hpp"
#include "core/memory_need.hpp"
#include "transport/payload.hpp"

namespace weir::transport {

namespace {

constexpr std::int64_t operations_at_a_time = 64;
static_assert(operations_at_a_time <= RmaWindow::requests_limit);
/// Work of one step: some milliseconds at most.
constexpr std::size_t bytes_per_step = std::size_t{16} << 20U;
constexpr std::size_t page_bytes = 4096;

}  // namespace

RmaWarmup::RmaWarmup(const Parts& parts)
    : parts_(parts),
      self_(node_of_this_rank(parts.control, parts.roles)),
      puts_(parts.plan.transport == core::TransportKind::put),
      greetings_(parts.control, parts.control_tag, parts.roles),
      per_pair_(warmup_messages_per_pair(parts.plan)) {
    const core::RoleMap& roles = parts_.roles;
    const core::Plan& plan = parts_.plan;
    if (self_.role == core::Role::scheduler) {
        return;
    }
    const bool producer = self_.role == core::Role::producer;
    const core::Role other = producer ? core::Role::consumer : core::Role::producer;
    const std::uint32_t others = producer ? roles.consumers() : roles.producers();
    for (std::uint32_t index = 0; index < others; ++index) {
        peers_.push_back({.rank = roles.rank({other, index})});
    }
    fill_seed_ = payload_seed(plan, self_.index);
    if (producer != puts_) {
        through_expected_ = others;
        return;
    }
    to_complete_ = per_pair_ * others;
    peer_buffers_ = static_cast<std::size_t>(producer ? core::chunk_buffers_per_place(plan) * plan.places()
                                                      : core::chunk_buffers_per_stream(plan) * plan.streams);
    // Ranks begin at different peers, so that these are not all asked at the same time.
    const std::uint32_t alike = producer ? roles.producers() : roles.consumers();
    next_peer_ = static_cast<std::size_t>(std::uint64_t{self_.index} * others / alike);
    requests_.assign(static_cast<std::size_t>(
                         std::min(static_cast<std::int64_t>(parts_.buffers.count()), operations_at_a_time)),
                     MPI_REQUEST_NULL);
    peer_of_.resize(requests_.size());
    finished_.resize(requests_.size());
    statuses_.resize(requests_.size());
}

bool RmaWarmup::step() {
    greetings_.step();
    fill();
    receive_notices();
    complete();
    begin();
    parts_.notices.send();
    told_ = to_tell_ - static_cast<std::int64_t>(parts_.notices.under_way());
    return messages_done() == messages_total();
}

void RmaWarmup::fill() {
    std::size_t bytes = 0;
    for (; filled_ < parts_.buffers.count() && bytes < bytes_per_step; ++filled_) {
        const auto memory = parts_.buffers.at(filled_);
        if (self_.role == core::Role::producer) {
            fill_payload(memory.subspan(core::chunk_header_bytes), buffer_seed(fill_seed_, filled_));
        } else {
            for (std::size_t at = 0; at < memory.size(); at += page_bytes) {
                memory[at] = std::byte{0};
            }
        }
        bytes += memory.size();
    }
    if (announced_ || filled_ < parts_.buffers.count() || through_expected_ == 0) {
        return;
    }
    announced_ = true;
    parts_.window.sync();
    for (const Peer& peer : peers_) {
        parts_.notices.add(peer.rank, {.kind = RmaNotice::Kind::ready});
        ++to_tell_;
    }
}

void RmaWarmup::receive_notices() {
    for (const RmaNotices::Received& received : parts_.notices.poll()) {
        const core::NodeId from = parts_.roles.node(received.from);
        const bool from_peer = self_.role != core::Role::scheduler && from.role != core::Role::scheduler &&
                               from.role != self_.role;
        if (from_peer && received.notice.kind == RmaNotice::Kind::ready && to_complete_ > 0) {
            peers_[from.index].ready = true;
        } else if (from_peer && received.notice.kind == RmaNotice::Kind::through &&
                   through_ < through_expected_) {
            ++through_;
        } else {
            refuse_notice(received);
        }
    }
}

void RmaWarmup::complete() {
    if (begun_ == completed_) {
        return;
    }
    const std::size_t finished = complete_some(
        requests_, finished_, statuses_, "one-sided transfer in warm-up",
        [this](std::size_t i) { return peers_[peer_of_[static_cast<std::size_t>(finished_[i])]].rank; });
    for (std::size_t i = 0; i < finished; ++i) {
        const auto request = static_cast<std::size_t>(finished_[i]);
        Peer& peer = peers_[peer_of_[request]];
        ++completed_;
        if (++peer.completed == per_pair_) {
            if (puts_) {
                parts_.window.flush(peer.rank);
            }
            parts_.notices.add(peer.rank, {.kind = RmaNotice::Kind::through});
            ++to_tell_;
        }
    }
}

RmaWarmup::Peer* RmaWarmup::next_peer() {
    for (std::size_t tried = 0; tried < peers_.size(); ++tried) {
        Peer& peer = peers_[next_peer_];
        next_peer_ = (next_peer_ + 1) % peers_.size();
        if (peer.ready && peer.begun < per_pair_) {
            return &peer;
        }
    }
    return nullptr;
}

void RmaWarmup::begin() {
    if (filled_ < parts_.buffers.count()) {
        return;
    }
    const std::size_t message_bytes = parts_.buffers.message_bytes();
    for (std::size_t bytes = 0; begun_ < to_complete_ && bytes < bytes_per_step; bytes += message_bytes) {
        // A request is used again when the operation that it stood for is complete. All that are older by the
        // number of requests are then complete as well, and there are at least as many buffers: this one is
        // free.
        if (requests_[static_cast<std::size_t>(begun_) % requests_.size()] != MPI_REQUEST_NULL) {
            return;
        }
        Peer* const peer = next_peer();
        if (peer == nullptr) {
            return;
        }
        operate(*peer);
    }
}

void RmaWarmup::operate(Peer& peer) {
    const std::size_t request = static_cast<std::size_t>(begun_) % requests_.size();
    const auto own = parts_.buffers.at(static_cast<std::size_t>(begun_) % parts_.buffers.count());
    // Peers of this rank's own role begin where the one before them ends, so all buffers have their turn.
    const auto first = static_cast<std::size_t>(per_pair_) * self_.index;
    const std::size_t buffer = (first + static_cast<std::size_t>(peer.begun)) % peer_buffers_;
    const std::int64_t displacement =
        static_cast<std::int64_t>(buffer) * core::chunk_stride_bytes(parts_.plan);
    peer_of_[request] = static_cast<std::size_t>(&peer - peers_.data());
    if (puts_) {
        parts_.window.put(own, peer.rank, displacement, requests_[request]);
    } else {
        parts_.window.get(own, peer.rank, displacement, requests_[request]);
    }
    ++peer.begun;
    ++begun_;
}

bool RmaWarmup::cancel(Deadline deadline) {
    // An operation cannot be called back.
    return greetings_.cancel(deadline) && begun_ == completed_;
}

}  // namespace weir::transport
