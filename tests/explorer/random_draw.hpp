// What random scenarios are made with: numbers and names drawn from a seed, and the options that are drawn so
// far.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/run_request.hpp"
#include "core/random.hpp"

namespace weir::explorer {

class RandomDraw {
  public:
    explicit RandomDraw(std::uint64_t seed)
        : random_(seed, core::random_stream(core::RandomPurpose::exploration, 0)) {}

    /// A whole number from `least` to `most`; `least` if that is more.
    std::int64_t number(std::int64_t least, std::int64_t most) {
        return most <= least ? least
                             : least + static_cast<std::int64_t>(
                                           random_.below(static_cast<std::uint64_t>(most - least) + 1));
    }
    bool one_in(std::uint64_t n) { return random_.below(n) == 0; }
    std::string_view one_of(std::initializer_list<std::string_view> names) {
        return names.begin()[random_.below(names.size())];
    }
    /// The name of a row of a table.
    template <typename Table>
    std::string_view name_of(const Table& named_rows) {
        return named_rows[random_.below(named_rows.size())].name;
    }

    template <typename... Values>
    void add(std::string_view name, fmt::format_string<const Values&...> form, const Values&... values) {
        options_.push_back({std::string(name), fmt::format(form, values...)});
    }
    /// The value of an option that was added; empty: it was not.
    [[nodiscard]] std::string value(std::string_view name) const {
        for (const config::GivenOption& option : options_) {
            if (option.name == name) {
                return option.value;
            }
        }
        return {};
    }
    void remove(std::string_view name) {
        std::erase_if(options_, [&](const config::GivenOption& option) { return option.name == name; });
    }
    std::vector<config::GivenOption> options() && { return std::move(options_); }

  private:
    core::Random random_;
    std::vector<config::GivenOption> options_;
};

/// What faults are drawn for.
struct FaultRange {
    std::int64_t producers = 1;
    std::int64_t consumers = 1;
    std::int64_t interval_us = 1;
    std::int64_t duration_us = 1;
    std::int64_t scheduler_time_ns = 0;
};

/// Up to three faults, with a probability of one half.
void draw_faults(RandomDraw& draw, const FaultRange& range);

/// With a probability of one third, of a network of packets around one switch: up to two failures of cables
/// and NICs.
void draw_network_faults(RandomDraw& draw, const FaultRange& range);

/// Whether the run goes on without consumers that are lost, with a probability of one third where that works,
/// and what happens to consumers then.
void draw_on_failure(RandomDraw& draw, const FaultRange& range);

/// Events with an address, with a probability of one half where that works; files begin with this name.
/// `set`: bytes of a producer in an interval, if the rate gives them. Whether events have one.
bool draw_traffic(RandomDraw& draw, const FaultRange& range, std::int64_t set, const std::string& file);

/// The model of the network, with a probability of one half; if it is that of packets, a switch.
/// Datagrams always go packet by packet. `plain_holds_messages`: the ports of a plain switch hold a packet.
void draw_packets(RandomDraw& draw, bool datagrams, bool plain_holds_messages);

/// With a probability of one half, of a packet network: a switch of which many values are random, in a file
/// of this name. Its memory is small enough for pauses and losses.
void draw_switch_file(RandomDraw& draw, const FaultRange& range, const std::string& file);

/// Ranks that share hosts, with a probability of one third where that works: their links become equal. Adds
/// to the switch file that was drawn, else makes this one.
void draw_placement(RandomDraw& draw, const std::string& file);

}  // namespace weir::explorer
