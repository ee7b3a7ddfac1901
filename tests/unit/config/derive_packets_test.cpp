
#include <string>
#include <vector>

#include "catch.hpp"
#include "config/option_table.hpp"
#include "config/passes.hpp"
#include "config/resolve.hpp"
#include "refusal.hpp"
#include "temporary_file.hpp"

using namespace weir::config;
using Given = std::vector<GivenOption>;
using weir::core::mask_of;

namespace {

RunRequest packet_request(Given given) {
    given.push_back({"network", "packet"});
    return resolve(given, true);
}

std::string packet_refusal(const Given& given) {
    return refusal_of([&] { packet_request(given); });
}

/// A simulation with PFC and a switch of its own.
RunRequest pausing(const TemporaryFile& file, Given given) {
    given.insert(given.end(), {{"pfc", "on"}, {"switch", file.path()}});
    return packet_request(std::move(given));
}

}  // namespace

TEST_CASE("a packet network is a shallow switch without PFC and ECN unless options ask for more") {
    const RunRequest request = packet_request({});
    CHECK(request.network.fabric.switches.pool == weir::core::Bytes{16'000'000});
    CHECK(request.network.fabric.switches.lossless == 0);
    CHECK(request.packets.switch_name == "shallow");
    CHECK(find_option("pfc")->get(request) == "off");
    CHECK(find_option("control-priority")->get(request) == "data");
}

TEST_CASE("pfc acts on the class of data, ecn in switch, NICs and connections") {
    const auto fabric = packet_request({{"pfc", "on"}, {"ecn", "on"}}).network.fabric;
    CHECK(fabric.switches.lossless == mask_of(fabric.data_priority));
    CHECK(fabric.switches.ecn.on);
    CHECK(fabric.nics.dcqcn.on);
    CHECK(fabric.tcp.ecn);
}

TEST_CASE("control messages have the class of data, one strictly above it, or any") {
    const auto same = packet_request({}).network.fabric;
    CHECK(same.control_priority == same.data_priority);
    const auto own = packet_request({{"control-priority", "own"}}).network.fabric;
    CHECK(own.control_priority > own.data_priority);
    CHECK((own.switches.strict & mask_of(own.control_priority)) != 0);
    CHECK((own.nics.strict & mask_of(own.control_priority)) != 0);
    CHECK(packet_request({{"control-priority", "1"}}).network.fabric.control_priority == 1);
}

TEST_CASE("a plain switch has ports of --port-buffer and no pool") {
    const auto fabric = packet_request({{"switch", "plain"}, {"port-buffer", "100kB"}}).network.fabric;
    CHECK(fabric.switches.egress_threshold.count == 100000);
    CHECK(fabric.switches.pool.count > 1'000'000'000'000);
    CHECK(contains(packet_refusal({{"switch", "plain"}, {"pfc", "on"}}),
                   "--switch: ports that share no memory"));
    CHECK(contains(packet_refusal({{"switch", "plain"}, {"port-buffer", "4100B"}}), "packet of 4.178 kB"));
}

TEST_CASE("a queue must hold a full packet") {
    const TemporaryFile file("base = \"shallow\"\n[switch]\negress-threshold = \"4100B\"\n", ".toml");
    CHECK(contains(packet_refusal({{"switch", file.path()}}),
                   "egress-threshold: 4.1 kB is less than a packet of 4.178 kB"));
}

TEST_CASE("a real run ignores what a scenario assumes of switches and hosts") {
    const TemporaryFile file("switch-set = [\"host.read-time=33us\"]\n", ".toml");
    const Given given{{"scenario", file.path()}};
    CHECK(resolve(given, false).packets.keys.size() == 1);
    CHECK(refusal_of([&] { resolve(given, true); }) == "--switch-set: needs --network packet");
}

TEST_CASE("options of the packet network are refused in another one") {
    for (const GivenOption& option : Given{{"switch", "deep"},
                                           {"pfc", "on"},
                                           {"ecn", "off"},
                                           {"loss-recovery", "selective"},
                                           {"control-priority", "own"}}) {
        CAPTURE(option.name);
        const std::string refusal = refusal_of([&] { resolve(Given{option}, true); });
        CHECK(refusal == "--" + option.name + ": needs --network packet");
        CHECK(find_option(option.name)->get(resolve(Given{}, true)).empty());
    }
    // A fluid has the fabric of a switch, if somebody wrote that it is one.
    const auto fluid_refusal = [](Given given) {
        given.push_back({"network", "fluid"});
        return refusal_of([&] { resolve(given, true); });
    };
    const Given fluid{{"network", "fluid"}, {"switch", "deep"}, {"switch-set", "placement.per-host=2"}};
    const RunRequest request = resolve(fluid, true);
    CHECK(request.network.fluid_fabric);
    CHECK(request.network.fabric.placement.per_host == 2);
    CHECK(find_option("switch")->get(request) == "deep");
    CHECK(request.notes.size() == 1);
    CHECK_FALSE(resolve(Given{{"network", "fluid"}}, true).network.fluid_fabric);
    CHECK(fluid_refusal({{"pfc", "on"}}) == "--pfc: needs --network packet");
    CHECK(contains(fluid_refusal({{"switch-set", "ecn.none-below=50kB"}}),
                   "--switch-set: ecn.none-below: needs --network packet; fluid takes [topology]"));
    CHECK(contains(fluid_refusal({{"switch-set", "balancing.kind=flowlets"}}), "flowlets need gaps"));
    CHECK(contains(
        fluid_refusal({{"switch-set", "topology.spines=0"}, {"switch-set", "topology.kind=leaf-spine"}}),
        "[topology] spines"));
    CHECK(contains(packet_refusal({{"control-priority", "8"}}), "'8' is not one of: data, own, 0 to 7"));
    CHECK(contains(packet_refusal({{"loss-recovery", "none"}}), "go-back-n, selective"));
    CHECK(contains(packet_refusal({{"switch", "deeep"}}), "--switch: there is no switch 'deeep'"));
    const GivenOption watched{"switch-set", "watchdog.on=true"};
    CHECK(contains(packet_refusal({watched}),
                   "[watchdog] on: it acts on queues that are paused, and PFC is off"));
    CHECK(packet_refusal({watched, {"pfc", "on"}}) == "accepted");
    CHECK(packet_refusal({watched, {"pfc", "off"}}) == "accepted");  // a comparison of both
    const GivenOption fast{"switch-set", "dcqcn.least-rate=1Tb/s"};
    CHECK(contains(packet_refusal({fast}), "[dcqcn] least-rate: 1 Tb/s is more than any link has"));
    CHECK(packet_refusal({fast, {"framing", "tcp"}}) == "accepted");
    CHECK(packet_refusal({{"producer-link", "1Mb/s"}, {"consumer-link", "1Mb/s"}}) == "accepted");
}

TEST_CASE("the headroom of a switch is that of all its ports") {
    const TemporaryFile star("[switch]\nheadroom = \"100kB\"\n", ".toml");
    const Given layout{
        {"producers", "3"}, {"consumers", "4"}, {"producer-link", "100Gb/s"}, {"consumer-link", "25Gb/s"}};
    CHECK(largest_headroom(pausing(star, layout)) == weir::core::Bytes{100'000 * 4 + 25'000 * 4});
    // Two hosts each at four leaves, and four uplinks; a spine has eight.
    const TemporaryFile leaves(
        "[switch]\nheadroom = \"100kB\"\n[topology]\nkind = \"leaf-spine\"\nleaves = 4\nspines = 2\nuplinks "
        "= 2\n",
        ".toml");
    CHECK(largest_headroom(pausing(leaves, layout)) == weir::core::Bytes{100'000 * 8});
}

TEST_CASE("headroom that the pool cannot hold is refused") {
    const TemporaryFile small("[switch]\npool = \"500kB\"\n", ".toml");
    RunRequest request = pausing(small, {{"producers", "3"}, {"consumers", "4"}});
    CHECK(contains(
        refusal_of([&] { check_switch_memory(request); }),
        "[switch] headroom: 100.125 KiB for a port of 100 Gb/s are 801 KiB for all ports of a switch, "
        "and its pool has 500 kB; make headroom smaller, or pool larger"));
}

TEST_CASE("memory of which headroom and reserves leave nothing is refused") {
    const auto refused = [](const char* text) {
        const TemporaryFile file(text, ".toml");
        RunRequest request = pausing(file, {{"producers", "3"}, {"consumers", "4"}});
        return refusal_of([&] { check_switch_memory(request); });
    };
    // A lossless group and seven lossy queues of each of eight ports.
    CHECK(refused("[switch]\npool = \"1MB\"\nheadroom-pool = \"200kB\"\npg-reserved = \"9kB\"\n"
                  "queue-reserved = \"12kB\"\n") == "accepted");
    CHECK(contains(
        refused("[switch]\npool = \"1MB\"\nheadroom-pool = \"200kB\"\npg-reserved = \"9kB\"\n"
                "queue-reserved = \"13kB\"\n"),
        "[switch] pool: of 1 MB, headroom of 200 kB and what is reserved for each port (pg-reserved, "
        "queue-reserved) leave nothing to share, in 1 slices; make them less, or pool larger"));
    CHECK(contains(refused("[switch]\negress-pool = \"500kB\"\nqueue-reserved = \"9kB\"\nslices = 2\n"),
                   "[switch] queue-reserved: 9 kB for each lossy queue leave nothing of the egress-pool of "
                   "500 kB, in 2 slices; make it less, or egress-pool larger"));
}

TEST_CASE("after a pause there arrives what is under way on both ways, and two packets") {
    const auto request = resolve(Given{{"network", "packet"}, {"latency", "4us"}}, true);
    CHECK(pause_takes(request.network, {100'000'000'000}) == weir::core::Bytes{50'000 + 2 * 4178 + 84});
    // The switch's file may know the cables, whatever messages take.
    auto cables = request.network;
    cables.fabric.topology.host_delay = weir::core::Duration{200};
    CHECK(pause_takes(cables, {100'000'000'000}) == weir::core::Bytes{5'000 + 2 * 4178 + 84});
}
