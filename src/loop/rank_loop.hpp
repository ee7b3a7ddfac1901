// The loop of one rank: polls the transport, feeds the node, carries out its actions. What it finds out
// about ranks that cannot go on it hands to the FailureDetector, and carries out what that returns.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/actions.hpp"
#include "core/messages.hpp"
#include "core/role_map.hpp"
#include "ending/failure_detector.hpp"
#include "host/common_clock.hpp"
#include "host/cpu_burner.hpp"
#include "host/idle.hpp"
#include "host/process_watch.hpp"
#include "job/clocks.hpp"
#include "job/job.hpp"
#include "job/packet.hpp"
#include "job/run_settings.hpp"
#include "job/watchdog.hpp"
#include "participant/rank_node.hpp"
#include "record/second_collector.hpp"
#include "transport/transport.hpp"

namespace weir::loop {

// Collects the control messages of one turn of the loop and sends all that go to one rank in one packet.
// Nothing is kept beyond the turn, so batching costs no latency; a later offer replaces an earlier
// one of the same packet, because offers are cumulative.

class Outbox {
  public:
    Outbox(const core::RoleMap& roles, transport::Transport& transport)
        : roles_(roles),
          transport_(transport),
          messages_per_packet_((transport.packet_limit() - sizeof(job::PacketHead)) /
                               sizeof(core::ControlMessage)),
          by_rank_(static_cast<std::size_t>(roles.ranks())) {
        WEIR_ASSERT(messages_per_packet_ > 0);
    }

    void add(const core::SendMessage& message) {
        const auto rank = static_cast<std::size_t>(roles_.rank(message.to));
        auto& waiting = by_rank_[rank];
        if (waiting.empty()) {
            filled_.push_back(rank);
        } else if (replaces(message.message, waiting.back())) {
            waiting.back() = message.message;
            return;
        }
        waiting.push_back(message.message);
        if (waiting.size() == messages_per_packet_) {
            send(rank);
        }
    }

    /// Sends everything collected.
    void flush() {
        for (const std::size_t rank : filled_) {
            if (!by_rank_[rank].empty()) {
                send(rank);
            }
        }
        filled_.clear();
    }

    /// Packets sent so far, without heartbeats.
    [[nodiscard]] std::uint64_t packets() const { return packets_; }

  private:
    /// A later offer contains all of an earlier one; of addressed events, if it is for the same consumer.
    [[nodiscard]] static bool replaces(const core::ControlMessage& later,
                                       const core::ControlMessage& earlier) {
        const auto* const new_offer = std::get_if<core::Offer>(&later);
        const auto* const old_offer = std::get_if<core::Offer>(&earlier);
        return new_offer != nullptr && old_offer != nullptr && new_offer->to == old_offer->to;
    }

    void send(std::size_t rank) {
        auto& waiting = by_rank_[rank];
        packets_ += std::holds_alternative<core::Heartbeat>(waiting.front()) ? 0 : 1;
        job::encode_packet(job::PacketKind::control, std::span<const core::ControlMessage>(waiting), packet_);
        waiting.clear();
        transport_.send_packet({static_cast<int>(rank)}, packet_);
    }

    const core::RoleMap& roles_;
    transport::Transport& transport_;
    std::size_t messages_per_packet_;
    std::vector<std::vector<core::ControlMessage>> by_rank_;
    std::vector<std::size_t> filled_;  ///< ranks with messages, in the order of their first
    std::vector<std::byte> packet_;
    std::uint64_t packets_ = 0;
};

/// What is known of the end of the process of `rank`, for people; empty: nothing. `news`: nullptr if there is
/// none.
std::string why_gone(job::JobNews* news, const host::ProcessWatch& processes, int rank);

class RankLoop {
  public:
    struct Parts {
        const job::RunSettings& settings;
        int rank;
        transport::Transport& transport;
        participant::RankNode& node;
        job::HeartbeatClock& clock;
        host::IdleStrategy& idle;
        host::ProcessWatch& processes;
        ending::FailureDetector& detector;
        job::Watchdog& watchdog;
        const participant::RowOutput& output;
        record::SecondCollector* collector;  ///< on the leader, else nullptr
        /// Leader: called when a signal will end the run, and the loop goes on for a moment to find out
        /// whether a rank's death was behind it. May be empty.
        std::function<void(int signal)> on_signal = {};
        /// Leader: called when a rank begins to be missed, and with -1 when none is missed any more. May be
        /// empty.
        std::function<void(int rank)> on_missed = {};
        /// Other ranks: called when the common clock was steered. May be empty.
        std::function<void(const host::CommonClock& clock)> on_clock = {};
        /// Called several times a second. May be empty.
        std::function<void()> on_look = {};
        /// What a job that started without MPI reports; nullptr with MPI.
        job::JobNews* news = nullptr;
        /// This process takes the place of a consumer that was lost.
        bool returns = false;
        /// --on-failure continue, on the leader: what has happened, for people. May be empty.
        std::function<void(const std::string& line)> on_loss = {};
    };
    explicit RankLoop(const Parts& parts);

    /// Until the protocol is complete or the run ends before its time.
    ending::RunEnd run();

    /// Leader: orders all other ranks to leave with `status` and gives the packets time to go.
    void order_all_to_leave(int status);

    /// A row was closed on this rank: its report goes to the leader.
    void send_report(const record::LiveSample& report);

    [[nodiscard]] const std::vector<show::FaultRecord>& faults() const { return faults_; }
    [[nodiscard]] std::uint64_t fault_count() const { return fault_count_; }
    /// --on-failure continue, on the leader: of each rank that was given up, since when it was silent of
    /// it.
    [[nodiscard]] const std::vector<std::pair<core::NodeId, core::Instant>>& silences() const {
        return silences_;
    }

  private:
    [[nodiscard]] bool is_leader() const { return parts_.rank == parts_.settings.leader_rank(); }
    [[nodiscard]] core::Instant clock_now() const { return parts_.clock.clock().now(); }
    void turn(core::Instant now);
    [[nodiscard]] bool concerns_node(core::Instant now, core::Duration gap) const;
    void turn_of_node(core::Instant now, core::Duration gap);
    void feed_chunks(core::Instant now);
    void record_socket(core::Instant now) const;
    void receive_packets(core::Instant now);
    /// False: `packet` is not what a rank like this one gets.
    [[nodiscard]] bool receive_packet(core::Instant now, int rank, std::span<const std::byte> packet);
    void receive_messages(core::Instant now, int rank);
    void receive_result(core::Instant now, int rank, std::span<const std::byte> packet);
    void carry_out();
    void record_faults();
    void end_if_complete();
    void send_heartbeats(core::Instant now);

    [[nodiscard]] job::Notice with_last_words(const job::Notice& notice) const;
    void receive_notice(int from, const job::Notice& notice);
    void watch_for_failures();
    /// Something failed between ranks. If a process of this host has died, that is the cause: a connection
    /// may show it before the watch has found it. What the rank `has_spoken` has sent counts more than its
    /// death.
    void look_for_dead_process(int has_spoken = -1);
    void transport_failed(const transport::TransportError& error);
    // --on-failure continue (rank_loop_failures.cpp).
    void follow_news();
    void follow(const job::JobEvent& event);
    /// A consumer is given up.
    void give_up(const show::Failure& cause);
    /// The scheduler has informed this producer that a consumer is lost.
    void note_revoked(const core::ControlMessage& message);

    /// This rank cannot go on.
    void cannot_continue(const std::string& why);
    void judge(const ending::Evidence& evidence);
    void apply(const ending::Decision& decision);
    void send_notice(int rank, const job::Notice& notice);
    void send_to_others(const job::Notice& notice);

    Parts parts_;
    Outbox outbox_;
    job::ResultArrivals results_;
    transport::Polled found_;
    core::Actions actions_;
    std::vector<std::byte> packet_;
    std::vector<core::ControlMessage> messages_;
    std::uint64_t control_packets_ = 0;    ///< received, without heartbeats
    std::uint64_t heartbeat_packets_ = 0;  ///< received in this turn
    std::vector<job::Notice> notices_;
    std::vector<record::LiveSample> reports_;
    std::optional<host::CpuBurner> burner_;

    core::HeartbeatPeriods heartbeats_;
    core::Instant next_heartbeat_;
    core::Instant next_look_;
    core::Instant last_turn_;
    core::Instant node_due_;      ///< when its node has to be looked after, also if nothing was found
    core::Instant second_ends_;   ///< as of the node's last turn
    core::Duration longest_gap_;  ///< between turns, in that second
    bool found_work_ = false;     ///< in the last turn: other things than heartbeats
    bool gone_seen_ = false;      ///< at the last look, a process of this host did not exist any more
    std::optional<ending::RunEnd> end_;

    std::vector<int> revoked_;  ///< ranks, in this turn
    std::vector<std::pair<core::NodeId, core::Instant>> silences_;

    std::vector<show::FaultRecord> faults_;
    std::uint64_t fault_count_ = 0;
};

}  // namespace weir::loop
