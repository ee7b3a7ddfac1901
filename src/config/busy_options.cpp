// Options of the group "busy": how long consumers work on an event.
#include "config/distributions.hpp"
#include "config/option_rows.hpp"

namespace weir::config {

namespace {

constexpr Choice<bool> busy_cpus[] = {{"idle", false}, {"burn", true}};

constexpr Option busy_rows[] = {
    {.name = "busy",
     .syntax = "none|DISTRIBUTION",
     .help = "time for which a consumer works on each event",
     .default_value = "none",
     .value = as::drawn<&Plan::busy, &RunRequest::busy_trace, parse_busy, busy_text>},
    {.name = "busy-consumers",
     .syntax = "INDICES",
     .help = "only these consumers, counted from 0: 0-3,7",
     .default_text = "all",
     .value = as::read<&Plan::busy_consumers, parse_index_list, index_list_text>},
    {.name = "busy-cpu",
     .syntax = "idle|burn",
     .help = "whether a working consumer waits, or uses a core",
     .default_value = "idle",
     .value = as::word<&Plan::busy_burns_cpu, busy_cpus>},
    {.name = "result-size",
     .syntax = "none|SIZE|DISTRIBUTION",
     .help = "bytes of an event's result, sent to the scheduler",
     .default_value = "none",
     .value =
         as::drawn<&Plan::result_size, &RunRequest::result_size_trace, parse_result_size, result_size_text>},
};

}  // namespace

std::span<const Option> busy_options() {
    return busy_rows;
}

}  // namespace weir::config
