#include "show/groups_cause.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <vector>

#include "judge/cause_text.hpp"

namespace weir::show {

namespace {

using Json = GroupsRecord::Json;

std::string string_in(const Json& json, const char* name) {
    return json.is_object() && json.contains(name) && json[name].is_string() ? json[name].get<std::string>()
                                                                             : std::string{};
}

judge::CauseKind kind_of(const std::string& name) {
    const auto* const found = std::find(judge::cause_kind_names.begin(), judge::cause_kind_names.end(), name);
    return found == judge::cause_kind_names.end()
               ? judge::CauseKind::not_told
               : static_cast<judge::CauseKind>(found - judge::cause_kind_names.begin());
}

/// Of "consumer 1"; nothing: not known.
std::optional<core::NodeId> node_of(const Json& where) {
    const std::string role_name = string_in(where, "role");
    for (const core::Role role : {core::Role::producer, core::Role::consumer, core::Role::scheduler}) {
        if (role_name != core::role_name(role)) {
            continue;
        }
        const std::string name = string_in(where, "name");
        const std::size_t space = name.rfind(' ');
        std::uint32_t index = 0;
        if (space != std::string::npos) {
            std::from_chars(name.data() + space + 1, name.data() + name.size(), index);
        }
        return core::NodeId{role, index};
    }
    return std::nullopt;
}

/// Of a group's verdict, what their sentences need.
std::vector<judge::NamedCause> causes_of(const Json& verdict) {
    std::vector<judge::NamedCause> causes;
    const Json list = verdict.is_object() ? verdict.value("causes", Json()) : Json();
    for (const Json& one : list.is_array() ? list : Json::array()) {
        judge::NamedCause cause;
        cause.what = kind_of(string_in(one, "what"));
        cause.evidence = string_in(one, "evidence") == judge::name_of(judge::CauseEvidence::counterfactual)
                             ? judge::CauseEvidence::counterfactual
                             : judge::CauseEvidence::attribution;
        cause.together_with = kind_of(string_in(one, "together_with"));
        cause.text = string_in(one, "text");
        if (one.is_object() && one.contains("where")) {
            cause.where = node_of(one["where"]);
            cause.host = string_in(one["where"], "host");
        }
        causes.push_back(std::move(cause));
    }
    return causes;
}

}  // namespace

std::optional<GroupCause> cause_of_worst(const GroupsRecord& record) {
    for (const std::uint32_t group : worst_first(record)) {
        const Json verdict = record.groups[group].value("verdict", Json());
        const std::vector<judge::NamedCause> causes = causes_of(verdict);
        if (causes.empty()) {
            continue;
        }
        const std::string advice = string_in(verdict, "advice");
        return GroupCause{.group = group,
                          .cause = string_in(verdict, "cause"),
                          .text = fmt::format("Group {}, m{}", group, judge::causes_text(causes).substr(1)),
                          .advice = advice.empty() ? "" : fmt::format("Group {}: {}", group, advice)};
    }
    return std::nullopt;
}

}  // namespace weir::show
