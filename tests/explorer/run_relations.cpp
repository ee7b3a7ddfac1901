#include "explorer/run_relations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <span>
#include <stdexcept>
#include <string_view>

#include "cli/simulation_setup.hpp"
#include "config/resolve.hpp"
#include "core/policies/policy_table.hpp"
#include "explorer/random_draw.hpp"
#include "files/json.hpp"
#include "show/run_record.hpp"
#include "simulation/simulated_run.hpp"

namespace weir::explorer {

namespace {

using Options = std::vector<config::GivenOption>;

struct Simulated {
    std::string record;
    bool has_clock = false;  ///< of packets
};

Simulated simulated(const Options& options, core::Duration clock_ahead) {
    config::RunRequest request = config::resolve(options, true);
    simulation::SimulatedRun run = cli::simulated_run(request);
    run.network.clock_ahead = clock_ahead;
    nlohmann::ordered_json record = show::to_json(simulation::simulate(run).record);
    record["plan"].erase("fault");  // repeated as it was written
    return {files::json_text(record, 1), run.network.model == core::NetworkModel::packet};
}

/// The first line that differs.
std::string difference(const char* relation, std::string_view expected, std::string_view found) {
    const auto [a, b] = std::mismatch(expected.begin(), expected.end(), found.begin(), found.end());
    if (a == expected.end() && b == found.end()) {
        return {};
    }
    const auto line = [](std::string_view text, std::ptrdiff_t at) {
        const std::size_t place = std::min(static_cast<std::size_t>(at), text.size());
        const std::size_t begin = place == 0 ? 0 : text.rfind('\n', place - 1) + 1;
        return text.substr(begin, std::min(text.find('\n', place), text.size()) - begin);
    };
    return fmt::format("relation `{}`: run.json has '{}' and not '{}'", relation,
                       line(found, b - found.begin()), line(expected, a - expected.begin()));
}

/// 7ms becomes 7000us, and 5000B becomes 5kB.
std::string in_other_units(const std::string& value) {
    static const std::pair<std::regex, const char*> replacements[] = {
        {std::regex(R"(\b(\d+)us\b)"), "$01000ns"},
        {std::regex(R"(\b(\d+)ms\b)"), "$01000us"},
        {std::regex(R"(\b(\d+)000B\b)"), "$01kB"},
        {std::regex(R"(\b(\d+)000b/s\b)"), "$01kb/s"},
    };
    std::string changed = value;
    for (const auto& [pattern, replacement] : replacements) {
        changed = std::regex_replace(changed, pattern, replacement);
    }
    return changed;
}

std::vector<std::string> lines_of(const std::string& file) {
    std::ifstream in(file);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) {
        lines.push_back(line);
    }
    return lines;
}

void write_lines(const std::string& file, const std::vector<std::string>& lines) {
    std::ofstream out(file);
    for (const std::string& line : lines) {
        out << line << '\n';
    }
    if (!out.flush()) {
        throw std::runtime_error(fmt::format("cannot write {}", file));
    }
}

/// Keys of a switch file the other way round, in each of its sections.
void reverse_keys(const std::string& file) {
    std::vector<std::string> lines = lines_of(file);
    auto begin = lines.begin();
    while (begin != lines.end()) {
        const auto end =
            std::find_if(begin, lines.end(), [](const std::string& line) { return line.starts_with("["); });
        std::reverse(begin, end);
        begin = end == lines.end() ? end : end + 1;
    }
    write_lines(file, lines);
}

/// Lines of a matrix the other way round, below that with the names.
void reverse_pairs(const std::string& file) {
    std::vector<std::string> lines = lines_of(file);
    if (!lines.empty()) {
        std::reverse(lines.begin() + 1, lines.end());
    }
    write_lines(file, lines);
}

Options in_other_words(const Options& options) {
    Options changed;
    for (const config::GivenOption& option : options) {
        const bool is_file = option.value.find("/weir-") != std::string::npos;
        changed.push_back({option.name, is_file ? option.value : in_other_units(option.value)});
        constexpr std::string_view matrix = "matrix:";
        if (option.name == "switch" && is_file) {
            reverse_keys(option.value);
        } else if (option.name == "pattern" && option.value.starts_with(matrix)) {
            reverse_pairs(option.value.substr(matrix.size()));
        }
    }
    // Faults keep their order: those of one instant begin in it.
    std::stable_partition(changed.begin(), changed.end(),
                          [](const config::GivenOption& option) { return option.name == "fault"; });
    std::reverse(std::find_if(changed.begin(), changed.end(),
                              [](const config::GivenOption& option) { return option.name != "fault"; }),
                 changed.end());
    return changed;
}

class EventsDraw {
  public:
    EventsDraw(std::uint64_t seed, const std::string& directory)
        : draw_(seed), file_(fmt::format("{}/events-{}.csv", directory, seed)), seed_(seed) {
        producers_ = draw_.number(1, 6);
        consumers_ = draw_.number(1, 6);
        std::int64_t time_us = 0;
        for (std::int64_t left = draw_.number(1, 40); left > 0; --left) {
            const std::int64_t producer = draw_.number(0, producers_ - 1);
            // With which of several at one instant a producer begins follows from the number of consumers
            // (core::TrafficPlan), idle ones included.
            time_us += has_begun(producer, time_us) ? 1 : 0;
            events_.push_back({time_us, producer, draw_.one_in(2) ? 0 : draw_.number(0, consumers_ - 1),
                               draw_.number(1, 200'000)});
            time_us += draw_.number(0, 300);
        }
        network();
    }
    EventsDraw(const EventsDraw&) = delete;
    EventsDraw& operator=(const EventsDraw&) = delete;
    ~EventsDraw() = default;

    std::string broken() {
        const std::string as_it_is = result(0, 0);
        std::string what = difference("later", as_it_is, result(draw_.number(1, 3), 0));
        if (what.empty()) {
            what = difference("idle", as_it_is, result(0, 1));
        }
        if (what.empty()) {
            std::remove(file_.c_str());
        }
        return what;
    }

  private:
    struct Event {
        std::int64_t time_us = 0;
        std::int64_t producer = 0;
        std::int64_t consumer = 0;
        std::int64_t bytes = 0;
    };

    [[nodiscard]] bool has_begun(std::int64_t producer, std::int64_t time_us) const {
        return std::any_of(events_.begin(), events_.end(), [&](const Event& event) {
            return event.producer == producer && event.time_us == time_us;
        });
    }

    void network() {
        draw_.add("policy", "{}", draw_.name_of(core::matching_table));
        draw_.add("slots", "{}", producers_ + 1);  // policy `none` needs one for each producer
        draw_.add("streams", "{}", draw_.number(1, 4));
        draw_.add("scheduler-time", "0ns");
        draw_.add("producer-link", "{}Gb/s", draw_.number(1, 10));
        draw_.add("consumer-link", "{}Gb/s", draw_.number(1, 10));
        draw_.add("seed", "{}", seed_);
        if (draw_.one_in(3)) {
            return;
        }
        draw_.add("network", "packet");
        draw_.add("control-network", "separate");
        draw_.add("framing", "{}", draw_.one_of({"roce", "roce", "tcp"}));
        draw_.add("pfc", "{}", draw_.one_of({"on", "off"}));
        draw_.add("ecn", "{}", draw_.one_of({"on", "off"}));
        draw_.add("loss-recovery", "{}", draw_.one_of({"go-back-n", "selective"}));
        // With as many producers as consumers they would be placed as workers, and with one more in rows.
        draw_.add("switch-set", "placement.kind=rows");
        draw_.add("switch-set", "switch.headroom=20kB");
        draw_.add("switch-set", "switch.egress-threshold={}kB", draw_.number(50, 500));
        draw_.add("switch-set", "switch.ingress-threshold={}kB", draw_.number(50, 500));
    }

    /// What was received, and how long all took.
    std::string result(std::int64_t later_s, std::int64_t more) {
        std::ofstream out(file_);
        out << "time_us,producer,consumer,bytes\n";
        for (const Event& event : events_) {
            out << fmt::format("{},{},{},{}\n", event.time_us + later_s * 1'000'000, event.producer,
                               event.consumer, event.bytes);
        }
        if (!out.flush()) {
            throw std::runtime_error(fmt::format("cannot write {}", file_));
        }
        Options options = RandomDraw(draw_).options();
        const auto add = [&options](const char* name, std::string value) {
            options.push_back({name, std::move(value)});
        };
        add("pattern", "trace:" + file_);
        // With `none` consumers share out their slots among the producers, idle ones too.
        add("producers", fmt::format("{}", producers_ + (draw_.value("policy") == "none" ? 0 : more)));
        add("consumers", fmt::format("{}", consumers_ + more));
        add("interval", fmt::format("{}s", later_s + 1));
        add("duration", fmt::format("{}s", later_s + 1));
        add("warmup", "20ms");
        config::RunRequest request = config::resolve(options, true);
        nlohmann::ordered_json record =
            show::to_json(simulation::simulate(cli::simulated_run(request)).record);
        record["totals"].erase("events_without_credit");  // a consumer more has free slots
        return files::json_text({{"latency", record.at("latency")}, {"totals", record.at("totals")}}, 1);
    }

    RandomDraw draw_;
    std::string file_;
    std::uint64_t seed_;
    std::int64_t producers_ = 1;
    std::int64_t consumers_ = 1;
    std::vector<Event> events_;
};

}  // namespace

std::string broken_relation_of(const Options& options) {
    const Simulated as_it_is = simulated(options, {});
    if (as_it_is.has_clock) {
        // A whole number of the steps in which queues are integrated.
        const core::Duration later = core::Duration::milliseconds(1024);
        if (std::string what = difference("clock", as_it_is.record, simulated(options, later).record);
            !what.empty()) {
            return what;
        }
    }
    return difference("words", as_it_is.record, simulated(in_other_words(options), {}).record);
}

std::string broken_relation_of_events(std::uint64_t seed, const std::string& directory) {
    return EventsDraw(seed, directory).broken();
}

}  // namespace weir::explorer
