#include "transport/ucx/ucx_transport.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "core/assertion.hpp"
#include "core/memory_need.hpp"
#include "transport/arrived_chunk.hpp"

namespace weir::transport {

UcxTransport::UcxTransport(Meeting& meeting, const core::RoleMap& roles, core::Plan plan,
                           const core::EnginePlan& engine)
    : TransportBase(roles.node(meeting.rank()), roles, std::move(plan)),
      meeting_(meeting),
      queue_pairs_(engine.queue_pairs) {
    auto control =
        std::make_unique<UcxControl>(UcxNetwork::Settings{.purpose = "control packets",
                                                          .ranks = roles_.ranks(),
                                                          .traffic_class = engine.control_traffic_class,
                                                          .device = engine.control_device,
                                                          .defaults = {},
                                                          .remote_access = false,
                                                          .leaves_control = false,
                                                          .outlived = outlived_ranks()},
                                     roles_.rank(self_), control_sends());
    control_ = control.get();
    use_control(std::move(control));
    if (self_.role != core::Role::scheduler) {
        set_up_data(engine);
    }
}

void UcxTransport::set_up_data(const core::EnginePlan& engine) {
    if (self_.role == core::Role::producer) {
        buffers_ = ChunkBuffers::for_producer(plan_);
        outgoing_ = OutgoingChunks(plan_, buffers_);
    } else {
        buffers_ = ChunkBuffers::for_consumer(plan_);
        places_ = PlaceBuffers(plan_.places(), buffers_);
    }
    // Larger than a segment of its transports, an eager message would be put together in memory of UCX and
    // copied once more. More rails than one would use other devices than the one that was asked for. Over TCP
    // data go by segments, where UCX's own of 8 KiB make a call of the kernel each.
    data_ = make_ucx_data(plan_.transport,
                          UcxNetwork::Settings{.purpose = "data",
                                               .ranks = roles_.ranks(),
                                               .connections = engine.queue_pairs,
                                               .traffic_class = engine.data_traffic_class,
                                               .device = engine.data_device,
                                               .defaults = {{"RNDV_THRESH", "8k"},
                                                            {"MAX_RNDV_RAILS", "1"},
                                                            {"TCP_TX_SEG_SIZE", "256k"},
                                                            {"TCP_RX_SEG_SIZE", "256k"}},
                                               .remote_access = plan_.transport != core::TransportKind::send,
                                               .leaves_control = true,
                                               .outlived = outlived_ranks()},
                          roles_.rank(self_), buffers_);
}

UcxTransport::~UcxTransport() {
    const bool clean =
        withdraw_all([this](Deadline deadline) { return data_ == nullptr || data_->close(deadline); });
    if (!clean || (data_ != nullptr && data_->gave_up())) {
        buffers_.abandon();
    }
}

void UcxTransport::expose_buffers() {
    control_->network().set_addresses(
        meeting_.share(control_->network().address(), exchange_of_control_addresses));
    auto of_data =
        meeting_.share(data_ == nullptr ? std::string() : data_->address(), exchange_of_data_addresses);
    if (data_ != nullptr) {
        data_->set_addresses(std::move(of_data));
    }
}

void UcxTransport::make_progress() {
    control_->network().progress();
    if (data_ != nullptr) {
        data_->progress();
    }
}

void UcxTransport::open_place(core::PlaceId place) {
    WEIR_ASSERT(self_.role == core::Role::consumer && place.value < plan_.places());
    WEIR_ASSERT(!closed_);
    places_.open(place.value);
    begin_receiving();
}

void UcxTransport::send_chunk(const core::SendChunk& chunk) {
    WEIR_ASSERT(self_.role == core::Role::producer && chunk.place.value < plan_.places());
    const std::size_t entry = outgoing_.begin(chunk, next_disturbance());
    const auto message = outgoing_.message(entry);
    const auto in_place = static_cast<std::uint32_t>(core::chunk_buffers_per_place(plan_));
    const UcxData::Target target{chunk.place.value, chunk.place.value * in_place + chunk.chunk.sequence};
    for (int copy = outgoing_.at(entry).copies; copy > 0; --copy) {
        data_->send(rank_of(chunk.to), target, message, entry);
    }
}

void UcxTransport::poll_data(Polled& found) {
    if (data_ == nullptr) {
        return;
    }
    data_->progress();
    complete_sent(found);
    if (!closed_) {
        begin_receiving();
        complete_received(found);
    }
    data_->report_failures(found.unreachable);
}

/// By rank: consumers, if the run outlives them.
std::vector<bool> UcxTransport::outlived_ranks() const {
    std::vector<bool> outlived(static_cast<std::size_t>(roles_.ranks()), false);
    for (int rank = 0; rank < roles_.ranks(); ++rank) {
        outlived[static_cast<std::size_t>(rank)] =
            plan_.outlives_consumers && roles_.node(rank).role == core::Role::consumer;
    }
    return outlived;
}

PeerAddress UcxTransport::address() const {
    return {.control = control_->network().address(),
            .data = data_ == nullptr ? std::string() : data_->address()};
}

std::vector<UsedPath> UcxTransport::paths() const {
    std::vector<UsedPath> found;
    for (const auto& [path, connections] : control_->network().paths()) {
        found.push_back({"control", path, connections});
    }
    if (data_ != nullptr) {
        for (const auto& [path, connections] : data_->network().paths()) {
            found.push_back({"data", path, connections});
        }
    }
    return found;
}

void UcxTransport::disconnect(Rank rank) {
    control_->disconnect(rank.value);
    if (self_.role != core::Role::producer) {
        return;
    }
    // Reported here or never: the stream may have another chunk of the same number soon.
    data_->disconnect(rank.value);
    std::erase_if(data_->sent(), [&](const UcxData::SentMessage& sent) {
        const bool to_it = rank_of(outgoing_.at(sent.sending).to) == rank.value;
        if (to_it) {
            outgoing_.end_copy(sent.sending);
        }
        return to_it;
    });
}

void UcxTransport::reconnect(Rank rank, const PeerAddress& address) {
    disconnect(rank);
    control_->reconnect(rank.value, address.control, address.life);
    if (self_.role == core::Role::producer) {
        data_->reconnect(rank.value, address.data);
    }
}

void UcxTransport::complete_sent(Polled& found) {
    for (const UcxData::SentMessage& sent : data_->sent()) {
        const OutgoingChunks::Chunk& chunk = outgoing_.at(sent.sending);
        if (outgoing_.end_copy(sent.sending) && sent.delivered && !chunk.cancelled) {
            found.sent.push_back({chunk.stream, chunk.sequence});
        }
    }
    data_->sent().clear();
}

void UcxTransport::check(const UcxData::Arrival& arrival) const {
    if (arrival.place >= plan_.places()) {
        throw TransportError(
            "receiving data over UCX", arrival.source,
            "a chunk for place " + std::to_string(arrival.place) + " of " + std::to_string(plan_.places()));
    }
    const std::size_t in_place = buffers_.count() / plan_.places();
    if (data_->writes_into_buffers() && arrival.buffer / in_place != arrival.place) {
        throw TransportError("receiving data over UCX", arrival.source,
                             "a chunk in buffer " + std::to_string(arrival.buffer) +
                                 ", which is not of place " + std::to_string(arrival.place));
    }
}

void UcxTransport::begin_receiving() {
    std::vector<UcxData::Arrival>& arrivals = data_->arrivals();
    for (const UcxData::Arrival& arrival : arrivals) {
        check(arrival);
    }
    std::erase_if(arrivals, [this](const UcxData::Arrival& arrival) {
        if (data_->writes_into_buffers()) {
            data_->receive(arrival, arrival.buffer);
            return true;
        }
        if (!places_.has_available(arrival.place)) {
            return false;
        }
        data_->receive(arrival, places_.take(arrival.place));
        return true;
    });
}

void UcxTransport::complete_received(Polled& found) {
    for (const UcxData::Received& received : data_->received()) {
        const UcxData::Arrival& arrival = received.arrival;
        if (received.complete) {
            found.chunks.push_back(inspect_chunk(buffers_.at(received.buffer).first(arrival.bytes),
                                                 core::PlaceId{arrival.place}, arrival.source, bounds_,
                                                 plan_.verify));
        }
        if (!data_->writes_into_buffers()) {
            places_.give_back(received.buffer);
        }
    }
    data_->received().clear();
}

bool UcxTransport::stop_receiving(Deadline deadline, Polled& late) {
    if (self_.role != core::Role::consumer) {
        closed_ = true;
        return true;
    }
    if (!closed_) {
        data_->progress();
        begin_receiving();
        data_->drop_arrivals();
        closed_ = true;
    }
    std::vector<UcxData::Arrival>& waiting = data_->arrivals();
    for (const UcxData::Arrival& arrival : waiting) {
        data_->drop(arrival);
    }
    waiting.clear();
    while (data_->receiving() > 0 && std::chrono::steady_clock::now() < deadline) {
        data_->progress();
    }
    complete_received(late);
    return data_->receiving() == 0;
}

void UcxTransport::expect_departures() {
    control_->network().ignore_failures();
    if (data_ != nullptr) {
        data_->network().ignore_failures();
    }
}

bool UcxTransport::release(Deadline deadline) {
    return data_ == nullptr || data_->close(deadline);
}

}  // namespace weir::transport
