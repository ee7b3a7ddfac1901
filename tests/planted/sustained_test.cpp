// Whether simulated runs are called sustained exactly if their links carry what is generated: closed forms
// for each kind of generation, and random plans whose load is known.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "cli/simulation_setup.hpp"
#include "config/resolve.hpp"
#include "core/random.hpp"
#include "explorer/verdict_check.hpp"
#include "simulation/simulated_run.hpp"

namespace sustained_test_file {

using namespace weir;
using Options = std::vector<config::GivenOption>;

namespace {

constexpr double wire_bits_per_second = 1e9;  // of the link that limits

show::RunRecord simulated(const Options& options) {
    config::RunRequest request = config::resolve(options, true);
    const simulation::SimulationResult result = simulation::simulate(cli::simulated_run(request));
    CHECK(result.end.kind == simulation::SimulationEnd::Kind::regular);
    CHECK(explorer::contradiction_in(result.record).empty());
    return result.record;
}

/// Payload per second that a link of the wire speed carries with the default framing.
double payload_bits_per_second() {
    config::RunRequest request = config::resolve({}, true);
    return static_cast<double>(
        core::payload_rate(request.network, {static_cast<std::int64_t>(wire_bits_per_second)})
            .bits_per_second);
}

/// A file, gone when the test is.
struct TraceFile {
    std::string path =
        std::filesystem::temp_directory_path() / fmt::format("weir-sustained-{}.csv", ::getpid());
    TraceFile() = default;
    TraceFile(const TraceFile&) = delete;
    TraceFile& operator=(const TraceFile&) = delete;
    ~TraceFile() { std::filesystem::remove(path); }

    /// Two producers send so many bytes in each second: most of it in the first half, the last at its end.
    void write(double bytes) const {
        std::ofstream file(path);
        file << "time_ms,producer,consumer,bytes\n";
        for (int transfer = 0; transfer < 10; ++transfer) {
            const double share = transfer < 5 ? 0.15 : 0.05;
            for (int producer = 0; producer < 2; ++producer) {
                file << fmt::format("{},{},0,{:.0f}\n", transfer * 100 + producer * 3, producer,
                                    bytes * share);
            }
        }
    }
};

struct Case {
    std::string generation;
    int duration_s;
    int buffered_sets;
    double load;
};

Options options_of(const Case& wanted, const TraceFile& trace) {
    const double rate = wanted.load * payload_bits_per_second() / 2;
    const double set_bytes = rate / 8;
    // So many that a growth of 1 % of the rate is more than two events in this time.
    const double events = wanted.duration_s <= 2 ? 500 : wanted.duration_s <= 5 ? 200 : 80;
    Options options{{"consumers", "1"},
                    {"producer-link", "10Gb/s"},
                    {"consumer-link", "1Gb/s"},
                    {"event-size", fmt::format("{:.0f}B", set_bytes / events)},
                    {"buffer", fmt::format("{:.0f}B", set_bytes * wanted.buffered_sets + 20)},
                    {"warmup", "1s"},
                    {"duration", fmt::format("{}s", wanted.duration_s)}};
    if (wanted.generation == "trace") {
        trace.write(set_bytes);
        options.push_back({"pattern", "trace:" + trace.path});
        options.push_back({"interval", "1s"});
    } else {
        options.push_back({"producers", "2"});
        options.push_back({"rate", fmt::format("{:.0f}b/s", rate)});
        options.push_back({"generation", wanted.generation});
    }
    return options;
}

/// The verdict on the load of a run.
struct Said {
    bool judged = false;
    bool sustained = false;
    double growth_share = 0;     ///< of the rate
    double tolerance_share = 0;  ///< of the rate
    std::string text;
};

Said said_of(const show::RunRecord& record) {
    const double generated =
        static_cast<double>(record.plan.rate.bits_per_second) / 8 * record.plan.producers;
    return {
        .judged = record.verdict.judged,
        .sustained = record.verdict.judged && record.verdict.sustained,
        .growth_share = record.verdict.growth_bytes_per_second.value_or(0) / generated,
        .tolerance_share = record.verdict.growth_tolerance_bytes_per_second.value_or(generated) / generated,
        .text = record.verdict.text};
}

enum class Limit { links, processing };

/// A run of a random plan at this share of what its consumers' links carry, or of what they can process.
Options random_plan(core::Random& random, Limit limit, double load) {
    const auto up_to = [&](std::uint64_t most) { return random.below(most) + 1; };
    const std::uint64_t producers = up_to(6);
    const std::uint64_t consumers = up_to(4);
    // A third of the links, where processing limits.
    const double rate = (limit == Limit::links ? load : 0.3) * payload_bits_per_second() *
                        static_cast<double>(consumers) / static_cast<double>(producers);
    const auto events = static_cast<double>(20 * up_to(10));
    const bool sets = random.below(2) == 0;
    Options options{{"producers", std::to_string(producers)},
                    {"consumers", std::to_string(consumers)},
                    {"producer-link", "10Gb/s"},
                    {"consumer-link", "1Gb/s"},
                    {"rate", fmt::format("{:.0f}b/s", rate)},
                    {"event-size", fmt::format("{:.0f}B", rate / 8 / events)},
                    {"generation", sets ? "sets" : "steady"},
                    {"buffer", fmt::format("{:.0f}B", rate / 8 * static_cast<double>(2 + random.below(99)))},
                    {"slots", std::to_string(random.below(3) == 0 ? 100 * up_to(5) : 3 + up_to(5))},
                    {"streams", "16"},
                    {"warmup", fmt::format("{}s", random.below(3))},
                    {"duration", fmt::format("{}s", 1 + up_to(14))},
                    {"seed", std::to_string(up_to(1000))}};
    // A fifth of what a consumer can do, where the link limits.
    const double busy_share = limit == Limit::links ? 0.2 : load;
    const double busy_s =
        busy_share / (events * static_cast<double>(producers) / static_cast<double>(consumers));
    if (limit == Limit::processing || random.below(3) > 0) {
        const std::string mean = fmt::format("{:.0f}us", busy_s * 1e6);
        options.push_back({"busy", random.below(2) == 0 ? "exponential:" + mean
                                                        : fmt::format("poisson:{0},quantum={0}", mean)});
    }
    return options;
}

}  // namespace

TEST_CASE(
    "the limit of what is sustained is that of the link, within 1 %, however long the run and its buffer") {
    constexpr std::array durations_s{1, 2, 5, 20, 30};
    const TraceFile trace;
    for (const std::string generation : {"sets", "steady", "trace"}) {
        for (const int duration_s : durations_s) {
            for (const int buffered_sets : {1, 2, 100}) {
                for (const double load : {0.99, 1.01}) {
                    const Case wanted{generation, duration_s, buffered_sets, load};
                    const Said said = said_of(simulated(options_of(wanted, trace)));
                    CAPTURE(generation, duration_s, buffered_sets, load, said.growth_share,
                            said.tolerance_share, said.text);
                    CHECK(said.sustained == (load < 1));
                }
            }
        }
    }
}

TEST_CASE(
    "no random plan below 97 % of its limit is said to fill buffers, and none above 103 % to be sustained") {
    constexpr int plans = 300;
    core::Random random(40, 1);
    int untold = 0;
    for (int plan = 0; plan < plans; ++plan) {
        const bool over = plan % 2 == 1;
        const Limit limit = plan % 4 < 2 ? Limit::links : Limit::processing;
        const double load = over ? 1.03 + 0.4 * random.uniform() : 0.3 + 0.67 * random.uniform();
        const Options options = random_plan(random, limit, load);
        const Said said = said_of(simulated(options));
        std::string shown;
        for (const config::GivenOption& option : options) {
            shown += fmt::format("--{} {} ", option.name, option.value);
        }
        CAPTURE(plan, load, shown, said.growth_share, said.tolerance_share, said.text);
        // What it reports as not shown is not wrong. The tolerance is some three standard deviations.
        const double growth_share = 1 - 1 / load;
        const bool told = said.judged && (!over || 1.5 * said.tolerance_share < growth_share);
        untold += told ? 0 : 1;
        // The load of processing follows from the plan, also where the run drew short times.
        if (told || limit == Limit::processing) {
            CHECK(said.sustained == !over);
        }
        CHECK_FALSE((over && said.sustained && said.tolerance_share > 0.1));
    }
    CHECK(untold < plans / 5);
}

TEST_CASE("consumers that cannot keep up are found before their slots are full, and no others") {
    const auto said = [](const Options& more, double busy_ms) {
        Options options{
            {"producers", "4"}, {"consumers", "8"}, {"rate", "400Mb/s"},         {"event-size", "1MB"},
            {"warmup", "1s"},   {"slots", "200"},   {"producer-link", "10Gb/s"}, {"consumer-link", "10Gb/s"},
            {"duration", "6s"}};
        options.insert(options.end(), more.begin(), more.end());
        options.push_back(
            {"busy", fmt::format("{}:{:.3f}ms", more.empty() ? "fixed" : "exponential", busy_ms)});
        return said_of(simulated(options));
    };
    // 200 events per second on 8 consumers; of fragments 50 events.
    const std::vector<std::pair<Options, double>> cases{{{}, 40},
                                                        {{{"generation", "steady"}}, 40},
                                                        {{{"policy", "round-robin"}}, 40},
                                                        {{{"policy", "none"}}, 40},
                                                        {{{"initiation", "pull"}}, 40},
                                                        {{{"pattern", "build"}}, 160}};
    for (const auto& [more, limit_ms] : cases) {
        for (const double load : {0.9, 0.97, 1.01, 1.1, 2.0}) {
            const Said found = said(more, load * limit_ms);
            CAPTURE(more.empty() ? "" : more[0].value, load, found.text);
            CHECK(found.sustained == (load < 1));
        }
    }
}

}  // namespace sustained_test_file
