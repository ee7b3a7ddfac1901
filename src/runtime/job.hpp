// The MPI job: start and end of MPI, and the collective exchanges outside the measured time. Every wait is
// bounded and naps, so that neither a missing rank nor 87 ranks on two cores bring it to a standstill;
// blocking collectives do neither.
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

namespace weir::runtime {

/// MPI failed, or an exchange did not end in time; what() is one sentence.
class JobError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// An exchange did not end in time, or another rank says so: some rank does not come, or cannot be reached.
/// Job::call_roll() finds out which. what() goes on after the name of this rank: "waited 60 s in vain ...".
class ExchangeTimeout : public JobError {
  public:
    using JobError::JobError;
};

/// A rank cannot go on, or a rank tells so of itself or of another one; what() is for users.
class RankFailed : public JobError {
  public:
    RankFailed(int rank, const std::string& what) : JobError(what), rank_(rank) {}
    [[nodiscard]] int rank() const { return rank_; }

  private:
    int rank_;
};

/// What one rank has to say against going on.
struct Objection {
    int rank = 0;
    std::string text;
};

class Job {
  public:
    /// Longest that MPI may take to start: thousands of ranks take a minute or two; where ranks cannot reach
    /// each other, or may not lock memory, MPI can try for ever.
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

    /// Called over and over while an exchange waits (watchdog, signals); may throw to give up.
    void set_waiting_hook(std::function<void()> hook) { waiting_hook_ = std::move(hook); }

    /// To be called by whoever waits in a loop of their own.
    void waiting() const {
        if (waiting_hook_) {
            waiting_hook_();
        }
    }

    void set_exchange_limit(core::Duration limit) { exchange_limit_ = limit; }
    [[nodiscard]] core::Duration exchange_limit() const { return exchange_limit_; }

    /// Every rank's text, by rank, on every rank.
    std::vector<std::string> share(const std::string& text, const char* what);
    /// Every rank's bytes to `root`, which hands them to `take` one rank after the other.
    void gather(std::span<const std::byte> bytes, int root, const char* what,
                const std::function<void(int rank, std::span<const std::byte>)>& take);
    /// Every rank's text at `root`, and nothing from ranks that stay silent for `limit`; empty on other
    /// ranks, which do not wait longer, either. For finding out who cannot be reached: never throws for
    /// silence.
    std::vector<std::optional<std::string>> collect(const std::string& text, int root, core::Duration limit,
                                                    const char* what);
    /// `text` of `root`, on every rank.
    std::string broadcast(const std::string& text, int root, const char* what);
    void barrier(const char* what);

    /// Objections of all ranks to going on (`mine` empty: none), lowest rank first, on every rank.
    std::vector<Objection> objections(const std::string& mine, const char* what);

    /// Waits for `request` at most `limit`. Throws JobError, ExchangeTimeout.
    void wait(MPI_Request& request, core::Duration limit, const char* what) const;

    /// A bounded wait for other ranks, for loops of their own: turn() after every look that found nothing.
    class Waiting {
      public:
        /// `what` is the exchange, for the message; a literal.
        Waiting(const Job& job, core::Duration limit, const char* what);
        /// Looks after signals, complaints and the roll call. Throws ExchangeTimeout, RankFailed.
        void look();
        /// Likewise, and naps, longer and longer.
        void turn();
        /// Something came: the limit begins anew.
        void restart();

      private:
        /// Between two looks for complaints and the roll call, which cost a call of MPI.
        static constexpr auto look_period = core::Duration::milliseconds(50);
        const Job& job_;
        core::Duration limit_;
        const char* what_;
        std::int64_t began_ns_;
        std::int64_t next_look_ns_;
        int turns_ = 0;
    };

    /// Tells the leader why the run cannot go on, in case it waits in an exchange: it is thrown out of that
    /// by RankFailed with the same rank and text (cut to 480 bytes). Lasts `patience` at most; never throws.
    void complain(int rank, const std::string& what, core::Duration patience) const;

    /// The rank that hears complaints and calls the roll; 0 until it is said. The same on every rank.
    void set_leader(int rank) { leader_ = rank; }
    [[nodiscard]] int leader() const { return leader_; }

    /// What a roll call has shown.
    struct Roll {
        bool leader_answers = true;  ///< on other ranks: the leader has called them
        std::vector<int> missing;    ///< on the leader: who has not answered
    };
    /// After an ExchangeTimeout on this rank: finds out who is still there. Ranks that wait in an exchange
    /// are thrown out of it by the same exception, and call this too. Lasts `patience` at most, less if
    /// `stop` says so; never throws. After it, the job can only be ended.
    Roll call_roll(core::Duration patience, const std::function<bool()>& stop);

    /// Ends this process with `status` without waiting for anyone, after a run that cannot be ended in order.
    [[noreturn]] static void leave(int status);
    /// Ends all processes of the job.
    [[noreturn]] static void abort(int status);

  private:
    bool begin_receiving(int tag, const char* what);
    /// How many texts of collect() have come since the last call.
    int take_received(std::vector<std::optional<std::string>>& texts, const char* what);
    void look_for_roll_call(const char* what) const;
    void take_complaint(const char* what) const;
    [[nodiscard]] bool is_there(int source, int tag) const;
    /// A byte that may or may not arrive; its request is given up.
    void tell(int rank, int tag) const;

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

/// Throws JobError with MPI's own words if `status` is not MPI_SUCCESS.
void check_mpi(int status, const char* what);

}  // namespace weir::runtime
