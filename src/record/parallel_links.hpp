// How evenly switches of a simulation spread their traffic over links of which each could carry it: of each
// switch the links of which it takes any, and those on which traffic comes back from there. The loads are
// bytes on the wire, of all priorities together.
#pragma once

#include <cstddef>
#include <cstdint>
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

}  // namespace weir::record
