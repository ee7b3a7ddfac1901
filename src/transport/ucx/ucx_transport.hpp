// The transports `send`, `put` and `get` over the engine `ucx`: control packets and data over UCP directly,
// each in a context of its own (ucx_control.hpp, ucx_data.hpp). What started the ranks exchanges the
// addresses of their workers, once; after that it carries nothing until the end. With `send` and `get`, a
// chunk goes into a buffer of the place that open_place() made available, and one that finds none waits; with
// `put` each chunk of a place has its buffer.
#pragma once

#include <memory>
#include <vector>

#include "core/engine_plan.hpp"
#include "transport/meeting.hpp"
#include "transport/transport_base.hpp"
#include "transport/ucx/ucx_control.hpp"
#include "transport/ucx/ucx_data.hpp"

namespace weir::transport {

class UcxTransport final : public TransportBase {
  public:
    /// `meeting` outlives this object. Allocates and registers the chunk buffers of this rank's role. Throws
    /// CapacityError and TransportError, in both cases on this rank only.
    UcxTransport(Meeting& meeting, const core::RoleMap& roles, core::Plan plan,
                 const core::EnginePlan& engine);
    UcxTransport(const UcxTransport&) = delete;
    UcxTransport& operator=(const UcxTransport&) = delete;
    ~UcxTransport() override;

    void expose_buffers() override;
    void make_progress() override;
    void open_place(core::PlaceId place) override;
    void send_chunk(const core::SendChunk& chunk) override;
    void cancel(core::StreamId stream) override { outgoing_.cancel(stream); }
    void disconnect(Rank rank) override;
    void reconnect(Rank rank, const PeerAddress& address) override;
    [[nodiscard]] PeerAddress address() const override;
    [[nodiscard]] std::vector<UsedPath> paths() const override;
    [[nodiscard]] std::uint32_t connections_per_pair() const override { return queue_pairs_; }
    void returns(std::uint32_t life) override { control_->set_life(life); }

  private:
    void poll_data(Polled& found) override;
    bool stop_receiving(Deadline deadline, Polled& late) override;
    void expect_departures() override;
    void begin_last_barrier() override { meeting_.begin_barrier(); }
    [[nodiscard]] bool last_barrier_done() override { return meeting_.barrier_done(); }
    bool release(Deadline deadline) override;

    [[nodiscard]] std::vector<bool> outlived_ranks() const;
    void set_up_data(const core::EnginePlan& engine);
    void complete_sent(Polled& found);
    /// Throws TransportError for a chunk that cannot be.
    void check(const UcxData::Arrival& arrival) const;
    void begin_receiving();
    void complete_received(Polled& found);

    Meeting& meeting_;
    std::uint32_t queue_pairs_;      ///< of a producer and a consumer
    std::unique_ptr<UcxData> data_;  ///< none on the scheduler's rank
    UcxControl* control_ = nullptr;  ///< the base class owns it
    PlaceBuffers places_;            ///< consumer
};

}  // namespace weir::transport
