#include "host/slurm_job.hpp"

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "files/formatting.hpp"

namespace weir::host {

namespace {

using Lookup = std::function<const char*(const char*)>;

struct Member {
    const char* name;
    const char* variable;
    bool is_number = false;
};

/// Copies variables that are set. A number that is none stays the text that it is.
void add(nlohmann::ordered_json& object, const Lookup& lookup, const Member& member,
         const std::string& ending = {}) {
    const char* text = lookup((member.variable + ending).c_str());
    if (text == nullptr || *text == '\0') {
        return;
    }
    if (const auto number = files::number_in<long>(text); member.is_number && number) {
        object[member.name] = *number;
    } else {
        object[member.name] = text;
    }
}

}  // namespace

nlohmann::ordered_json slurm_job_facts(const Lookup& lookup) {
    if (lookup("SLURM_JOB_ID") == nullptr) {
        return nullptr;
    }
    constexpr std::array members{Member{"id", "SLURM_JOB_ID"},
                                 Member{"name", "SLURM_JOB_NAME"},
                                 Member{"array_id", "SLURM_ARRAY_JOB_ID"},
                                 Member{"array_task", "SLURM_ARRAY_TASK_ID", true},
                                 Member{"restarts", "SLURM_RESTART_COUNT", true},
                                 Member{"cluster", "SLURM_CLUSTER_NAME"},
                                 Member{"partition", "SLURM_JOB_PARTITION"},
                                 Member{"account", "SLURM_JOB_ACCOUNT"},
                                 Member{"submitted_from", "SLURM_SUBMIT_HOST"},
                                 Member{"node_list", "SLURM_JOB_NODELIST"},
                                 Member{"nodes", "SLURM_JOB_NUM_NODES", true}};
    constexpr std::array part_members{Member{"id", "SLURM_JOB_ID_HET_GROUP_"},
                                      Member{"partition", "SLURM_JOB_PARTITION_HET_GROUP_"},
                                      Member{"node_list", "SLURM_JOB_NODELIST_HET_GROUP_"},
                                      Member{"nodes", "SLURM_JOB_NUM_NODES_HET_GROUP_", true}};
    // SLURM itself allows 128 parts unless it is configured otherwise.
    constexpr int most_parts = 4096;
    nlohmann::ordered_json job{{"manager", "slurm"}};
    for (const Member& member : members) {
        add(job, lookup, member);
    }
    for (int part = 0; part < most_parts; ++part) {
        const std::string ending = std::to_string(part);
        nlohmann::ordered_json facts = nlohmann::ordered_json::object();
        for (const Member& member : part_members) {
            add(facts, lookup, member, ending);
        }
        if (!facts.contains("node_list")) {
            break;
        }
        job["parts"].push_back(std::move(facts));
    }
    return job;
}

nlohmann::ordered_json slurm_job_facts() {
    return slurm_job_facts([](const char* name) -> const char* { return std::getenv(name); });
}

}  // namespace weir::host
