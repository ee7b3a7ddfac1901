// The MPI job: start and end of MPI, and the exchanges of all ranks outside the measured time. Every wait is
// bounded and naps, so that neither a missing rank nor 87 ranks on two cores stop it, as they would stop
// blocking collectives.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <list>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/units.hpp"
#include "runtime/notice.hpp"

namespace weir::runtime {

/// MPI failed, or an exchange did not end in time; what() is one sentence.
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

/// The run cannot go on because of a rank: this rank found it out, or another one reported it. what() is for
/// users.
class RankFailed : public JobError {
  public:
    RankFailed(int rank, const std::string& what) : JobError(what), rank_(rank) {}
    [[nodiscard]] int rank() const { return rank_; }

  private:
    int rank_;
};

/// Why a rank cannot go on.
struct Objection {
    int rank = 0;
    std::string text;
};

class Job {
  public:
    /// Longest that MPI may take to start: thousands of ranks take a minute or two; where ranks cannot reach
    /// each other, or may not lock memory, MPI can hang.
    static constexpr core::Duration start_limit = core::Duration::seconds(180);
    /// Longest wait for the other ranks in one exchange, at first: they may still be allocating memory.
    static constexpr core::Duration initial_exchange_limit = core::Duration::seconds(60);

    /// Starts MPI. Throws JobError.
    Job(int& argc, char**& argv);
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;
    /// Ends MPI (unless leave() was called).
    ~Job();

    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int size() const { return size_; }
    [[nodiscard]] MPI_Comm communicator() const { return communicator_; }
    /// "Open MPI v4.1.4, ..."
    [[nodiscard]] static std::string library_version();

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

    /// Every rank's text, by rank, on every rank.
    std::vector<std::string> share(const std::string& text, const char* what);
    /// Every rank's bytes to `root`, which hands them to `receive` one rank after the other.
    void gather(std::span<const std::byte> bytes, int root, const char* what,
                const std::function<void(int rank, std::span<const std::byte>)>& receive);
    /// Every rank's text at `root`, nothing for ranks from which none came within `limit`; empty on other
    /// ranks, which do not wait longer, either. For finding out who cannot be reached: a missing text is no
    /// error.
    std::vector<std::optional<std::string>> collect(const std::string& text, int root, core::Duration limit,
                                                    const char* what);
    /// `text` of `root`, on every rank.
    std::string broadcast(const std::string& text, int root, const char* what);
    void barrier(const char* what);

    /// Why ranks cannot go on (`mine`: this one; empty: it can), lowest rank first, on every rank.
    std::vector<Objection> objections(const std::string& mine, const char* what);

    /// Waits for `request` at most `limit`. Throws JobError, ExchangeTimeout.
    void wait(MPI_Request& request, core::Duration limit, const char* what) const;

    /// A bounded wait for other ranks, for loops that look for something themselves.
    class Waiting {
      public:
        /// `what` is the exchange, for the message; a literal.
        Waiting(const Job& job, core::Duration limit, const char* what);
        /// Checks signals, notices of other ranks and the limit. Throws ExchangeTimeout, RankFailed.
        void check();
        /// check(), and a nap that gets longer with each call. For when nothing was found.
        void nap();
        /// Something came: the limit begins anew.
        void restart();

      private:
        /// Between two checks for notices, which cost a call of MPI.
        static constexpr auto check_period = core::Duration::milliseconds(50);
        const Job& job_;
        core::Duration limit_;
        const char* what_;
        std::int64_t began_ns_;
        std::int64_t next_check_ns_;
        int naps_ = 0;
    };

    /// The rank that receives notices and calls the roll; 0 until it is set. The same on every rank.
    void set_leader(int rank) { leader_ = rank; }
    [[nodiscard]] int leader() const { return leader_; }

    /// Sends the leader a notice of kind failure or exchange_timeout. If the leader waits in an exchange,
    /// that throws RankFailed, or ExchangeTimeout. Lasts `limit`; never throws.
    void send_notice(const Notice& notice, core::Duration limit) const;

    /// What a roll call has shown.
    struct Roll {
        bool leader_answers = true;  ///< on other ranks: the leader has called them
        std::vector<int> missing;    ///< on the leader: who has not answered
    };
    /// After an ExchangeTimeout on this rank: finds out who still answers. Exchanges that other ranks wait in
    /// throw the same exception, and they call this too. Lasts `limit` at most, less if `stop` returns true;
    /// never throws. After it, the job can only be ended.
    Roll call_roll(core::Duration limit, const std::function<bool()>& stop);

    /// Ends this process with `status` without waiting for anyone, after a run that cannot be ended in order.
    [[noreturn]] static void leave(int status);
    /// Ends all processes of the job.
    [[noreturn]] static void abort(int status);

  private:
    bool begin_receiving(int tag, const char* what);
    /// Moves what has come for collect() since the last call to `texts`. Returns how many.
    int complete_received(std::vector<std::optional<std::string>>& texts, const char* what);
    void check_notices(const char* what) const;
    void receive_notice(const char* what) const;
    [[nodiscard]] bool has_come(int source, int tag) const;
    /// One byte that may or may not arrive.
    void send_byte(int rank, int tag) const;

    MPI_Comm communicator_ = MPI_COMM_NULL;
    int rank_ = 0;
    int size_ = 0;
    int leader_ = 0;
    core::Duration exchange_limit_ = initial_exchange_limit;
    std::function<void()> waiting_hook_;
    /// A text of collect() that MPI writes.
    struct Receiving {
        std::string text;
        MPI_Request request = MPI_REQUEST_NULL;
        int rank = -1;
    };
    // What does not come through in time stays until MPI is finalized.
    std::list<std::string> unsent_;   ///< texts of collect() that MPI may still read
    std::list<Receiving> receiving_;  ///< of this collect()
    std::list<Receiving> unread_;     ///< of those before
};

/// Throws JobError with MPI's error text if `status` is not MPI_SUCCESS.
void check_exchange(int status, const char* what);

}  // namespace weir::runtime
