// What others send from a host: packets of one size at a constant rate, to several hosts in turn, whatever
// becomes of them.
#include "core/assertion.hpp"
#include "packet/packet_network.hpp"

namespace weir::packet {

namespace {

/// Linux: length of an interface's queue.
constexpr std::int64_t most_waiting = 1000;

class BackgroundTraffic final : public Flow {
  public:
    /// The first packet is for receivers[turn] at `begin`.
    BackgroundTraffic(const core::BackgroundPlan& plan, const Ends& ends, std::vector<NodeIndex> receivers,
                      std::size_t turn, Picoseconds begin)
        : Flow(ends, plan.packet),
          receivers_(std::move(receivers)),
          turn_(turn),
          packet_bytes_(static_cast<std::uint16_t>(plan.packet.count)),
          spacing_{static_cast<std::int64_t>(static_cast<core::WideInteger>(plan.packet.count) * 8 *
                                             1'000'000'000'000 / plan.rate.bits_per_second)} {
        WEIR_ASSERT(!receivers_.empty() && turn_ < receivers_.size() && packet_bytes_ == plan.packet.count);
        has_packet_ = true;
        next_send_ = begin;
    }

    [[nodiscard]] std::int64_t next_wire_bytes() override { return packet_bytes_; }
    Packet send(Picoseconds now) override {
        const std::int64_t too_many = (now - next_send_) / spacing_ - most_waiting;
        next_send_ += spacing_ * (std::max<std::int64_t>(too_many, 0) + 1);
        const NodeIndex to = receivers_[turn_];
        turn_ = (turn_ + 1) % receivers_.size();
        return {.flow = ends_.index, .to = to, .wire_bytes = packet_bytes_, .priority = ends_.priority};
    }
    void on_reply(const Packet& /*reply*/, Picoseconds /*now*/,
                  std::vector<MessageHandle>& /*sent*/) override {}
    [[nodiscard]] Picoseconds timeout_at() const override { return Picoseconds::never(); }
    void on_timeout(Picoseconds /*now*/) override {}
    Replies on_data(const Packet& /*packet*/, Picoseconds /*now*/,
                    std::vector<MessageHandle>& /*arrived*/) override {
        return {};
    }

  private:
    void update() override {}

    std::vector<NodeIndex> receivers_;
    std::size_t turn_;
    std::uint16_t packet_bytes_;
    Picoseconds spacing_;
};

}  // namespace

void PacketNetwork::add_background(const core::BackgroundPlan& plan, NodeIndex from,
                                   const std::vector<NodeIndex>& to) {
    constexpr std::uint32_t number = 1;  // the host may have a socket
    const Flow::Ends ends = ends_of(from, from, plan.priority, number);
    core::Random random(seed_,
                        core::random_stream(core::RandomPurpose::background, nodes_[from.value].identity));
    // A random phase, so that hosts are not in step.
    const auto spacing =
        static_cast<double>(plan.packet.count) * 8e12 / static_cast<double>(plan.rate.bits_per_second);
    const Picoseconds begin =
        now_ + Picoseconds{static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(spacing) + 1))};
    flows_.push_back(std::make_unique<BackgroundTraffic>(plan, ends, to, random.below(to.size()), begin));
    flows_.back()->unnumbered = true;
    activate(ends.index);
}

}  // namespace weir::packet
