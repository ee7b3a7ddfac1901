#include "explorer/random_scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include "config/resolve.hpp"
#include "core/policies/policy_table.hpp"
#include "explorer/random_draw.hpp"

namespace weir::explorer {

namespace {

class ScenarioDraw {
  public:
    ScenarioDraw(std::uint64_t seed, const std::string& traces) : seed_(seed), traces_(traces), draw_(seed) {}

    std::vector<config::GivenOption> scenario() {
        if (draw_.one_in(200)) {
            named();
        } else {
            layout();
            data();
            sizes();
            building();
            transfer();
            shaping();
            busy();
            results();
            times();
            network();
        }
        draw_faults(draw_, range_);
        judgement();
        draw_.add("seed", "{}", seed_);
        // Last, so that what is drawn for a seed otherwise does not depend on it.
        if (!named_) {
            draw_packets(draw_, lossy_, port_buffer_ >= 20000);
        }
        if (draw_.one_in(10)) {
            draw_.add("time-scale", "{}", draw_.one_of({"1/2", "0.37", "9/10", "1/3"}));
        }
        draw_switch_file(draw_, range_, fmt::format("{}/switch-{}.toml", traces_, seed_));
        phases();
        if (!named_ && !draw_traffic(draw_, range_, set_, fmt::format("{}/traffic-{}", traces_, seed_))) {
            draw_on_failure(draw_, range_);
        }
        if (draw_.one_in(4)) {
            draw_.add("row-interval", "{}ms", draw_.one_of({"10", "20", "100", "250", "1000"}));
        }
        draw_network_details();
        if (!named_ && !lossy_) {
            draw_placement(draw_, fmt::format("{}/placed-{}.toml", traces_, seed_));
        }
        draw_network_faults(draw_, range_);
        return std::move(draw_).options();
    }

  private:
    /// One of the scenarios that weir has, with fewer nodes and shorter.
    void named() {
        named_ = true;
        const std::vector<std::string> names = config::scenario_names();
        draw_.add(
            "scenario", "{}",
            names[static_cast<std::size_t>(draw_.number(0, static_cast<std::int64_t>(names.size()) - 1))]);
        range_.producers = draw_.number(1, 6);
        range_.consumers = draw_.number(1, 8);
        draw_.add("producers", "{}", range_.producers);
        draw_.add("consumers", "{}", range_.consumers);
        range_.duration_us = draw_.number(1000000, 1300000);
        range_.interval_us = 100000;
        draw_.add("duration", "{}us", range_.duration_us);
        draw_.add("warmup", "{}ms", draw_.number(0, 200));
        draw_.add("drain", "{}ms", draw_.number(0, 3000));
        draw_.add("scale", "{}", draw_.one_of({"1/10", "1/100", "0.03"}));
        draw_.add("busy-consumers", "{}", "0");
        draw_.add("busy", "fixed:{}us", draw_.number(1, 100000));
    }

    void layout() {
        large_ = draw_.one_in(300);
        range_.producers = large_ ? draw_.number(257, 320) : draw_.number(1, draw_.one_in(8) ? 20 : 6);
        range_.consumers = large_ ? draw_.number(1, 3) : draw_.number(1, draw_.one_in(8) ? 30 : 8);
        nodes("producer", range_.producers);
        nodes("consumer", range_.consumers);
        if (draw_.one_in(8)) {
            draw_.add("scheduler-rank", "{}", draw_.one_of({"first", "last"}));
        } else if (draw_.one_in(8)) {
            draw_.add("scheduler-rank", "{}", draw_.number(0, range_.producers + range_.consumers));
        } else if (draw_.one_in(8)) {
            draw_.add("scheduler-host", "n1");
        }
        policy_ = draw_.name_of(core::policy_table);
        if (large_ && policy_ == "none") {
            policy_ = "balanced";
        }
        draw_.add("policy", "{}", policy_);
    }

    /// By number, or as hosts with so many of them each, which changes the number.
    void nodes(const char* role, std::int64_t& count) {
        if (large_ || !draw_.one_in(8)) {
            draw_.add(fmt::format("{}s", role), "{}", count);
            return;
        }
        const std::int64_t hosts = draw_.number(1, count);
        draw_.add(fmt::format("{}-hosts", role), "{}[1-{}]", role, hosts);
        count = hosts;
        if (draw_.one_in(2)) {
            const std::int64_t each = draw_.number(1, 3);
            draw_.add(fmt::format("{}s-per-host", role), "{}", each);
            count *= each;
        }
    }

    void data() {
        set_ = draw_.number(2000, large_ ? 5000 : 200000);
        range_.interval_us = draw_.number(2000, 100000);
        // Rounded up, so that a set is never less than that.
        draw_.add("rate", "{}b/s", (set_ * 8 * 1000000 + range_.interval_us - 1) / range_.interval_us);
        draw_.add("interval", "{}us", range_.interval_us);
        generation_ = draw_.one_of({"sets", "steady", "saturate"});
        draw_.add("generation", "{}", generation_);
        // Rounding must not make an event more than a set.
        scaled_ = draw_.one_in(10);
        if (scaled_) {
            draw_.add("scale", "{}", draw_.one_of({"1/2", "0.37", "9/10", "1/3"}));
        }
        event_ = std::max<std::int64_t>(64, set_ / draw_.number(scaled_ ? 2 : 1, large_ ? 3 : 9));
        if (generation_ != "sets" && draw_.one_in(6)) {
            event_ = set_ * draw_.number(1, 3);
        }
        // Enough bits for the network to matter, in both directions.
        bits_per_second_ = static_cast<double>(set_) * 8e6 / static_cast<double>(range_.interval_us);
    }

    void sizes() {
        largest_ = event_;
        const bool limited = draw_.one_in(3);
        switch (draw_.number(0, 6)) {
            case 0:
            case 1:
                draw_.add("event-size", "lognormal:{}B,deviation={}B{}", event_, event_ / 2 + 1,
                          limited ? fmt::format(",max={}B", 2 * event_) : "");
                largest_ = event_ * 2;
                break;
            case 2:
            case 3:
                draw_.add("event-size", "normal:{}B,deviation={}B{}", event_, event_ / 3 + 1,
                          limited ? fmt::format(",max={}B", 2 * event_) : "");
                largest_ = event_ * 2;
                break;
            case 4:
                if (draw_.one_in(2)) {
                    draw_.add("event-size", "trace:{}", trace("sizes", event_, "B"));
                    break;
                }
                [[fallthrough]];
            default:
                draw_.add("event-size", "fixed:{}B", event_);
        }
        slot_ = std::min(largest_ * draw_.number(1, 2), std::max(set_, event_));
        slot_ = std::max(slot_, event_);
        const bool own_slot = !draw_.one_in(6);
        if (own_slot) {
            draw_.add("slot-size", "{}B", slot_);
        }
        full_sets_fit_ = true;
        if (!draw_.one_in(6)) {
            const bool small = own_slot && draw_.one_in(6);
            full_sets_fit_ = !small;
            draw_.add(
                "buffer", "{}B",
                small ? std::max(slot_, set_ / 2) : std::max({set_, slot_, largest_}) * draw_.number(1, 3));
        } else if (own_slot) {
            // A buffer of its own would be a set, and less than an event that is cut at the slot.
            draw_.add("buffer", "{}B", std::max(set_, slot_));
        }
        draw_.add("overflow", "{}", draw_.one_in(3) ? "drop" : "count");
    }

    /// A file of a few values up to `most`, one per line.
    std::string trace(const char* what, std::int64_t most, const char* unit) {
        std::string name = fmt::format("{}/{}-{}.txt", traces_, what, seed_);
        std::ofstream file(name);
        for (std::int64_t left = draw_.number(1, 6); left > 0; --left) {
            file << draw_.number(std::max<std::int64_t>(1, most / 10), most) << unit << '\n';
        }
        if (!file.flush()) {
            throw std::runtime_error(fmt::format("cannot write {}", name));
        }
        return name;
    }

    void building() {
        if (policy_ != "none" && draw_.one_in(2)) {
            pulls_ = draw_.one_in(2);
            if (pulls_) {
                draw_.add("initiation", "pull");
                draw_.add("requests", "{}", draw_.number(1, 20));
            }
            builds_ = large_ || draw_.one_in(2);
            if (builds_) {
                draw_.add("pattern", "build");
                if (draw_.one_in(3)) {
                    draw_.add("outstanding", "{}", draw_.number(1, 10));
                }
            }
        }
        if (!builds_ && draw_.one_in(6)) {
            draw_.add("pattern", "distribute");
        }
        if (!pulls_ && draw_.one_in(6)) {
            draw_.add("initiation", "push");
        }
        if (draw_.one_in(3)) {
            draw_.add("order", "{}", draw_.one_of({"barrel", "barrel", "assigned"}));
        }
    }

    void transfer() {
        constexpr std::int64_t most_of_a_datagram = 65507;
        const std::int64_t chunk = std::max<std::int64_t>(64, slot_ / draw_.number(1, 12));
        const bool lossy = draw_.one_in(large_ ? 2 : 5) && chunk <= most_of_a_datagram;
        if (!draw_.one_in(6)) {
            draw_.add("chunk-size", "{}B", chunk);
        }
        if (!draw_.one_in(6)) {
            draw_.add("window", "{}", draw_.one_in(8) ? 64 : draw_.number(1, 6));
        }
        slots_ = draw_.number(1, draw_.one_in(10) ? 20 : 6);
        draw_.add("slots", "{}", slots_);
        draw_.add("streams", "{}", draw_.number(1, draw_.one_in(10) ? 20 : 5));
        if (draw_.one_in(4)) {
            const std::int64_t high = draw_.number(1, slots_);
            draw_.add("high-water", "{}", high);
            if (draw_.one_in(2)) {
                draw_.add("low-water", "{}", draw_.number(0, high - 1));
            }
        }
        if (lossy) {
            datagrams();
        } else if (draw_.one_in(2)) {
            draw_.add("transport", "{}",
                      pulls_ ? draw_.one_of({"send", "get"}) : draw_.one_of({"send", "put", "get"}));
        }
    }

    void datagrams() {
        lossy_ = true;
        draw_.add("transport", "datagram");
        // From less than a datagram to more than all that can be under way.
        port_buffer_ = draw_.number(1000, 1000 + slot_ * (draw_.one_in(3) ? 100 : 2));
        draw_.add("port-buffer", "{}B", port_buffer_);
        draw_.add("fragment-timeout", "{}us", draw_.number(100, 20000));
        draw_.add("reasks", "{}", draw_.one_in(2) ? 0 : draw_.number(1, 3));
        if (draw_.one_in(8)) {
            draw_.add("socket-buffer", "{}KiB", draw_.number(1, 1000));
        }
        if (draw_.one_in(8)) {
            draw_.add("datagram-network", "{}", draw_.one_of({"eth0", "10.0.0.0/8"}));
        }
    }

    void shaping() {
        if (draw_.one_in(5)) {
            // Around the rate, on both sides.
            const auto rate =
                static_cast<std::int64_t>(bits_per_second_ * static_cast<double>(draw_.number(5, 30)) / 10);
            draw_.add("shaping", "bucket:{}b/s,burst={}B", rate, draw_.number(64, largest_));
        } else if (draw_.one_in(6)) {
            draw_.add("shaping", "in-step:{}us,tick={}us", draw_.number(1, 5) * 20,
                      12000 * draw_.number(1, 3));
        } else if (draw_.one_in(6)) {
            draw_.add("shaping", "none");
        }
    }

    void busy() {
        if (draw_.one_in(2)) {
            if (draw_.one_in(6)) {
                draw_.add("busy", "none");
            }
            return;
        }
        // Around what the consumers can bear, on both sides.
        const std::int64_t mean_us = std::max<std::int64_t>(1, range_.interval_us / draw_.number(1, 20));
        const std::string most = draw_.one_in(3) ? fmt::format(",max={}us", 3 * mean_us) : "";
        switch (draw_.number(0, 5)) {
            case 0:
                draw_.add("busy", "fixed:{}us", mean_us);
                break;
            case 1:
                draw_.add("busy", "exponential:{}us{}", mean_us, most);
                break;
            case 2:
                draw_.add("busy", "lognormal:{}us,deviation={}us{}", mean_us, mean_us, most);
                break;
            case 3:
                draw_.add("busy", "pareto:{}us,shape=2.5{}", mean_us, most);
                break;
            case 4:
                draw_.add("busy", "trace:{}", trace("busy", 2 * mean_us, "us"));
                break;
            default:
                draw_.add("busy", "poisson:{}us,quantum={}us{}", mean_us,
                          std::max<std::int64_t>(1, mean_us / draw_.number(1, 5)), most);
        }
        if (draw_.one_in(3)) {
            const std::int64_t first = draw_.number(0, range_.consumers - 1);
            draw_.add("busy-consumers", "{}-{}", first, draw_.number(first, range_.consumers - 1));
        }
        if (draw_.one_in(4)) {
            draw_.add("busy-cpu", "{}", draw_.one_of({"burn", "idle"}));
        }
    }

    void results() {
        if (policy_ == "none" || draw_.one_in(2)) {
            if (draw_.one_in(6)) {
                draw_.add("result-size", "none");
            }
            return;
        }
        // All that a consumer has under way is a mebibyte at the most, twice as much if it is scaled.
        const std::int64_t most = std::min<std::int64_t>(2 * event_, 400000 / slots_);
        switch (draw_.number(0, 5)) {
            case 0:
                draw_.add("result-size", "mixture:{}B,large={}B,every={}", draw_.number(1, 100),
                          draw_.number(1, most), draw_.number(1, 10));
                break;
            case 1:
                draw_.add("result-size", "normal:{}B,deviation={}B", most / 5 + 1, most / 10 + 1);
                break;
            case 2:
                draw_.add("result-size", "lognormal:{}B,deviation={}B,max={}B", most / 5 + 1, most / 2 + 1,
                          most + 2);
                break;
            case 3:
                if (draw_.one_in(2)) {
                    draw_.add("result-size", "trace:{}", trace("results", most, "B"));
                    break;
                }
                [[fallthrough]];
            default:
                draw_.add("result-size", "{}B", draw_.number(1, most));
        }
    }

    void times() {
        const std::int64_t most = range_.interval_us * (large_ ? 2 : 6);
        const std::int64_t least = generation_ == "sets" ? range_.interval_us : 1000;
        // Multiples of the interval, anything, and more than a second.
        if (draw_.one_in(3)) {
            range_.duration_us = range_.interval_us * draw_.number(1, large_ ? 2 : 6);
        } else if (!large_ && draw_.one_in(20)) {
            range_.duration_us = draw_.number(1000000, 2500000);
        } else {
            range_.duration_us = draw_.number(least, most);
        }
        draw_.add("duration", "{}us", range_.duration_us);
        draw_.add(
            "warmup", "{}us",
            draw_.one_in(2) ? range_.interval_us * draw_.number(0, 2) : draw_.number(0, range_.interval_us));
        switch (draw_.number(0, 4)) {
            case 0:
                draw_.add("drain", "0s");
                break;
            case 1:
                draw_.add("drain", "{}us", draw_.number(0, range_.interval_us));
                break;
            case 2:
                draw_.add("drain", "{}ms", draw_.number(0, 1000));
                break;
            case 3:
                draw_.add("drain", "{}ms", draw_.number(200, 2000));
                break;
            default:
                break;
        }
    }

    void draw_network_details() {
        if (named_ || lossy_) {
            return;
        }
        if (draw_.one_in(4) && draw_.value("framing") != "none") {
            draw_.add("packet-overhead", "{}B", draw_.number(0, 200));
        }
        if (draw_.one_in(4) && draw_.value("network") == "packet") {
            draw_.add("queue-pairs", "{}", draw_.one_of({"event", "event", "pair", "2", "7", "16"}));
        }
        const std::string link = draw_.value("producer-link");
        if (draw_.one_in(6) && !link.empty()) {
            // Slower and faster than the others.
            const std::int64_t last = draw_.number(0, range_.producers - 1);
            const std::string own =
                fmt::format("{},{}-{}={}b/s", link, draw_.number(0, last), last,
                            std::max<std::int64_t>(10000, std::stoll(link) * draw_.number(5, 20) / 10));
            draw_.remove("producer-link");
            draw_.add("producer-link", "{}", own);
        }
    }

    /// All producers generate equally many sets only in whole intervals.
    void phases() {
        if (generation_ == "sets" && range_.duration_us % range_.interval_us == 0) {
            draw_.add("set-phase", "{}", draw_.one_of({"same", "spread", "random"}));
        }
    }

    void network() {
        const auto link = [&] {
            return static_cast<std::int64_t>(bits_per_second_ * static_cast<double>(draw_.number(6, 60)) /
                                             10);
        };
        draw_.add("producer-link", "{}b/s", std::max<std::int64_t>(10000, link()));
        draw_.add("consumer-link", "{}b/s",
                  std::max<std::int64_t>(
                      10000, link() * std::max<std::int64_t>(1, range_.producers / range_.consumers)));
        draw_.add("latency", "{}ns", draw_.one_in(4) ? draw_.number(0, 5000000) : draw_.number(0, 20000));
        range_.scheduler_time_ns = draw_.one_in(5)   ? 0
                                   : draw_.one_in(4) ? draw_.number(0, 200000)
                                                     : draw_.number(0, 2000);
        draw_.add("scheduler-time", "{}ns", range_.scheduler_time_ns);
        if (draw_.one_in(2)) {
            draw_.add("framing", "{}", draw_.one_of({"roce", "tcp", "none"}));
        }
        if (draw_.one_in(4)) {
            draw_.add("mtu", "{}B", draw_.number(256, 9000));
        }
    }

    /// What is said of the run, and options that a simulation takes and has no use for.
    void judgement() {
        if (draw_.one_in(4)) {
            draw_.add("verify", "{}", draw_.one_of({"none", "header", "sample", "full"}));
        }
        const bool can_be_sustained = generation_ == "steady" || (generation_ == "sets" && full_sets_fit_);
        if (draw_.one_in(4)) {
            draw_.add("require", "{}",
                      can_be_sustained ? draw_.one_of({"sustained", "lossless", "sustained,lossless", "none"})
                                       : draw_.one_of({"lossless", "none"}));
        }
        if (draw_.one_in(4)) {
            draw_.add("silence-timeout", "{}ms", draw_.number(500, 10000));
        }
        if (draw_.one_in(8)) {
            draw_.add("idle", "{}", draw_.one_of({"auto", "spin", "yield", "nap"}));
        }
        if (draw_.one_in(8)) {
            draw_.add("counters", "{}", draw_.one_of({"on", "off"}));
        }
    }

    std::uint64_t seed_;
    const std::string& traces_;
    RandomDraw draw_;
    FaultRange range_;
    bool large_ = false;
    bool lossy_ = false;
    bool named_ = false;
    std::int64_t port_buffer_ = 0;
    bool scaled_ = false;
    bool full_sets_fit_ = false;
    bool pulls_ = false;
    bool builds_ = false;
    std::int64_t set_ = 1;  ///< bytes, as the others
    std::int64_t event_ = 1;
    std::int64_t largest_ = 1;
    std::int64_t slot_ = 1;
    std::int64_t slots_ = 1;
    std::string_view policy_;
    std::string_view generation_;
    double bits_per_second_ = 1;
};

}  // namespace

std::vector<config::GivenOption> random_scenario(std::uint64_t seed, const std::string& traces) {
    return ScenarioDraw(seed, traces).scenario();
}

std::string command_of(const std::vector<config::GivenOption>& options) {
    std::string command = "weir simulate";
    for (const config::GivenOption& option : options) {
        const bool plain = option.value.find_first_of(" '\"$;&|<>()*?[]") == std::string::npos;
        command += fmt::format(" --{} {}{}{}", option.name, plain ? "" : "'", option.value, plain ? "" : "'");
    }
    return command;
}

}  // namespace weir::explorer
