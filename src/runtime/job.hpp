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

    /// Waits for `request` at most `limit`. Throws JobError.
    void wait(MPI_Request& request, core::Duration limit, const char* what) const;

    /// Ends this process with `status` without waiting for anyone, after a run that cannot be ended in order.
    [[noreturn]] static void leave(int status);
    /// Ends all processes of the job.
    [[noreturn]] static void abort(int status);

  private:
    MPI_Comm communicator_ = MPI_COMM_NULL;
    int rank_ = 0;
    int size_ = 0;
    core::Duration exchange_limit_ = initial_exchange_limit;
    std::function<void()> waiting_hook_;
    std::list<std::string> unsent_;  ///< texts of collect() that MPI may still read
};

/// Throws JobError with MPI's own words if `status` is not MPI_SUCCESS.
void check_mpi(int status, const char* what);

}  // namespace weir::runtime
