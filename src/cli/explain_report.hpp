// What `weir explain` has found, as text for people and as explain.json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/limit_search.hpp"
#include "cli/twin_search.hpp"
#include "judge/causes.hpp"
#include "twin/shown_run.hpp"

namespace weir::cli {

/// The largest rate with which every set would have been on time.
struct LargestRate {
    std::optional<FindPoint> best;  ///< nothing: none that was tried
    std::optional<FindPoint> beyond;
    std::string unknown;  ///< why it was not looked for; empty: it was
};

struct ExplainReport {
    std::string directory;
    const twin::ShownRun* run = nullptr;
    const Twin* twin = nullptr;
    const std::vector<Twin>* tried = nullptr;  ///< under other assumptions about links
    std::vector<judge::NamedCause> causes;     ///< proved in the twin; none unless it is near
    bool either = false;  ///< it could have been the links of producers or those of consumers
    /// Nothing: the remedy holds with links as slow as they can have been. Else it does only with faster ones
    /// than these.
    const twin::Assumptions* seen_links = nullptr;
    LargestRate largest_rate;
    std::size_t simulations = 0;  ///< in all
};

std::string explain_text(const ExplainReport& report);
/// With the last line break.
std::string explain_json(const ExplainReport& report);

}  // namespace weir::cli
