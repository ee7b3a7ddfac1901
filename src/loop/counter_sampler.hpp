// Records a host's network counters: one rank on each host reads them at the end of every second, writes a
// row and keeps the sums.
//
// What a host has and how it is set is read before the run begins, while ranks warm up. Counting begins with
// a whole second: if the first reading comes late, the seconds until the next whole one have empty rows, and
// the problem is recorded.
//
// A thread of its own, because a reading takes milliseconds where drivers ask their hardware, and the loop of
// the rank must not stall. Nothing here can hold up or fail a run: what goes wrong is recorded once, in
// run.json, and a reading that never returns is left behind. A second whose end was missed has an empty row,
// and the next row holds what was counted since the last reading.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/units.hpp"
#include "host/common_clock.hpp"
#include "host/host_facts.hpp"
#include "host/kernel_calls.hpp"
#include "record/host_counters.hpp"

namespace weir::loop {

/// Whether this rank is the one that records its host's counters: the lowest there.
bool records_its_host(int rank, const std::vector<host::RankLocation>& locations);

class CounterSampler {
  public:
    struct Task {
        std::string run_directory;
        std::string host;
        core::Duration duration;  ///< of phase `measure`
        bool by_ucx = false;      ///< data go by UCX, whatever MPI is set to
        std::string root = {};    ///< what the paths of the kernel's files begin with; empty on a real host
        std::unique_ptr<host::KernelCalls> calls = host::kernel_calls();
    };
    /// When the rows are to be written.
    struct FirstRow {
        host::CommonClock clock;
        core::Instant begin;  ///< of the first row's second
        std::int64_t second_zero_unix_ns = 0;
    };
    /// Looks at the host, and waits for `begin`.
    explicit CounterSampler(Task task);
    CounterSampler(const CounterSampler&) = delete;
    CounterSampler& operator=(const CounterSampler&) = delete;
    ~CounterSampler();

    /// Once.
    void begin(const FirstRow& start);
    /// The common clock was steered: seconds end by this one from now on.
    void follow(const host::CommonClock& clock);

    /// Writes the row of the second in which `end` lies and returns the sums, at the latest after `patience`.
    /// Ranks have a row of this second only if something moved in it; counters count all the same.
    /// Before `begin`: there are no rows.
    record::HostCounters stop(core::Instant end, core::Duration patience = core::Duration::seconds(1));

  private:
    class Work;
    std::shared_ptr<Work> work_;  ///< shared with the thread, which may have to be left behind
};

}  // namespace weir::loop
