#include "cli/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/explained_run.hpp"
#include "cli/explainer.hpp"
#include "cli/forecast.hpp"
#include "config/usage_error.hpp"
#include "files/formatting.hpp"
#include "host/control_group.hpp"
#include "host/process.hpp"
#include "host/signals.hpp"
#include "judge/answer.hpp"
#include "simulation/margin.hpp"

namespace weir::cli {

namespace {

/// As many at a time as memory holds beside the run itself.
std::uint32_t jobs_that_fit(const core::Plan& plan, std::uint32_t jobs) {
    const double need = std::max(simulation_memory_bytes(plan), 1.0);
    const auto available = static_cast<double>(host::available_memory().bytes.count);
    if (available <= 0) {
        return jobs;
    }
    return static_cast<std::uint32_t>(std::clamp(available / need, 1.0, static_cast<double>(jobs)));
}

std::optional<std::vector<judge::NamedCause>> causes_of_measured(const show::RunRecord& record,
                                                                 const std::string& directory,
                                                                 simulation::Explain explain) {
    if (explain == simulation::Explain::off || !simulation::needs_explanation(record)) {
        return std::nullopt;
    }
    const bool fast = explain == simulation::Explain::fast;
    // To read them is not to take longer than what follows.
    const double most_rows = fast ? 1e5 : 5e6;
    const double rows = static_cast<double>(record.ranks.size()) * record.plan.duration.in_seconds();
    if (rows > most_rows) {
        return std::nullopt;
    }
    // The other ranks wait for this one.
    const ExplainCost cost{.processor_s = fast ? 1.0 : 60.0, .wall_s = fast ? 5.0 : 60.0, .jobs = 1};
    try {
        const twin::ShownRun run = shown_run(show::to_json(record), directory);
        return explain_run(run, record.verdict.causes, cost).causes;
    } catch (const Interrupted&) {
        // What was observed stands.
    } catch (const std::exception&) {
        // As where rows of other hosts are not here: what was measured is not lost with what it is held
        // against.
    }
    return std::nullopt;
}

/// ", about 12 s left" once that can be told.
std::string left_text(double passed_s, std::size_t done, std::size_t known) {
    constexpr double soon_s = 3;
    const double left_s = passed_s / static_cast<double>(std::max<std::size_t>(done, 1)) *
                          static_cast<double>(std::max(known, done) - done);
    return done == 0 || passed_s < soon_s
               ? ""
               : fmt::format(", about {} left", files::seconds_text(std::ceil(left_s)));
}

}  // namespace

simulation::Explain parse_explain(const std::string& text, config::OutputForm output) {
    if (text.empty() && output == config::OutputForm::quiet) {
        return simulation::Explain::off;
    }
    if (text.empty() || text == "fast") {
        return simulation::Explain::fast;
    }
    if (text == "full") {
        return simulation::Explain::full;
    }
    if (text != "off") {
        throw config::UsageError(fmt::format("--explain: '{}' is not one of: off, fast, full", text));
    }
    return simulation::Explain::off;
}

participant::ExplainRun explain_measured(simulation::Explain explain, const std::string& directory) {
    return [explain, directory](const show::RunRecord& record) {
        return causes_of_measured(record, directory, explain);
    };
}

/// Before a search that takes more than a few seconds.
void Explanation::say_cost(double each_s, const simulation::ExplainBudget& budget) {
    constexpr double few_s = 5;
    const double longest_s = std::min(each_s * static_cast<double>(budget.simulations), budget.processor_s);
    if (longest_s / jobs_ > few_s) {
        progress_.show(fmt::format(
            "looking for the cause: at most {} simulations of about {} each, and {} of processor time",
            budget.simulations, files::seconds_text(each_s), files::seconds_text(budget.processor_s)));
    }
}

std::optional<std::vector<judge::NamedCause>> Explanation::causes(const show::RunRecord& record) {
    using Clock = std::chrono::steady_clock;
    if (explain_ == simulation::Explain::off || !simulation::needs_explanation(record)) {
        return std::nullopt;
    }
    const double each = simulation::simulation_seconds(run_, record);
    const simulation::ExplainBudget budget = simulation::explain_budget(explain_, each);
    if (budget.simulations == 0) {
        account_ = fmt::format(
            "the cause is what the rows tell; to prove it takes some twenty simulations of up to {} each: "
            "--explain full",
            files::seconds_text(each));
        return std::nullopt;
    }
    // The verdict comes first for someone who looks on.
    if (progress_.on_terminal() && each * static_cast<double>(budget.simulations) > 1) {
        judge::ShortAnswer answer = show::answer_of(record);
        answer.because.clear();
        answer.to_do.clear();
        progress_.clear();
        fmt::print("{}\n", judge::answer_lines(answer, show::summary_subject_width, host::colours_wanted()));
        std::fflush(stdout);
    }
    say_cost(each, budget);
    const Clock::time_point begin = Clock::now();
    simulation::ProvedCauses proved = simulation::prove_causes(
        run_, record, budget, jobs_that_fit(run_.run.plan, jobs_),
        {.progress =
             [this, begin](std::size_t done, std::size_t known) {
                 if (progress_.on_terminal()) {
                     const double passed = std::chrono::duration<double>(Clock::now() - begin).count();
                     progress_.show(fmt::format("looking for the cause: {} of {} simulations{}", done, known,
                                                left_text(passed, done, known)));
                 }
             },
         .interrupted = [] { return host::caught_signal() != 0; },
         .processor_s = [this] { return processor_seconds(jobs_); }},
        simulation::margin_conditions());
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    progress_.clear();
    interrupted_ = proved.interrupted;
    // A fraction of a second is of interest to someone who looks on, and not to a script.
    if (seconds >= 1 || interrupted_ || progress_.on_terminal()) {
        account_ = fmt::format("{} simulations with something relaxed, for the cause, in {}{}",
                               proved.simulations, files::seconds_text(seconds),
                               interrupted_ ? ", interrupted: it is what the rows tell" : "");
    }
    if (proved.interrupted) {
        return std::nullopt;
    }
    if (proved.was_cut_short && explain_ == simulation::Explain::fast) {
        account_ = fmt::format(
            "{}; --explain full tries more than these",
            account_.empty()
                ? fmt::format("{} simulations with something relaxed, for the cause", proved.simulations)
                : account_);
    }
    return std::move(proved.causes);
}

}  // namespace weir::cli
