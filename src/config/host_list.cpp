#include "config/host_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "config/usage_error.hpp"
#include "config/words.hpp"

namespace weir::config {

namespace {

bool is_host_character(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-' ||
           c == '_';
}

std::string padded(std::uint64_t number, std::size_t width) {
    return fmt::format("{:0{}}", number, width);
}

// Reads one list, keeping its place for messages. Positions are counted from 1.
class HostListReader {
  public:
    explicit HostListReader(std::string_view list) : list_(list) {}

    std::vector<std::string> read() {
        if (list_.empty()) {
            throw UsageError("nothing is given; write hosts such as 'eb[01-14],fn3'");
        }
        std::vector<std::string> hosts;
        std::unordered_set<std::string> seen;
        for (;;) {
            for (std::string& host : read_pattern()) {
                if (seen.insert(host).second) {
                    hosts.push_back(std::move(host));
                }
            }
            check_size(hosts.size());
            if (at_end()) {
                return hosts;
            }
            ++place_;  // the comma
        }
    }

  private:
    [[nodiscard]] bool at_end() const { return place_ == list_.size(); }
    [[nodiscard]] char here() const { return list_[place_]; }

    template <typename... Arguments>
    [[noreturn]] void refuse(std::size_t place, fmt::format_string<Arguments...> why,
                             Arguments&&... arguments) const {
        throw UsageError("'{}', position {}: {}; write hosts such as 'eb[01-14],fn3'", list_, place + 1,
                         fmt::format(why, std::forward<Arguments>(arguments)...));
    }

    void check_size(std::size_t hosts) const {
        if (hosts > host_limit) {
            throw UsageError("'{}' makes more than {} hosts; write fewer", list_, host_limit);
        }
    }

    /// The character here with all its bytes (UTF-8).
    [[nodiscard]] std::string_view whole_character() const {
        const std::string_view rest = std::string_view(list_).substr(place_);
        std::size_t bytes = 1;
        while (bytes < rest.size() && (static_cast<unsigned char>(rest[bytes]) & 0xc0U) == 0x80U) {
            ++bytes;
        }
        return rest.substr(0, bytes);
    }

    /// One element of the list, all its brackets multiplied out.
    std::vector<std::string> read_pattern() {
        const std::size_t begin = place_;
        std::vector<std::string> hosts{""};
        while (!at_end() && here() != ',') {
            if (here() == '[') {
                const std::vector<std::string> numbers = read_bracket();
                check_size(hosts.size() * numbers.size());
                std::vector<std::string> longer;
                longer.reserve(hosts.size() * numbers.size());
                for (const std::string& host : hosts) {
                    for (const std::string& number : numbers) {
                        longer.push_back(host + number);
                    }
                }
                hosts = std::move(longer);
            } else if (is_host_character(here())) {
                for (std::string& host : hosts) {
                    host += here();
                }
                ++place_;
            } else {
                refuse(place_, "'{}' cannot be part of a host name", whole_character());
            }
        }
        if (place_ == begin) {
            refuse(begin, "a host name is missing");
        }
        return hosts;
    }

    std::vector<std::string> read_bracket() {
        const std::size_t open = place_++;
        std::vector<std::string> numbers;
        for (;;) {
            const auto [first, width] = read_number(open);
            std::uint64_t last = first;
            if (!at_end() && here() == '-') {
                const std::size_t dash = place_++;
                last = read_number(open).value;
                if (last < first) {
                    refuse(dash, "the range {}-{} counts downwards", first, last);
                }
                check_size(last - first + 1);
            }
            for (std::uint64_t number = first; number <= last; ++number) {
                numbers.push_back(padded(number, width));
            }
            check_size(numbers.size());
            if (at_end()) {
                refuse(open, "the bracket is not closed");
            }
            if (here() == ']') {
                ++place_;
                return numbers;
            }
            if (here() != ',') {
                refuse(place_, "'{}' is neither ',' nor '-' nor ']'", here());
            }
            ++place_;
        }
    }

    struct PaddedNumber {
        std::uint64_t value;
        std::size_t width;
    };
    PaddedNumber read_number(std::size_t open) {
        if (at_end()) {
            refuse(open, "the bracket is not closed");
        }
        const std::size_t begin = place_;
        std::uint64_t value = 0;
        while (!at_end() && is_digit(here())) {
            constexpr std::size_t most_digits = 15;
            if (place_ - begin == most_digits) {
                refuse(begin, "the number has too many digits");
            }
            value = value * 10 + static_cast<std::uint64_t>(here() - '0');
            ++place_;
        }
        if (place_ == begin) {
            refuse(place_, "a number is missing");
        }
        return {value, place_ - begin};
    }

    std::string_view list_;
    std::size_t place_ = 0;
};

/// A host name cut at its last run of digits (before the first dot): "r1n04.site" = "r1n" "04" ".site".
struct SplitName {
    std::string_view before;
    std::string_view digits;
    std::string_view after;
};

SplitName split(std::string_view host) {
    const std::size_t name_end = std::min(host.find('.'), host.size());
    std::size_t end = name_end;
    while (end > 0 && !is_digit(host[end - 1])) {
        --end;
    }
    std::size_t begin = end;
    constexpr std::size_t most_digits = 9;
    while (begin > 0 && end - begin < most_digits && is_digit(host[begin - 1])) {
        --begin;
    }
    return {host.substr(0, begin), host.substr(begin, end - begin), host.substr(end)};
}

std::uint64_t value_of(std::string_view digits) {
    std::uint64_t value = 0;
    for (const char c : digits) {
        value = value * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return value;
}

}  // namespace

std::vector<std::string> expand_hosts(std::string_view list) {
    return HostListReader(list).read();
}

std::string compress_hosts(std::span<const std::string> hosts) {
    std::string list;
    for (std::size_t i = 0; i < hosts.size();) {
        const SplitName first = split(hosts[i]);
        std::string ranges;
        std::size_t numbers = 0;
        std::size_t next = i;
        while (next < hosts.size()) {
            const SplitName start = split(hosts[next]);
            if (start.before != first.before || start.after != first.after || start.digits.empty()) {
                break;
            }
            // A range is padded to the width of its first number, so only numbers written that way may join.
            std::uint64_t last = value_of(start.digits);
            std::size_t end = next + 1;
            for (; end < hosts.size(); ++end) {
                const SplitName following = split(hosts[end]);
                if (following.before != first.before || following.after != first.after ||
                    following.digits != padded(last + 1, start.digits.size())) {
                    break;
                }
                ++last;
            }
            ranges += fmt::format("{}{}", ranges.empty() ? "" : ",", start.digits);
            if (end > next + 1) {
                ranges += fmt::format("-{}", padded(last, start.digits.size()));
            }
            numbers += end - next;
            next = end;
        }
        list += list.empty() ? "" : ",";
        if (numbers <= 1) {
            list += hosts[i];
            ++i;
        } else {
            list += fmt::format("{}[{}]{}", first.before, ranges, first.after);
            i = next;
        }
    }
    return list;
}

bool same_host(std::string_view a, std::string_view b) {
    if (a.size() > b.size()) {
        std::swap(a, b);
    }
    const bool begins_alike =
        std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
    return !a.empty() && begins_alike && (a.size() == b.size() || b[a.size()] == '.');
}

}  // namespace weir::config
