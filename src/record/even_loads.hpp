// For how long after a failure the loads of parallel links were less even than before: of each group of them
// that has a link which failed, by Jain's index of each row.
//
// Before is the least index of the last rows with load before the failure, less a tolerance. A link that
// failed counts with what it carries as long as routes use it, so its group is uneven until they follow;
// afterwards those that are left are compared. Loads are even again from the row on after which none is less
// even, to the end of the failure or of what is judged. Known to a row: up to one too long.
//
// Rejected: a mean of the rows before, of which half of even rows are below; the first even row, which may
// be even by chance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/units.hpp"

namespace weir::record {

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
