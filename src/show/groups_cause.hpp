// What held up a job of several groups: what did the worst of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "show/groups_record.hpp"

namespace weir::show {

struct GroupCause {
    std::uint32_t group = 0;
    std::string cause;   ///< as in run.json of that group
    std::string text;    ///< "Group 3, main cause: too few slots. ..."
    std::string advice;  ///< "Group 3: ..."; empty: none is known
};

/// Of the worst group that names one; nothing: none does.
std::optional<GroupCause> cause_of_worst(const GroupsRecord& record);

}  // namespace weir::show
