#include "config/resolve.hpp"

#include "catch.hpp"
#include "config/option_table.hpp"
#include "config/role_assignment.hpp"
#include "refusal.hpp"
#include "temporary_file.hpp"

namespace config_resolve_test_file {

using namespace weir::config;
using Given = std::vector<GivenOption>;

namespace {

std::string refused(const Given& given) {
    return refusal_of([&] { resolve(given); });
}

}  // namespace

TEST_CASE("no options at all make a small useful run") {
    const RunRequest request = resolve({});
    const auto& plan = request.plan;
    CHECK(plan.producers == 0);
    CHECK(plan.rate.bits_per_second == 1000000000);
    CHECK(plan.duration == weir::core::Duration::seconds(10));
    CHECK(plan.event_size.mean == 16777216);
    CHECK(plan.chunk_size.count == 1048576);
    CHECK(plan.window == 4);
    CHECK(plan.slots == 4);
    CHECK(plan.streams == 4);
    CHECK(plan.buffer == plan.set_bytes());
    CHECK(plan.slot_size.count == 16777216);
    CHECK(plan.verify == weir::core::Verify::sample);
    CHECK(plan.seed == 1);
    CHECK(request.out.empty());
    CHECK(request.notes.empty());
}

TEST_CASE("the command line beats the scenario, which beats defaults") {
    const RunRequest request = resolve(Given{{"slots", "16"}, {"scenario", "lhcb2021-2"}});
    CHECK(request.plan.slots == 16);
    CHECK(request.plan.producers == 14);
    CHECK(request.plan.window == 4);
    CHECK(request.origin("slots") == Origin::command_line);
    CHECK(request.origin("producers") == Origin::scenario);
    CHECK(request.origin("window") == Origin::preset);
    CHECK(request.scenario_title == "LHCb 2021, test 2: 25G consumers, busy");
}

TEST_CASE("a requirement on the command line replaces the scenario's, tags add up") {
    const TemporaryFile file("require = [\"sustained\", \"lossless\"]\ntag = [\"a=1\", \"b=2\"]\n", ".toml");
    CHECK(resolve(Given{{"scenario", file.path()}}).require.lossless);
    const RunRequest request =
        resolve(Given{{"scenario", file.path()}, {"require", "sustained"}, {"tag", "b=3"}});
    CHECK(request.require == Requirements{true, false});
    CHECK(request.tags == std::vector<std::pair<std::string, std::string>>{{"a", "1"}, {"b", "3"}});
}

TEST_CASE("messages begin with the option, or with the place in the scenario") {
    CHECK(refused({{"rate", "2"}}) == "--rate: '2' has no unit; write for example 2Gb/s");
    CHECK(contains(refused({{"rat", "2"}}), "--rat: there is no such option; did you mean --rate?"));
    CHECK(contains(refused({{"rate", "1Gb/s"}, {"rate", "1Gb/s"}}), "--rate: given more than once"));
    CHECK(contains(refused({{"label", "a\nb"}}), "--label: the value contains a line break"));
    CHECK(contains(refused({{"scenario", "quikstart"}}),
                   "--scenario: there is no scenario 'quikstart'; near: quickstart"));
    const TemporaryFile file("seed = 2\nrate = 3\n", ".toml");
    CHECK(refused({{"scenario", file.path()}}) ==
          "--scenario: " + file.path() + ":2:8: rate: '3' has no unit; write for example 3Gb/s");
}

TEST_CASE("a tag has one value, and the command line's replaces the scenario's") {
    CHECK(refused({{"tag", "k=1"}, {"tag", "k=2"}}) ==
          "--tag: 'k' is given twice, as '1' and as '2'; write each key once");
    const TemporaryFile file("tag = [\"switch=a\", \"room=b\"]\n", ".toml");
    const RunRequest request = resolve(Given{{"scenario", file.path()}, {"tag", "switch=c"}});
    CHECK(request.tags == decltype(request.tags){{"room", "b"}, {"switch", "c"}});
    CHECK(contains(refused({{"scenario", file.path()}, {"tag", "switch=c"}, {"tag", "switch=d"}}),
                   "--tag: 'switch' is given twice"));
    const TemporaryFile twice("tag = [\"switch=a\", \"switch=b\"]\n", ".toml");
    CHECK(contains(refused({{"scenario", twice.path()}}), "tag: 'switch' is given twice"));
}

TEST_CASE("plan values read back to the same plan") {
    const auto scenario =
        GENERATE("quickstart", "lhcb2021-1", "lhcb2021-4", "lhcb2002-token", "ceiling", "incast");
    const RunRequest request = resolve(Given{{"scenario", scenario}, {"busy", "poisson:100ms"}});
    Given again;
    for (const GivenOption& value : plan_values(request)) {
        if (value.name != "scenario") {
            again.push_back(value);
        }
    }
    CHECK(resolve(again).plan == request.plan);
    CHECK(plan_values(resolve(again)).size() + 1 == plan_values(request).size());
}

TEST_CASE("the layout settles the plan") {
    RunRequest request = resolve(Given{{"busy", "1ms"}, {"busy-consumers", "0-3"}});
    const std::vector<std::string> hosts(8, "h");
    apply_layout(request, assign_roles(request.roles, hosts));
    CHECK(request.plan.producers == 3);
    CHECK(request.plan.consumers == 4);
    request.plan.busy_consumers.push_back(4);
    CHECK(contains(refusal_of([&] { apply_layout(request, assign_roles(request.roles, hosts)); }),
                   "--busy-consumers: there is no consumer 4; write indices from 0 to 3"));
}

TEST_CASE("the parts of an MPMD start are put together") {
    const std::string scheduler = encode_options(resolve(Given{{"role", "scheduler"}, {"rate", "2Gb/s"}}));
    const std::string producer =
        encode_options(resolve(Given{{"role", "producer"}, {"slots", "9"}, {"tag", "a=1"}}));
    const std::string consumer =
        encode_options(resolve(Given{{"role", "consumer"}, {"rate", "2Gb/s"}, {"tag", "b=2"}}));
    const RunRequest request = merge_options(std::vector{scheduler, producer, producer, consumer});
    CHECK(request.plan.rate.bits_per_second == 2000000000);
    CHECK(request.plan.slots == 9);
    CHECK(request.tags.size() == 2);
    CHECK_FALSE(request.roles.role.has_value());

    const std::string other = encode_options(resolve(Given{{"rate", "3Gb/s"}}));
    const auto contradicting = [&] { merge_options(std::vector{scheduler, producer, other}); };
    CHECK(contains(refusal_of(contradicting), "--rate: 2Gb/s on rank 0, but 3Gb/s on rank 2"));
}

TEST_CASE(
    "a silence time-out that has no room for the heartbeats of so many ranks is refused, with one that has") {
    const Given paper{{"producers", "500"}, {"consumers", "4000"}};
    Given short_timeout = paper;
    short_timeout.push_back({"silence-timeout", "1s"});
    CHECK(refused(short_timeout) ==
          "--silence-timeout: 1 s is too short for 4501 ranks; write at least 4.5s: the scheduler takes 4000 "
          "heartbeats per second, and 4 of each rank must fit into the time-out");
    Given long_enough = paper;
    long_enough.push_back({"silence-timeout", "4500ms"});
    CHECK_NOTHROW(resolve(long_enough));

    // Known only when the job has started.
    RunRequest request = resolve(Given{{"silence-timeout", "1s"}});
    CHECK(refusal_of([&] {
              apply_layout(request, assign_roles(request.roles, std::vector<std::string>(4501)));
          }).starts_with("--silence-timeout: 1 s is too short for 4501 ranks; write at least 4.5s"));

    // A simulation has no heartbeats that could be late.
    CHECK_NOTHROW(resolve(short_timeout, true));
}

TEST_CASE("the silence time-out is what the heartbeats of very many ranks need, unless it is given") {
    CHECK(resolve(Given{{"producers", "500"}, {"consumers", "4000"}}).silence_timeout ==
          weir::core::Duration::seconds(5));
    CHECK(resolve(Given{{"producers", "3000"}, {"consumers", "4000"}}).silence_timeout ==
          weir::core::Duration::seconds(7));
}

}  // namespace config_resolve_test_file
