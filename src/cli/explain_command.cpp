// `weir explain DIR`: the twin of a run that was made, and what it shows.
#include "cli/command_functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "cli/explain_report.hpp"
#include "cli/rate_search.hpp"
#include "cli/twin_options.hpp"
#include "cli/twin_search.hpp"
#include "config/input_file.hpp"
#include "config/link_speeds.hpp"
#include "config/usage_error.hpp"
#include "files/json_text.hpp"
#include "files/whole_file.hpp"
#include "host/signals.hpp"
#include "participant/exit_status.hpp"
#include "simulation/counterfactuals.hpp"
#include "simulation/margin.hpp"

namespace weir::cli {

namespace {

using config::UsageError;

constexpr std::size_t most_record_bytes = std::size_t{256} << 20U;
constexpr std::size_t most_rows_bytes = std::size_t{64} << 20U;
constexpr double most_rate = 8;  ///< times that of the run: higher rates are not tried

/// A simulated interface has the speed that was given for it, whatever a disturbance makes of its link.
void read_simulated_interfaces(twin::ShownRun& run) {
    for (const auto& [option, value] : run.plan) {
        if (option != "producer-link" && option != "consumer-link") {
            continue;
        }
        const bool sends = option == "producer-link";
        const core::Role role = sends ? core::Role::producer : core::Role::consumer;
        core::BitRate usual;
        std::vector<core::OwnLinks> own;
        config::parse_link_speeds(value, usual, own);
        const auto rates = core::link_rates(sends ? run.producers : run.consumers, usual, own);
        for (twin::ShownRank& rank : run.ranks) {
            if (rank.node.role == role) {
                rank.interface_bits_per_second =
                    static_cast<double>(rates.at(rank.node.index).bits_per_second);
            }
        }
    }
}

twin::ShownRun read_run(const std::string& directory) {
    const std::string name = directory + "/run.json";
    const std::string text =
        config::read_input_file(name, most_record_bytes, "the directory of a run, with its run.json");
    const auto json = files::parse_json_or_discard(text);
    if (json.is_discarded()) {
        throw UsageError(fmt::format("{}: this is not JSON", name));
    }
    try {
        twin::ShownRun run = twin::read_record(json);
        if (run.simulated) {
            read_simulated_interfaces(run);
        }
        for (std::size_t rank = 0; rank < run.ranks.size(); ++rank) {
            const std::filesystem::path file = run.ranks[rank].file;
            if (file.is_absolute() || file.string().find("..") != std::string::npos) {
                throw twin::Unreadable(
                    fmt::format("run.json: the rows are in '{}', outside of the directory", file.string()));
            }
            twin::read_rows(
                run, rank,
                config::read_input_file(directory + "/" + file.string(), most_rows_bytes, "rows of a rank"));
        }
        return run;
    } catch (const twin::Unreadable& error) {
        throw UsageError(fmt::format("{}: {}", directory, error.what()));
    }
}

/// Half a minute's worth of simulations, of which each remedy that suffices takes one more for each
/// condition.
simulation::ExplainBudget budget_for(double simulation_seconds) {
    const double count = 30.0 / (1 + simulation::margin_seeds) / std::max(simulation_seconds, 1e-6);
    return {.simulations = static_cast<std::size_t>(std::clamp(count, 40.0, 400.0)),
            .refines_all = simulation_seconds < 0.05};
}

class Explaining {
  public:
    Explaining(std::string directory, std::uint32_t jobs)
        : directory_(std::move(directory)), jobs_(jobs), run_(read_run(directory_)) {}

    void carry_out() {
        find_twins();
        const auto excess = [](const Twin* twin) { return twin->comparison.worst().excess(); };
        twin_ = *std::min_element(tried_.begin(), tried_.end(),
                                  [&](const Twin& a, const Twin& b) { return excess(&a) < excess(&b); });
        if (!near()) {
            return;
        }
        find_largest_rate(slowest());
        choose();
    }

    [[nodiscard]] bool near() const { return twin_.comparison.near(); }
    [[nodiscard]] ExplainReport report() const {
        return {.directory = directory_,
                .run = &run_,
                .twin = &twin_,
                .tried = &tried_,
                .causes = causes_,
                .either = near() && is_either(),
                .seen_links = seen_links_,
                .largest_rate = rate_,
                .simulations = simulations_};
    }

  private:
    // Whose links were limits, by assumption.
    static constexpr std::size_t of_both = 0;
    static constexpr std::size_t of_producers = 1;
    static constexpr std::size_t of_consumers = 2;
    static constexpr std::size_t of_none = 3;
    static constexpr std::size_t of_either = 4;  ///< as slow as either alone would have to be

    void find_twins() {
        for (const twin::Limits limits :
             {twin::Limits{true, true}, {true, false}, {false, true}, {false, false}}) {
            tried_.push_back(nearest_twin(run_, limits));
        }
        twin::Assumptions either = tried_[of_both].assumptions;
        either.producer_links = tried_[of_producers].assumptions.producer_links;
        either.consumer_links = tried_[of_consumers].assumptions.consumer_links;
        tried_.push_back(twin_with(run_, either));
        for (const Twin& twin : tried_) {
            simulations_ += twin.simulations;
        }
    }

    [[nodiscard]] bool is_near(std::size_t which) const { return tried_[which].comparison.near(); }

    /// Both roles could have been the limit, each alone.
    [[nodiscard]] bool is_either() const {
        return !is_near(of_none) && is_near(of_producers) && is_near(of_consumers);
    }

    /// What holds there, holds with faster links.
    [[nodiscard]] const Twin& slowest() const {
        const bool both_known = is_near(of_producers) && is_near(of_consumers);
        return both_known ? tried_[of_either] : is_near(of_both) ? tried_[of_both] : twin_;
    }

    /// The most useful twin of those that are near, and the causes in it.
    void choose() {
        if (!simulation::needs_explanation(twin_.record)) {
            return;
        }
        if (is_near(of_none)) {
            // Links need not be limits. If a remedy suffices with links as slow as they can be, the better.
            if (is_near(of_either) || is_near(of_both)) {
                take(is_near(of_either) ? of_either : of_both);
            }
            if (!is_single() || is_of_links()) {
                take(of_none);
                seen_links_ = &slowest() == &twin_ ? nullptr : &slowest().assumptions;
            }
        } else if (is_either()) {
            // Whose they were is not known. Where both are as slow, what suffices does so whoever it was.
            take(of_either);
            for (judge::NamedCause& cause : causes_) {
                if (const auto end = cause.text.find("; one of them alone"); end != std::string::npos) {
                    cause.text.replace(end, std::string::npos, ".");
                }
            }
            twin_ = tried_[nearer(of_producers, of_consumers)];
        } else {
            take(is_near(of_producers)   ? of_producers
                 : is_near(of_consumers) ? of_consumers
                 : is_near(of_both)      ? of_both
                                         : of_either);
        }
    }

    [[nodiscard]] std::size_t nearer(std::size_t a, std::size_t b) const {
        return tried_[a].comparison.worst().excess() <= tried_[b].comparison.worst().excess() ? a : b;
    }

    void take(std::size_t which) {
        twin_ = tried_[which];
        causes_ = causes_in(twin_);
    }

    [[nodiscard]] bool is_single() const {
        return !causes_.empty() && !causes_.front().remedy.empty() &&
               causes_.front().together_with == judge::CauseKind::not_told;
    }
    [[nodiscard]] bool is_of_links() const {
        return causes_.front().what == judge::CauseKind::producer_links ||
               causes_.front().what == judge::CauseKind::consumer_links;
    }

    std::vector<judge::NamedCause> causes_in(const Twin& twin) {
        const std::vector<simulation::RunChange> conditions = simulation::margin_conditions();
        const double each = simulation::simulation_seconds(twin.run, twin.record);
        simulation::ProvedCauses proved = simulation::prove_causes(
            twin.run, twin.record, budget_for(each), jobs_,
            {.progress = {}, .interrupted = [] { return host::caught_signal() != 0; }}, conditions);
        if (proved.interrupted) {
            throw Interrupted{host::caught_signal()};
        }
        simulations_ += proved.simulations;
        for (judge::NamedCause& cause : proved.causes) {
            cause.host = cause.where ? host_of(*cause.where) : "";
            if (!cause.suffices) {
                cause.remedy.clear();  // what does not suffice is a cause, and no remedy
            }
        }
        return std::move(proved.causes);
    }

    void find_largest_rate(const Twin& twin) {
        const RateSearch request{.seeds = simulation::margin_seeds, .precision = 0.02, .most = most_rate};
        try {
            const FoundRate found = find_rate(
                request, twin_options(run_, twin::with_margin(twin.assumptions, simulation::margin)));
            if (found.interrupted) {
                throw Interrupted{host::caught_signal()};
            }
            const FindResult& result = found.result;
            if (result.best) {
                rate_.best = result.curve[*result.best];
            }
            if (result.beyond) {
                rate_.beyond = result.curve[*result.beyond];
            }
            for (const FindPoint& point : result.curve) {
                simulations_ += point.seeds;
            }
        } catch (const UsageError& error) {
            rate_.unknown = error.what();
        }
    }

    [[nodiscard]] std::string host_of(core::NodeId node) const {
        const auto rank = std::find_if(run_.ranks.begin(), run_.ranks.end(),
                                       [&](const twin::ShownRank& one) { return one.node == node; });
        return rank == run_.ranks.end() ? std::string{} : rank->host;
    }

    std::string directory_;
    std::uint32_t jobs_;
    twin::ShownRun run_;
    std::vector<Twin> tried_;
    Twin twin_;  ///< that is reported
    /// Links of which nothing better is known than what they carried; nullptr: it does not matter.
    const twin::Assumptions* seen_links_ = nullptr;
    std::vector<judge::NamedCause> causes_;
    LargestRate rate_;
    std::size_t simulations_ = 0;
};

config::OutputForm output_of(const CommandLine& line) {
    config::OutputForm form = config::OutputForm::text;
    for (const config::GivenOption& option : line.options) {
        form = option.value == "json" ? config::OutputForm::json : config::OutputForm::quiet;
    }
    return form;
}

}  // namespace

int explain_command(const CommandLine& line) {
    if (line.name.empty()) {
        throw UsageError("the directory of a run is missing; write weir explain DIR");
    }
    host::install_signal_handlers();
    const auto jobs =
        static_cast<std::uint32_t>(line.jobs.value_or(std::max(1U, std::thread::hardware_concurrency())));
    Explaining explaining(line.name, jobs);
    try {
        explaining.carry_out();
    } catch (const Interrupted& interrupted) {
        fmt::print(stderr, "weir explain: interrupted, nothing was written\n");
        return participant::exit_signal_base + interrupted.signal;
    }
    const ExplainReport report = explaining.report();
    const std::string json = explain_json(report);
    const config::OutputForm form = output_of(line);
    if (form != config::OutputForm::quiet) {
        fmt::print("{}", form == config::OutputForm::json ? json : explain_text(report));
        std::fflush(stdout);
    }
    files::WholeFile file(line.name + "/explain.json");
    file.put(json);
    if (const auto error = file.finish()) {
        fmt::print(stderr, "weir explain: {}\n", error->message());
        return participant::exit_failed;
    }
    return explaining.near() ? participant::exit_ok : participant::exit_requirement;
}

}  // namespace weir::cli
