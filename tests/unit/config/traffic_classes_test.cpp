#include "config/switch_description.hpp"

#include <map>
#include <string>

#include "catch.hpp"
#include "config/switch_file.hpp"
#include "refusal.hpp"

using namespace weir;
using namespace weir::config;

namespace traffic_classes_test {

constexpr core::Bytes unused{100'000};

SwitchDescription read(const std::string& text) {
    return parse_switch("base = \"shallow\"\n" + text, "x.toml").description;
}
core::FabricPlan plan_of(const std::string& text) {
    return fabric_of(read(text), unused);
}

constexpr const char* three_classes = R"(
[pfc]
on = true
[ecn]
on = true
[class.bulk]
priority = 3
weight = 3
[class.storage]
priority = 1
lossless = true
all-above = "1MB"
rate = "10Gb/s"
traffic = "tcp"
[class.urgent]
priority = 7
strict = true
ecn = false
)";

}  // namespace traffic_classes_test

using namespace traffic_classes_test;

TEST_CASE("classes of a switch file become what switches and NICs do with their priorities") {
    const core::FabricPlan plan = plan_of(three_classes);
    CHECK(plan.switches.lossless == (core::mask_of(1) | core::mask_of(3)));
    CHECK(plan.switches.weights[3] == 3);
    CHECK(plan.switches.weights[1] == 1);
    CHECK((plan.switches.strict & core::mask_of(7)) != 0);
    CHECK((plan.nics.strict & core::mask_of(7)) != 0);
    CHECK_FALSE(plan.switches.ecn_of(7).on);
    CHECK(plan.switches.ecn_of(1).all_above.count == 1'000'000);
    CHECK(plan.switches.ecn_of(1).none_below == plan.switches.ecn.none_below);
    CHECK(plan.switches.ecn_of(3) == plan.switches.ecn);
    REQUIRE(plan.classes.size() == 3);
    CHECK(plan.classes[0].name == "storage");  // by priority
    CHECK(plan.classes[0].traffic.kind == core::BackgroundPlan::Kind::tcp);
    CHECK(plan.of_others().bits_per_second == 10'000'000'000);
    // Without PFC nothing is lossless.
    SwitchDescription without = read(three_classes);
    without.pfc = false;
    CHECK(fabric_of(without, unused).switches.lossless == 0);
}

TEST_CASE("data may be lossy beside a lossless class, and time-outs are those of its class") {
    const core::FabricPlan plan = plan_of(
        "[pfc]\non = true\n[class.data]\npriority = 3\nlossless = false\n[class.other]\npriority = 2\n"
        "lossless = true\n");
    CHECK(plan.switches.lossless == core::mask_of(2));
    CHECK(plan.nics.selective_timeout_low < plan.nics.ack_timeout);
}

TEST_CASE("a class that says nothing changes nothing but what is counted") {
    core::FabricPlan plan = plan_of("[class.data]\npriority = 3\n");
    plan.classes.clear();
    CHECK(plan == plan_of(""));
}

TEST_CASE("values of classes are printed as they are used, and options set them") {
    SwitchDescription description = read(three_classes);
    set_key(description, "class.storage.rate=1Gb/s");
    set_key(description, "class.fresh.priority=5");
    const core::FabricPlan plan = fabric_of(description, unused);
    const auto printed = [&](std::string_view name) {
        std::map<std::string_view, std::string> values;
        for (const ClassKey& key : class_keys()) {
            values[key.name] = key.text(class_named(description, name), plan);
        }
        return values;
    };
    CHECK(printed("storage")["rate"] == "1Gb/s");
    CHECK(printed("storage")["lossless"] == "true");
    CHECK(printed("storage")["none-below"] == to_text(plan.switches.ecn.none_below));
    CHECK(printed("bulk")["lossless"] == "true");
    CHECK(printed("urgent")["ecn"] == "false");
    CHECK(printed("fresh")["priority"] == "5");
    CHECK(printed("fresh")["weight"] == "1");
    const auto refused = [&](const char* text) { return refusal_of([&] { set_key(description, text); }); };
    CHECK(contains(refused("class.storage.rate=fast"), "class.storage: rate: 'fast'"));
    CHECK(refused("class.storage.rat=1Gb/s") == "class.storage: has no key 'rat'; did you mean rate?");
    CHECK(contains(refused("class.a b.rate=1Gb/s"), "'a b' is no name of a class; write letters"));
}

TEST_CASE("what is no class is refused in one line with file and key") {
    const std::map<std::string, std::string> refusals{
        {"[class]\npriority = 1\n",
         "x.toml:2:1: [class] has no name; write [class.NAME], as [class.storage]"},
        {"[class.\"a b\"]\npriority = 1\n", "'a b' is no name of a class; write letters, digits, - and _"},
        {"[class.a]\n", "x.toml: [class.a] priority: it is missing; write priority = 0 to 7"},
        {"[class.a]\npriority = 8\n", "x.toml:2:1: [class.a] priority: 8 is out of range"},
        {"[class.a]\nprio = 1\n", "x.toml:2:1: [class.a] has no key 'prio'; did you mean priority?"},
        {"[class.a]\nzzzzz = 1\n", "[class.a] has no key 'zzzzz'; it has: priority, lossless, strict, "},
        {"[class.a]\npriority = {}\n", "[class.a] priority: this is no value; write text or a number"},
        {"[class.a]\npriority = 1\nlossless = \"yes\"\n",
         "[class.a] lossless: 'yes' is not one of: true, false"},
        {"[class.a]\npriority = 1\nrate = \"10GB/s\"\n", "[class.a] rate: "},
        {"[class.a]\npriority = 1\ntraffic = \"udp\"\n",
         "[class.a] traffic: 'udp' is not one of: packets, tcp, rdma"},
        {"[class.a]\npriority = 1\nprobability = 2\n",
         "[class.a] probability: 2 is out of range; write a number from 0.0001 to 1"},
        {"[class.a]\npriority = 1\n[class.b]\npriority = 1\n",
         "x.toml: [class.a] priority: 1 is also that of [class.b]; a priority is one class"},
        {"[class.a]\npriority = 1\nnone-below = \"1MB\"\n",
         "x.toml: [class.a] none-below: 1 MB is more than all-above, 200 kB; make it at most that"},
        {"[class.a]\npriority = 1\nlossless = false\n[pfc]\nwhole-links = true\n",
         "x.toml: [class.a] lossless: pauses stop whole links, with all classes; write true"},
        {"[class.a]\npriority = 1\nlossless = true\n[switch]\ndrop-tail = true\n",
         "x.toml: [class.a] lossless: ports that share no memory pause nobody; write false"},
        {"[klass.a]\npriority = 1\n", "there is no section [klass]"},
    };
    for (const auto& [text, refusal] : refusals) {
        CAPTURE(text);
        const std::string found = refusal_of([&] { parse_switch(text, "x.toml"); });
        CAPTURE(found);
        CHECK(contains(found, refusal));
        CHECK(found.find('\n') == std::string::npos);
    }
}
