// What `weir explain` has found, as text for people and as explain.json.
#pragma once

#include <string>

#include "cli/explainer.hpp"
#include "twin/shown_run.hpp"

namespace weir::cli {

struct ExplainReport {
    std::string directory;
    twin::ShownRun run;
    Explained found;

    /// Of the main cause; nullptr: there is none.
    [[nodiscard]] const Twin* twin() const {
        return found.twins.empty() ? nullptr : &found.twins.front().twin;
    }
    [[nodiscard]] bool was_good() const { return found.causes.empty(); }
    [[nodiscard]] bool is_told() const {
        return was_good() || found.causes.front().what != judge::CauseKind::not_told;
    }
};

/// `terminal`: with colours.
std::string explain_text(const ExplainReport& report, bool terminal);
/// With the last line break.
std::string explain_json(const ExplainReport& report);

}  // namespace weir::cli
