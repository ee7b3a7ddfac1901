// Topologies and placements: what is decided, and what is refused.
#include "config/fabric.hpp"

#include <string>

#include "catch.hpp"
#include "config/resolve.hpp"
#include "refusal.hpp"

using namespace weir::config;
using weir::core::PlacementKind;

namespace fabric_test {

RunRequest resolved(std::vector<GivenOption> options, const std::vector<std::string>& keys) {
    options.push_back({"network", "packet"});
    options.insert(options.end(), {{"producer-link", "100Gb/s"}, {"consumer-link", "100Gb/s"}});
    for (const std::string& key : keys) {
        options.push_back({"switch-set", key});
    }
    return resolve(options, true);
}

std::vector<GivenOption> workers(const char* count) {
    return {{"producers", count}, {"consumers", count}, {"destination", "addressed"}, {"rate", "1Gb/s"}};
}

PlacementKind kind_of(const RunRequest& request) {
    return request.network.fabric.placement.kind;
}

}  // namespace fabric_test

using namespace fabric_test;

TEST_CASE("Unless a placement is given, each rank has a host of its own, also where they may be workers") {
    CHECK(kind_of(resolved(workers("4"), {})) == PlacementKind::rows);
    CHECK(kind_of(resolved(workers("4"), {"placement.kind=auto"})) == PlacementKind::rows);
    CHECK(kind_of(resolved({{"producers", "4"}, {"consumers", "4"}}, {})) == PlacementKind::rows);
    CHECK(kind_of(resolved(workers("4"), {"placement.kind=random"})) == PlacementKind::random);
    std::vector<GivenOption> fluid = workers("4");
    fluid.insert(fluid.end(), {{"network", "fluid"}, {"switch-set", "topology.kind=leaf-spine"}});
    CHECK(kind_of(resolve(fluid, true)) == PlacementKind::rows);
}

TEST_CASE("What is impossible whatever the ranks are is refused in one line that names the key") {
    const std::string spine = "topology.kind=leaf-spine";
    const std::string three = "topology.kind=three-tier";
    const std::string rails = "topology.kind=rail-optimized";
    const std::pair<std::vector<std::string>, const char*> refusals[] = {
        {{spine, "topology.spines=0"}, "[topology] spines: with 0 the leaves have no uplinks"},
        {{rails, "topology.nics=2", "topology.spines=0"},
         "[topology] spines: with 0 the leaves have no uplinks"},
        {{three, "topology.leaves=6", "topology.pods=4"},
         "[topology] leaves: 6 is no multiple of pods, 4; write 4 or 8"},
        {{three, "topology.spines=2", "topology.cores=1"},
         "[topology] cores: 1 is no multiple of spines (of each pod), 2; write 2"},
        {{rails, "topology.leaves=6", "topology.nics=4"},
         "[topology] leaves: 6 is no multiple of nics, 4; write 4 or 8"},
        {{spine, "topology.leaves=1000", "topology.spines=1000"},
         "[topology] uplinks: all in all there are 1000000 cables between switches, and at most 200000"},
        {{"placement.kind=by-rail"}, "[placement] kind: by-rail needs hosts with several NICs"},
        {{"placement.kind=explicit"}, "[placement] hosts: explicit needs the host of each worker"},
        {{"placement.hosts=1,2"}, "[placement] hosts: a list is for kind = \"explicit\""},
        {{"placement.kind=explicit", "placement.hosts=1", "placement.per-host=2"},
         "[placement] per-host: 2 is not for this kind"},
        {{"topology.own-rates=leaf-0=1Gb/s"}, "own-rates: 'leaf-0=1Gb/s' does not say whose speed it is"},
        {{"topology.own-rates=rack-0:spine-1=1Gb/s"}, "own-rates: 'rack-0' is no switch; write leaf-N"},
        {{spine, "topology.own-rates=leaf-0:spine-0=1Gb/s,spine-0:leaf-0=2Gb/s"},
         "own-rates: leaf-0:spine-0 is listed twice; write one speed for it"},
    };
    for (const auto& [keys, refusal] : refusals) {
        const std::string found = refusal_of([&] { resolved(workers("4"), keys); });
        CAPTURE(found);
        CHECK(contains(found, refusal));
        CHECK(found.find('\n') == std::string::npos);
    }
}

TEST_CASE("What the ranks do not fit is refused in one line that names the key") {
    const std::pair<std::vector<std::string>, const char*> refusals[] = {
        {{"topology.hosts=3", "placement.kind=by-worker"},
         "[topology] hosts: there are 3, and the ranks need 4; write hosts = 4 or more"},
        {{"topology.kind=rail-optimized", "topology.leaves=16", "topology.nics=2",
          "placement.kind=by-worker"},
         "[topology] leaves: 4 hosts with 2 NICs leave rails without hosts; write leaves = 8 or less"},
        {{"placement.kind=explicit", "placement.hosts=0,1,2"},
         "[placement] hosts: 3 are listed for 4 producers and 4 consumers; write 4 (one for each worker) or "
         "8"},
        {{"placement.kind=explicit", "placement.hosts=0,1,2,9", "topology.hosts=4"},
         "[topology] hosts: there are 4, and the ranks need 10"},
        {{"topology.kind=leaf-spine", "topology.own-rates=leaf-0:spine-7=1Gb/s"},
         "own-rates: there is no cable leaf-0:spine-7"},
    };
    for (const auto& [keys, refusal] : refusals) {
        const std::string found = refusal_of([&] { resolved(workers("4"), keys); });
        CAPTURE(found);
        CHECK(contains(found, refusal));
        CHECK(found.find('\n') == std::string::npos);
    }
    std::vector<GivenOption> slower = workers("4");
    slower.insert(
        slower.end(),
        {{"network", "packet"}, {"consumer-link", "25Gb/s"}, {"switch-set", "placement.kind=by-worker"}});
    CHECK(contains(refusal_of([&] { resolve(slower, true); }),
                   "producer 0 and consumer 0 share a host, and their links have 100 Gb/s and 25 Gb/s"));
    std::vector<GivenOption> listed = workers("2");
    listed.insert(listed.end(), {{"network", "packet"},
                                 {"producer-link", "100Gb/s,0=25Gb/s"},
                                 {"consumer-link", "100Gb/s"},
                                 {"switch-set", "placement.kind=explicit"},
                                 {"switch-set", "placement.hosts=0,0,1,2"}});
    CHECK(contains(refusal_of([&] { resolve(listed, true); }),
                   "producer 1 and producer 0 share a host, and their links have 100 Gb/s and 25 Gb/s"));
    CHECK(contains(refusal_of([] {
                       resolve(std::vector<GivenOption>{{"producers", "2"},
                                                        {"consumers", "2"},
                                                        {"transport", "datagram"},
                                                        {"switch-set", "placement.kind=by-worker"}},
                               true);
                   }),
                   "with --transport datagram each rank needs a host of its own"));
}

TEST_CASE("Speeds of single cables are printed as they were read") {
    const auto cables = parse_own_cables("spine-1:leaf-0=50Gb/s,spine-0:core-3=10Gb/s");
    CHECK(own_cables_text(cables) == "leaf-0:spine-1=50Gb/s,spine-0:core-3=10Gb/s");
    CHECK(parse_own_cables("").empty());
}
