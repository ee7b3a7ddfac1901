#include "host/kernel_sources.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <optional>

namespace weir::host {

namespace {

/// Most columns that one interface's driver can add.
constexpr std::size_t driver_counters_max = 192;

bool is_digit(char letter) {
    return letter >= '0' && letter <= '9';
}

/// "rx0_...", "rx-0.packets", "rx_queue_0_drops", "ch3_...", "[7]: rx_discards": a number in the first two
/// words that is not a priority's or a port's.
bool of_one_queue(std::string_view name) {
    if (name.find('[') != std::string_view::npos) {
        return true;
    }
    const auto digit = std::find_if(name.begin(), name.end(), is_digit);
    std::string_view before(name.data(), static_cast<std::size_t>(digit - name.begin()));
    if (digit == name.end()) {
        return false;
    }
    while (before.ends_with('_') || before.ends_with('-') || before.ends_with('.') || before.ends_with('#')) {
        before.remove_suffix(1);
    }
    constexpr std::array<std::string_view, 8> indexed = {"rx",   "tx",  "ch",  "queue",
                                                         "ring", "rxq", "txq", "xdp"};
    return std::any_of(indexed.begin(), indexed.end(),
                       [&](std::string_view word) { return before.ends_with(word); });
}

class DriverSource final : public CounterSource {
  public:
    DriverSource(KernelCalls& calls, std::string interface)
        : calls_(calls), interface_(std::move(interface)) {
        const std::vector<std::string> names = calls_.driver_counter_names(interface_);
        names_ = names.size();
        for (std::size_t i = 0; i < names.size() && places_.size() < driver_counters_max; ++i) {
            if (driver_counter_wanted(names[i])) {
                counters_.push_back(
                    {.source = interface_, .name = clean_name(names[i]), .original = names[i]});
                places_.push_back(i);
            }
        }
    }

    void read(std::vector<CounterValue>& values) override {
        const std::vector<std::uint64_t> all = calls_.driver_counters(interface_);
        for (const std::size_t place : places_) {
            values.push_back(all.size() == names_ ? CounterValue(all[place]) : std::nullopt);
        }
    }

  private:
    KernelCalls& calls_;
    std::string interface_;
    std::size_t names_ = 0;
    std::vector<std::size_t> places_;
};

class QueueSource final : public CounterSource {
  public:
    QueueSource(KernelCalls& calls, const std::vector<std::string>& interfaces) : calls_(calls) {
        for (const QueueStatistics& queue : calls_.root_queues()) {
            const bool wanted =
                std::find(interfaces.begin(), interfaces.end(), queue.interface) != interfaces.end() &&
                std::find(queues_.begin(), queues_.end(), queue.interface) == queues_.end();
            if (wanted) {
                queues_.push_back(queue.interface);
                for (const char* name : {"qdisc_drops", "qdisc_overlimits", "qdisc_requeues"}) {
                    counters_.push_back(
                        {.source = queue.interface, .name = name, .range = CounterRange::wraps_at_32_bits});
                }
            }
        }
    }

    void read(std::vector<CounterValue>& values) override {
        const std::vector<QueueStatistics> all = calls_.root_queues();
        for (const std::string& interface : queues_) {
            const auto queue = std::find_if(all.begin(), all.end(), [&](const QueueStatistics& candidate) {
                return candidate.interface == interface;
            });
            const bool there = queue != all.end();
            values.push_back(there ? CounterValue(queue->drops) : std::nullopt);
            values.push_back(there ? CounterValue(queue->overlimits) : std::nullopt);
            values.push_back(there ? CounterValue(queue->requeues) : std::nullopt);
        }
    }

  private:
    KernelCalls& calls_;
    std::vector<std::string> queues_;
};

}  // namespace

bool driver_counter_wanted(std::string_view name) {
    std::string lower(name);
    std::transform(lower.begin(), lower.end(), lower.begin(), [](char letter) {
        return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    });
    constexpr std::array<std::string_view, 18> kinds = {
        "pause",  "pfc", "_ppp", "_pri",   "flow_control", "xon",  "xoff",   "discard", "drop",
        "marked", "ecn", "cnp",  "buffer", "_buf",         "cong", "missed", "stall",   "allowance"};
    return !of_one_queue(lower) && lower.find("xdp") == std::string::npos &&
           std::any_of(kinds.begin(), kinds.end(),
                       [&](std::string_view kind) { return lower.find(kind) != std::string::npos; });
}

Sources driver_counters(KernelCalls& calls, const std::vector<std::string>& interfaces) {
    Sources sources;
    for (const std::string& interface : interfaces) {
        auto source = std::make_unique<DriverSource>(calls, interface);
        if (!source->counters().empty()) {
            sources.push_back(std::move(source));
        }
    }
    return sources;
}

Sources queue_counters(KernelCalls& calls, const std::vector<std::string>& interfaces) {
    Sources sources;
    auto source = std::make_unique<QueueSource>(calls, interfaces);
    if (!source->counters().empty()) {
        sources.push_back(std::move(source));
    }
    return sources;
}

}  // namespace weir::host
