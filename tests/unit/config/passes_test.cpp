#include "config/passes.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "catch.hpp"
#include "config/option_table.hpp"
#include "config/resolve.hpp"
#include "refusal.hpp"

namespace config_passes_test_file {

using namespace weir::config;
using Given = std::vector<GivenOption>;
using weir::core::Bytes;

namespace {

std::string refused(const Given& given) {
    return refusal_of([&] { resolve(given); });
}

/// What run.json has of it, by name.
std::map<std::string, std::string> plan_of(const RunRequest& request) {
    std::map<std::string, std::string> plan;
    for (const GivenOption& value : plan_values(request)) {
        plan[value.name] = value.value;
    }
    return plan;
}

}  // namespace

TEST_CASE("each pass comes behind those that give what it needs") {
    FactSet given = fact::layout;
    for (const Pass& pass : passes()) {
        CAPTURE(pass.name);
        CHECK((pass.needs & ~given) == 0);
        given |= pass.gives;
    }
}

TEST_CASE("a pass names the options that its messages name") {
    const auto named = [](const Pass& pass, std::string_view option) {
        return contains(" " + std::string(pass.refuses) + " ", " " + std::string(option) + " ");
    };
    for (const Option& option : option_table()) {
        const std::string name(option.name);
        CAPTURE(name);
        // As if it was given alone, with the value that it has without.
        RunRequest request = resolve(Given{});
        request.origins[name] = Origin::command_line;
        for (const Pass& pass : passes()) {
            const std::string refused = refusal_of([&] { pass.run(request); });
            if (refused != "accepted") {
                CAPTURE(pass.name, refused);
                CHECK(named(pass, refused.substr(2, refused.find(':') - 2)));
            }
        }
    }
    for (const Pass& pass : passes()) {
        std::string_view rest = pass.refuses;
        while (!rest.empty()) {
            const std::string_view option = rest.substr(0, rest.find(' '));
            CAPTURE(pass.name, option);
            CHECK(find_option(option) != nullptr);
            rest.remove_prefix(std::min(rest.size(), option.size() + 1));
        }
    }
}

TEST_CASE("the default event is at most a set, the default chunk at most a slot") {
    const auto plan = resolve(Given{{"rate", "1Mb/s"}}).plan;
    CHECK(plan.event_size.mean == 125000);
    CHECK(plan.slot_size.count == 125000);
    CHECK(plan.chunk_size.count == 125000);
}

TEST_CASE("scale multiplies rate and sizes and keeps the ratios") {
    const auto full = resolve(Given{{"scenario", "lhcb2021-1"}}).plan;
    for (const char* scale : {"0.01", "1/1000", "1/3", "0.0007", "3"}) {
        CAPTURE(scale);
        const auto scaled = resolve(Given{{"scenario", "lhcb2021-1"}, {"scale", scale}}).plan;
        const auto events = [](const auto& plan) {
            const auto event = static_cast<std::int64_t>(plan.event_size.mean);
            return (plan.set_bytes().count + event - 1) / event;
        };
        CHECK(events(full) == 80);
        CHECK(events(scaled) == 80);
        CHECK(scaled.buffer.count - 2 * scaled.set_bytes().count <= 2);
        CHECK(scaled.buffer.count >= 2 * scaled.set_bytes().count);
        CHECK(scaled.duration == full.duration);
    }
    const auto plan = resolve(Given{{"scale", "0.5"}, {"buffer", "200MB"}, {"slot-size", "64MiB"}}).plan;
    CHECK(plan.rate.bits_per_second == 500000000);
    CHECK(plan.buffer.count == 100000000);
    CHECK(plan.slot_size.count == 32 << 20);
    CHECK(plan.event_size.mean == 8 << 20);
    CHECK(plan.chunk_size.count == 1 << 20);
    CHECK(contains(refused({{"scale", "1/1000000000"}, {"rate", "1b/s"}}), "--scale: --rate: 1 b/s times"));
    CHECK(contains(refused({{"scale", "1000000"}, {"rate", "100Tb/s"}}), "--scale: "));
}

TEST_CASE("drawn sizes are cut at the slot") {
    const RunRequest request = resolve(Given{{"event-size", "normal:10MB,deviation=1MB"}});
    CHECK(request.plan.slot_size.count == 14000000);
    CHECK(request.plan.event_size.maximum == 14000000);
    CHECK(request.notes.size() == 1);
    CHECK(contains(request.notes.front(), "cut at 14 MB"));
    const auto plan = resolve(Given{{"event-size", "lognormal:100MB,deviation=50MB"}}).plan;
    CHECK(plan.slot_size == plan.set_bytes());  // no larger event can exist
    CHECK(resolve(Given{{"event-size", "normal:10MB,deviation=1MB"}, {"slot-size", "11MB"}})
              .plan.event_size.maximum == 11000000);
    CHECK(contains(refused({{"event-size", "normal:10MB,deviation=1MB"}, {"slot-size", "9MB"}}),
                   "--event-size: 10 MB does not fit into a slot of 9 MB"));
}

TEST_CASE("without sets an event may be larger than a set") {
    const auto plan = resolve(Given{{"rate", "1Mb/s"}, {"event-size", "1MB"}, {"generation", "steady"}}).plan;
    CHECK(plan.buffer.count == 1000000);
    CHECK(contains(refused({{"rate", "1Mb/s"}, {"event-size", "1MB"}}),
                   "--event-size: 1 MB is more than a set of 125 kB"));
}

TEST_CASE("the default chunk grows with the slot, so that the receives of a slot stay few") {
    const Given large{{"scenario", "lhcb2021-2"}, {"event-size", "2.68125GB"}};
    CHECK(resolve(large).plan.chunk_size.count == 32 << 20);
    CHECK(resolve(large).plan.chunks_per_fragment() == 80);
    CHECK(resolve(Given{{"scenario", "lhcb2021-2"}}).plan.chunk_size.count == 1 << 20);
    CHECK(resolve(Given{{"scenario", "lhcb2021-2"}, {"chunk-size", "4MiB"}}).plan.chunk_size.count ==
          4 << 20);
}

TEST_CASE("a chunk larger than the slot is cut, and that is said when it was asked for") {
    const RunRequest request = resolve(Given{{"event-size", "64kB"}, {"chunk-size", "4MiB"}});
    CHECK(request.plan.chunk_size.count == 64000);
    CHECK(request.notes.size() == 1);
    CHECK(resolve(Given{{"event-size", "64kB"}}).notes.empty());
}

TEST_CASE("sizes that do not fit each other are refused") {
    CHECK(contains(refused({{"event-size", "16MiB"}, {"slot-size", "8MiB"}}),
                   "does not fit into a slot of 8 MiB"));
    CHECK(contains(refused({{"buffer", "1MiB"}}), "--buffer: 1 MiB is less than an event of 16 MiB"));
    CHECK(contains(refused({{"rate", "1b/s"}}),
                   "--rate: 1 b/s gives less than one byte per --interval of 1 s"));
    CHECK(contains(refused({{"chunk-size", "64B"}}), "at most 65536 are possible; make it at least 256 B"));
    CHECK(contains(refused({{"slots", "1000"}, {"chunk-size", "1KiB"}}),
                   "--slots: 1000 slots of 16384 chunks"));
    CHECK(refused({{"slots", "64"}, {"chunk-size", "1KiB"}}) == "accepted");
}

TEST_CASE("the advice on chunk sizes is right") {
    CHECK(refused({{"chunk-size", "256B"}}) == "accepted");
    CHECK(contains(refused({{"chunk-size", "255B"}}), "at least 256 B"));
}

TEST_CASE("contradictions are refused") {
    CHECK(contains(refused({{"require", "sustained"}, {"generation", "saturate"}}),
                   "--require: 'sustained' contradicts"));
    CHECK(contains(refused({{"require", "sustained"}, {"buffer", "100MB"}}),
                   "--require: 'sustained' cannot hold"));
    CHECK(contains(refused({{"busy-consumers", "0"}}), "--busy-consumers: needs --busy"));
    CHECK(contains(refused({{"busy-cpu", "burn"}}), "--busy-cpu: needs --busy"));
    CHECK(contains(refused({{"consumers", "2"}, {"busy", "1s"}, {"busy-consumers", "2"}}),
                   "there is no consumer 2"));
    CHECK(contains(refused({{"duration", "500ms"}}),
                   "--duration: 500 ms is shorter than the --interval of 1 s"));
    CHECK(refused({{"duration", "500ms"}, {"generation", "steady"}}) == "accepted");
    CHECK(contains(refused({{"role", "producer"}, {"producer-hosts", "a"}}),
                   "--role: contradicts --producer-hosts"));
    CHECK(contains(refused({{"role", "producer"}, {"scheduler-rank", "0"}}),
                   "--role: contradicts --scheduler-rank"));
    CHECK(contains(refused({{"producers-per-host", "2"}}), "--producers-per-host: needs --producer-hosts"));
    CHECK(contains(refused({{"consumers-per-host", "2"}}), "--consumers-per-host: needs --consumer-hosts"));
    CHECK(contains(refused({{"scheduler-rank", "3"}, {"scheduler-host", "a"}}),
                   "--scheduler-rank: 3 contradicts"));
    CHECK(refused({{"scheduler-rank", "last"}, {"scheduler-host", "a"}}) == "accepted");
}

TEST_CASE("sets can be staggered where all producers generate equally many") {
    using weir::core::SetPhase;
    CHECK(resolve(Given{}).plan.set_phase == SetPhase::same);
    for (const char* phase : {"spread", "random"}) {
        CAPTURE(phase);
        CHECK(refused({{"set-phase", phase}}) == "accepted");
        CHECK(contains(refused({{"set-phase", phase}, {"duration", "2500ms"}}),
                       "--duration: 2.5 s is not a multiple of the --interval of 1 s"));
        CHECK(refused({{"set-phase", phase}, {"duration", "2500ms"}, {"interval", "500ms"}}) == "accepted");
        for (const char* generation : {"steady", "saturate"}) {
            CHECK(contains(refused({{"set-phase", phase}, {"generation", generation}}),
                           "--set-phase: needs --generation sets"));
        }
        // What was so many intervals stays so many.
        CHECK(refused({{"set-phase", phase},
                       {"interval", "1001us"},
                       {"duration", "21021us"},
                       {"time-scale", "1/3"}}) == "accepted");
    }
    CHECK(refused({{"set-phase", "same"}, {"generation", "steady"}, {"duration", "2500ms"}}) == "accepted");
}

TEST_CASE("the command line may switch off what a scenario makes busy") {
    const auto plan = resolve(Given{{"scenario", "quickstart"}, {"busy", "none"}}).plan;
    CHECK(plan.busy.kind == weir::core::DistributionKind::none);
}

TEST_CASE("the rows of the 2021 paper have the loads that were fitted") {
    const auto load = [](const char* name) {
        const auto plan = resolve(Given{{"scenario", name}}).plan;
        CHECK(plan.set_bytes().count % static_cast<std::int64_t>(plan.event_size.mean) == 0);
        const double events = static_cast<double>(plan.set_bytes().count) / plan.event_size.mean;
        return plan.busy.mean * 1e-9 * events * plan.producers / plan.consumers;
    };
    CHECK(load("lhcb2021-1") == 0);
    CHECK(load("lhcb2021-2") == Approx(0.07).margin(0.0001));
    CHECK(load("lhcb2021-3") == 0);
    CHECK(load("lhcb2021-4") == Approx(0.75 * 0.1725).margin(0.0001));
    CHECK(load("lhcb2021-5") == Approx(0.1725).margin(0.0001));
}

TEST_CASE("results need a scheduler and fit into what may be under way") {
    CHECK(contains(refused({{"policy", "none"}, {"result-size", "28B"}}), "--result-size: "));
    CHECK(contains(refused({{"result-size", "1MiB"}}), "4 slots with results of up to 1 MiB"));
    CHECK(contains(refused({{"result-size", "mixture:1B,large=1MiB,every=9"}}), "1 MiB"));
    CHECK(resolve(Given{{"result-size", "256KiB"}}).plan.result_size.mean == 262144);
    // A scenario's results give way to a policy of the command line that has none.
    const auto plan = resolve(Given{{"scenario", "lhcb2002-token"}, {"policy", "none"}}).plan;
    CHECK(plan.result_size.kind == weir::core::DistributionKind::none);
    const auto half = resolve(Given{{"scenario", "lhcb2002-token"}, {"scale", "0.5"}}).plan;
    CHECK(half.result_size.mean == 14);
    CHECK(half.result_size.large == 32000);
    CHECK(half.result_size.every == 200);
}

TEST_CASE("a datagram fills a frame by default, and has a size that UDP has") {
    const Given datagram{{"transport", "datagram"}};
    const auto with = [&](Given more) {
        more.insert(more.begin(), datagram.begin(), datagram.end());
        return more;
    };
    CHECK(resolve(datagram).plan.chunk_size.count == 1472);
    CHECK(resolve(datagram).plan.window == 64);
    CHECK(resolve(with({{"window", "3"}})).plan.window == 3);
    CHECK(resolve(with({{"event-size", "5B"}})).plan.chunk_size.count == 18);
    CHECK(resolve(with({{"event-size", "1000B"}})).plan.chunk_size.count == 1000);
    CHECK(resolve(with({{"chunk-size", "65507B"}})).plan.chunk_size.count == 65507);
    CHECK(contains(refused(with({{"chunk-size", "65508B"}})), "write a value from 18B"));
    CHECK(contains(refused(with({{"chunk-size", "17B"}})), "17B is out of range"));
    // More than any transport over MPI may have receives.
    CHECK(resolve(with({{"slots", "1000"}})).plan.slots == 1000);
    CHECK(contains(refused(with({{"chunk-size", "18B"}, {"event-size", "1GB"}, {"rate", "100Gb/s"}})),
                   "at most 16777216 are possible"));
    CHECK(contains(refused(with({{"producers", "70000"}})), "--producers: 70000 are too many"));
}

TEST_CASE("options of datagrams mean something with datagrams only") {
    const Given datagram{
        {"transport", "datagram"}, {"socket-buffer", "4MiB"}, {"datagram-network", "10.0.0.0/8"}};
    CHECK(resolve(datagram).socket_buffer.count == 4 << 20);
    CHECK(resolve(datagram).datagram_network == "10.0.0.0/8");
    CHECK(contains(refused({{"socket-buffer", "4MiB"}}), "--socket-buffer: needs"));
    CHECK(contains(refused({{"datagram-network", "eth0"}}), "--datagram-network: needs"));
    for (const char* network : {"fe80::1/64", "10.0.0.0/33", "10.0.0/8", "eth0/8", "a name", ""}) {
        CAPTURE(network);
        CHECK(contains(refused({{"transport", "datagram"}, {"datagram-network", network}}),
                       "--datagram-network: "));
    }
}

TEST_CASE("the engine ucx carries the transport send, with a traffic class each for control and data") {
    CHECK(resolve(Given{}).engine.engine == weir::core::Engine::mpi);
    CHECK(plan_of(resolve(Given{})).at("engine") == "mpi");
    const RunRequest request =
        resolve(Given{{"engine", "ucx"}, {"control-traffic-class", "0"}, {"data-traffic-class", "104"}});
    CHECK(request.engine.engine == weir::core::Engine::ucx);
    CHECK(request.engine.control_traffic_class == 0U);
    CHECK(request.engine.data_traffic_class == 104U);
    const auto plan = plan_of(request);
    CHECK(plan.at("engine") == "ucx");
    CHECK(plan.at("control-traffic-class") == "0");
    CHECK(plan.at("data-traffic-class") == "104");

    CHECK(contains(refused({{"engine", "ucx"}, {"transport", "datagram"}}),
                   "--engine: ucx carries --transport send, put and get"));
    CHECK(resolve(Given{{"engine", "ucx"}, {"transport", "put"}}).engine.engine == weir::core::Engine::ucx);
    const RunRequest devices =
        resolve(Given{{"engine", "ucx"}, {"control-device", "eth1"}, {"data-device", "mlx5_0:1,mlx5_1:1"}});
    CHECK(devices.engine.control_device == "eth1");
    CHECK(plan_of(devices).at("data-device") == "mlx5_0:1,mlx5_1:1");
    CHECK(contains(refused({{"control-device", "eth1"}}), "--control-device: needs --engine ucx"));
    CHECK(contains(refused({{"engine", "ucx"}, {"data-device", "eth 1"}}), "--data-device: "));
    CHECK(contains(refused({{"data-traffic-class", "8"}}), "--data-traffic-class: needs --engine ucx"));
    CHECK(contains(refused({{"engine", "ucx"}, {"control-traffic-class", "256"}}),
                   "--control-traffic-class: "));
}

TEST_CASE("a simulation has no engine") {
    const Given given{{"engine", "ucx"}};
    CHECK(contains(refusal_of([&] { resolve(given, true); }), "--engine: is for `weir run`"));
    CHECK(plan_of(resolve(Given{}, true)).count("engine") == 0);
    CHECK(plan_of(resolve(Given{{"transport", "put"}}, true)).at("transport") == "put");
}

TEST_CASE("event building refuses what cannot work together") {
    CHECK(contains(refused({{"pattern", "build"}, {"policy", "none"}}),
                   "--pattern: build contradicts --policy none"));
    CHECK(contains(refused({{"initiation", "pull"}, {"policy", "none"}}),
                   "--initiation: pull contradicts --policy none"));
    CHECK(contains(refused({{"initiation", "pull"}, {"transport", "put"}}),
                   "--initiation: pull contradicts --transport put"));
    CHECK(refused({{"initiation", "pull"}, {"transport", "get"}}) == "accepted");
    CHECK(contains(refused({{"requests", "3"}}), "--requests: needs --initiation pull"));
    CHECK(contains(refused({{"outstanding", "3"}}), "--outstanding: needs --pattern build"));
    CHECK(contains(refused({{"low-water", "3"}}), "--low-water: needs --high-water"));
    CHECK(contains(refused({{"reasks", "3"}}), "--reasks: needs --transport datagram"));
    CHECK(contains(refused({{"fragment-timeout", "1s"}}), "--fragment-timeout: needs"));
    CHECK(contains(refused({{"slots", "4"}, {"high-water", "5"}}),
                   "--high-water: 5 events never fit into 4 slots"));
    CHECK(contains(refused({{"slots", "4"}, {"high-water", "3"}, {"low-water", "3"}}),
                   "--low-water: 3 is not below"));
    CHECK(contains(
        refused({{"pattern", "build"}, {"producers", "1000"}, {"slots", "16"}, {"chunk-size", "128KiB"}}),
        "16 slots for 1000 fragments of 128 chunks"));
}

TEST_CASE("the low water mark follows the high one") {
    CHECK(resolve(Given{{"slots", "60"}, {"high-water", "50"}}).plan.low_water == 45);
    CHECK(resolve(Given{{"slots", "4"}, {"high-water", "1"}}).plan.low_water == 0);
}

TEST_CASE("scale shapes as well") {
    const auto plan = resolve(Given{{"scale", "1/10"}, {"shaping", "bucket:20Mb/s,burst=100kB"}}).plan;
    CHECK(plan.shaping.rate.bits_per_second == 2000000);
    CHECK(plan.shaping.burst.count == 10000);
}

TEST_CASE("time-scale keeps rates, and what happens in an interval") {
    const auto full = resolve(Given{{"scenario", "lhcb2021-2"}}).plan;
    const auto plan = resolve(Given{{"scenario", "lhcb2021-2"}, {"time-scale", "1/10"}}).plan;
    CHECK(plan.rate == full.rate);
    CHECK(plan.interval == weir::core::Duration::milliseconds(100));
    CHECK(plan.duration == weir::core::Duration::seconds(30));
    CHECK(plan.event_size.mean == 13'421'773);
    CHECK(plan.buffer.count == 2'147'483'648);
    CHECK(plan.busy.mean == 450e3);
    CHECK(plan.busy.quantum == 120e6);
    CHECK(plan.drain == full.drain);
    const auto third =
        resolve(Given{{"scenario", "lhcb2021-2"}, {"time-scale", "1/3"}, {"drain", "3s"}}).plan;
    CHECK((third.set_bytes().count - 1) / static_cast<std::int64_t>(third.event_size.mean) == 79);
    CHECK(third.drain == third.interval * 3);
    CHECK(contains(refused({{"time-scale", "1000000000"}}), "--time-scale: "));
    // A set of 104517.00 bytes, half of which is no whole number.
    const Given whole_set{
        {"rate", "9389512b/s"}, {"interval", "89050us"}, {"event-size", "104517B"}, {"time-scale", "1/2"}};
    CHECK(resolve(whole_set).plan.event_size.mean ==
          static_cast<double>(resolve(whole_set).plan.set_bytes().count));
    CHECK(contains(refused({{"time-scale", "1/1000000000"}, {"interval", "1ms"}}), "--"));
}

TEST_CASE("addressed events without a file are all-to-all, and the rate is kept") {
    const auto request = resolve(Given{{"destination", "addressed"},
                                       {"producers", "3"},
                                       {"consumers", "4"},
                                       {"rate", "8Mb/s"},
                                       {"interval", "100ms"}},
                                 true);
    const auto& plan = request.plan;
    REQUIRE(plan.addressed());
    CHECK(plan.traffic->pairs() == 12);
    CHECK(plan.traffic->set_bytes({1}) == Bytes{100000});
    CHECK(plan.traffic->largest_transfer() == Bytes{25000});
    CHECK(plan.event_size.mean == 25000);
    CHECK(plan.buffer == Bytes{100000});
    CHECK(plan.rate.bits_per_second == 8000000);
}

TEST_CASE("what addressed events cannot be combined with is refused") {
    const Given all{{"destination", "addressed"}, {"producers", "3"}, {"consumers", "4"}};
    const auto with = [&](const std::string& option, const std::string& value) {
        Given given = all;
        given.push_back({option, value});
        return refused(given);
    };
    CHECK(
        contains(refused(Given{{"destination", "addressed"}}), "--destination: addressed needs --producers"));
    CHECK(contains(with("policy", "random"), "does not work with --policy random"));
    CHECK(contains(with("pattern", "build"), "does not work with --pattern build"));
    CHECK(contains(with("set-phase", "spread"), "does not work with --set-phase"));
    CHECK(contains(with("generation", "steady"), "needs --generation sets"));
    CHECK(contains(with("duration", "1500ms"), "--duration: 1.5 s is not a multiple of the --interval"));
    CHECK(
        contains(refused(Given{{"policy", "oldest"}}), "--policy: longest-queue and oldest are for events"));
    Given none = all;
    none.push_back({"policy", "none"});
    none.push_back({"slots", "2"});
    CHECK(contains(refused(none), "--slots: 2 are fewer than the 3 producers that send to consumer 0"));
}

}  // namespace config_passes_test_file
