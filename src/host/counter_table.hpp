// All counters of a host and what they counted between two readings.
//
// Columns are fixed by what exists at the start. A counter that cannot be read any more is absent from then
// on, even if it comes back: it may have started anew meanwhile. What goes down without having wrapped was
// reset, and that one difference is absent.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host/counter_files.hpp"
#include "host/kernel_calls.hpp"
#include "record/host_counters.hpp"

namespace weir::host {

/// What was counted between two readings; nothing if that is not known.
CounterValue difference(const Counter& counter, std::uint64_t before, std::uint64_t now);

class CounterTable {
  public:
    explicit CounterTable(Sources sources);

    /// All that a host has. `root`: what paths begin with, empty on a real host. `calls` must outlive the
    /// table.
    static CounterTable of_host(const std::string& root, KernelCalls& calls);

    /// "eth0.rx_bytes", ...: fixed
    [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }

    /// Interfaces that are made of others which are counted as well: bonds, VLANs, bridges.
    [[nodiscard]] const std::vector<std::string>& made_of_others() const { return made_of_others_; }

    /// Reads all counters. What they counted since the reading before, by column; nothing at all the first
    /// time.
    std::vector<CounterValue> read();

    /// By column: what is missing in the last reading, of what could be read in the first.
    [[nodiscard]] const std::vector<record::Absence>& absences() const { return absences_; }

  private:
    Sources sources_;
    std::vector<Counter> counters_;
    std::vector<std::size_t> places_;  ///< of each column among all that the sources read
    std::vector<std::string> columns_;
    std::vector<std::string> made_of_others_;
    std::vector<CounterValue> last_;
    std::vector<record::Absence> absences_;
    std::vector<CounterValue> fresh_;
    bool first_ = true;
};

}  // namespace weir::host
