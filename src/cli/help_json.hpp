// `weir --help json`: the help for programs. Manual pages and completions are made from it
// (src/manual), and whoever drives weir can look up there which options there are.
#pragma once

#include <string>

namespace weir::cli {

/// One JSON object. weir itself and each of its `commands` have `name`, `summary`, `usage`, `description`,
/// `examples`, `exit_status`, `arguments` and `groups` of `options`; weir also `version` and `date` (of the
/// commit; null: not known). An option has `name` and `short` with their dashes, `syntax` (null: a flag),
/// `help`, `default` (null: none), `values` (the words that it takes, where they can be listed) and
/// `repeatable`.
std::string help_json();

}  // namespace weir::cli
