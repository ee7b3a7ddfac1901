// Hosts on links of 1 Gb/s around one switch that send datagrams, for tests of sockets and rings.
#pragma once

#include <cstdint>
#include <vector>

#include "packet/packet_network.hpp"
#include "star_rig.hpp"

namespace weir::packet {

/// Each frame takes 1000 bytes of the wire, 8 us, unless `framing` says otherwise.
class HostRig {
  public:
    struct Settings {
        std::uint32_t hosts = 2;
        core::SwitchPlan switches{};
        core::HostPlan plan{};
        DatagramFraming framing{.mtu = {1000}, .headers = false};
        bool reads = true;  ///< programs read what has arrived at once
    };
    explicit HostRig(const Settings& settings)
        : topology(
              star(std::vector<core::BitRate>(settings.hosts, {giga}), core::Duration::nanoseconds(500))),
          network({.topology = topology,
                   .switches = settings.switches,
                   .nics = {},
                   .hosts = settings.plan,
                   .datagrams = settings.framing}),
          reads_(settings.reads) {
        for (std::uint32_t host = 0; host < settings.hosts; ++host) {
            sockets_.push_back(network.open_socket({host}, 3));
        }
    }

    void send(std::uint32_t from, std::uint32_t to, std::int64_t bytes, int count = 1) {
        for (int sent = 0; sent < count; ++sent) {
            network.post_datagram(network.now(), sockets_[from], {to}, to, {bytes});
        }
    }
    void run_to(Picoseconds until) {
        while (network.next_time() <= until && network.next_time() != Picoseconds::never()) {
            // A copy: reading goes on.
            const std::vector<PacketNetwork::Report> reports = network.advance(until);
            for (const PacketNetwork::Report& report : reports) {
                note(report);
            }
        }
    }
    void run() { run_to(Picoseconds{Picoseconds::never().count - 1}); }

    Topology topology;
    PacketNetwork network;
    int left = 0;
    int arrived = 0;
    int lost = 0;
    std::vector<Picoseconds> arrivals;

  private:
    void note(const PacketNetwork::Report& report) {
        using Kind = PacketNetwork::Report::Kind;
        left += report.kind == Kind::sent ? 1 : 0;
        lost += report.kind == Kind::lost ? 1 : 0;
        if (report.kind == Kind::arrived) {
            ++arrived;
            arrivals.push_back(report.at);
            if (reads_) {
                network.read_next(report.at, {static_cast<std::uint32_t>(report.message)});
            }
        }
    }

    bool reads_;
    std::vector<FlowIndex> sockets_;
};

}  // namespace weir::packet
