// A node: one core state machine and the recorder that watches it. Nodes have neither a clock nor a
// transport: the loop of a rank, or a simulator, hands them what happened and carries out what they ask for.
// What all roles have in common is here; what only one of them does is in its own class, and whoever drives
// nodes holds them by their role (rank_node.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/actions.hpp"
#include "core/messages.hpp"
#include "core/producer.hpp"
#include "core/units.hpp"
#include "record/csv_log.hpp"
#include "record/datagrams.hpp"
#include "record/event_series.hpp"
#include "record/phase_times.hpp"
#include "record/rank_summary.hpp"
#include "record/traffic_matrix.hpp"

namespace weir::participant {

class RowOutput {
  public:
    using Report = std::function<void(const record::LiveSample&)>;

    /// `log` and `burst_log` are not owned; nullptr: rows, or those of bursts, are not logged.
    RowOutput(record::CsvLog* log, Report report, record::CsvLog* burst_log = nullptr)
        : log_(log), burst_log_(burst_log), report_(std::move(report)) {}

    template <typename Row>
    void put(const Row& row, const record::LiveSample& report) {
        if (log_ != nullptr && !error_) {
            error_ = log_->write(row);
        }
        if (burst_log_ != nullptr && !error_) {
            error_ = burst_log_->append(record::burst_csv_lines(row));
        }
        report_(report);
    }

    [[nodiscard]] const files::MaybeIoError& error() const { return error_; }

  private:
    record::CsvLog* log_;
    record::CsvLog* burst_log_;
    Report report_;
    files::MaybeIoError error_;
};

/// --on-failure continue: what came to nothing at consumers that were lost.
struct BrokenOff {
    std::uint64_t taken_back_events = 0;             ///< producer: sent in vain, at least in part
    std::uint64_t doubtful_events = 0;               ///< of them: perhaps received all the same
    core::Bytes refused_bytes{};                     ///< consumer: sent to an earlier life of it
    std::vector<core::BrokenDelivery> deliveries{};  ///< producer: the first ones
};

/// What a node hands in when the run is over; what its role does not have is empty.
struct NodeAccount {
    record::RankSummary summary;          ///< with the ledger filled in
    std::vector<core::LostRange> lost{};  ///< events: a producer's own, and what a consumer gave up
    std::vector<record::ProducerTraffic> traffic{};  ///< consumer: what it received, by producer
    std::vector<record::PairTime> pair_times{};      ///< producer: its transfers, by consumer
    std::vector<record::EventMark> event_marks{};    ///< scheduler: when so many events were done
    std::vector<record::PeerDatagrams> datagrams{};  ///< producer, consumer: what it counted, by peer
    std::vector<record::TransferTimes> transfers{};  ///< consumer, addressed events
    std::vector<record::PhaseEnd> phase_ends{};      ///< consumer, addressed events
    std::vector<core::Duration> completions{};       ///< consumer: each transfer of a trace
    BrokenOff broken_off{};
};

class Node {
  public:
    Node() = default;
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
    virtual ~Node() = default;

    /// Once, before any other input.
    virtual void on_start(core::Instant /*now*/, core::Actions& /*out*/) {}
    virtual void on_time(core::Instant now, core::Actions& out) = 0;
    virtual void on_message(core::Instant now, core::NodeId from, const core::ControlMessage& message,
                            core::Actions& out) = 0;

    /// Records what the inputs since the last call led to. After every turn.
    virtual void record(core::Instant now, const core::Actions& out) = 0;
    virtual void record_poll_gap(core::Instant now, core::Duration gap) = 0;
    /// Not of the leader's rank.
    virtual void record_heartbeats(core::Instant /*now*/, const record::HeartbeatDelays& /*delays*/) {}
    /// Closes the last row.
    virtual void finish_recording(core::Instant now) = 0;

    [[nodiscard]] virtual core::Instant next_deadline() const = 0;
    /// The protocol has come to its end for this node.
    [[nodiscard]] virtual bool finished() const = 0;
    [[nodiscard]] virtual record::RankSummary summary() const = 0;
    [[nodiscard]] virtual NodeAccount account() const = 0;
};

}  // namespace weir::participant
