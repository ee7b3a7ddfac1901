// A plan as text, for the start of a run and the dry run.
#pragma once

#include <string>
#include <vector>

#include "core/plan.hpp"

namespace weir::show {

/// "14 producers x 85.80 Gb/s to 72 consumers"; with generation `saturate`, where the rate is not what is
/// sent, "2 producers to 2 consumers, as fast as possible".
std::string load_text(const core::Plan& plan);

/// Notes on the last set where the duration is not a multiple of the interval, or where the set has less than
/// an interval until the end of the drain; empty: nothing to note.
std::vector<std::string> last_set_lines(const core::Plan& plan);

}  // namespace weir::show
