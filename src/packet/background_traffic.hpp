// What others send from a host: packets of one size at a constant rate, to several hosts in turn, whatever
// becomes of them.
#pragma once

#include "core/switch_plan.hpp"
#include "packet/flow.hpp"

namespace weir::packet {

class BackgroundTraffic final : public Flow {
  public:
    /// The first packet is for receivers[turn] at `begin`.
    BackgroundTraffic(const core::BackgroundPlan& plan, const Ends& ends, std::vector<NodeIndex> receivers,
                      std::size_t turn, Picoseconds begin);

    [[nodiscard]] std::int64_t next_wire_bytes() override { return packet_bytes_; }
    Packet send(Picoseconds now) override;
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

}  // namespace weir::packet
