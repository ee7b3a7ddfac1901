#include "cli/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <utility>

#include "cli/forecast.hpp"
#include "config/checks.hpp"
#include "config/usage_error.hpp"
#include "host/signals.hpp"
#include "simulation/margin.hpp"

namespace weir::cli {

namespace {

/// As many at a time as memory holds beside the run itself.
std::uint32_t jobs_that_fit(const core::Plan& plan, std::uint32_t jobs) {
    const double need = std::max(simulation_memory_bytes(plan), 1.0);
    const auto available = static_cast<double>(config::available_memory().count);
    if (available <= 0) {
        return jobs;
    }
    return static_cast<std::uint32_t>(std::clamp(available / need, 1.0, static_cast<double>(jobs)));
}

/// Of this thread, while others may explain other runs; or of all.
double processor_s(clockid_t clock) {
    timespec used{};
    clock_gettime(clock, &used);
    return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
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
            seconds_text(each));
        return std::nullopt;
    }
    // The verdict comes first for someone who looks on.
    if (progress_.on_terminal() && each * static_cast<double>(budget.simulations) > 1) {
        const std::string& text = record.verdict.text;
        progress_.clear();
        fmt::print("{}\n\n", text.substr(0, text.find(" Main cause:")));
        std::fflush(stdout);
    }
    const Clock::time_point begin = Clock::now();
    simulation::ProvedCauses proved = simulation::prove_causes(
        run_, record, budget, jobs_that_fit(run_.run.plan, jobs_),
        {.progress =
             [this](std::size_t done, std::size_t known) {
                 if (progress_.on_terminal()) {
                     progress_.show(fmt::format("looking for the cause: {} of {} simulations", done, known));
                 }
             },
         .interrupted = [] { return host::caught_signal() != 0; },
         .processor_s =
             [one_thread = jobs_ == 1] {
                 return processor_s(one_thread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID);
             }},
        simulation::margin_conditions());
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    progress_.clear();
    interrupted_ = proved.interrupted;
    // A fraction of a second is of interest to someone who looks on, and not to a script.
    if (seconds >= 1 || interrupted_ || progress_.on_terminal()) {
        account_ = fmt::format("{} simulations with something relaxed, for the cause, in {:.2f} s{}",
                               proved.simulations, seconds,
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
