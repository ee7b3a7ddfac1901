#include "cli/describe.hpp"

#include "cli/plan_pressure.hpp"
#include "config/option_table.hpp"

namespace weir::cli {

void describe(const config::RunRequest& request, participant::RunDescription& run) {
    run.plan = request.plan;
    run.require_sustained = request.require.sustained;
    run.socket_buffer = request.socket_buffer;
    run.require_on_time = request.require.on_time;
    run.require_lossless = request.require.lossless;
    run.labels = request.tags;
    if (!request.label.empty()) {
        run.labels.insert(run.labels.begin(), {"label", request.label});
    }
    for (const auto& option : config::plan_values(request)) {
        run.plan_options.emplace_back(option.name, option.value);
    }
    run.pressure = pressure_of(request, run);
}

}  // namespace weir::cli
