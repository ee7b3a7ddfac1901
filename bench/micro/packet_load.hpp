// Networks that are kept full, for packet_benchmark and packet_steadiness: every sender has as many messages
// under way as it has streams, each to a receiver drawn at random; when one has arrived, the next follows.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/random.hpp"
#include "packet/packet_network.hpp"

namespace weir::bench {

struct PacketLoadCase {
    std::string_view name;
    std::uint32_t senders = 1;
    std::uint32_t receivers = 1;
    std::int64_t sender_gigabit = 100;
    std::int64_t receiver_gigabit = 100;
    std::uint32_t streams = 4;
    bool pfc = true;
    bool ecn = true;
    double scale = 1;  ///< of the time simulated
    core::Bytes message{1'000'000};
    /// A receiver takes one message at a time, as where a scheduler grants with one slot. It has to have more
    /// receivers than all senders have streams.
    bool one_at_a_time = false;
};

/// The first argument of a program, of which 100 is the default; nothing: it is no number, or less than
/// `least`.
inline std::optional<double> simulated_ms_of(int argc, char** argv, double least) {
    double simulated_ms = 100;
    if (argc > 1) {
        const std::string_view text = argv[1];
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), simulated_ms);
        if (error != std::errc{} || end != text.data() + text.size() || simulated_ms < least) {
            return std::nullopt;
        }
    }
    return simulated_ms;
}

inline constexpr core::Priority data_priority = 3;

inline packet::PacketNetwork::Setup setup_of(const PacketLoadCase& chosen, const packet::Topology& topology) {
    packet::PacketNetwork::Setup setup{.topology = topology, .switches = {}, .nics = {}};
    if (chosen.pfc) {
        setup.switches.lossless = core::mask_of(data_priority);
        // The headroom of a thousand ports is more than the pool of one real switch.
        setup.switches.pool = {std::max<std::int64_t>(
            16'000'000, 110'000 * static_cast<std::int64_t>(chosen.senders + chosen.receivers))};
    }
    setup.switches.ecn.on = chosen.ecn;
    setup.nics.dcqcn.on = chosen.ecn;
    setup.nics.ack_timeout = core::Duration::milliseconds(1);
    setup.nics.ack_priority = setup.nics.cnp_priority = data_priority;
    return setup;
}

inline packet::Topology topology_of(const PacketLoadCase& chosen) {
    constexpr std::int64_t gigabit = 1'000'000'000;
    std::vector<core::BitRate> rates(chosen.senders, {chosen.sender_gigabit * gigabit});
    rates.insert(rates.end(), chosen.receivers, {chosen.receiver_gigabit * gigabit});
    return packet::star(rates, core::Duration::nanoseconds(1000));
}

/// Keeps the streams of all senders busy. The case must outlive it.
class PacketLoad {
  public:
    explicit PacketLoad(const PacketLoadCase& chosen)
        : chosen_(chosen),
          topology_(topology_of(chosen)),
          network_(setup_of(chosen, topology_)),
          random_(1, 0),
          taken_(chosen.receivers) {
        for (std::uint32_t from = 0; from < chosen.senders; ++from) {
            for (std::uint32_t to = 0; to < chosen.receivers; ++to) {
                flows_.push_back(network_.connect({from}, {chosen.senders + to}, data_priority));
            }
        }
        for (std::uint32_t stream = 0; stream < chosen.streams; ++stream) {
            for (std::uint32_t from = 0; from < chosen.senders; ++from) {
                post(from);
            }
        }
    }

    void run_to(packet::Picoseconds until) {
        while (network_.next_time() <= until) {
            for (const packet::PacketNetwork::Report& report : network_.advance(until)) {
                if (report.kind == packet::PacketNetwork::Report::Kind::arrived) {
                    ++arrived_;
                    taken_[report.message % chosen_.receivers] = false;
                    post(static_cast<std::uint32_t>(report.message / chosen_.receivers));
                }
            }
        }
    }
    /// Messages so far; as one has arrived, the next begins.
    [[nodiscard]] std::uint64_t arrived() const { return arrived_; }
    [[nodiscard]] const packet::PacketNetwork& network() const { return network_; }
    [[nodiscard]] const packet::Topology& topology() const { return topology_; }

  private:
    void post(std::uint32_t from) {
        auto to = static_cast<std::uint32_t>(random_.below(chosen_.receivers));
        while (chosen_.one_at_a_time && taken_[to]) {
            to = static_cast<std::uint32_t>(random_.below(chosen_.receivers));
        }
        taken_[to] = true;
        const std::uint32_t flow = from * chosen_.receivers + to;
        network_.post(network_.now(), flows_[flow], flow, chosen_.message);
    }

    const PacketLoadCase& chosen_;
    packet::Topology topology_;
    packet::PacketNetwork network_;
    core::Random random_;
    std::vector<bool> taken_;  ///< by receiver, where it takes one at a time
    std::vector<packet::FlowIndex> flows_;
    std::uint64_t arrived_ = 0;
};

}  // namespace weir::bench
