// What control groups leave a process: of version 1 and 2, nested, and with what cannot be seen.
#include "host/control_group.hpp"

#include "catch.hpp"
#include "fake_host.hpp"

using namespace weir::host;
using weir::host::test::FakeTree;

namespace {

constexpr const char* meminfo = "MemTotal:       2000 kB\nMemAvailable:    1000 kB\n";

void memory_of_version_2(const FakeTree& tree, const std::string& group, const std::string& limit,
                         const std::string& used, const std::string& stat = "anon 1\n") {
    const std::string directory = "sys/fs/cgroup" + group + "/memory.";
    tree.write(directory + "max", limit + "\n");
    tree.write(directory + "current", used + "\n");
    tree.write(directory + "stat", stat);
}

}  // namespace

TEST_CASE("Without control groups a process may use what the host has") {
    const FakeTree tree;
    CHECK(available_memory(tree.root()).bytes.count == 0);
    CHECK(group_limits(tree.root()).cores == 0);
    tree.write("proc/meminfo", meminfo);
    CHECK(available_memory(tree.root()).bytes.count == 1024000);
    CHECK_FALSE(available_memory(tree.root()).by_group);
}

TEST_CASE("Version 2: the least of all groups above, without what is only cached") {
    const FakeTree tree;
    tree.write("proc/meminfo", meminfo);
    tree.write("proc/self/cgroup", "0::/system.slice/job_7/step_0/task_1\n");
    memory_of_version_2(tree, "/system.slice/job_7/step_0/task_1", "max", "100000");
    memory_of_version_2(tree, "/system.slice/job_7/step_0", "900000", "100000");
    memory_of_version_2(tree, "/system.slice/job_7", "500000", "300000",
                        "file 90000\ninactive_file 50000\nactive_file 10000\n");
    memory_of_version_2(tree, "/system.slice", "max", "900000");
    CHECK(available_memory(tree.root()).bytes.count == 260000);
    CHECK(available_memory(tree.root()).by_group);
    // Used up, with less cached than the kernel counts: something is left, for 0 is "not known".
    memory_of_version_2(tree, "/system.slice", "900000", "950000");
    CHECK(available_memory(tree.root()).bytes.count == 1);
    memory_of_version_2(tree, "/system.slice", "900000", "900000", "inactive_file 9999999\n");
    CHECK(available_memory(tree.root()).bytes.count == 260000);
    tree.write("sys/fs/cgroup/system.slice/job_7/memory.high", "350000\n");
    CHECK(available_memory(tree.root()).bytes.count == 110000);
}

TEST_CASE("Version 1: a limit above that is not visible counts, and its largest number is none") {
    const FakeTree tree;
    tree.write("proc/meminfo", meminfo);
    // A container without a namespace of control groups: its own group is mounted as the topmost.
    tree.write("proc/self/cgroup", "4:memory:/docker/a1\n2:cpu,cpuacct:/docker/a1\n1:name=systemd:/\nx\n");
    tree.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    tree.write("sys/fs/cgroup/memory/memory.usage_in_bytes", "400000\n");
    CHECK_FALSE(available_memory(tree.root()).by_group);
    tree.write("sys/fs/cgroup/memory/memory.stat",
               "inactive_file 7\nhierarchical_memory_limit 700000\ntotal_inactive_file 100000\n");
    CHECK(available_memory(tree.root()).bytes.count == 400000);
    tree.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
    tree.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    CHECK(group_limits(tree.root()).cores == 0);
    tree.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000\n");
    CHECK(group_limits(tree.root()).cores == 0.5);
}

TEST_CASE("A mixture of both versions, and a quota above") {
    const FakeTree tree;
    tree.write("proc/self/cgroup", "0::/user/a\n3:cpu:/user/a\n");
    tree.write("sys/fs/cgroup/unified/user/a/cpu.max", "max 100000\n");
    tree.write("sys/fs/cgroup/unified/user/cpu.max", "300000 100000\n");
    CHECK(group_limits(tree.root()).cores == 3);
    tree.write("sys/fs/cgroup/cpu/user/a/cpu.cfs_quota_us", "900000\n");
    tree.write("sys/fs/cgroup/cpu/user/a/cpu.cfs_period_us", "100000\n");
    CHECK(group_limits(tree.root()).cores == 3);
    tree.write("sys/fs/cgroup/cpu/user/cpu.cfs_quota_us", "150000\n");
    tree.write("sys/fs/cgroup/cpu/user/cpu.cfs_period_us", "100000\n");
    CHECK(group_limits(tree.root()).cores == 1.5);
    // Moved out of its namespace: only the topmost that is visible.
    tree.write("proc/self/cgroup", "0::/../../other\n");
    CHECK(group_limits(tree.root()).cores == 0);
    tree.write("sys/fs/cgroup/unified/cpu.max", "garbage\n");
    CHECK(group_limits(tree.root()).cores == 0);
}
