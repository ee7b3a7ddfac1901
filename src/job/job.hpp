// The job: its ranks, or those of one of its groups, and what they exchange outside the measured time. They
// are started by MPI (mpi_job.hpp) or one by one (joined_job.hpp). Every wait is bounded and naps, so that
// neither a missing rank nor 87 ranks on two cores stop it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/units.hpp"
#include "host/standstill.hpp"
#include "transport/transport.hpp"

namespace weir::job {

// What ranks send each other about the end of a run: in the loop as a packet (packet.hpp), in the exchanges
// before and after it as a message of its own (Job::send_notice).

struct Notice {
    enum class Kind : std::uint8_t {
        complete,          ///< leader to all: the protocol is complete
        leave,             ///< leader to all: leave with exit status `detail`
        signal,            ///< to the leader: `rank` received signal `detail`
        failure,           ///< to the leader: the run cannot go on because of `rank`; `text` is why
        exchange_timeout,  ///< to the leader, outside the loop: an exchange did not end
    };
    Kind kind = Kind::complete;
    std::int32_t rank = -1;
    std::int32_t detail = 0;
    char text[480] = {};  ///< zero-terminated
};
static_assert(std::is_trivially_copyable_v<Notice>);

/// A notice with as much of the text as fits.
inline Notice make_notice(Notice::Kind kind, int rank, int detail, std::string_view text) {
    Notice notice{kind, rank, detail, {}};
    const std::size_t length = std::min(text.size(), sizeof notice.text - 1);
    if (length > 0) {
        std::memcpy(notice.text, text.data(), length);
    }
    return notice;
}

/// The text of a notice that came from outside.
inline std::string text_of(const Notice& notice) {
    return {notice.text, strnlen(notice.text, sizeof notice.text)};
}

/// An exchange failed, or did not end in time; what() is one sentence.
class JobError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// An exchange did not end in time, or another rank reports this: some rank does not come, or cannot be
/// reached. Job::call_roll() finds out which. what() continues the name of this rank: "waited
/// 60 s for ...".
class ExchangeTimeout : public JobError {
  public:
    using JobError::JobError;
};

/// Ranks have given no sign of life for too long. what() continues the name of this rank.
class RanksSilent : public JobError {
  public:
    RanksSilent(std::vector<int> ranks, const std::string& what) : JobError(what), ranks_(std::move(ranks)) {}
    [[nodiscard]] const std::vector<int>& ranks() const { return ranks_; }

  private:
    std::vector<int> ranks_;
};

/// The run cannot go on because of a rank: this rank found it out, or another one reported it. what() is for
/// users.
class RankFailed : public JobError {
  public:
    RankFailed(int rank, const std::string& what) : JobError(what), rank_(rank) {}
    [[nodiscard]] int rank() const { return rank_; }

  private:
    int rank_;
};

/// The connection to a rank has ended, and with it, as a rule, its process.
class RankGone : public RankFailed {
  public:
    using RankFailed::RankFailed;
};

/// A process that was given up reaches no rank any more: the others have printed why.
class JobOver : public JobError {
  public:
    using JobError::JobError;
};

/// Why a rank cannot go on.
struct Objection {
    int rank = 0;
    std::string text;
    int others = 0;  ///< ranks that cannot go on either
};

struct JobEvent {
    enum class Kind : std::uint8_t {
        gone,       ///< the connection to `rank` has ended; on the leader, or about it
        back,       ///< another process has taken the place of `rank`
        taken_out,  ///< this rank was given up by the leader
    };
    Kind kind = Kind::gone;
    int rank = -1;
    std::string why = {};                 ///< gone
    transport::PeerAddress address = {};  ///< back
    std::string host = {};                ///< back
    std::int64_t pid = 0;                 ///< back
    std::string pids = {};                ///< back: RankLocation::pids()
};

/// What the loop of a rank gets of the processes of a job that started without MPI, and what it sends to the
/// job:
/// --on-failure continue.
class JobNews {
  public:
    JobNews() = default;
    JobNews(const JobNews&) = delete;
    JobNews& operator=(const JobNews&) = delete;
    virtual ~JobNews() = default;

    /// What has happened since the last call. Does not block.
    virtual std::vector<JobEvent> look() = 0;
    /// Whether another process waits for an answer of look(), so that it should be called in every turn.
    [[nodiscard]] virtual bool is_awaited() const = 0;
    /// What a process said of its own end, also what has only just come; empty: nothing.
    [[nodiscard]] virtual std::string last_words_of(int rank) = 0;
    /// Leader: `rank` is given up. Returns its next life.
    virtual std::uint32_t take_out(int rank) = 0;
    /// Other ranks: what look() has returned of `rank` (back) has been carried out.
    virtual void know(int rank) = 0;
};

class Job : public transport::Meeting {
  public:
    /// Longest that the start may take: thousands of ranks take a minute or two; where ranks cannot reach
    /// each other, or may not lock memory, MPI can hang.
    static constexpr core::Duration start_limit = core::Duration::seconds(180);
    /// Longest wait for the other ranks in one exchange, at first: they may still be allocating memory.
    static constexpr core::Duration initial_exchange_limit = core::Duration::seconds(60);

    [[nodiscard]] int rank() const final { return rank_; }
    [[nodiscard]] int size() const { return size_; }

    /// What starts the ranks, for people: "Open MPI v4.1.4, ...".
    [[nodiscard]] virtual std::string library() const = 0;

    /// Called again and again while an exchange waits (watchdog, signals); may throw to give up.
    void set_waiting_hook(std::function<void()> hook) { waiting_hook_ = std::move(hook); }
    /// To be called in loops outside this class that wait.
    void call_waiting_hook() const {
        if (waiting_hook_) {
            waiting_hook_();
        }
    }

    void set_exchange_limit(core::Duration limit) { exchange_limit_ = limit; }
    [[nodiscard]] core::Duration exchange_limit() const { return exchange_limit_; }

    // Collective; `what` is the exchange, for messages; a literal. They throw JobError and its kinds.

    /// Every rank's bytes to `root`, which hands them to `receive` one rank after the other.
    virtual void gather(std::span<const std::byte> bytes, int root, const char* what,
                        const std::function<void(int rank, std::span<const std::byte>)>& receive) = 0;
    /// `text` of `root`, on every rank.
    virtual std::string broadcast(const std::string& text, int root, const char* what) = 0;
    virtual void barrier(const char* what) = 0;

    /// Of the lowest rank that cannot go on (`mine`: why this one cannot; empty: it can), on every rank.
    virtual std::optional<Objection> first_objection(const std::string& mine, const char* what);

    // Rounds, for loops that do something else meanwhile: a block of the same size of every rank, by rank,
    // on every rank. One round at a time.

    virtual void begin_round(std::span<const std::byte> mine, const char* what) = 0;
    /// Nothing: the round has not ended. Valid until the next one begins.
    virtual std::optional<std::span<const std::byte>> end_round(const char* what) = 0;

    void begin_barrier() final { begin_round({}, last_barrier); }
    [[nodiscard]] bool barrier_done() final { return end_round(last_barrier).has_value(); }

    // Point to point, between the leader and any other rank.

    /// What it is; blocks of one kind arrive in order.
    enum class Block : std::uint8_t { clock_question, clock_reading };
    virtual void send_block(int to, Block kind, std::span<const std::byte> bytes, const char* what) = 0;
    /// Waits for as many bytes as `bytes` has.
    virtual void receive_block(int from, Block kind, std::span<std::byte> bytes, core::Duration limit,
                               const char* what) = 0;

    /// A bounded wait for other ranks, for loops that look for something themselves. Time in which this
    /// process did not run does not count: the others may have answered meanwhile, or have stood still with
    /// it.
    class Waiting {
      public:
        /// `what` is the exchange, for the message; a literal.
        Waiting(Job& job, core::Duration limit, const char* what);
        /// Checks signals, notices of other ranks and the limit. Throws ExchangeTimeout, RankFailed.
        void check();
        /// check(), and a nap that gets longer with each call. For when nothing was found.
        void nap();
        /// Something came: the limit begins anew.
        void restart();

      private:
        /// Between two checks for notices, which may cost a system call or one of MPI.
        static constexpr auto check_period = core::Duration::milliseconds(50);
        Job& job_;
        core::Duration limit_;
        const char* what_;
        std::int64_t began_ns_;
        std::int64_t next_check_ns_;
        host::Standstill standstill_;
        int naps_ = 0;
    };

    /// Outside the loop, where nothing else shows that a rank stands still: exchanges throw RanksSilent when
    /// ranks have given no sign of life for `limit`. 0: they do not. MPI has nothing for this; there,
    /// exchanges have their limits.
    virtual void set_silence_limit(core::Duration /*limit*/) {}

    // --on-failure continue.

    /// For the loop; nullptr: the job ends with its first process that ends early.
    [[nodiscard]] virtual JobNews* news() { return nullptr; }
    /// Before the loop: the run goes on without ranks of this job that are lost.
    virtual void outlive(std::vector<bool> /*outlived*/) {}
    /// Whether the rank is there; after the loop some may not.
    [[nodiscard]] virtual bool is_present(int /*rank*/) const { return true; }
    /// Whether this process takes the place of one that was lost. Its exchanges before the loop are those
    /// that the others made.
    [[nodiscard]] virtual std::optional<std::uint32_t> returning_life() const { return std::nullopt; }
    /// A returning process: this rank's clock, and the leader's minus this one's. Throws JobError.
    virtual std::int64_t compare_clocks(std::int64_t& /*error_ns*/) { return 0; }
    /// A returning process: every rank gets its address; returns when all have it. Throws JobError.
    virtual void come_back(const transport::PeerAddress& /*address*/) {}
    /// The process begins again as one that returns: does not come back where this can be done.
    virtual void begin_again() {}

    /// The rank that receives notices and calls the roll; 0 until it is set. The same on every rank.
    void set_leader(int rank) { leader_ = rank; }
    [[nodiscard]] int leader() const { return leader_; }

    /// Sends the leader a notice of kind failure or exchange_timeout. If the leader waits in an exchange,
    /// that throws RankFailed, or ExchangeTimeout. Lasts `limit`; never throws.
    virtual void send_notice(const Notice& notice, core::Duration limit) = 0;

    /// What a roll call has shown.
    struct Roll {
        bool leader_answers = true;  ///< on other ranks: the leader has called them
        std::vector<int> missing;    ///< on the leader: who has not answered
    };
    /// After an ExchangeTimeout on this rank: finds out who still answers. Exchanges that other ranks wait in
    /// throw the same exception, and they call this too. Lasts `limit` at most, less if `stop` returns true;
    /// never throws. After it, the job can only be ended.
    virtual Roll call_roll(core::Duration limit, const std::function<bool()>& stop) = 0;

    /// Informs the leader that a library has ended this process by abort(): bytes for a descriptor,
    /// written by a signal handler. Who is lost next to it is then the cause, as a rule.
    struct LastWords {
        int descriptor = -1;
        std::string bytes = {};  ///< empty: none
    };
    [[nodiscard]] virtual LastWords last_words() const { return {}; }

    /// Ends this process with `status` without waiting for anyone, after a run that cannot be ended in order.
    [[noreturn]] static void leave(int status);
    /// Ends this process, and all others of the job as far as that can be done from here.
    [[noreturn]] void abort(int status);

  protected:
    /// Ends all other processes of the job, as far as that can be done from here.
    virtual void end_others(int status) = 0;
    /// While something waits: throws if another rank has reported that this cannot end.
    virtual void check_notices(const char* what) = 0;
    /// RanksSilent of these ranks.
    [[noreturn]] static void throw_silent(std::vector<int> ranks, core::Duration limit, const char* what);
    /// Throws the error of a notice that came; to the leader from `source`.
    [[noreturn]] void throw_notice(const Notice& notice, int source, const char* what) const;

    int rank_ = 0;
    int size_ = 0;

  private:
    static constexpr const char* last_barrier = "end of the transport";

    int leader_ = 0;
    core::Duration exchange_limit_ = initial_exchange_limit;
    std::function<void()> waiting_hook_;
};

}  // namespace weir::job
