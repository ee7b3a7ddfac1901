// How values of keys of a switch file are read and printed, by their type.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>
#include <type_traits>
#include <vector>

#include "config/fabric.hpp"
#include "config/option_values.hpp"
#include "config/switch_keys.hpp"
#include "config/usage_error.hpp"

namespace weir::config {

namespace {

using core::BitRate;
using core::Bytes;
using core::Duration;
using Description = SwitchDescription;

/// What may be written for a member of the type.
template <typename Kind>
constexpr int choices_of = 0;
template <>
constexpr const auto& choices_of<core::LossRecovery> = loss_recoveries;
template <>
constexpr Choice<core::DcqcnRules> choices_of<core::DcqcnRules>[] = {{"2015", core::DcqcnRules::paper},
                                                                     {"hpcc", core::DcqcnRules::hpcc}};
template <>
constexpr Choice<core::WatchdogAction> choices_of<core::WatchdogAction>[] = {
    {"drop", core::WatchdogAction::drop}, {"forward", core::WatchdogAction::forward}};
template <>
constexpr Choice<core::CongestionControl> choices_of<core::CongestionControl>[] = {
    {"newreno", core::CongestionControl::newreno},
    {"cubic", core::CongestionControl::cubic},
    {"dctcp", core::CongestionControl::dctcp}};
template <>
constexpr Choice<core::PairControl> choices_of<core::PairControl>[] = {
    {"dcqcn", core::PairControl::dcqcn},
    {"swift", core::PairControl::swift},
    {"credits", core::PairControl::credits}};
template <>
constexpr Choice<core::TopologyKind> choices_of<core::TopologyKind>[] = {
    {"star", core::TopologyKind::star},
    {"leaf-spine", core::TopologyKind::leaf_spine},
    {"three-tier", core::TopologyKind::three_tier},
    {"rail-optimized", core::TopologyKind::rail_optimized}};
template <>
constexpr Choice<core::PlacementKind> choices_of<core::PlacementKind>[] = {
    {"rows", core::PlacementKind::rows},       {"by-worker", core::PlacementKind::by_worker},
    {"by-rail", core::PlacementKind::by_rail}, {"explicit", core::PlacementKind::listed},
    {"random", core::PlacementKind::random},   {"auto", core::PlacementKind::rows}};
template <>
constexpr Choice<core::Arbitration> choices_of<core::Arbitration>[] = {
    {"fifo", core::Arbitration::fifo}, {"ingress-round-robin", core::Arbitration::ingress_round_robin}};
template <>
constexpr Choice<core::BalancingKind> choices_of<core::BalancingKind>[] = {
    {"ecmp", core::BalancingKind::ecmp},
    {"flowlets", core::BalancingKind::flowlets},
    {"spray", core::BalancingKind::spray},
    {"adaptive", core::BalancingKind::adaptive}};

std::int64_t whole_number(double value) {
    return static_cast<std::int64_t>(value);
}

/// Reads the value of a key, by its type.
struct KeyReader {
    const SwitchKey& key;
    Description& description;
    Text text;

    [[nodiscard]] std::uint32_t read_count(Text number) const {
        return count(number, static_cast<std::uint64_t>(key.least), static_cast<std::uint64_t>(key.most));
    }
    [[nodiscard]] std::vector<std::uint32_t> read_list() const {
        std::vector<std::uint32_t> numbers;
        for (Text rest = text; !rest.empty();) {
            const std::size_t comma = std::min(rest.find(','), rest.size());
            numbers.push_back(read_count(rest.substr(0, comma)));
            rest.remove_prefix(std::min(comma + 1, rest.size()));
        }
        return numbers;
    }
    template <typename Quantity>
    void operator()(MemberOf<Quantity> of) const {
        of(description) = bounded(text, Quantity{whole_number(key.least)}, Quantity{whole_number(key.most)});
    }
    void operator()(MemberOf<double> of) const {
        of(description) = bounded_number(text, key.least, key.most);
    }
    void operator()(MemberOf<std::uint32_t> of) const { of(description) = read_count(text); }
    void operator()(MemberOf<bool> of) const { of(description) = choose(text, true_or_false); }
    template <typename Kind>
        requires std::is_enum_v<Kind>
    void operator()(MemberOf<Kind> of) const {
        of(description) = choose(text, choices_of<Kind>);
    }
    void operator()(MemberOf<Weights> of) const {
        const std::vector<std::uint32_t> numbers = read_list();
        Weights& weights = of(description);
        if (numbers.size() != weights.size()) {
            throw UsageError("{} numbers are given; write {}, for the priorities 0 to {}", numbers.size(),
                             weights.size(), weights.size() - 1);
        }
        std::copy(numbers.begin(), numbers.end(), weights.begin());
    }
    void operator()(MemberOf<std::vector<std::uint32_t>> of) const { of(description) = read_list(); }
    void operator()(MemberOf<std::vector<core::OwnCables>> of) const {
        of(description) = parse_own_cables(text);
    }
    void operator()(MemberOf<std::string> of) const { of(description) = parse_class(text); }
    void operator()(MaskMember member) const {
        core::PriorityMask& mask = member.of(description);
        mask = 0;
        for (const std::uint32_t priority : read_list()) {
            mask |= core::mask_of(static_cast<core::Priority>(priority));
        }
    }
    void operator()(PriorityMember member) const {
        member.of(description) = static_cast<core::Priority>(read_count(text));
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
        return chosen(of(description), choices_of<Kind>);
    }
    template <typename List>
        requires std::ranges::range<List>
    std::string operator()(MemberOf<List> of) const {
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
        return syntax_of<choices_of<Kind>>;
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
