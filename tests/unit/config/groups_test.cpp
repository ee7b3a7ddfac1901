#include "config/role_assignment.hpp"

#include "catch.hpp"
#include "config/resolve.hpp"
#include "refusal.hpp"

using namespace weir::config;

namespace {

RunRequest resolved(const std::vector<GivenOption>& options) {
    return resolve(options);
}

const std::vector<GivenOption> two_lists{{"group-hosts", "a[1-2]"},
                                         {"group-hosts", "b1,b2,b3"},
                                         {"producer-hosts", "a1,b1"},
                                         {"consumer-hosts", "a2,b[2-3]"},
                                         {"scheduler-host", "b3"}};

}  // namespace

TEST_CASE("Without groups a job is one run") {
    CHECK(number_of_groups(resolved({})) == 1);
    CHECK(number_of_groups(resolved({{"groups", "1"}})) == 1);
    CHECK(number_of_groups(resolved({{"groups", "36"}})) == 36);
}

TEST_CASE("Ranks divide into equal groups, or the job is refused") {
    const RunRequest job = resolved({{"groups", "3"}});
    CHECK(ranks_per_group(job, 24) == 8);
    CHECK(refusal_of([&] { static_cast<void>(ranks_per_group(job, 25)); }) ==
          "--groups: 25 ranks cannot be divided into 3 equal groups; start 24 or 27 ranks, or list the hosts "
          "of each group with --group-hosts");
}

TEST_CASE("Lists of hosts make groups") {
    const RunRequest job = resolved(two_lists);
    CHECK(number_of_groups(job) == 2);
    CHECK(group_of_host(job, "a2") == 0);
    CHECK(group_of_host(job, "b3") == 1);
    CHECK(refusal_of([&] { static_cast<void>(group_of_host(job, "c1")); }) ==
          "--group-hosts: there are ranks on c1, which is in no group; add it to one");
    CHECK(refusal_of([] { resolved({{"group-hosts", "a1,a2"}, {"group-hosts", "a2,a3"}}); }) ==
          "--group-hosts: a2 is in groups 0 and 1; name each host once");
    CHECK(refusal_of([] { resolved({{"groups", "3"}, {"group-hosts", "a1"}, {"group-hosts", "a2"}}); }) ==
          "--groups: 3, but --group-hosts is given 2 times; give it once for each group, or leave --groups "
          "out");
}

TEST_CASE("Hosts are below the leaf switch that lists them") {
    const RunRequest job = resolved({{"leaf-hosts", "left=a[1-2]"}, {"leaf-hosts", "right=b1"}});
    CHECK(leaf_of_host(job.roles, "a2") == "left");
    CHECK(leaf_of_host(job.roles, "A1.cluster.example") == "left");
    CHECK(leaf_of_host(job.roles, "b1") == "right");
    CHECK(leaf_of_host(job.roles, "c1").empty());
    CHECK(refusal_of([] { resolved({{"leaf-hosts", "a[1-2]"}}); }) ==
          "--leaf-hosts: 'a[1-2]': write the name of a switch and its hosts, as 'leaf1=eb[01-14]'");
    CHECK(refusal_of([] { resolved({{"leaf-hosts", "left=a1"}, {"leaf-hosts", "right=a[1-2]"}}); }) ==
          "--leaf-hosts: a1 is below left and right; name each host once");
}

TEST_CASE("A group is a run of its own, with its own seed and its own hosts") {
    std::vector<GivenOption> options = two_lists;
    options.push_back({"seed", "7"});
    const RunRequest job = resolved(options);
    const RunRequest second = request_of_group(job, 1);
    CHECK(number_of_groups(second) == 1);
    CHECK(second.plan.seed == 8);
    CHECK(second.roles.producer_hosts == std::vector<std::string>{"b1"});
    CHECK(second.roles.consumer_hosts == std::vector<std::string>{"b2", "b3"});
    CHECK(second.roles.scheduler_host == "b3");
    CHECK(request_of_group(job, 0).roles.scheduler_host.empty());
    CHECK(request_of_group(job, 0).plan.seed == 7);
}

TEST_CASE("Directories of groups sort by number") {
    CHECK(group_directories(3) == std::vector<std::string>{"group-00", "group-01", "group-02"});
    CHECK(group_directories(36).back() == "group-35");
    CHECK(group_directories(1000).at(7) == "group-007");
}

TEST_CASE("Groups need MPI, and cannot be told apart by roles") {
    CHECK(refusal_of([] {
              resolved({{"groups", "2"}, {"join", "h:7000"}});
          }).starts_with("--groups: cannot be combined with --join"));
    CHECK(refusal_of([] {
              resolved({{"groups", "2"}, {"role", "producer"}});
          }).starts_with("--groups: cannot be combined with --role"));
}
