#include "record/counter_meaning.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <utility>
#include <vector>

#include "record/counter_counts.hpp"
#include "record/host_counters.hpp"

namespace weir::record {

namespace {

bool is_digit(char letter) {
    return std::isdigit(static_cast<unsigned char>(letter)) != 0;
}

/// In lower case, as a column has it: '_' for what a column needs itself, or a driver writes around it.
std::string as_column(std::string_view name) {
    std::string clean(name);
    std::transform(clean.begin(), clean.end(), clean.begin(), [](char letter) {
        return letter == '.' || letter == ' '
                   ? '_'
                   : static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    });
    return clean;
}

/// With `mark` in place of each number, and of what stands for one in the catalogue.
std::string with_marks(std::string_view name, char mark) {
    std::string marked;
    bool in_number = false;
    for (const char letter : name) {
        const bool number = is_digit(letter) || letter == '#' || letter == '%';
        if (!number || !in_number) {
            marked += number ? mark : letter;
        }
        in_number = number;
    }
    return marked;
}

struct NamedCounter {
    std::string_view driver;
    KnownCounter counter;
};

/// By name, and where that has the number of a priority or queue in it, by the name with marks.
class CounterIndex {
  public:
    CounterIndex() {
        for (const auto drivers : {rdma_counters(), ethernet_counters()}) {
            for (const CounterDriver& driver : drivers) {
                add(driver);
            }
        }
    }

    [[nodiscard]] KnownCounter find(const std::string& name, std::string_view driver) const {
        for (const std::string& key : {name, with_marks(name, '#')}) {
            if (const auto found = entries_.find(key); found != entries_.end()) {
                return of_driver(found->second, driver);
            }
        }
        return {};
    }

  private:
    void add(const CounterDriver& driver) {
        for (const CounterNames& row : driver.rows) {
            std::string_view rest = row.names;
            while (!rest.empty()) {
                const std::string_view name = rest.substr(0, rest.find(' '));
                rest.remove_prefix(std::min(rest.size(), name.size() + 1));
                add(driver.name, name, row);
            }
        }
    }

    void add(std::string_view driver, std::string_view name, const CounterNames& row) {
        const bool of_queue = name.find('%') != std::string_view::npos;
        const bool of_priority = name.find('#') != std::string_view::npos;
        const std::string key = is_protocol(source_of(name)) ? std::string(name) : as_column(name);
        entries_[of_queue || of_priority ? with_marks(key, '#') : key].push_back(
            {driver, {row.count, of_priority, of_queue, row.bits}});
        if (of_queue) {
            entries_[without_number(key)].push_back({driver, {row.count, false, true, row.bits}});
        }
    }

    /// The width is that of the driver; of the kernel's own counters it is the same everywhere.
    static KnownCounter of_driver(const std::vector<NamedCounter>& entries, std::string_view driver) {
        const auto own = std::find_if(entries.begin(), entries.end(), [&](const NamedCounter& entry) {
            return entry.driver.starts_with("kernel:") ||
                   (!driver.empty() && entry.driver.find(driver) != std::string_view::npos);
        });
        if (own != entries.end()) {
            return own->counter;
        }
        KnownCounter counter = entries.front().counter;
        counter.bits = 64;
        return counter;
    }

    std::map<std::string, std::vector<NamedCounter>, std::less<>> entries_;
};

const CounterIndex& catalogue() {
    static const CounterIndex index;
    return index;
}

}  // namespace

bool is_protocol(std::string_view source) {
    return source == "tcp" || source == "udp" || source == "ip" || source == "softnet";
}

bool KnownCounter::is_level() const {
    return count == &counts::level;
}

KnownCounter known_counter(std::string_view name, std::string_view driver) {
    const std::string key = as_column(name);
    const std::size_t skipped = key.starts_with("vport_") ? 6 : 0;  // mlx5's, of one virtual function
    return catalogue().find(key.substr(skipped), driver);
}

KnownCounter known_column(std::string_view column) {
    // All hosts of a run have much the same columns, and what each means is asked for in several places.
    constexpr std::size_t most_kept = 4096;
    thread_local std::map<std::string, KnownCounter, std::less<>> kept;
    if (const auto found = kept.find(column); found != kept.end()) {
        return found->second;
    }
    const KnownCounter known = is_protocol(source_of(column)) ? catalogue().find(std::string(column), {})
                                                              : known_counter(counter_of(column));
    if (kept.size() < most_kept) {
        kept.emplace(column, known);
    }
    return known;
}

bool sounds_like_trouble(std::string_view name) {
    constexpr std::array<std::string_view, 25> words = {
        "retx", "retrans", "retry", "seq_err", "outof", "out_of",   "oos",    "drop", "discard",
        "dscd", "pause",   "pfc",   "xoff",    "ecn",   "cnp",      "mark",   "lost", "loss",
        "miss", "timeout", "nak",   "crc",     "fcs",   "overflow", "overrun"};
    const std::string lower = as_column(name);
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

std::string without_number(std::string_view name) {
    return with_marks(name, 'n');
}

}  // namespace weir::record
