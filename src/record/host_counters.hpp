// What the hosts' network counters counted: the rows of hosts/NAME.csv, and each host's sums over the
// measured seconds for run.json and for the verdict on the network. Where the numbers come from is not known
// here.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/units.hpp"
#include "record/counter_meaning.hpp"
#include "record/rows.hpp"

namespace weir::record {

/// By column; nothing: not known, which is never 0.
using CounterValues = std::vector<std::optional<std::uint64_t>>;

/// "hosts/eb01.csv", relative to the run directory.
std::string host_file(std::string_view host);

/// Header line of a host's file, with its line end. `columns`: "eth0.rx_bytes", ...
std::string host_csv_header(const std::vector<std::string>& columns);

/// A row as a line with its line end. `values`: what was counted in this second; empty: nothing is known of
/// it.
/// Without a wall time (a simulation) the column stays empty.
std::string host_csv_line(std::int64_t second, Phase phase, std::optional<std::int64_t> unix_ns_at_second_0,
                          const CounterValues& values, std::size_t columns);

/// Why a counter has no value in a second that was read.
enum class Absence : std::uint8_t {
    none,   ///< it has one, or its beginning is not known, or it stands at its largest value
    gone,   ///< it cannot be read any more
    reset,  ///< it went down
};

struct CounterSum {
    std::string column;
    std::optional<std::uint64_t> sum = {};        ///< nothing: in no measured second was it known
    std::optional<std::uint64_t> whole_run = {};  ///< warm-up and drain included
    /// The second from which on it is gone, and the first measured one in which it was reset: the sum is of
    /// part of the run. Nothing: of all of it.
    std::optional<std::int64_t> gone_from = {};
    std::optional<std::int64_t> reset_in = {};

    [[nodiscard]] bool is_partial() const { return gone_from || reset_in; }
};

/// One host's part in run.json.
struct HostCounters {
    std::string host;
    std::string file;              ///< relative to the run directory
    bool handed_in = false;        ///< false: nothing below is known
    std::int64_t seconds = 0;      ///< measured ones with values
    std::vector<CounterSum> sums;  ///< over the measured seconds, by column
    std::vector<std::string>
        made_of_others;          ///< sources whose members are counted as well: bonds, VLANs, bridges
    core::Duration reading_max;  ///< the longest that one reading of all counters took
    std::string settings;        ///< of the host when the run began, as JSON; empty: not known
    std::string problem;  ///< what kept rows from the file, or readings from being made; empty: nothing

    /// Adds what was counted in a second.
    void add(const CounterValues& values, Phase phase);
    /// By column: what is missing in this second.
    void note(const std::vector<Absence>& absences, std::int64_t second, Phase phase);
    /// Whether another source of the host counts the same: what goes through a bond goes through its members.
    [[nodiscard]] bool counts_again(std::string_view column) const;
};

/// "eth0" of "eth0.rx_bytes", and the rest.
std::string_view source_of(std::string_view column);
std::string_view counter_of(std::string_view column);

/// How a counter is called where several devices or hosts are meant: a protocol's keeps its source, a
/// device's is the same on every device.
std::string kind_name(std::string_view column);

/// Sums over the measured seconds by family (CounterFamily); what is not counted is not there.
using FamilySums = std::map<std::string_view, std::uint64_t>;
/// By source: of each device and protocol.
std::map<std::string_view, FamilySums> families_by_source(const HostCounters& host);
/// Sums over all sources of the host. Several of them count the same packets: of received and sent ones the
/// kind of counter that has most is taken; of the others, of an RDMA port and its interface the larger one,
/// and of what is made of others nothing.
FamilySums families_of(const HostCounters& host);

/// What is missing of the counters of one source that show losses, pauses, marks or notifications. Sources
/// through which next to nothing came are left out: interfaces of containers come and go.
struct CounterGap {
    std::string source;
    Absence what = Absence::none;
    std::int64_t second = 0;            ///< the first
    std::vector<std::string> counters;  ///< by name
    bool all = false;                   ///< that the source has of these
};
std::vector<CounterGap> gaps_of(const HostCounters& host);

/// Whole, to travel between ranks.
std::string encode_host(const HostCounters& host);
/// Nothing if the text is none of encode_host.
std::optional<HostCounters> decode_host(std::string_view text);

/// Speed of the interface or RDMA port that received most; 0: it is not known, or is none.
core::BitRate interface_rate(const HostCounters& host);

/// What an interface or an RDMA port says of itself.
struct NominalSpeed {
    core::BitRate rate;
    bool is_device = false;  ///< has a driver: a virtual cable has none, and any speed
};
/// Of those that say a speed, named as their counters are. `settings`: of a host, as HostCounters has them.
std::map<std::string, NominalSpeed> nominal_speeds(const nlohmann::ordered_json& settings);

/// As run.json lists it: sums that are not 0, the sources, and sums by family.
nlohmann::ordered_json host_json(const HostCounters& host);

}  // namespace weir::record
