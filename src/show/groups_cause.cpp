#include "show/groups_cause.hpp"

#include <fmt/format.h>

namespace weir::show {

namespace {

using Json = GroupsRecord::Json;

std::string string_in(const Json& json, const char* name) {
    return json.is_object() && json.contains(name) && json[name].is_string() ? json[name].get<std::string>()
                                                                             : std::string{};
}

}  // namespace

std::optional<GroupCause> cause_of_worst(const GroupsRecord& record) {
    for (const std::uint32_t group : worst_first(record)) {
        const Json verdict = record.groups[group].value("verdict", Json());
        const std::string cause = string_in(verdict, "cause");
        // The verdict's sentences end with those about causes.
        const std::string whole = string_in(verdict, "text");
        const std::size_t begin = whole.find("Main cause: ");
        if (cause.empty() || cause == "none" || begin == std::string::npos) {
            continue;
        }
        const std::string advice = string_in(verdict, "advice");
        return GroupCause{.group = group,
                          .cause = cause,
                          .text = fmt::format("Group {}, m{}", group, whole.substr(begin + 1)),
                          .advice = advice.empty() ? "" : fmt::format("Group {}: {}", group, advice)};
    }
    return std::nullopt;
}

}  // namespace weir::show
