// What rows of the option table do with a member of the request, each as the OptionValue of a row:
// `.value = as::number<&Plan::slots, 1, slots_limit>`. What only one option does, its row says itself.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "config/option_table.hpp"
#include "config/option_values.hpp"

namespace weir::config {

using core::BitRate;
using core::Bytes;
using core::Duration;
using core::NetworkPlan;
using core::Plan;

/// What only one option does.
constexpr OptionValue own(void (*set)(RunRequest&, std::string_view), std::string (*get)(const RunRequest&)) {
    return {set, get};
}

namespace as {

/// Where the part of a type is in a request.
template <typename Part, typename Request>
constexpr auto& part_of(Request& r) {
    using Found = std::conditional_t<std::is_const_v<Request>, const Part&, Part&>;
    return std::get<Found>(std::tie(r, r.plan, r.network, r.engine, r.roles, r.groups, r.join));
}

/// The member, in the part of the request that has one.
template <auto member, typename Request>
constexpr auto& at(Request& request) {
    return [&]<typename Part, typename Value>(Value Part::* inside) -> auto& {
        return part_of<Part>(request).*inside;
    }(member);
}

template <typename Value>
std::string text_of(const Value& value) {
    return to_text(value);
}
template <typename Value>
std::string text_of(const std::optional<Value>& value) {
    return value ? to_text(*value) : std::string{};
}

/// One of a few words.
template <auto member, const auto& choices>
inline constexpr OptionValue word{
    [](RunRequest& request, Text text) { at<member>(request) = choose(text, choices); },
    [](const RunRequest& request) { return chosen(at<member>(request), choices); }};

/// A count; 0: not set.
template <auto member, std::uint64_t least, std::uint64_t most>
inline constexpr OptionValue number{
    [](RunRequest& request, Text text) { at<member>(request) = count(text, least, most); },
    [](const RunRequest& request) { return count_text(at<member>(request)); }};

/// A size, a time or a rate.
template <auto member, auto least, auto most>
inline constexpr OptionValue quantity{
    [](RunRequest& request, Text text) { at<member>(request) = bounded(text, least, most); },
    [](const RunRequest& request) { return text_of(at<member>(request)); }};
template <auto member>
inline constexpr OptionValue size = quantity<member, Bytes{1}, largest_bytes>;

/// Of a type that has a parser and a printer of its own.
template <auto member, auto parse, auto print>
inline constexpr OptionValue read{[](RunRequest& request, Text text) { at<member>(request) = parse(text); },
                                  [](const RunRequest& request) { return print(at<member>(request)); }};

/// A text, or what `parse` makes one of.
template <auto member, auto parse = [](Text text) { return std::string(text); }>
inline constexpr OptionValue plain{[](RunRequest& request, Text text) { at<member>(request) = parse(text); },
                                   [](const RunRequest& request) { return at<member>(request); }};

/// Any texts, of an option that may be repeated.
template <auto member>
inline constexpr OptionValue texts{
    [](RunRequest& request, Text text) { at<member>(request).emplace_back(text); },
    [](const RunRequest& request) { return fmt::format("{}", fmt::join(at<member>(request), " ")); }};

/// A distribution, and the file of a trace.
template <auto member, auto file, auto parse, auto print>
inline constexpr OptionValue drawn{
    [](RunRequest& request, Text text) {
        NamedDistribution parsed = parse(text);
        at<member>(request) = std::move(parsed.distribution);
        at<file>(request) = std::move(parsed.trace_file);
    },
    [](const RunRequest& request) { return print({at<member>(request), at<file>(request)}); }};

}  // namespace as

}  // namespace weir::config
