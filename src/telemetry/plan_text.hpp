// What a plan means, in words that the start of a run and the dry run share.
#pragma once

#include <string>
#include <vector>

#include "core/plan.hpp"

namespace weir::telemetry {

/// "14 producers x 85.80 Gb/s to 72 consumers"; with generation `saturate`, where the rate is not what is
/// sent, "2 producers to 2 consumers, as fast as possible".
std::string load_text(const core::Plan& plan);

/// What becomes of the last set where the duration is no multiple of the interval, or where it has less than
/// an interval to be gone, in lines; none: nothing that would not be expected.
std::vector<std::string> last_set_lines(const core::Plan& plan);

}  // namespace weir::telemetry
