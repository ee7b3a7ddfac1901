#include "explorer/explore.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <thread>

#include "cli/simulation_setup.hpp"
#include "config/option_table.hpp"
#include "config/resolve.hpp"
#include "config/usage_error.hpp"
#include "core/assertion.hpp"
#include "explorer/network_relations.hpp"
#include "explorer/random_scenario.hpp"
#include "explorer/run_relations.hpp"
#include "explorer/verdict_check.hpp"
#include "host/signals.hpp"
#include "participant/exit_status.hpp"
#include "simulation/simulated_run.hpp"

namespace weir::explorer {

TrialResult simulate_quietly(const Options& options) {
    config::RunRequest request;
    simulation::SimulatedRun run;
    try {
        request = config::resolve(options, true);
        run = cli::simulated_run(request);
    } catch (const config::UsageError& error) {
        return {fmt::format("refused: {}", error.what()), 0};
    }
    const simulation::SimulationResult result = simulation::simulate(run);
    const show::RunRecord& record = result.record;
    const std::uint64_t events = show::totals_of(record).received.events;
    using Kind = simulation::SimulationEnd::Kind;
    if (result.end.kind == Kind::node_died) {
        const auto died_as_asked = [&](const simulation::Disturbance& disturbance) {
            return disturbance.kind == simulation::Disturbance::Kind::die &&
                   disturbance.node == result.end.node;
        };
        const bool asked = std::any_of(run.disturbances.begin(), run.disturbances.end(), died_as_asked);
        return {asked ? "" : result.end.what, events};
    }
    if (result.end.kind != Kind::regular) {
        return {result.end.what, events};
    }
    if (!record.ledger_differences.empty()) {
        return {record.ledger_differences.front(), events};
    }
    if (record.status != show::RunStatus::complete) {
        return {record.failure ? record.failure->what : "the run is not complete", events};
    }
    return {explorer::contradiction_in(record), events};
}

namespace {

/// Of a scenario that is refused: "refused: --slots"; else empty.
std::string_view refused_option(std::string_view what) {
    constexpr std::string_view begin = "refused: ";
    return what.starts_with(begin) ? what.substr(0, what.find(':', begin.size())) : std::string_view{};
}

/// Counts that can be smaller.
constexpr std::array<std::string_view, 5> counts{"producers", "consumers", "slots", "streams", "window"};

thread_local std::uint64_t explored_seed = 0;

void report_assertion(const char* expression, const char* file, int line) {
    fmt::print(stderr, "explorer: internal error: {} does not hold ({}:{}); explorer 1 --seed {} shows it\n",
               expression, file, line, explored_seed);
}

class Shrinker {
  public:
    Shrinker(Options options, std::string what, const Trial& trial, std::uint32_t most_trials)
        : best_{std::move(options), std::move(what), 0}, trial_(trial), most_trials_(most_trials) {}

    Shrunk work() {
        while (leave_out() || make_smaller()) {
        }
        return std::move(best_);
    }

  private:
    bool still_fails(const Options& candidate) {
        if (best_.tried >= most_trials_) {
            return false;
        }
        ++best_.tried;
        const TrialResult result = trial_(candidate);
        // Another failure is a failure too, unless the smaller scenario is one that options cannot express.
        if (result.failure.empty() || refused_option(result.failure) != refused_option(best_.what)) {
            return false;
        }
        best_.options = candidate;
        best_.what = result.failure;
        return true;
    }

    bool leave_out() {
        for (std::size_t index = 0; index < best_.options.size(); ++index) {
            if (config::find_option(best_.options[index].name)->is(config::kept_when_shrunk)) {
                continue;
            }
            Options candidate = best_.options;
            candidate.erase(candidate.begin() + static_cast<std::ptrdiff_t>(index));
            if (still_fails(candidate)) {
                return true;
            }
        }
        return false;
    }

    bool make_smaller() {
        for (std::size_t index = 0; index < best_.options.size(); ++index) {
            const std::string& value = best_.options[index].value;
            std::uint64_t number = 0;
            const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
            const bool counts_something =
                std::find(counts.begin(), counts.end(), best_.options[index].name) != counts.end();
            if (!counts_something || error != std::errc{} || number <= 1 ||
                end != value.data() + value.size()) {
                continue;
            }
            for (const std::uint64_t smaller : {std::uint64_t{1}, number / 2, number - 1}) {
                Options candidate = best_.options;
                candidate[index].value = fmt::format("{}", smaller);
                if (smaller >= 1 && smaller < number && still_fails(candidate)) {
                    return true;
                }
            }
        }
        return false;
    }

    Shrunk best_;
    const Trial& trial_;
    std::uint32_t most_trials_;
};

/// Where scenarios have their traces. It goes with them; those of one that failed are needed to replay it.
class TraceDirectory {
  public:
    TraceDirectory() : path_(std::filesystem::temp_directory_path() / "weir-explore-XXXXXX") {
        if (::mkdtemp(path_.data()) == nullptr) {
            throw std::runtime_error(
                fmt::format("cannot make the directory {}: {}", path_, std::strerror(errno)));
        }
    }
    TraceDirectory(const TraceDirectory&) = delete;
    TraceDirectory& operator=(const TraceDirectory&) = delete;
    ~TraceDirectory() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);  // only if it is empty
    }
    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    std::string path_;
};

/// Files of a scenario have its seed in their names: switch-17.toml, traffic-17-a.csv.
void remove_files(const std::string& directory, std::uint64_t seed) {
    const std::string with_seed = fmt::format("-{}", seed);
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
        const std::string name = entry.path().stem().string();
        const std::size_t found = name.find(with_seed);
        const std::size_t behind = found + with_seed.size();
        if (found != std::string::npos && (behind == name.size() || name[behind] == '-')) {
            std::filesystem::remove(entry.path(), ignored);
        }
    }
}

class Exploration {
  public:
    Exploration(const ExploreRequest& request, const Trial& trial) : request_(request), trial_(trial) {}

    int run() {
        core::set_assertion_handler(report_assertion);
        host::install_signal_handlers();
        const TraceDirectory traces;
        traces_ = traces.path();
        std::vector<std::thread> workers;
        workers.reserve(request_.jobs);
        for (std::uint32_t job = 0; job < request_.jobs; ++job) {
            workers.emplace_back([this] { work(); });
        }
        show_progress();
        for (std::thread& worker : workers) {
            worker.join();
        }
        clear_progress();
        if (failed_seed_ != none) {
            return report_failure();
        }
        const int signal = host::caught_signal();
        if (!request_.quiet) {
            fmt::print(
                "explorer: {} random scenarios from seed {} on, {} events delivered, all rules held{}\n",
                done_.load(), request_.first_seed, events_.load(), signal != 0 ? " (interrupted)" : "");
        }
        return signal != 0 ? participant::exit_signal_base + signal : participant::exit_ok;
    }

  private:
    static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

    void work() {
        for (;;) {
            const std::uint64_t index = next_.fetch_add(1);
            if (index >= request_.scenarios || stop_.load() || host::caught_signal() != 0) {
                break;
            }
            const std::uint64_t seed = request_.first_seed + index;
            explored_seed = seed;
            const Options options = random_scenario(seed, traces_);
            const TrialResult result = trial_(options);
            const std::string broken = result.failure.empty() ? broken_relation(seed, options) : "";
            if (result.failure.empty()) {
                remove_files(traces_, seed);
            }
            events_.fetch_add(result.events);
            if (!result.failure.empty() || !broken.empty()) {
                note_failure(seed, broken.empty() ? result.failure : broken, !broken.empty());
            }
            done_.fetch_add(1);
        }
        working_.fetch_sub(1);
    }

    /// Whole simulations, which take three times as long as the scenario itself, only now and then.
    [[nodiscard]] std::string broken_relation(std::uint64_t seed, const Options& options) const {
        std::string broken = explorer::broken_relation(seed);
        if (broken.empty() && seed % request_.related_each == 0) {
            broken = broken_relation_of_events(seed, traces_);
            return broken.empty() ? broken_relation_of(options) : broken;
        }
        return broken;
    }

    void note_failure(std::uint64_t seed, const std::string& what, bool of_relation) {
        const std::lock_guard lock(mutex_);
        // The lowest seed of several failures at a time, so that jobs do not matter.
        if (seed < failed_seed_) {
            failed_seed_ = seed;
            what_ = what;
            of_relation_ = of_relation;
        }
        stop_ = true;
    }

    void show_progress() {
        using Clock = std::chrono::steady_clock;
        const bool terminal = isatty(STDERR_FILENO) != 0;
        const Clock::time_point start = Clock::now();
        Clock::time_point shown = start;
        while (working_.load() > 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            const auto period = terminal ? std::chrono::seconds(1) : std::chrono::seconds(30);
            if (request_.quiet || Clock::now() - shown < period) {
                continue;
            }
            shown = Clock::now();
            const double seconds = std::chrono::duration<double>(shown - start).count();
            const auto done = static_cast<double>(done_.load());
            const auto all = static_cast<double>(request_.scenarios);
            fmt::print(stderr, "{}explorer: {} of {} scenarios, {:.0f} s left{}", terminal ? "\r" : "",
                       done_.load(), request_.scenarios, done > 0 ? (all - done) * seconds / done : 0.0,
                       terminal ? "\x1b[K" : "\n");
            std::fflush(stderr);
            written_ = terminal;
        }
    }

    void clear_progress() const {
        if (written_) {
            fmt::print(stderr, "\r\x1b[K");
        }
    }

    int report_failure() {
        explored_seed = failed_seed_;
        fmt::print(stderr, "explorer: seed {}: {}\n", failed_seed_, what_);
        if (of_relation_) {
            fmt::print(stderr, "replay it:\n  explorer 1 --seed {}\n", failed_seed_);
            return participant::exit_failed;
        }
        const Options options = random_scenario(failed_seed_, traces_);
        fmt::print(stderr, "replay it:\n  {}\n", command_of(options));
        const Shrunk shrunk = shrink(options, what_, trial_);
        fmt::print(stderr, "reduced ({} tried): {}\n  {}\n", shrunk.tried, shrunk.what,
                   command_of(shrunk.options));
        return participant::exit_failed;
    }

    const ExploreRequest& request_;
    const Trial& trial_;
    std::atomic<std::uint64_t> next_{0};
    std::atomic<std::uint64_t> done_{0};
    std::atomic<std::uint64_t> events_{0};
    std::atomic<std::uint32_t> working_{request_.jobs};
    std::atomic<bool> stop_{false};
    std::mutex mutex_;
    std::string traces_;  ///< directory
    std::uint64_t failed_seed_ = none;
    std::string what_;
    bool of_relation_ = false;  ///< of more than one simulation
    bool written_ = false;
};

}  // namespace

Shrunk shrink(Options options, std::string what, const Trial& trial, std::uint32_t most_trials) {
    return Shrinker(std::move(options), std::move(what), trial, most_trials).work();
}

int explore(const ExploreRequest& request, const Trial& trial) {
    return Exploration(request, trial).run();
}

}  // namespace weir::explorer
