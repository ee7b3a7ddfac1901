// "Did you mean": the known names most like one that was mistyped.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::config {

/// Number of insertions, deletions, replacements and exchanges of neighbours that make `b` from `a`.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Up to `most` names that are near `text`, the nearest first: within a third of its length, or beginning
/// like it.
std::vector<std::string> near_names(std::string_view text, std::span<const std::string_view> names,
                                    std::size_t most);

}  // namespace weir::config
