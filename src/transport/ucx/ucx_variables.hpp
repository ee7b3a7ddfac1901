// The variables of the environment that weir sets for UCX, where the user has not.
#pragma once

#include <functional>
#include <utility>
#include <vector>

namespace weir::transport {

/// What is to be set, by `value_of`: the value of a variable as it is, or nullptr. Where the user has set one
/// of two that belong together, the other one stays as it is, too.
[[nodiscard]] std::vector<std::pair<const char*, const char*>> ucx_variables(
    const std::function<const char*(const char* name)>& value_of);

}  // namespace weir::transport
