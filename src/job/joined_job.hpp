// A job that starts without MPI (--join): rank 0 listens at an address, the other processes connect to it,
// and all exchanges go through rank 0, which is the leader. TCP carries nothing that is measured.
#pragma once

#include <poll.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "job/job.hpp"
#include "job/join_connection.hpp"
#include "job/join_listener.hpp"

namespace weir::job {

[[nodiscard]] inline FrameKind frame_of(Job::Block kind) {
    return kind == Job::Block::clock_question ? FrameKind::clock_question : FrameKind::clock_reading;
}

/// "rank 3 has closed its connection: Connection reset by peer"
[[nodiscard]] std::string gone_text(int rank, const std::string& reason);

/// The news that a process has come back.
[[nodiscard]] inline JobEvent return_of(const ReturnedPeer& peer) {
    return {.kind = JobEvent::Kind::back,
            .rank = peer.rank,
            .why = {},
            .address = peer.address,
            .host = peer.host,
            .pid = peer.pid,
            .pids = peer.pids};
}

/// What rank 0 and the others have in common.
class JoinedJob : public Job, public JobNews {
  public:
    [[nodiscard]] std::string library() const override { return "none: --join"; }
    void barrier(const char* what) override { static_cast<void>(share({}, what)); }
    [[nodiscard]] JobNews* news() override { return this; }

  protected:
    JoinedJob(JoinTerms terms, JoinOptions options)
        : terms_(std::move(terms)), options_(std::move(options)) {}

    /// The frame of this exchange or round that a rank has sent, if it is there. Throws JobError for one of
    /// another.
    std::optional<std::string> take_numbered(JoinConnection& from, int rank, FrameKind kind,
                                             const char* what) const;
    /// Whether the block was there; it is in `bytes` then. Throws JobError if it has another size.
    static bool take_block(JoinConnection& from, int rank, Block kind, std::span<std::byte> bytes,
                           const char* what);
    std::span<const std::byte> keep_round(std::string_view all);

    JoinTerms terms_;
    JoinOptions options_;  ///< of the first rank
    std::uint32_t exchange_ = 0;
    std::uint32_t round_ = 0;
    core::Duration silence_limit_;
    std::unique_ptr<JoinPulse> pulse_;

  private:
    std::vector<std::byte> round_all_;
};

/// Rank 0.
class JoinLeader final : public JoinedJob {
  public:
    /// Listens. `ranks` with this one. Throws JobError.
    JoinLeader(JoinTerms terms, int ranks, JoinOptions options);
    JoinLeader(const JoinLeader&) = delete;
    JoinLeader& operator=(const JoinLeader&) = delete;
    ~JoinLeader() override;

    /// Until all ranks are there. `report` gets a line now and then. Throws JobError.
    void wait_for_ranks(core::Duration limit, const std::function<void(const std::string& line)>& report);

    std::vector<std::string> share(const std::string& text, const char* what) override;
    void gather(std::span<const std::byte> bytes, int root, const char* what,
                const std::function<void(int rank, std::span<const std::byte>)>& receive) override;
    std::string broadcast(const std::string& text, int root, const char* what) override;
    void begin_round(std::span<const std::byte> mine, const char* what) override;
    std::optional<std::span<const std::byte>> end_round(const char* what) override;
    void send_block(int to, Block kind, std::span<const std::byte> bytes, const char* what) override;
    void receive_block(int from, Block kind, std::span<std::byte> bytes, core::Duration limit,
                       const char* what) override;
    void send_notice(const Notice& notice, core::Duration limit) override;
    Roll call_roll(core::Duration limit, const std::function<bool()>& stop) override;
    void set_silence_limit(core::Duration limit) override;

    void outlive(std::vector<bool> outlived) override { outlived_ = std::move(outlived); }
    [[nodiscard]] bool is_present(int rank) const override {
        return rank == 0 || connections_[static_cast<std::size_t>(rank)] != nullptr;
    }
    std::vector<JobEvent> look() override;
    [[nodiscard]] bool is_awaited() const override { return !returning_.empty(); }
    [[nodiscard]] std::string last_words_of(int rank) override;
    std::uint32_t take_out(int rank) override;
    void know(int /*rank*/) override {}

  private:
    using Newcomer = JoinListener::Newcomer;
    struct Returning {
        std::unique_ptr<JoinConnection> connection;
        int rank = -1;
        bool announced = false;
        std::vector<int> unaware = {};  ///< who does not have its address yet
    };
    struct Exchanged {
        std::string what;
        std::string text;
    };

    void end_others(int status) override;
    void check_notices(const char* what) override;
    void check_silence(const char* what);
    /// Everything that can be moved now.
    void pump();
    void greet_newcomers();
    /// Why it cannot be one of the ranks; empty: it may be one.
    [[nodiscard]] std::string refusal_of(const Hello& hello) const;
    /// False: there is no place for it now. `newcomer` has no connection any more if there is.
    bool place_newcomer(Newcomer& newcomer);
    /// The place of a rank that was lost; -1: there is none.
    [[nodiscard]] int lost_place(const Hello& hello) const;
    void serve(Returning& returning);
    void announce(Returning& returning, const std::string& text);
    void complete(Returning& returning);
    /// Whether the connection to the rank has ended; throws RankGone unless the run outlives that.
    bool has_ended(int rank);
    /// The connection has ended because a library ended the process: the cause may show in a moment.
    [[nodiscard]] bool may_have_a_cause(int rank);
    [[nodiscard]] int missing() const;
    [[nodiscard]] JoinConnection& connection(int rank) {
        return *connections_[static_cast<std::size_t>(rank)];
    }
    void send_to_all(FrameKind kind, std::string_view bytes, std::uint32_t number);
    /// Waits for the frame of this exchange from a rank; nothing if it is lost.
    std::optional<std::string> receive_texts(int rank, const char* what, Waiting& waiting);

    JoinListener listener_;
    std::int64_t next_greeting_ns_ = 0;
    std::vector<Newcomer> newcomers_;                           ///< that wait for a place
    std::vector<std::shared_ptr<JoinConnection>> connections_;  ///< by rank; nullptr: not there, or rank 0
    std::vector<std::string> hosts_;                            ///< by rank
    std::vector<Exchanged> history_;
    std::vector<bool> outlived_;            ///< by rank; empty before the loop
    std::vector<bool> gone_;                ///< by rank: look() has returned it
    std::vector<std::int64_t> aborted_ns_;  ///< by rank: when a library had ended it; 0: none has
    std::vector<std::uint32_t> lives_;      ///< by rank
    std::vector<Returning> returning_;
    std::vector<std::shared_ptr<JoinConnection>> parting_;  ///< to processes that were given up
    std::vector<JobEvent> events_;
    std::vector<pollfd> polled_;  ///< of one pump(); kept for its memory
    std::vector<std::optional<std::string>> round_parts_;
};

/// Any other rank.
class JoinMember final : public JoinedJob {
  public:
    /// Connects, and tries again until rank 0 accepts. Throws JobError: why it was refused, or that `limit`
    /// has passed.
    /// `report` gets a line if that takes long; may be empty.
    JoinMember(JoinTerms terms, Hello hello, core::Duration limit,
               const std::function<void(const std::string& line)>& report);

    /// Until all ranks are there, which may be long after this one. A process that returns does not wait.
    /// Throws JobError.
    void wait_for_ranks(core::Duration limit);

    /// Those of the first rank.
    [[nodiscard]] const JoinOptions& options() const { return options_; }

    std::vector<std::string> share(const std::string& text, const char* what) override;
    void gather(std::span<const std::byte> bytes, int root, const char* what,
                const std::function<void(int rank, std::span<const std::byte>)>& receive) override;
    std::string broadcast(const std::string& text, int root, const char* what) override;
    void begin_round(std::span<const std::byte> mine, const char* what) override;
    std::optional<std::span<const std::byte>> end_round(const char* what) override;
    void send_block(int to, Block kind, std::span<const std::byte> bytes, const char* what) override;
    void receive_block(int from, Block kind, std::span<std::byte> bytes, core::Duration limit,
                       const char* what) override;
    void send_notice(const Notice& notice, core::Duration limit) override;
    Roll call_roll(core::Duration limit, const std::function<bool()>& stop) override;
    void set_silence_limit(core::Duration limit) override;
    std::optional<Objection> first_objection(const std::string& mine, const char* what) override;

    [[nodiscard]] std::optional<std::uint32_t> returning_life() const override { return life_; }
    [[nodiscard]] LastWords last_words() const override {
        return {leader_connection_->descriptor(), JoinConnection::bytes_of(FrameKind::aborting)};
    }
    std::int64_t compare_clocks(std::int64_t& error_ns) override;
    void come_back(const transport::PeerAddress& address) override;
    void begin_again() override;
    std::vector<JobEvent> look() override;
    [[nodiscard]] bool is_awaited() const override { return false; }
    [[nodiscard]] std::string last_words_of(int /*rank*/) override { return {}; }
    std::uint32_t take_out(int /*rank*/) override { return 0; }
    void know(int rank) override;

  private:
    void end_others(int /*status*/) override {}
    void check_notices(const char* what) override;
    void check_silence(const char* what) const;
    /// Throws RankGone if it has closed its connection.
    void check_leader(const char* what);
    int connect(std::int64_t deadline_ns, const std::function<void(const std::string& line)>& report) const;
    /// Both sides prove that they have the token. False: the connection was closed before that. Throws
    /// JobError.
    bool greet(std::int64_t deadline_ns);
    void receive_welcome(std::int64_t deadline_ns);
    void receive_history(std::int64_t deadline_ns);
    /// The next frame of this kind; nothing: the connection was closed. Throws JobError when it does not
    /// come.
    std::optional<Frame> receive(FrameKind kind, std::int64_t deadline_ns);
    /// The same, but throws if it was closed.
    Frame await(FrameKind kind, std::int64_t deadline_ns);
    [[noreturn]] void throw_over(const char* what) const;
    /// What the others exchanged here; nothing: this is no replay.
    std::optional<std::string> replay(const char* what);
    std::string receive_texts(const char* what);

    Hello hello_;
    std::shared_ptr<JoinConnection> leader_connection_;
    std::optional<std::uint32_t> life_;
    std::deque<std::string> history_;  ///< what and text in turn; of a returning process, until come_back()
    bool replays_ = false;
};

}  // namespace weir::job
