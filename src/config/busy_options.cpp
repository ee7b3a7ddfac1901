// Options of the group "busy": how long consumers work on an event.
#include "config/distributions.hpp"
#include "config/option_table.hpp"
#include "config/option_values.hpp"

namespace weir::config {

namespace {

constexpr Choice<bool> busy_cpus[] = {{"idle", false}, {"burn", true}};

void set_busy(RunRequest& request, std::string_view text) {
    NamedDistribution parsed = parse_busy(text);
    request.plan.busy = std::move(parsed.distribution);
    request.busy_trace = std::move(parsed.trace_file);
}

std::string busy_in_force(const RunRequest& request) {
    return busy_text({request.plan.busy, request.busy_trace});
}

void set_result_size(RunRequest& request, std::string_view text) {
    NamedDistribution parsed = parse_result_size(text);
    request.plan.result_size = std::move(parsed.distribution);
    request.result_size_trace = std::move(parsed.trace_file);
}

std::string result_size_in_force(const RunRequest& request) {
    return result_size_text({request.plan.result_size, request.result_size_trace});
}

constexpr Option busy_rows[] = {
    {.name = "busy",
     .syntax = "none|DISTRIBUTION",
     .help = "time for which a consumer works on each event",
     .default_value = "none",
     .set = set_busy,
     .get = busy_in_force},
    {.name = "busy-consumers",
     .syntax = "INDICES",
     .help = "only these consumers, counted from 0: 0-3,7",
     .default_text = "all",
     .set = [](RunRequest& r, Text text) { r.plan.busy_consumers = parse_index_list(text); },
     .get = [](const RunRequest& r) { return index_list_text(r.plan.busy_consumers); }},
    {.name = "busy-cpu",
     .syntax = "idle|burn",
     .help = "whether a working consumer waits, or uses a core",
     .default_value = "idle",
     .set = [](RunRequest& r, Text text) { r.plan.busy_burns_cpu = choose(text, busy_cpus); },
     .get = [](const RunRequest& r) { return chosen(r.plan.busy_burns_cpu, busy_cpus); }},
    {.name = "result-size",
     .syntax = "none|SIZE|DISTRIBUTION",
     .help = "bytes of an event's result, sent to the scheduler",
     .default_value = "none",
     .set = set_result_size,
     .get = result_size_in_force},
};

}  // namespace

std::span<const Option> busy_options() {
    return busy_rows;
}

}  // namespace weir::config
