// What ranks know of their hosts: places, lists of cores, load.
#include "runtime/host_facts.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "catch.hpp"

using namespace weir::runtime;

TEST_CASE("Cores are listed as ranges") {
    CHECK(cpu_list_text({}).empty());
    CHECK(cpu_list_text({5}) == "5");
    CHECK(cpu_list_text({0, 1, 2, 3, 8}) == "0-3,8");
    CHECK(cpu_list_text({0, 2, 4}) == "0,2,4");
    CHECK(cpu_list_text({0, 1, 6, 7, 127, 128}) == "0-1,6-7,127-128");
}

TEST_CASE("This process has a place") {
    const Place place = this_place();
    CHECK_FALSE(place.host.empty());
    CHECK(place.pid == getpid());
    CHECK_FALSE(place.cpus.empty());
    CHECK(std::is_sorted(place.cpus.begin(), place.cpus.end()));
    CHECK(place.cpu_quota >= 0);
}

TEST_CASE("A place is the same after its travel") {
    const Place place{"eb\"07\" \xc3\xa4", 123456789012, {0, 1, 17}, 1.5};
    const Place again = decode_place(encode_place(place));
    CHECK(again.host == place.host);
    CHECK(again.pid == place.pid);
    CHECK(again.cpus == place.cpus);
    CHECK(again.cpu_quota == place.cpu_quota);
}

TEST_CASE("Text that is no place is refused") {
    for (const char* text : {"", "{", "[]", "{}", R"({"host":"a","pid":1,"cpus":[0]})",
                             R"({"host":"a","pid":1,"cpus":7,"cpu_quota":0})",
                             R"({"host":3,"pid":1,"cpus":[],"cpu_quota":0})"}) {
        INFO(text);
        CHECK_THROWS_AS(decode_place(text), nlohmann::json::exception);
    }
}

TEST_CASE("The load of a host is its ranks and the cores that they share") {
    const std::vector<Place> places = {
        {"a", 1, {0, 1}, 0}, {"a", 2, {1, 2}, 0}, {"b", 3, {0, 1, 2, 3}, 0}, {"a", 4, {0}, 0}};
    CHECK(load_of("a", places).ranks == 3);
    CHECK(load_of("a", places).cores == 3);
    CHECK(load_of("b", places).ranks == 1);
    CHECK(load_of("b", places).cores == 4);
    CHECK(load_of("c", places).ranks == 0);
    CHECK(load_of("c", places).cores == 0);
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
