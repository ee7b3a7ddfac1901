// What ranks find out about their hosts: locations, lists of cores, load.
#include "host/host_facts.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "catch.hpp"

using namespace weir::host;

TEST_CASE("Cores are listed as ranges") {
    CHECK(cpu_list_text({}).empty());
    CHECK(cpu_list_text({5}) == "5");
    CHECK(cpu_list_text({0, 1, 2, 3, 8}) == "0-3,8");
    CHECK(cpu_list_text({0, 2, 4}) == "0,2,4");
    CHECK(cpu_list_text({0, 1, 6, 7, 127, 128}) == "0-1,6-7,127-128");
}

TEST_CASE("This process has a location") {
    const RankLocation location = this_location();
    CHECK_FALSE(location.host.empty());
    CHECK(location.pid == getpid());
    CHECK_FALSE(location.cpus.empty());
    CHECK(std::is_sorted(location.cpus.begin(), location.cpus.end()));
    CHECK(location.cpu_quota >= 0);
}

TEST_CASE("The leaf of a node is the last switch in SLURM's address of it") {
    CHECK(leaf_in("core-0.leaf-3.fn01") == "leaf-3");
    CHECK(leaf_in("leaf-3.fn01") == "leaf-3");
    CHECK(leaf_in("fn01").empty());
    CHECK(leaf_in("").empty());
    CHECK(leaf_in(".fn01").empty());
}

TEST_CASE("A location is the same after its travel") {
    const RankLocation location{"eb\"07\" \xc3\xa4", 123456789012, {0, 1, 17}, 1.5, "leaf-3", "b",
                                "pid:[1]",           "net:[2]"};
    const RankLocation again = decode_location(encode_location(location));
    CHECK(again.host == location.host);
    CHECK(again.pid == location.pid);
    CHECK(again.cpus == location.cpus);
    CHECK(again.cpu_quota == location.cpu_quota);
    CHECK(again.leaf == location.leaf);
    CHECK(again.boot == location.boot);
    CHECK(again.pid_namespace == location.pid_namespace);
    CHECK(again.network_namespace == location.network_namespace);
}

TEST_CASE("Hosts of one name are told apart by boot and network namespace") {
    const auto location = [](const char* host, const char* boot, const char* network) {
        return RankLocation{.host = host, .boot = boot, .network_namespace = network};
    };
    std::vector<RankLocation> locations = {
        location("same", "b1", "net:[1]"),   location("same", "b1", "net:[2]"),
        location("other", "b1", "net:[1]"),  location("same", "b2", "net:[1]"),
        location("same-2", "b3", "net:[1]"), location("same", "b1", "net:[1]"),
        location("same", "b1", "net:[2]")};
    locations[5].pid_namespace = "pid:[7]";  // one host, another container
    const auto lines = tell_apart(locations);
    std::vector<std::string> names;
    for (const RankLocation& one : locations) {
        names.push_back(one.host);
    }
    CHECK(names == std::vector<std::string>{"same", "same-3", "other", "same-4", "same-2", "same", "same-3"});
    REQUIRE(lines.size() == 1);
    CHECK(lines[0] == "3 machines have the host name same: they are named same, same-3, same-4");
    CHECK(tell_apart(locations).empty());
}

TEST_CASE("Boot and namespaces of this process") {
    const RankLocation location = this_location();
    CHECK(location.boot.size() == 36);
    CHECK(location.pid_namespace.starts_with("pid:["));
    CHECK(location.network_namespace.starts_with("net:["));
}

namespace {

std::string location_with(const std::string& name, const std::string& value) {
    auto json = nlohmann::json::parse(encode_location({"a", 1, {0}, 0}));
    json[name] = nlohmann::json::parse(value);
    return json.dump();
}

}  // namespace

TEST_CASE("Text that is no location is refused") {
    CHECK(decode_location(location_with("pid", "7")).pid == 7);
    for (const std::string& text : std::vector<std::string>{
             "", "{", "[]", "{}", R"({"host":"a","pid":1,"cpus":[0]})",
             R"({"host":"a","pid":1,"cpus":7,"cpu_quota":0})",
             R"({"host":3,"pid":1,"cpus":[],"cpu_quota":0})", location_with("pid", "1e300"),
             location_with("pid", "21111111111111111157"), location_with("cpus", "[4294967297]"),
             location_with("cpu_quota", "true")}) {
        INFO(text);
        CHECK_THROWS_AS(decode_location(text), nlohmann::json::exception);
    }
}

TEST_CASE("The load of a host is its ranks and the cores that they share") {
    const std::vector<RankLocation> locations = {
        {"a", 1, {0, 1}, 0}, {"a", 2, {1, 2}, 0}, {"b", 3, {0, 1, 2, 3}, 0}, {"a", 4, {0}, 0}};
    CHECK(load_of("a", locations).ranks == 3);
    CHECK(load_of("a", locations).cores == 3);
    CHECK(load_of("b", locations).ranks == 1);
    CHECK(load_of("b", locations).cores == 4);
    CHECK(load_of("c", locations).ranks == 0);
    CHECK(load_of("c", locations).cores == 0);
}

TEST_CASE("A quota of the control group counts as so many whole cores") {
    const auto cores = [](double quota) {
        return load_of("a", {{"a", 1, {0, 1, 2, 3}, quota}, {"a", 2, {0, 1, 2, 3}, 0}}).cores;
    };
    CHECK(cores(0) == 4);
    CHECK(cores(2) == 2);
    CHECK(cores(2.9) == 2);
    CHECK(cores(0.5) == 1);
    CHECK(cores(64) == 4);
    CHECK(cores(1e300) == 4);
}

TEST_CASE("Facts about the environment hold what steers the run and no secrets") {
    setenv("UCX_WEIR_TEST", "rc,sm", 1);
    setenv("SLURM_WEIR_TOKEN", "hidden", 1);
    setenv("SLURM_JWT", "hidden", 1);
    setenv("UCX_WEIR_LIST", "KEY=value", 1);
    setenv("WEIR_TEST_OTHER", "other", 1);
    setenv("OMPI_MCA_orte_weir_test", "of the launcher", 1);
    const auto facts = environment_facts("Some MPI 1.2");
    CHECK(facts.at("mpi_library") == "Some MPI 1.2");
    CHECK_FALSE(facts.at("kernel").get<std::string>().empty());
    CHECK(facts.at("memory").get<std::string>().find("kB") != std::string::npos);
    const auto& variables = facts.at("variables");
    CHECK(variables.at("UCX_WEIR_TEST") == "rc,sm");
    CHECK(variables.at("UCX_WEIR_LIST") == "KEY=value");
    CHECK_FALSE(variables.contains("SLURM_WEIR_TOKEN"));
    CHECK_FALSE(variables.contains("SLURM_JWT"));
    CHECK_FALSE(variables.contains("WEIR_TEST_OTHER"));
    CHECK_FALSE(variables.contains("OMPI_MCA_orte_weir_test"));
}
