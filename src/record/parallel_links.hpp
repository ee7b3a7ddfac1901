// How evenly switches of a simulation spread their traffic over links of which each could carry it: of each
// switch the links of which it takes any, and those on which traffic comes back from there. The loads are
// bytes on the wire, of all priorities together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/units.hpp"
#include "record/rows.hpp"

namespace weir::record {

/// (sum of x)^2 / (n * sum of x^2): 1 if all are equal, k/n if k of n share everything equally and the others
/// have nothing. R. Jain, D. Chiu, W. Hawe, DEC research report TR-301 (1984). Of values of 0 or more, not
/// all 0.
double jain_index(std::span<const double> values);

/// The figures MMR and JFI of draft-calabria-bmwg-ai-fabric-training-bench.
struct LoadBalance {
    double most_over_mean = 1;
    double jain_index = 1;
};
/// Nothing if no link has any load.
std::optional<LoadBalance> balance_of(std::span<const double> loads);

/// A link, by the port of the switch that sends on it.
struct ParallelLink {
    std::size_t sender = 0;  ///< index of the switch
    std::uint32_t port = 0;
    std::string from;  ///< names of both ends
    std::string to;
};

struct ParallelLinks {
    std::string at;        ///< the switch that has all of them
    bool outgoing = true;  ///< it sends on them; else it receives
    std::vector<ParallelLink> links;
};

/// What some parallel links carried in the measured time.
struct ParallelLinkTotals {
    ParallelLinks of;
    std::vector<double> sent_bytes;  ///< by link
    // Of rows in which anything was sent; nothing: there is none.
    std::optional<double> highest_most_over_mean;
    std::optional<double> lowest_jain_index;
};

/// Columns begin_s, covered_s and phase of a row of a switch or of parallel links.
std::string switch_row_time(core::Instant begin, core::Duration length, Phase phase);
/// "switch/parallel-links.csv", relative to the run directory.
std::string parallel_links_file();
/// Header line, with its line end.
std::string parallel_links_csv_header();

/// Rows of all parallel links, and their totals.
class ParallelLinkLoads {
  public:
    explicit ParallelLinkLoads(std::vector<ParallelLinks> all = {});

    /// What a switch has sent on a port in the present row.
    void add(std::size_t sender, std::uint32_t port, core::Bytes sent);
    /// By link of one of them: what it has carried in the present row.
    [[nodiscard]] std::vector<double> loads(std::size_t index) const;
    /// Ends the row, which began at `begin`. Lines with their line ends, of those that had any load.
    std::string end_row(core::Instant begin, core::Duration length, Phase phase);

    [[nodiscard]] const std::vector<ParallelLinkTotals>& totals() const { return totals_; }

  private:
    std::vector<ParallelLinkTotals> totals_;
    std::vector<std::vector<double>> sent_;  ///< in the present row, by switch and port
};

nlohmann::ordered_json to_json(const std::vector<ParallelLinkTotals>& totals);

/// For the summary: the links whose load is the least even. Empty: none has any.
std::string parallel_links_text(const std::vector<ParallelLinkTotals>& totals);

/// For how long after a failure the loads of parallel links were less even than before: of each group of them
/// that has a link which failed, by Jain's index of each row.
///
/// Before is the least index of the last rows with load before the failure, less a tolerance. A link that
/// failed counts with what it carries as long as routes use it, so its group is uneven until they follow;
/// afterwards those that are left are compared. Loads are even again from the row on after which none is less
/// even, to the end of the failure or of what is judged. Known to a row: up to one too long.
///
/// Rejected: a mean of the rows before, of which half of even rows are below; the first even row, which may
/// be even by chance.
class EvenLoads {
  public:
    static constexpr std::size_t rows_before = 10;
    static constexpr double tolerance = 0.02;
    /// Of a link, in the mean. Of less, single packets decide.
    static constexpr std::int64_t least_packets = 8;

    /// `packet`: the payload of a full one.
    EvenLoads(std::size_t groups, core::Bytes packet)
        : before_(groups), least_load_bytes_(static_cast<double>(least_packets * packet.count)) {}

    /// Jain's index of what each link of a group carried in a row, in bytes; nothing: too little to judge, as
    /// in a row that has no more than the end of a transfer, or the acknowledgements of others.
    [[nodiscard]] std::optional<double> index_of(std::span<const double> loads_bytes) const;

    /// A failure, by its number, of links of these groups.
    void begin(std::uint32_t failure, core::Instant at, const std::vector<std::size_t>& groups);
    void end(std::uint32_t failure, core::Instant at);
    /// By group, as index_of. Rows come in the order of time, each after the failures that
    /// began in it.
    void add_row(core::Instant begin, core::Instant end, std::span<const std::optional<double>> jain_indices);

    /// In this row, routes have left a link of the group that this failure took: until then loads were not
    /// even, though no row with load may show it.
    void follow_routes(std::uint32_t failure, std::size_t group, core::Instant begin, core::Instant end);

    /// From its beginning; 0: no row was less even. Nothing: not while it lasted, or not known, because its
    /// groups carried nothing before or afterwards.
    [[nodiscard]] std::optional<core::Duration> even_after(std::uint32_t failure) const;

  private:
    struct Group {
        std::size_t index = 0;
        double least = 0;  ///< as even as before
        bool even = true;  ///< in its last row
    };
    struct UnevenLinks {
        core::Instant begin;
        core::Instant end = core::Instant::never();
        core::Instant uneven_until;
        std::uint64_t rows = 0;       ///< with load, since it began
        std::vector<Group> groups{};  ///< that carried anything before
    };

    std::vector<std::deque<double>> before_;  ///< by group: the last rows with load
    double least_load_bytes_;
    std::map<std::uint32_t, UnevenLinks> failures_;
};

}  // namespace weir::record
