#include "cli/random_scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/random.hpp"

namespace weir::cli {

namespace {

using config::GivenOption;

class Draw {
  public:
    explicit Draw(std::uint64_t seed)
        : seed_(seed), random_(seed, core::random_stream(core::RandomPurpose::exploration, 0)) {}

    std::vector<GivenOption> scenario() {
        layout();
        data();
        transfer();
        busy();
        times();
        network();
        faults();
        building();
        shaping_and_datagrams();
        results();
        add("seed", "{}", seed_);
        return std::move(options_);
    }

  private:
    /// A whole number from `least` to `most`.
    std::int64_t number(std::int64_t least, std::int64_t most) {
        return least + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(most - least + 1)));
    }
    bool one_in(std::uint64_t n) { return random_.below(n) == 0; }
    template <std::size_t size>
    std::string_view one_of(const std::array<std::string_view, size>& words) {
        return words[random_.below(size)];
    }
    template <typename... Values>
    void add(const char* name, fmt::format_string<const Values&...> form, const Values&... values) {
        options_.push_back({name, fmt::format(form, values...)});
    }

    void layout() {
        producers_ = number(1, one_in(8) ? 20 : 6);
        consumers_ = number(1, one_in(8) ? 30 : 8);
        add("producers", "{}", producers_);
        add("consumers", "{}", consumers_);
        constexpr std::array<std::string_view, 5> policies{"balanced", "token", "round-robin", "random",
                                                           "none"};
        policy_ = one_of(policies);
        add("policy", "{}", policy_);
    }

    void data() {
        const std::int64_t set = number(2000, 200000);
        interval_us_ = number(2000, 100000);
        // Rounded up, so that a set is never less than that.
        add("rate", "{}b/s", (set * 8 * 1000000 + interval_us_ - 1) / interval_us_);
        add("interval", "{}us", interval_us_);
        constexpr std::array<std::string_view, 3> generations{"sets", "steady", "saturate"};
        const std::string_view generation = one_of(generations);
        add("generation", "{}", generation);
        event_ = std::max<std::int64_t>(64, set / number(1, 9));
        largest_ = event_;
        switch (number(0, 2)) {
            case 0:
                add("event-size", "{}B", event_);
                break;
            case 1:
                add("event-size", "lognormal:{}B,deviation={}B", event_, event_ / 2);
                largest_ = event_ * 2;
                break;
            default:
                add("event-size", "normal:{}B,deviation={}B", event_, event_ / 3);
                largest_ = event_ * 2;
        }
        slot_ = std::min(largest_ * number(1, 2), std::max(set, event_));
        slot_ = std::max(slot_, event_);
        add("slot-size", "{}B", slot_);
        add("buffer", "{}B", std::max(set, slot_) * number(1, 3));
        add("overflow", "{}", one_in(3) ? "drop" : "count");
        // Enough bits for the network to matter, in both directions.
        bits_per_second_ = static_cast<double>(set) * 8e6 / static_cast<double>(interval_us_);
    }

    void transfer() {
        chunk_ = std::max<std::int64_t>(64, slot_ / number(1, 12));
        add("chunk-size", "{}B", chunk_);
        add("window", "{}", number(1, 6));
        slots_ = number(1, 6);
        add("slots", "{}", slots_);
        add("streams", "{}", number(1, 5));
    }

    void busy() {
        if (one_in(2)) {
            return;
        }
        // Around what the consumers can bear, on both sides.
        const std::int64_t mean_us = std::max<std::int64_t>(1, interval_us_ / number(1, 20));
        switch (number(0, 4)) {
            case 0:
                add("busy", "fixed:{}us", mean_us);
                break;
            case 1:
                add("busy", "exponential:{}us", mean_us);
                break;
            case 2:
                add("busy", "lognormal:{}us,deviation={}us", mean_us, mean_us);
                break;
            case 3:
                add("busy", "pareto:{}us,shape=2.5", mean_us);
                break;
            default:
                add("busy", "poisson:{}us,quantum={}us", mean_us,
                    std::max<std::int64_t>(1, mean_us / number(1, 5)));
        }
        if (one_in(3)) {
            add("busy-consumers", "{}", number(0, consumers_ - 1));
        }
    }

    void results() {
        if (policy_ == "none" || one_in(2)) {
            return;
        }
        if (one_in(2)) {
            add("result-size", "{}B", number(1, std::min<std::int64_t>(2 * event_, 100000)));
        } else {
            add("result-size", "mixture:{}B,large={}B,every={}", number(1, 100),
                number(1, std::min<std::int64_t>(3 * event_, 150000)), number(1, 10));
        }
    }

    void times() {
        duration_us_ = interval_us_ * number(1, 6);
        warmup_us_ = interval_us_ * number(0, 2);
        add("duration", "{}us", duration_us_);
        add("warmup", "{}us", warmup_us_);
        add("drain", "{}ms", one_in(2) ? number(0, 20) : number(200, 2000));
    }

    void network() {
        const auto link = [&] {
            return static_cast<std::int64_t>(bits_per_second_ * static_cast<double>(number(6, 60)) / 10);
        };
        add("producer-link", "{}b/s", std::max<std::int64_t>(1000, link()));
        add("consumer-link", "{}b/s",
            std::max<std::int64_t>(1000, link() * std::max<std::int64_t>(1, producers_ / consumers_)));
        add("latency", "{}ns", one_in(4) ? number(0, 5000000) : number(0, 20000));
        add("scheduler-time", "{}ns", one_in(4) ? number(0, 200000) : number(0, 2000));
    }

    void faults() {
        if (one_in(2)) {
            return;
        }
        for (std::int64_t left = number(1, 3); left > 0; --left) {
            const std::int64_t at_us = number(0, duration_us_);
            const std::string consumer = fmt::format("consumer={}", number(0, consumers_ - 1));
            const std::string producer = fmt::format("producer={}", number(0, producers_ - 1));
            const std::string anybody = one_in(3) ? "scheduler" : one_in(2) ? consumer : producer;
            switch (number(0, 11)) {
                case 0:
                case 1:
                case 2:
                    add("fault", "pause:{},at={}us,for={}us", anybody, at_us, number(1, 2 * interval_us_));
                    break;
                case 3:
                case 4:
                    add("fault", "slow:{},at={}us,factor={}", consumer, at_us, number(2, 20));
                    break;
                case 5:
                    add("fault", "slow:scheduler,at={}us,for={}us,factor={}", at_us,
                        number(1, 2 * interval_us_), number(2, 100));
                    break;
                case 6:
                case 7:
                case 8:
                    add("fault", "degrade:{},at={}us,for={}us,factor=0.{}", one_in(2) ? consumer : producer,
                        at_us, number(1, 3 * interval_us_), number(0, 9));
                    break;
                case 9:
                case 10:
                    add("fault", "delay:extra={}us,at={}us,for={}us", number(1, interval_us_), at_us,
                        number(1, 2 * interval_us_));
                    break;
                default:
                    add("fault", "die:{},at={}us", one_in(2) ? consumer : producer, at_us);
            }
        }
    }

    void shaping_and_datagrams() {
        if (one_in(5)) {
            // Around the rate, on both sides.
            add("shaping", "bucket:{}b/s,burst={}B",
                static_cast<std::int64_t>(bits_per_second_ * static_cast<double>(number(5, 30)) / 10),
                number(64, largest_));
        } else if (one_in(6)) {
            add("shaping", "in-step:{}us,tick={}us", number(1, 5) * 20, 12000 * number(1, 3));
        }
        constexpr std::int64_t most_of_a_datagram = 65507;
        if (!one_in(5) || chunk_ > most_of_a_datagram) {
            return;
        }
        add("transport", "datagram");
        add("port-buffer", "{}B", number(1000, 1000 + 2 * slot_));
        add("fragment-timeout", "{}us", number(100, 20000));
        add("reasks", "{}", one_in(2) ? 0 : number(1, 3));
    }

    void building() {
        if (one_in(4)) {
            add("order", "barrel");
        }
        if (one_in(4)) {
            const std::int64_t high = number(1, slots_);
            add("high-water", "{}", high);
            add("low-water", "{}", number(0, high - 1));
        }
        if (policy_ == "none" || one_in(2)) {
            return;
        }
        if (one_in(2)) {
            add("initiation", "pull");
            add("requests", "{}", number(1, 20));
        }
        if (one_in(2)) {
            add("pattern", "build");
            if (one_in(3)) {
                add("outstanding", "{}", number(1, 10));
            }
        }
    }

    std::uint64_t seed_;
    core::Random random_;
    std::vector<GivenOption> options_;
    std::int64_t producers_ = 1;
    std::int64_t consumers_ = 1;
    std::int64_t interval_us_ = 1;
    std::int64_t duration_us_ = 1;
    std::int64_t warmup_us_ = 0;
    std::int64_t event_ = 1;
    std::int64_t largest_ = 1;
    std::int64_t slot_ = 1;
    std::int64_t slots_ = 1;
    std::int64_t chunk_ = 1;
    std::string_view policy_;
    double bits_per_second_ = 1;
};

}  // namespace

std::vector<GivenOption> random_scenario(std::uint64_t seed) {
    return Draw(seed).scenario();
}

std::string command_of(const std::vector<GivenOption>& options) {
    std::string command = "weir simulate";
    for (const GivenOption& option : options) {
        const bool plain = option.value.find_first_of(" '\"$;&|<>()*?[]") == std::string::npos;
        command += fmt::format(" --{} {}{}{}", option.name, plain ? "" : "'", option.value, plain ? "" : "'");
    }
    return command;
}

}  // namespace weir::cli
