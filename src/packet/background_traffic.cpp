// What others send from a host to several hosts in turn: packets of one size at a constant rate, whatever
// becomes of them, or messages over connections that obey congestion control.
#include <algorithm>

#include "core/assertion.hpp"
#include "packet/packet_network.hpp"

namespace weir::packet {

namespace {

/// Linux: length of an interface's queue.
constexpr std::int64_t most_waiting = 1000;

Picoseconds spacing_of(core::Bytes size, core::BitRate rate) {
    return {static_cast<std::int64_t>(static_cast<core::WideInteger>(size.count) * 8 * 1'000'000'000'000 /
                                      rate.bits_per_second)};
}

/// When a host begins: within the time of the first one, so that hosts are not in step.
Picoseconds random_phase(core::Bytes size, core::BitRate rate, core::Random& random) {
    const auto spacing = static_cast<double>(size.count) * 8e12 / static_cast<double>(rate.bits_per_second);
    return {static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(spacing) + 1))};
}

class BackgroundTraffic final : public Flow {
  public:
    /// The first packet is for receivers[turn] at `begin`.
    BackgroundTraffic(const core::BackgroundPlan& plan, const Ends& ends, std::vector<NodeIndex> receivers,
                      std::size_t turn, Picoseconds begin)
        : Flow(ends, plan.packet),
          receivers_(std::move(receivers)),
          turn_(turn),
          packet_bytes_(static_cast<std::uint16_t>(plan.packet.count)),
          spacing_(spacing_of(plan.packet, plan.rate)) {
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

  private:
    void update() override {}

    std::vector<NodeIndex> receivers_;
    std::size_t turn_;
    std::uint16_t packet_bytes_;
    Picoseconds spacing_;
};

}  // namespace

void PacketNetwork::add_background(const core::BackgroundPlan& plan, NodeIndex from,
                                   const std::vector<NodeIndex>& to, std::uint32_t number) {
    const std::uint32_t identity = addresses_[from.value].identity;
    using enum core::RandomPurpose;
    core::Random random(seed_, number == 0 ? core::random_stream(background, identity)
                                           : core::random_stream(background, identity, identity, number));
    if (plan.kind != core::BackgroundPlan::Kind::packets) {
        add_messages(plan, from, to, number, random);
        return;
    }
    constexpr std::uint32_t first_number = 1;  // the host may have a socket
    const Flow::Ends ends = ends_of(from, from, plan.priority, first_number + number);
    const Picoseconds begin = now_ + random_phase(plan.packet, plan.rate, random);
    flows_.push_back(std::make_unique<BackgroundTraffic>(plan, ends, to, random.below(to.size()), begin));
    flows_.back()->unnumbered = true;
    activate(ends.index);
}

void PacketNetwork::add_messages(const core::BackgroundPlan& plan, NodeIndex from,
                                 const std::vector<NodeIndex>& to, std::uint32_t number,
                                 core::Random& random) {
    constexpr std::uint32_t first_number = 1U << 30U;  // a run has others for its connections
    Others others{.message = plan.message, .spacing = {}};
    for (const NodeIndex receiver : to) {
        const auto protocol =
            plan.kind == core::BackgroundPlan::Kind::tcp ? Protocol::tcp : Protocol::queue_pair;
        others.flows.push_back(connect(from, receiver, plan.priority, protocol, first_number + number));
        flows_.back()->of_others = true;
    }
    // Not more than the host's link carries.
    const core::BitRate rate = std::min(plan.rate, flows_.back()->ends().line_rate);
    others.spacing = spacing_of(plan.message, rate);
    push(now_ + random_phase(plan.message, rate, random), Item::Kind::others,
         static_cast<std::uint32_t>(others_.size()));
    others.turn = random.below(to.size());
    others_.push_back(std::move(others));
}

/// What cannot be sent, because earlier messages to this host are not through, is left out.
void PacketNetwork::send_of_others(std::uint32_t index) {
    constexpr std::uint32_t most_unanswered = 4;
    Others& others = others_[index];
    const FlowIndex flow = others.flows[others.turn];
    others.turn = (others.turn + 1) % others.flows.size();
    push(now_ + others.spacing, Item::Kind::others, index);
    if (flows_[flow.value]->unanswered < most_unanswered) {
        ++flows_[flow.value]->unanswered;
        post(now_, flow, 0, others.message);
    }
}

}  // namespace weir::packet
