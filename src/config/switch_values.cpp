// How values of keys of a switch file are read and printed, by their type.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "config/fabric.hpp"
#include "config/option_values.hpp"
#include "config/switch_choices.hpp"
#include "config/switch_keys.hpp"
#include "config/usage_error.hpp"

namespace weir::config {

namespace {

using core::BitRate;
using core::Bytes;
using core::Duration;
using Description = SwitchDescription;

std::int64_t whole_number(double value) {
    return static_cast<std::int64_t>(value);
}

std::vector<std::uint32_t> read_list(Text text, std::uint64_t least, std::uint64_t most) {
    std::vector<std::uint32_t> numbers;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        numbers.push_back(count(text.substr(0, comma), least, most));
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return numbers;
}

/// Reads and prints the value of a key, by its type.
struct KeyReader {
    const SwitchKey& key;
    Description& description;
    Text text;

    void operator()(MemberOf<Bytes> of) const {
        of(description) =
            bounded(parse_bytes, text, Bytes{whole_number(key.least)}, Bytes{whole_number(key.most)});
    }
    void operator()(MemberOf<Duration> of) const {
        of(description) =
            some_time(text, Duration{whole_number(key.least)}, Duration{whole_number(key.most)});
    }
    void operator()(MemberOf<BitRate> of) const {
        of(description) =
            bounded(parse_rate, text, BitRate{whole_number(key.least)}, BitRate{whole_number(key.most)});
    }
    void operator()(MemberOf<double> of) const {
        of(description) = bounded_number(text, key.least, key.most);
    }
    void operator()(MemberOf<std::uint32_t> of) const {
        of(description) =
            count(text, static_cast<std::uint64_t>(key.least), static_cast<std::uint64_t>(key.most));
    }
    void operator()(MemberOf<bool> of) const { of(description) = choose(text, true_or_false); }
    template <typename Kind>
        requires std::is_enum_v<Kind>
    void operator()(MemberOf<Kind> of) const {
        of(description) = choose(text, choices_of(of));
    }
    void operator()(MemberOf<Weights> of) const {
        const std::vector<std::uint32_t> numbers =
            read_list(text, static_cast<std::uint64_t>(key.least), static_cast<std::uint64_t>(key.most));
        Weights& weights = of(description);
        if (numbers.size() != weights.size()) {
            throw UsageError(fmt::format("{} numbers are given; write {}, for the priorities 0 to {}",
                                         numbers.size(), weights.size(), weights.size() - 1));
        }
        std::copy(numbers.begin(), numbers.end(), weights.begin());
    }
    void operator()(MemberOf<std::vector<std::uint32_t>> of) const {
        of(description) =
            read_list(text, static_cast<std::uint64_t>(key.least), static_cast<std::uint64_t>(key.most));
    }
    void operator()(MemberOf<std::vector<core::OwnCables>> of) const {
        of(description) = parse_own_cables(text);
    }
    void operator()(MemberOf<std::string> of) const { of(description) = parse_class(text); }
    void operator()(MaskMember member) const {
        core::PriorityMask& mask = member.of(description);
        mask = 0;
        for (const std::uint32_t priority : read_list(text, 0, core::priority_count - 1)) {
            mask |= core::mask_of(static_cast<core::Priority>(priority));
        }
    }
    void operator()(PriorityMember member) const {
        member.of(description) = static_cast<core::Priority>(count(text, 0, core::priority_count - 1));
    }
};

struct Printer {
    Description& description;

    template <typename Quantity>
    std::string operator()(MemberOf<Quantity> of) const {
        return to_text(of(description));
    }
    std::string operator()(MemberOf<double> of) const { return number_text(of(description)); }
    std::string operator()(MemberOf<std::uint32_t> of) const { return fmt::format("{}", of(description)); }
    std::string operator()(MemberOf<bool> of) const { return chosen(of(description), true_or_false); }
    template <typename Kind>
        requires std::is_enum_v<Kind>
    std::string operator()(MemberOf<Kind> of) const {
        return chosen(of(description), choices_of(of));
    }
    std::string operator()(MemberOf<Weights> of) const {
        return fmt::format("{}", fmt::join(of(description), ","));
    }
    std::string operator()(MemberOf<std::vector<std::uint32_t>> of) const {
        return fmt::format("{}", fmt::join(of(description), ","));
    }
    std::string operator()(MemberOf<std::vector<core::OwnCables>> of) const {
        return own_cables_text(of(description));
    }
    std::string operator()(MemberOf<std::string> of) const { return of(description); }
    std::string operator()(MaskMember member) const {
        std::vector<std::size_t> priorities;
        for (std::size_t priority = 0; priority < core::priority_count; ++priority) {
            if ((member.of(description) >> priority & 1U) != 0) {
                priorities.push_back(priority);
            }
        }
        return fmt::format("{}", fmt::join(priorities, ","));
    }
    std::string operator()(PriorityMember member) const { return fmt::format("{}", member.of(description)); }
};

struct KindText {
    std::string_view operator()(MemberOf<Bytes> /**/) const { return "size"; }
    std::string_view operator()(MemberOf<Duration> /**/) const { return "time"; }
    std::string_view operator()(MemberOf<BitRate> /**/) const { return "rate"; }
    std::string_view operator()(MemberOf<double> /**/) const { return "number"; }
    std::string_view operator()(MemberOf<std::uint32_t> /**/) const { return "count"; }
    std::string_view operator()(MemberOf<bool> /**/) const { return syntax_of<true_or_false>; }
    template <typename Kind>
        requires std::is_enum_v<Kind>
    std::string_view operator()(MemberOf<Kind> /**/) const {
        return syntax_of<choices_of(MemberOf<Kind>{})>;
    }
    std::string_view operator()(MemberOf<Weights> /**/) const { return "8 counts"; }
    std::string_view operator()(MemberOf<std::vector<std::uint32_t>> /**/) const { return "counts"; }
    std::string_view operator()(MemberOf<std::vector<core::OwnCables>> /**/) const {
        return "cables and rates";
    }
    std::string_view operator()(MemberOf<std::string> /**/) const { return "data|own|0..7"; }
    std::string_view operator()(MaskMember /**/) const { return "priorities"; }
    std::string_view operator()(PriorityMember /**/) const { return "0..7"; }
};

}  // namespace

std::string_view kind_of(const SwitchKey& key) {
    return std::visit(KindText{}, key.member);
}

void set_value(const SwitchKey& key, SwitchDescription& description, std::string_view text) {
    std::visit(KeyReader{key, description, text}, key.member);
}

std::string value_text(const SwitchKey& key, const SwitchDescription& description) {
    SwitchDescription copy = description;  // members are found in what may be changed
    return std::visit(Printer{copy}, key.member);
}

}  // namespace weir::config
