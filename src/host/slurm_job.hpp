// The SLURM job that a run belongs to, for run.json: which one, where, and on which nodes. Read from the
// variables that SLURM sets. They are also among `environment.variables` as they are; here they have names
// that do not depend on the manager or on how ranks were launched.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>

namespace weir::host {

/// `lookup` is getenv, or a test's stand-in. Null outside of a SLURM job. Members that the job does not have
/// are left out: `array_id` and `array_task` outside of an array, `parts` of a job with one kind of node.
nlohmann::ordered_json slurm_job_facts(const std::function<const char*(const char*)>& lookup);
nlohmann::ordered_json slurm_job_facts();

}  // namespace weir::host
