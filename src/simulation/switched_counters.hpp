// The counters of a packet network's NICs and switches, under the names that the driver mlx5 and the kernel
// use, so that whatever reads those of a real cluster reads these.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/fabric_layout.hpp"
#include "core/network_plan.hpp"
#include "packet/packet_network.hpp"
#include "packet/topology.hpp"
#include "record/switch_counters.hpp"
#include "simulation/device_names.hpp"
#include "simulation/network.hpp"
#include "simulation/network_failures.hpp"

namespace weir::simulation {

class SwitchedCounters {
  public:
    struct Setup {
        const packet::Topology& topology;
        packet::PacketNetwork& network;
        const core::Placement& placement;  ///< its ports are the first nodes of the topology
        NodeRow nodes;
        const core::NetworkPlan& plan;
        core::Instant begin;  ///< when the clock of the packets is 0
    };
    /// What `setup` refers to must outlive it.
    explicit SwitchedCounters(const Setup& setup);

    // Fixed from the beginning.

    [[nodiscard]] std::vector<std::string> hosts() const;
    /// Counters of every host, as columns of hosts/NAME.csv.
    [[nodiscard]] std::vector<std::string> host_columns() const;
    [[nodiscard]] std::vector<record::SwitchHardware> switches() const;
    /// Priorities that are counted apart; empty: the switch file names none.
    [[nodiscard]] const std::vector<record::CountedClass>& classes() const { return classes_; }

    [[nodiscard]] std::vector<record::ParallelLinks> parallel_links() const;

    // Readings, at the ends of seconds and rows (network_recorder.hpp). `at` does not go back, and all that
    // happens before it has happened.

    /// Running counts of a host, by column. Replaces `values`.
    void read_host(core::Instant at, std::size_t host, std::vector<std::uint64_t>& values);
    [[nodiscard]] const packet::PacketNetwork& packets() const { return network_; }
    [[nodiscard]] FailureAccount& failures() { return failures_; }
    /// What senders did about losses so far.
    [[nodiscard]] record::LossReactions loss_reactions() const;
    /// What a switch has counted since the last reading. Replaces `reading`.
    void read_switch(core::Instant at, std::size_t index, record::SwitchReading& reading);

  private:
    struct Nic {
        packet::NodeIndex node;
        packet::LinkIndex up = 0;
        packet::LinkIndex down = 0;
    };
    struct Host {
        std::string name;
        std::vector<Nic> nics;
    };
    /// A counter of a NIC at an instant.
    using Read = std::function<std::uint64_t(const Nic& nic, packet::Picoseconds now)>;
    struct CounterColumn {
        std::string name;
        Read read;
        std::optional<std::uint32_t> nic;  ///< of the host; nullopt: the sum over all of them
    };
    /// A port's counts at the last reading.
    struct Last {
        packet::LinkCounts counts;
        std::uint64_t queue_integral = 0;
        packet::Picoseconds paused;
        packet::Picoseconds pausing;
        packet::Carried received;
    };

    void add_carried(std::uint32_t nic, const std::string& came, const std::string& went,
                     packet::Priority first, packet::Priority last);
    void add_pauses(std::uint32_t nic);
    void add_queue_pairs(std::uint32_t nic);
    void add_tcp();
    void add(std::uint32_t nic, std::string_view name, Read read);
    [[nodiscard]] record::SwitchPort port_to(packet::LinkIndex link) const;
    [[nodiscard]] packet::Picoseconds since_begin(core::Instant now) const {
        return packet::Picoseconds::of(now - begin_);
    }
    [[nodiscard]] packet::Carried sent(packet::LinkIndex link, packet::Priority priority) const;
    [[nodiscard]] packet::Carried arrived(packet::LinkIndex link, packet::Priority priority) const;
    void read_all(packet::Picoseconds now);
    [[nodiscard]] record::SwitchRow read_port(packet::LinkIndex link, packet::Priority priority,
                                              packet::Picoseconds now, packet::Picoseconds length);

    const packet::Topology& topology_;
    packet::PacketNetwork& network_;
    const core::Placement& placement_;
    NodeRow nodes_;
    const core::NetworkPlan& plan_;
    core::Instant begin_;
    DeviceNames names_;
    FailureAccount failures_;
    std::vector<record::CountedClass> classes_;
    std::vector<Host> hosts_;  ///< with nodes of the run
    std::vector<packet::NodeIndex> switches_;
    std::vector<CounterColumn> columns_;
    // For all hosts together, read once for each instant.
    packet::Picoseconds read_at_ = packet::Picoseconds::never();
    std::uint64_t transmissions_read_ = 0;
    std::vector<packet::CarriedByPriority> on_the_way_;  ///< by link
    std::vector<std::uint64_t> sent_again_;              ///< packets, by the node that sends
    std::vector<std::uint64_t> timeouts_;                ///< of acknowledgements, by the node that sends
    std::vector<std::uint64_t> cuts_;                    ///< by congestion control, by the node that sends
    std::vector<Last> last_;                             ///< by link and priority
    std::vector<packet::Picoseconds> last_at_;           ///< by switch
};

}  // namespace weir::simulation
