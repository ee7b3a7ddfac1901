// Data and control messages through switches, packet by packet, between the NICs of the hosts on which nodes
// sit (core/placement.hpp). Every pair of nodes that talks has queue pairs (or, with framing `tcp`,
// connections) for data, one, several that messages take in turn, or one for each event, and one for control
// messages; a producer of datagrams has one socket. Control messages may have links of their own. The model
// itself is packet/packet_network.hpp.
//
// What nodes of one host send each other is copied in its memory, one message after the other, and reaches no
// NIC. A host's NICs work on while one of several nodes on it stands still.
#pragma once

#include <deque>
#include <unordered_map>
#include <vector>

#include "core/network_plan.hpp"
#include "core/placement.hpp"
#include "core/plan.hpp"
#include "packet/packet_network.hpp"
#include "simulation/pool.hpp"
#include "simulation/separate_control.hpp"
#include "simulation/switched_counters.hpp"

namespace weir::simulation {

class SwitchedNetwork final : public SeparateControl {
  public:
    SwitchedNetwork(const core::Plan& plan, const core::NetworkPlan& network, Events& events,
                    NetworkClient& client);

    void send_chunks(core::Instant now, std::uint32_t producer,
                     std::span<const core::SendChunk> chunks) override;
    void send_message(core::Instant now, FlatNode from, FlatNode to, core::Bytes bytes,
                      std::uint32_t handle) override;
    void send_result(core::Instant now, FlatNode from, core::Bytes bytes, std::uint32_t handle) override;

    [[nodiscard]] core::Instant next(core::Instant now, core::Instant until) override;
    void advance(core::Instant now) override;

    [[nodiscard]] SwitchedCounters* counters() override { return &counters_; }

    std::optional<core::SocketState> read_socket(FlatNode node) override;

    void set_failed(core::Instant now, std::uint32_t number, const Disturbance& disturbance,
                    bool on) override;
    void set_link(core::Instant now, FlatNode node, double factor) override;
    void set_flooded(FlatNode consumer, bool on) override { network_.set_flooded(first_nic(consumer), on); }
    [[nodiscard]] bool links_stop_with(FlatNode node) const override {
        return !receives_into_sockets_ && host_of(node).ranks.size() == 1;
    }

    [[nodiscard]] const packet::PacketNetwork& packets() const { return network_; }

  private:
    enum Kind : std::uint8_t {
        chunk_has_left = first_data_kind,  ///< a: index in chunks_; its producer stood still
        chunk_has_arrived,                 ///< a: index in chunks_; its consumer stood still
    };
    enum class Class : std::uint8_t { data, control };

    [[nodiscard]] const core::Placement::Host& host_of(FlatNode node) const {
        return placement_.hosts()[placement_.host_of(node)];
    }
    [[nodiscard]] packet::NodeIndex first_nic(FlatNode node) const { return {host_of(node).first_port}; }
    /// When bytes that stay in the host have arrived.
    core::Instant copied_at(core::Instant now, FlatNode from, core::Bytes bytes);
    /// The pair's next one in turn.
    packet::FlowIndex next_flow(FlatNode from, FlatNode to, Class use);
    /// --queue-pairs event: that of the chunk's event.
    packet::FlowIndex flow_of_event(core::Instant now, std::uint32_t producer, const core::SendChunk& chunk);
    [[nodiscard]] packet::PacketNetwork::Protocol protocol() const;
    void post_message(core::Instant now, FlatNode from, FlatNode to, core::Bytes bytes, std::uint32_t handle);
    void add_background(const core::BackgroundPlan& traffic, std::uint32_t number);
    void handle_data(core::Instant now, const QueueEvent& event) override;
    void report(core::Instant now, const packet::PacketNetwork::Report& report);
    void message_arrived(core::Instant now, packet::FlowIndex flow, std::uint32_t handle);
    void chunk_left(std::uint32_t index);
    void chunk_arrived(core::Instant now, std::uint32_t index);
    void chunk_lost(std::uint32_t index);

    /// The clock of the packets begins with the warm-up, at 0 or what tests set.
    [[nodiscard]] packet::Picoseconds since_begin(core::Instant now) const {
        return packet::Picoseconds::of(now - begin_);
    }

    core::Instant begin_;
    core::NetworkPlan plan_;
    bool datagrams_;
    bool receives_into_sockets_;  ///< which go on when the node stands still
    core::Placement placement_;
    packet::Topology topology_;
    packet::PacketNetwork network_;
    SwitchedCounters counters_;
    struct PairFlows {
        std::vector<packet::FlowIndex> flows;  ///< so far
        std::uint32_t next = 0;
    };
    std::unordered_map<std::uint64_t, PairFlows> flows_;  ///< by class and pair of nodes
    struct Pair {
        FlatNode from = 0;
        FlatNode to = 0;
    };
    std::unordered_map<std::uint32_t, Pair> pairs_of_messages_;             ///< by flow
    std::vector<core::Instant> memory_free_;                                ///< by host
    std::vector<double> link_factors_;                                      ///< by node
    std::vector<packet::FlowIndex> sockets_;                                ///< datagrams: by producer
    std::unordered_map<std::uint64_t, packet::FlowIndex> flows_of_events_;  ///< of those that have begun
    std::vector<std::deque<packet::FlowIndex>> used_flows_;  ///< of events that are through, by producer
    /// A chunk is kept until it has both left (reported to its producer) and arrived or been lost.
    struct Chunk {
        ChunkRun run;
        bool left = false;
        bool ended = false;
    };
    void end(std::uint32_t index);
    void remove(std::uint32_t index);
    Pool<Chunk> chunks_;
    std::vector<packet::PacketNetwork::Report> reports_;  ///< that advance() is to deliver
    std::size_t delivered_ = 0;                           ///< of them
};

}  // namespace weir::simulation
