// Distributions as options write them: a kind, its mean and named parameters.
//
//   16MiB                                   the same as fixed:16MiB
//   normal:16MiB,deviation=2MiB[,max=..]    lognormal: the same keys
//   poisson:1.2s[,quantum=50ms]             counts of a quantum; the quantum is 50ms unless it is given
//   exponential:1.2s   fixed:1.2s   pareto:1.2s,shape=2.5      none
//   mixture:28B,large=64KiB,every=200       28B, on average every 200th 64KiB
//   trace:FILE                              one quantity per line, in order, from the start again when used
//   up
//
// Parameters are named rather than positional, so that a command line can be read without the manual.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/quantities.hpp"
#include "core/plan.hpp"

namespace weir::config {

/// A distribution and, for a trace, the file that it was read from.
struct NamedDistribution {
    core::Distribution distribution;
    std::string trace_file;
    bool operator==(const NamedDistribution&) const = default;
};

/// Whether there is a value for any number: of another kind a value has a largest.
constexpr bool is_drawn(const core::Distribution& values) {
    return values.kind == core::DistributionKind::normal || values.kind == core::DistributionKind::lognormal;
}

/// Event sizes in bytes: fixed, normal, lognormal, trace. Throws UsageError.
NamedDistribution parse_event_size(std::string_view text);
/// Processing times in ns: none, fixed, poisson, exponential, lognormal, pareto, trace. Throws UsageError.
NamedDistribution parse_busy(std::string_view text);

/// Sizes of results: none, and of event sizes' kinds; also mixture. Throws UsageError.
NamedDistribution parse_result_size(std::string_view text);

/// The canonical text, which parses to the same distribution.
std::string event_size_text(const NamedDistribution& event_size);
std::string busy_text(const NamedDistribution& busy);
std::string result_size_text(const NamedDistribution& result_size);

/// Multiplies sizes or times by a factor, rounding up to whole bytes or nanoseconds, so that a set still
/// holds as many events.
void scale_values(core::Distribution& distribution, const Ratio& factor);

/// Lists of indices: '0-3,7'. Sorted and without repetition. Throws UsageError.
std::vector<std::uint32_t> parse_index_list(std::string_view text);
std::string index_list_text(const std::vector<std::uint32_t>& indices);

}  // namespace weir::config
