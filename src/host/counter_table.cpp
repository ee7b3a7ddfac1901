#include "host/counter_table.hpp"

#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "host/kernel_sources.hpp"

namespace weir::host {

CounterValue difference(const Counter& counter, std::uint64_t before, std::uint64_t now) {
    constexpr std::uint64_t low_32_bits = 0xffffffff;
    if (counter.range == CounterRange::wraps_at_32_bits && before <= low_32_bits && now <= low_32_bits) {
        const std::uint64_t counted = (now - before) & low_32_bits;
        // No counter of 32 bits gets half way round in seconds: it went down.
        return counted <= low_32_bits / 2 ? CounterValue(counted) : std::nullopt;
    }
    if (now < before) {
        return std::nullopt;
    }
    if (counter.range == CounterRange::stops_at_largest && before >= counter.largest && now == before) {
        return std::nullopt;  // it may have counted any number that did not fit
    }
    return now - before;
}

namespace {

/// Two names that are cleaned may become one: the second gets a number.
std::string free_column(const std::string& wanted, std::set<std::string>& taken) {
    std::string column = wanted;
    for (int number = 2; !taken.insert(column).second; ++number) {
        column = wanted + "_" + std::to_string(number);
    }
    return column;
}

}  // namespace

CounterTable::CounterTable(Sources sources) : sources_(std::move(sources)) {
    std::set<std::pair<std::string, std::string>> known;
    std::set<std::string> taken;
    std::size_t place = 0;
    for (const auto& source : sources_) {
        for (const Counter& counter : source->counters()) {
            const std::string& original = counter.original.empty() ? counter.name : counter.original;
            // Drivers repeat what the kernel counts for every interface.
            if (known.insert({counter.source, original}).second) {
                columns_.push_back(free_column(clean_source(counter.source) + "." + counter.name, taken));
                counters_.push_back(counter);
                places_.push_back(place);
            }
            ++place;
        }
    }
    last_.resize(columns_.size());
}

CounterTable CounterTable::of_host(const std::string& root, KernelCalls& calls) {
    const std::vector<std::string> interfaces = interfaces_in_use(root).names;
    Sources all = rdma_ports(root);
    const auto add = [&](Sources more) {
        all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    };
    add(interface_statistics(root, interfaces));
    add(driver_counters(root, calls, interfaces));
    add(queue_counters(calls, interfaces));
    add(protocol_tables(root));
    CounterTable table(std::move(all));
    for (const std::string& interface : interfaces) {
        if (is_made_of(root, interface, interfaces)) {
            table.made_of_others_.push_back(clean_source(interface));
        }
    }
    return table;
}

std::vector<CounterValue> CounterTable::read() {
    fresh_.clear();
    for (const auto& source : sources_) {
        source->read(fresh_);
    }
    std::vector<CounterValue> counted(columns_.size());
    absences_.assign(columns_.size(), record::Absence::none);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const CounterValue now = fresh_[places_[i]];
        const bool gone = !first_ && !last_[i];
        if (!gone && last_[i] && now) {
            counted[i] = difference(counters_[i], *last_[i], *now);
        }
        if (gone || (!first_ && !now)) {
            absences_[i] = record::Absence::gone;
        } else if (last_[i] && *now < *last_[i] && !counted[i]) {
            absences_[i] = record::Absence::reset;
        }
        last_[i] = gone ? std::nullopt : now;
    }
    first_ = false;
    return counted;
}

}  // namespace weir::host
