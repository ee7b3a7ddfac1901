// What the kernel counts on a host, as columns: names that are fixed when a source is found, and values that
// are read over and over. A value is a running count since some unknown beginning; only differences mean
// something (counter_table).
//
// Counters that the kernel shows as files with one number in each: RDMA ports under /sys/class/infiniband and
// interfaces under /sys/class/net. A file is opened for every reading: descriptors that stay open would cost
// thousands on hosts with many interfaces, and a reading of 100 files takes well below a millisecond.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/counter_meaning.hpp"

namespace weir::host {

/// Nothing: the counter cannot be read, which is never the same as 0.
using CounterValue = std::optional<std::uint64_t>;

/// How a counter behaves at its upper end.
enum class CounterRange : std::uint8_t {
    wide,              ///< 64 bits: never gets there
    wraps_at_32_bits,  ///< starts again at 0
    stops_at_largest,  ///< stays at its largest value until someone clears it
};

/// Of a counter that is read out of the hardware or the kernel as it is.
CounterRange range_of(const record::KnownCounter& known);

struct Counter {
    std::string source;  ///< "mlx5_0", "eth0", "tcp"
    std::string name;    ///< "np_cnp_sent"; without dots, so that a column can be taken apart again
    CounterRange range = CounterRange::wide;
    std::uint64_t largest = 0;  ///< with stops_at_largest
    std::string original = {};  ///< the name as the driver has it; empty: the same
};

/// A name as it may stand in a column: what CSV or the column's own form needs for itself becomes '_'.
std::string clean_name(std::string_view name);
/// The same for a source, in which dots may stay ("eth0.100").
std::string clean_source(std::string_view source);

class CounterSource {
  public:
    CounterSource() = default;
    CounterSource(const CounterSource&) = delete;
    CounterSource& operator=(const CounterSource&) = delete;
    virtual ~CounterSource() = default;

    /// Fixed from the beginning.
    [[nodiscard]] const std::vector<Counter>& counters() const { return counters_; }

    /// Appends one value per counter, in their order.
    virtual void read(std::vector<CounterValue>& values) = 0;

  protected:
    std::vector<Counter> counters_;
};

using Sources = std::vector<std::unique_ptr<CounterSource>>;

/// The number in a file; nothing if it is not there or holds anything else ("N/A (no PMA)").
CounterValue number_in_file(const std::string& path);

/// Everything in a file of the kernel; empty if it cannot be read.
std::string file_text(const std::string& path);

/// Sorted names of what lies in a directory; none if it cannot be read.
std::vector<std::string> names_in(const std::string& directory);

/// Active ports of RDMA devices. `root`: what the paths begin with, empty on a real host.
Sources rdma_ports(const std::string& root);

/// Interfaces that are up, without the loopback. Where there are very many, as on hosts of containers, those
/// that have neither a device nor a network of their own are left out: data of ranks do not leave by them.
struct InterfacesInUse {
    static constexpr std::size_t all_up_to = 64;
    std::vector<std::string> names;  ///< sorted
    std::size_t left_out = 0;
};
InterfacesInUse interfaces_in_use(const std::string& root);

/// Whether `interface` is a bond, VLAN, bridge or the like, of some of `others`.
bool is_made_of(const std::string& root, const std::string& interface,
                const std::vector<std::string>& others);

/// What the kernel itself counts for each interface.
Sources interface_statistics(const std::string& root, const std::vector<std::string>& interfaces);

/// Empty: none is known. `device_directory`: of an interface or an RDMA device below /sys/class.
std::string driver_of(const std::string& device_directory);

}  // namespace weir::host
