// The loop of one rank: polls the transport, feeds the node, carries out what it asks for, and notices when
// the run cannot go on. How a run ends before its time:
//
//   A rank that is signalled, finds a peer's process gone, or cannot go on itself, tells the scheduler's
//   rank. The scheduler's rank decides what is said of it, writes run.json and tells all ranks to leave.
//   mpirun answers the death of one rank with SIGTERM to all others and SIGKILL a second later, so a signal
//   is looked at for a moment (settle_signal) before it is believed to be an interruption. If the scheduler's
//   rank itself is gone, another one (the deputy, see run_ending.hpp) speaks in its place.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/actions.hpp"
#include "core/heartbeat.hpp"
#include "participant/rank_node.hpp"
#include "runtime/common_clock.hpp"
#include "runtime/cpu_burner.hpp"
#include "runtime/heartbeat_clock.hpp"
#include "runtime/idle.hpp"
#include "runtime/outbox.hpp"
#include "runtime/packet.hpp"
#include "runtime/peer_watch.hpp"
#include "runtime/result_packets.hpp"
#include "runtime/run_settings.hpp"
#include "runtime/watchdog.hpp"
#include "telemetry/run_record.hpp"
#include "telemetry/second_collector.hpp"
#include "transport/transport.hpp"
#include "transport/transport_error.hpp"

namespace weir::runtime {

/// How a rank's loop came to its end.
struct LoopEnd {
    enum class Kind : std::uint8_t {
        regular,         ///< the protocol is through, on all ranks
        told,            ///< the scheduler's rank said to leave; `status` is the exit status
        failed,          ///< scheduler's rank only: decided that the run has failed; `failure` says why
        interrupted,     ///< scheduler's rank only: a signal ended the run; `signal`
        scheduler_lost,  ///< other ranks: the scheduler's rank cannot be reached; `failure` says why
    };
    Kind kind = Kind::regular;
    int status = 0;
    int signal = 0;
    telemetry::Failure failure;
};

class RankLoop {
  public:
    /// How long a signal is looked at before it counts as an interruption. Open MPI 4.1 kills a second after
    /// its SIGTERM, Open MPI 5 a quarter of a second.
    static constexpr core::Duration settle_signal = core::Duration::milliseconds(100);
    /// How long the scheduler's rank listens, after that, to ranks that gave no sign of life since the
    /// signal; longer where heartbeats are further apart.
    static constexpr core::Duration settle_silence = core::Duration::milliseconds(500);
    /// A rank that has not been heard for this long, or half the silence time-out, is missed; longer
    /// where heartbeats are further apart.
    static constexpr core::Duration missed_after = core::Duration::seconds(2);
    /// How long a rank that has been signalled waits to be told to leave.
    static constexpr core::Duration patience_after_signal = core::Duration::milliseconds(700);
    /// How long a rank that cannot go on waits to be told to leave.
    static constexpr core::Duration patience_after_failure = core::Duration::seconds(3);
    /// How long a rank that was stopped keeps its findings about others to itself. mpirun wakes a stopped
    /// rank with SIGCONT and sends SIGTERM one second later (Open MPI's odls_base_sigkill_timeout).
    static constexpr core::Duration patience_after_absence = core::Duration::seconds(3);

    struct Parts {
        const RunSettings& settings;
        int rank;
        transport::Transport& transport;
        participant::RankNode& node;
        HeartbeatClock& clock;
        IdleStrategy& idle;
        PeerWatch& watch;
        Watchdog& watchdog;
        const participant::RowOutput& output;
        telemetry::SecondCollector* collector;  ///< on the scheduler's rank, else nullptr
        /// Scheduler's rank: called when a signal will end the run, and the loop goes on for `settle_silence`
        /// to find out whether a rank's death was behind it. May be empty.
        std::function<void(int signal)> on_signal = {};
        /// Scheduler's rank: called when a rank begins to be missed, and with -1 when all are heard again.
        /// May be empty.
        std::function<void(int rank)> on_silence = {};
        /// Other ranks: called when the common clock was steered. May be empty.
        std::function<void(const CommonClock& clock)> on_clock = {};
    };
    explicit RankLoop(const Parts& parts);

    LoopEnd run();

    /// Scheduler's rank: tells all ranks to leave with `status` and gives the packets time to go.
    void tell_all_to_leave(int status);

    /// A row was closed on this rank.
    void take_report(const telemetry::SecondReport& report);

    [[nodiscard]] const std::vector<telemetry::FaultRecord>& faults() const { return faults_; }
    [[nodiscard]] std::uint64_t fault_count() const { return fault_count_; }

  private:
    [[nodiscard]] bool leads() const { return parts_.collector != nullptr; }
    void turn(core::Instant now);
    void feed_chunks(core::Instant now);
    void record_socket(core::Instant now);
    void take_packets(core::Instant now);
    void take_control(core::Instant now, int rank, std::span<const std::byte> packet);
    void take_result(core::Instant now, int rank, std::span<const std::byte> packet);
    void take_notice(core::Instant now, const Notice& notice);
    void carry_out();
    void take_faults();
    void send_heartbeats(core::Instant now);
    void take_heartbeat(int rank, const core::ControlMessage& heartbeat);
    void look_after_peers(core::Instant now);
    void look_at_signals(core::Instant now);
    void look_at_own_log(core::Instant now);
    /// Whether this rank was stopped in this turn or not long ago: what it knows of the others is then stale,
    /// and they may have given it up meanwhile. To be asked after the evidence was taken, never before.
    [[nodiscard]] bool was_away() const;
    [[nodiscard]] bool is_absence(core::Duration gap) const;
    void peer_gone(core::Instant now, int rank);
    /// Something failed between ranks. When a process of this host has died, that is why, and what is to be
    /// said: a connection may tell of it before anybody has looked.
    void blame_the_dead(core::Instant now);
    void decide_on_signal(core::Instant now);
    void note_silence(core::Instant now);
    [[nodiscard]] core::Duration missed_limit() const;
    [[nodiscard]] core::Duration listening_after_signal() const;
    void transport_failed(core::Instant now, const transport::TransportError& error);
    /// Says, or has it said by the scheduler's rank, that the run has failed because of `rank`.
    void give_up(core::Instant now, int rank, const std::string& what);
    /// Other ranks: what MPI has reported broken may break every call from here on.
    void lose_network(int rank, const std::string& what);
    void cannot_go_on(core::Instant now, const std::string& why);
    void send_notice(int rank, const Notice& notice);
    void fail(EndReason reason, int rank, const std::string& what);
    void lose_scheduler(const std::string& what);

    Parts parts_;
    int scheduler_rank_;
    Outbox outbox_;
    ResultArrivals results_;
    transport::Polled found_;
    core::Actions actions_;
    std::vector<std::byte> packet_;
    std::vector<core::ControlMessage> messages_;
    std::uint64_t control_packets_ = 0;  ///< taken in, without heartbeats
    std::vector<Notice> notices_;
    std::vector<telemetry::SecondReport> reports_;
    std::optional<CpuBurner> burner_;

    core::HeartbeatPeriods heartbeats_;
    core::Instant next_heartbeat_;
    core::Instant next_look_;
    core::Instant last_turn_;

    int signal_ = 0;
    core::Instant signalled_at_ = core::Instant::never();
    bool told_of_signal_ = false;
    int missed_ = -1;
    core::Instant leave_at_ =
        core::Instant::never();  ///< other ranks: no word came from the scheduler's rank
    core::Instant listen_until_{
        std::numeric_limits<std::int64_t>::min()};  ///< this rank was away: say nothing
    bool said_why_ = false;
    std::optional<LoopEnd> end_;

    std::vector<telemetry::FaultRecord> faults_;
    std::uint64_t fault_count_ = 0;
};

}  // namespace weir::runtime
