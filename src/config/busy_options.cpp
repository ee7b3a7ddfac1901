// Options of the group "busy": how long consumers work on an event.
#include "config/distributions.hpp"
#include "config/option_rows.hpp"

namespace weir::config {

namespace {

constexpr Choice<bool> busy_cpus[] = {{"idle", false}, {"burn", true}};

constexpr Option busy_rows[] = {
    {"busy", "none|DISTRIBUTION", "time for which a consumer works on each event", preset("none"),
     as::drawn<&Plan::busy, &RunRequest::busy_trace, parse_busy, busy_text>},
    {"busy-consumers", "INDICES", "only these consumers, counted from 0: 0-3,7", derived("all"),
     as::read<&Plan::busy_consumers, parse_index_list, index_list_text>},
    {"busy-cpu", "idle|burn", "whether a working consumer waits, or uses a core", preset("idle"),
     as::word<&Plan::busy_burns_cpu, busy_cpus>},
    {"result-size", "none|SIZE|DISTRIBUTION", "bytes of an event's result, sent to the scheduler",
     preset("none"),
     as::drawn<&Plan::result_size, &RunRequest::result_size_trace, parse_result_size, result_size_text>},
};

}  // namespace

constinit const std::span<const Option> busy_options = busy_rows;

}  // namespace weir::config
