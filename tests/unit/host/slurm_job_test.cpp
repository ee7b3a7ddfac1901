// What run.json says of the SLURM job, from the variables of the environment.
#include "host/slurm_job.hpp"

#include <map>
#include <string>

#include "catch.hpp"

using weir::host::slurm_job_facts;

namespace {

nlohmann::ordered_json with(const std::map<std::string, std::string>& environment) {
    return slurm_job_facts([&](const char* name) -> const char* {
        const auto found = environment.find(name);
        return found == environment.end() ? nullptr : found->second.c_str();
    });
}

}  // namespace

TEST_CASE("Outside of a SLURM job there is none") {
    CHECK(with({}).is_null());
    CHECK(with({{"SLURM_CONF", "/etc/slurm/slurm.conf"}}).is_null());
}

TEST_CASE("A job of one kind of node") {
    const auto job = with({{"SLURM_JOB_ID", "4711"},
                           {"SLURM_JOB_NODELIST", "n[1-3]"},
                           {"SLURM_JOB_NUM_NODES", "3"},
                           {"SLURM_JOB_PARTITION", "bench"},
                           {"SLURM_JOB_ACCOUNT", ""}});
    CHECK(job["manager"] == "slurm");
    CHECK(job["id"] == "4711");
    CHECK(job["node_list"] == "n[1-3]");
    CHECK(job["nodes"] == 3);
    CHECK(job["partition"] == "bench");
    for (const char* absent : {"account", "array_id", "array_task", "restarts", "parts"}) {
        CHECK_FALSE(job.contains(absent));
    }
}

TEST_CASE("A task of an array, after a restart") {
    const auto job = with({{"SLURM_JOB_ID", "95"},
                           {"SLURM_ARRAY_JOB_ID", "94"},
                           {"SLURM_ARRAY_TASK_ID", "7"},
                           {"SLURM_RESTART_COUNT", "1"}});
    CHECK(job["array_id"] == "94");
    CHECK(job["array_task"] == 7);
    CHECK(job["restarts"] == 1);
}

TEST_CASE("A heterogeneous job has parts, in its order") {
    const auto job = with({{"SLURM_JOB_ID", "1"},
                           {"SLURM_JOB_ID_HET_GROUP_0", "1"},
                           {"SLURM_JOB_NODELIST_HET_GROUP_0", "ctl1"},
                           {"SLURM_JOB_NUM_NODES_HET_GROUP_0", "1"},
                           {"SLURM_JOB_ID_HET_GROUP_1", "2"},
                           {"SLURM_JOB_NODELIST_HET_GROUP_1", "eb[01-14]"},
                           {"SLURM_JOB_PARTITION_HET_GROUP_1", "eb"},
                           {"SLURM_JOB_NUM_NODES_HET_GROUP_1", "14"}});
    REQUIRE(job["parts"].size() == 2);
    CHECK(job["parts"][0]["node_list"] == "ctl1");
    CHECK(job["parts"][1]["id"] == "2");
    CHECK(job["parts"][1]["partition"] == "eb");
    CHECK(job["parts"][1]["nodes"] == 14);
}

TEST_CASE("A number that is none stays text") {
    CHECK(with({{"SLURM_JOB_ID", "1"}, {"SLURM_JOB_NUM_NODES", "3 or so"}})["nodes"] == "3 or so");
}
