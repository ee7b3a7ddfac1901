// The transports `send`, `put` and `get` over the engine `ucx`: control packets and data over UCP directly,
// each in a context of its own (ucx_network.hpp, ucx_data.hpp). What started the ranks exchanges the
// addresses of their workers, once; after that it carries nothing until the end. With `send` and `get`, a
// chunk goes into a buffer of the place that open_place() made available, and one that finds none waits; with
// `put` each chunk of a place has its buffer.

#include "transport/ucx/ucx_transport.hpp"
#include "transport/ucx/ucx_data.hpp"
#include "transport/ucx/ucx_network.hpp"

namespace weir::transport {

namespace {

class UcxTransport final : public TransportBase {
  public:
    /// `meeting` outlives this object. Allocates and registers the chunk buffers of this rank's role. Throws
    /// CapacityError and TransportError, in both cases on this rank only.
    UcxTransport(Meeting& meeting, const core::RoleMap& roles, core::Plan plan,
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

    UcxTransport(const UcxTransport&) = delete;
    UcxTransport& operator=(const UcxTransport&) = delete;
    ~UcxTransport() override {
        const bool clean =
            withdraw_all([this](Deadline deadline) { return data_ == nullptr || data_->close(deadline); });
        if (!clean || (data_ != nullptr && data_->gave_up())) {
            buffers_.abandon();
        }
    }

    void expose_buffers() override {
        control_->network().set_addresses(
            meeting_.share(control_->network().address(), exchange_of_control_addresses));
        auto of_data =
            meeting_.share(data_ == nullptr ? std::string() : data_->address(), exchange_of_data_addresses);
        if (data_ != nullptr) {
            data_->set_addresses(std::move(of_data));
        }
    }

    void make_progress() override {
        control_->network().progress();
        if (data_ != nullptr) {
            data_->progress();
        }
    }

    void open_place(core::PlaceId place) override {
        WEIR_ASSERT(self_.role == core::Role::consumer && place.value < plan_.places());
        WEIR_ASSERT(!closed_);
        places_.open(place.value);
        begin_receiving();
    }

    void send_chunk(const core::SendChunk& chunk) override {
        WEIR_ASSERT(self_.role == core::Role::producer && chunk.place.value < plan_.places());
        const std::size_t entry = outgoing_.begin(chunk, next_disturbance());
        const auto message = outgoing_.message(entry);
        const auto in_place = static_cast<std::uint32_t>(core::chunk_buffers_per_place(plan_));
        const UcxData::Target target{chunk.place.value, chunk.place.value * in_place + chunk.chunk.sequence};
        for (int copy = outgoing_.at(entry).copies; copy > 0; --copy) {
            data_->send(rank_of(chunk.to), target, message, entry);
        }
    }

    void cancel(core::StreamId stream) override { outgoing_.cancel(stream); }
    void disconnect(Rank rank) override {
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

    void reconnect(Rank rank, const PeerAddress& address) override {
        disconnect(rank);
        control_->reconnect(rank.value, address.control, address.life);
        if (self_.role == core::Role::producer) {
            data_->reconnect(rank.value, address.data);
        }
    }

    [[nodiscard]] PeerAddress address() const override {
        return {.control = control_->network().address(),
                .data = data_ == nullptr ? std::string() : data_->address()};
    }

    [[nodiscard]] std::vector<UsedPath> paths() const override {
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

    [[nodiscard]] std::uint32_t connections_per_pair() const override { return queue_pairs_; }
    void returns(std::uint32_t life) override { control_->set_life(life); }

  private:
    void poll_data(Polled& found) override {
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

    bool stop_receiving(Deadline deadline, Polled& late) override {
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

    void expect_departures() override {
        control_->network().ignore_failures();
        if (data_ != nullptr) {
            data_->network().ignore_failures();
        }
    }

    void begin_last_barrier() override { meeting_.begin_barrier(); }
    [[nodiscard]] bool last_barrier_done() override { return meeting_.barrier_done(); }
    bool release(Deadline deadline) override { return data_ == nullptr || data_->close(deadline); }

    /// By rank: consumers, if the run outlives them.
    [[nodiscard]] std::vector<bool> outlived_ranks() const {
        std::vector<bool> outlived(static_cast<std::size_t>(roles_.ranks()), false);
        for (int rank = 0; rank < roles_.ranks(); ++rank) {
            outlived[static_cast<std::size_t>(rank)] =
                plan_.outlives_consumers && roles_.node(rank).role == core::Role::consumer;
        }
        return outlived;
    }

    void set_up_data(const core::EnginePlan& engine) {
        if (self_.role == core::Role::producer) {
            buffers_ = ChunkBuffers::for_producer(plan_);
            outgoing_ = OutgoingChunks(plan_, buffers_);
        } else {
            buffers_ = ChunkBuffers::for_consumer(plan_);
            places_ = PlaceBuffers(plan_.places(), buffers_);
        }
        // Larger than a segment of its transports, an eager message would be put together in memory of UCX
        // and copied once more. More rails than one would use other devices than the one that was asked for.
        const auto make = plan_.transport == core::TransportKind::send  ? make_ucx_messages
                          : plan_.transport == core::TransportKind::put ? make_ucx_puts
                                                                        : make_ucx_gets;
        data_ = make(UcxNetwork::Settings{.purpose = "data",
                                          .ranks = roles_.ranks(),
                                          .connections = engine.queue_pairs,
                                          .traffic_class = engine.data_traffic_class,
                                          .device = engine.data_device,
                                          .defaults = {{"RNDV_THRESH", "8k"}, {"MAX_RNDV_RAILS", "1"}},
                                          .remote_access = plan_.transport != core::TransportKind::send,
                                          .leaves_control = true,
                                          .outlived = outlived_ranks()},
                     roles_.rank(self_), buffers_);
    }

    void complete_sent(Polled& found) {
        for (const UcxData::SentMessage& sent : data_->sent()) {
            const OutgoingChunks::Chunk& chunk = outgoing_.at(sent.sending);
            if (outgoing_.end_copy(sent.sending) && sent.delivered && !chunk.cancelled) {
                found.sent.push_back({chunk.stream, chunk.sequence});
            }
        }
        data_->sent().clear();
    }

    /// Throws TransportError for a chunk that cannot be.
    void check(const UcxData::Arrival& arrival) const {
        if (arrival.place >= plan_.places()) {
            throw TransportError("receiving data over UCX", arrival.source,
                                 "a chunk for place " + std::to_string(arrival.place) + " of " +
                                     std::to_string(plan_.places()));
        }
        const std::size_t in_place = buffers_.count() / plan_.places();
        if (data_->writes_into_buffers() && arrival.buffer / in_place != arrival.place) {
            throw TransportError("receiving data over UCX", arrival.source,
                                 "a chunk in buffer " + std::to_string(arrival.buffer) +
                                     ", which is not of place " + std::to_string(arrival.place));
        }
    }

    void begin_receiving() {
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

    void complete_received(Polled& found) {
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

    Meeting& meeting_;
    std::uint32_t queue_pairs_;      ///< of a producer and a consumer
    std::unique_ptr<UcxData> data_;  ///< none on the scheduler's rank
    UcxControl* control_ = nullptr;  ///< the base class owns it
    PlaceBuffers places_;            ///< consumer
};

}  // namespace

std::unique_ptr<TransportBase> make_ucx_transport(Meeting& meeting, const core::RoleMap& roles,
                                                  const core::Plan& plan, const core::EnginePlan& engine) {
    return std::make_unique<UcxTransport>(meeting, roles, plan, engine);
}

}  // namespace weir::transport
