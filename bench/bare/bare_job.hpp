// What the bare programs share: MPI's start and end, waiting as weir's ranks wait, and the tally of what the
// ranks used. Any error of MPI ends the job (MPI_ERRORS_ARE_FATAL, the default).
#pragma once

#include <fmt/format.h>
#include <mpi.h>
#include <sched.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <thread>
#include <utility>

namespace weir::bare {

/// MPI from construction to destruction.
class Job {
  public:
    Job(int* argc, char*** argv) {
        MPI_Init(argc, argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    }
    ~Job() { MPI_Finalize(); }
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    [[nodiscard]] int rank() const { return rank_; }
    /// Whether it has the ranks for a rank 0, producers and consumers; otherwise its rank 0 prints that.
    [[nodiscard]] bool is_of(const char* program, int producers, int consumers) const {
        const bool fits = ranks_ == 1 + producers + consumers;
        if (!fits && rank_ == 0) {
            fmt::print(stderr, "{}: {} ranks for 1 + {} producers + {} consumers\n", program, ranks_,
                       producers, consumers);
        }
        return fits;
    }

  private:
    int rank_ = 0;
    int ranks_ = 0;
};

/// Waits like weir's ranks with `--idle nap` (src/host/idle.hpp): a few yields, then naps, each followed
/// by two looks; but its naps do not grow. With naps of 0 us it yields only.
class Waiting {
  public:
    explicit Waiting(int nap_us) : nap_us_(nap_us) {}

    void after(bool worked) {
        constexpr int turns_before_nap = 4;
        empty_turns_ = worked ? 0 : empty_turns_ + 1;
        if (std::exchange(napped_, false) || worked) {
            return;
        }
        if (nap_us_ == 0 || empty_turns_ < turns_before_nap) {
            sched_yield();
        } else {
            std::this_thread::sleep_for(std::chrono::microseconds(nap_us_));
            napped_ = true;
        }
    }

  private:
    int nap_us_;
    int empty_turns_ = 0;
    bool napped_ = false;
};

/// CPU time that this process has used, user and system, in seconds.
inline double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    constexpr double micro = 1e-6;
    return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           micro * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/// The sum of all ranks' values, on rank 0.
inline double sum(double value) {
    double total = 0;
    MPI_Reduce(&value, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    return total;
}

}  // namespace weir::bare
