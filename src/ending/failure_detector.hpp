// When the run cannot go on, who is named as the cause, and what this rank does then, by the table of
// failure_rules.hpp. Pure: no clock, no I/O, no MPI; the loop and the exchanges hand in what they find out,
// and carry out the decisions.
//
// A silent rank need not be the cause. A rank whose own host has lost its link receives from no other; a
// broken switch silences several hosts at once; and a launcher that ends a job because a rank died sends the
// same signal as a user. So one rank is named as the cause, and its message lists what else was found.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/messages.hpp"
#include "core/units.hpp"
#include "ending/failure_rules.hpp"
#include "job/job.hpp"
#include "job/run_settings.hpp"

namespace weir::ending {

/// What this rank has to do now; empty: go on.
struct Decision {
    std::optional<job::Notice> report = {};  ///< to be sent to the leader
    std::optional<RunEnd> end = {};          ///< of the run on this rank; no decision counts after it
    std::optional<int> missed = {};  ///< leader: this rank begins to be missed; -1: none is missed any more
    std::optional<show::Failure> lost = {};  ///< leader: this rank is to be given up, and the run goes on
    bool signal_ends_run = false;  ///< leader: the signal will end the run, its cause is not certain yet
};

/// The rank that takes the leader's place if that cannot be reached: the lowest one on another host, because
/// hosts are lost as a whole, or else the lowest other one.
int deputy_rank(const job::RunSettings& settings);
/// Leader, deputy or others.
Part part_of(const job::RunSettings& settings, int rank);
/// A failure of `rank` with its role and host.
show::Failure failure_of(const job::RunSettings& settings, int rank, const std::string& what);

/// That the process of `rank` does not exist any more.
std::string process_gone_text(const job::RunSettings& settings, int rank);

class FailureDetector {
  public:
    /// A signal does not end the run before this. mpirun answers the death of one rank with SIGTERM to the
    /// others, and the rank that died may be found meanwhile. Open MPI 4.1 kills a second after its SIGTERM,
    /// Open MPI 5 a quarter of a second.
    static constexpr core::Duration signal_wait = core::Duration::milliseconds(100);
    /// After that, the leader waits so long for heartbeats of ranks that were silent since the signal;
    /// longer where heartbeats are further apart.
    static constexpr core::Duration signal_silence_wait = core::Duration::milliseconds(500);
    /// A rank that has not responded for this long, or half the silence time-out, is missed; longer where
    /// heartbeats are further apart.
    static constexpr core::Duration missed_after = core::Duration::seconds(2);
    /// How long a rank waits for the leader's order after it has reported a signal, or a failure.
    static constexpr core::Duration answer_wait_after_signal = core::Duration::milliseconds(700);
    static constexpr core::Duration answer_wait = core::Duration::seconds(3);
    /// How long the findings of a rank may be stale after its loop was stalled for half the silence time-out:
    /// the others may have given it up. mpirun wakes a stopped rank with SIGCONT and sends SIGTERM one second
    /// later (Open MPI's odls_base_sigkill_timeout).
    static constexpr core::Duration stale_after_stall = core::Duration::seconds(3);

    /// `settings` outlives the detector. `watched`: ranks whose processes the caller watches.
    FailureDetector(const job::RunSettings& settings, int self, std::vector<int> watched);

    /// The loop begins or ends. At its beginning no rank counts as silent.
    void begin_loop(core::Instant now);
    void end_loop() { stage_ = Stage::exchange; }
    /// At the beginning of each turn of the loop. Instants of the decisions in this turn are `now`.
    void begin_turn(core::Instant now);
    /// Something came from `rank` in this turn.
    void heard(int rank) { heard_[static_cast<std::size_t>(rank)] = now_; }

    // --on-failure continue.

    /// The rank has been given up: nothing that is found out about it counts until it is back.
    void given_up(int rank);
    /// Another process has taken its place, in its life of this number.
    void returned(int rank, std::uint32_t life);
    [[nodiscard]] bool is_given_up(int rank) const { return given_up_[static_cast<std::size_t>(rank)]; }
    /// Since when the rank is silent.
    [[nodiscard]] core::Instant last_heard(int rank) const { return heard_[static_cast<std::size_t>(rank)]; }

    /// This rank has found something out. `at`, in the loop: when, by a clock that is read after the evidence
    /// was taken; shows whether this rank was stopped within the turn.
    [[nodiscard]] Decision judge(const Evidence& evidence, core::Instant at = {});
    /// A notice of rank `from` has come in the loop.
    [[nodiscard]] Decision judge(const job::Notice& notice, int from, core::Instant at);
    /// Several times per second in the loop: what follows from the time that has passed.
    [[nodiscard]] Decision look(core::Instant at);

    /// The signal that this rank has received, or on the leader any rank; 0: none.
    [[nodiscard]] int signal() const { return signal_; }

  private:
    [[nodiscard]] bool leads() const { return self_ == leader_; }
    [[nodiscard]] const std::string& host_of(int rank) const { return settings_.host_of(rank); }
    [[nodiscard]] std::string name_of(int rank) const { return rank_text(settings_, rank); }
    [[nodiscard]] bool is_stall(core::Duration gap) const;
    /// Whether the loop is or was stalled, so that what this rank has of the others may be stale.
    [[nodiscard]] bool is_stale(core::Instant at) const;
    [[nodiscard]] core::Duration silence_of(int rank) const {
        return now_ - heard_[static_cast<std::size_t>(rank)];
    }
    [[nodiscard]] core::Duration missed_limit() const;
    [[nodiscard]] std::vector<int> silent_for(core::Duration limit) const;
    [[nodiscard]] int longest_of(const std::vector<int>& ranks) const;
    /// The rank to name if any rank is silent for longer than `limit`: usually the longest silent one.
    [[nodiscard]] std::optional<int> silent_rank(core::Duration limit) const;
    [[nodiscard]] bool hears_no_other_host(const std::vector<int>& silent) const;

    /// Whether the run goes on without the rank that the evidence is about.
    [[nodiscard]] bool outlives(const Evidence& evidence) const;
    [[nodiscard]] Decision judge_outlived(const Evidence& evidence);
    [[nodiscard]] show::Failure cause_of(const Evidence& evidence) const;
    [[nodiscard]] show::Failure cause_of_silence(int longest) const;
    [[nodiscard]] show::Failure cause_of_failed_transfer(int peer, const std::string& why) const;
    [[nodiscard]] show::Failure cause_of_timeout(const std::vector<int>& missing,
                                                 const std::string& why) const;
    [[nodiscard]] show::Failure cause_of_no_answer() const;
    [[nodiscard]] show::Failure own_host_cut_off(const std::vector<int>& silent,
                                                 const std::string& consequence) const;
    [[nodiscard]] std::string silence_text(int rank) const;
    [[nodiscard]] std::optional<show::Failure> cause_of_signal() const;

    [[nodiscard]] Decision end(RunEnd::Kind kind, show::Failure failure = {}) const;
    /// False: there was one before.
    bool note_signal(int number);
    [[nodiscard]] Decision report(const Evidence& evidence);
    [[nodiscard]] Decision decide_on_signal();

    const job::RunSettings& settings_;
    int self_;
    int leader_;
    std::vector<bool> watched_;  ///< by rank
    core::HeartbeatPeriods heartbeats_;
    /// Others wait for these ranks inside MPI and fall silent with them: named first.
    std::vector<int> suspects_;

    std::vector<bool> given_up_;        ///< by rank
    std::vector<bool> reported_lost_;   ///< by rank: not on the leader, which was informed in this life
    std::vector<std::uint32_t> lives_;  ///< by rank
    Stage stage_ = Stage::exchange;
    core::Instant now_;                 ///< beginning of the turn
    std::vector<core::Instant> heard_;  ///< by rank
    std::optional<core::Instant> stale_until_;
    int missed_ = -1;
    int signal_ = 0;
    core::Instant signalled_at_;
    bool signal_noted_ = false;
    std::optional<show::Failure> reported_;
    core::Instant answer_until_ = core::Instant::never();
};

}  // namespace weir::ending
