// Datagrams in virtual time: each passes its producer's link, reaches the switch's port to its consumer at
// the same instant, and is dropped or passes the consumer's link; `latency` later it has arrived. Reports at
// once.
#pragma once

#include <cstdint>
#include <span>

#include "simulation/datagram_links.hpp"
#include "simulation/pool.hpp"
#include "simulation/separate_control.hpp"

namespace weir::simulation {

class DatagramNetwork final : public SeparateControl {
  public:
    DatagramNetwork(const core::Plan& plan, const core::NetworkPlan& network, Events& events,
                    NetworkClient& client)
        : SeparateControl(plan, network, events, client), links_(plan, network) {}

    void send_chunks(core::Instant now, std::uint32_t producer,
                     std::span<const core::SendChunk> chunks) override;
    [[nodiscard]] core::Instant next(core::Instant /*now*/, core::Instant /*until*/) override {
        return links_.next_end();
    }
    void advance(core::Instant now) override;
    void set_link(core::Instant now, FlatNode node, double factor) override {
        links_.set_factor(now, node, factor);
    }

  private:
    enum Kind : std::uint8_t {
        left = first_data_kind,  ///< a: index in datagrams_; its producer stood still when it left
        arrived,                 ///< a: index in datagrams_
    };
    void handle_data(core::Instant now, const Event& event) override;
    void has_left(core::Instant now, std::uint32_t index);
    void has_arrived(std::uint32_t index);

    DatagramLinks links_;
    Pool<ChunkRun> datagrams_;
};

}  // namespace weir::simulation
