#include "config/option_table.hpp"

#include <set>

#include "catch.hpp"
#include "refusal.hpp"

using namespace weir::config;

TEST_CASE("every option is complete and there once") {
    std::set<std::string_view> names;
    for (const Option& option : option_table()) {
        CAPTURE(option.name);
        CHECK(names.insert(option.name).second);
        CHECK(option.value.set != nullptr);
        CHECK(option.value.get != nullptr);
        CHECK_FALSE(option.help.empty());
        CHECK(option.help.find('\n') == std::string_view::npos);
        CHECK((option.usual.text.empty() || option.usual.text != option.usual.value));
        CHECK(option.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string_view::npos);
    }
}

TEST_CASE("default values are canonical") {
    for (const Option& option : option_table()) {
        if (!option.usual.value.empty()) {
            CAPTURE(option.name);
            RunRequest request;
            request.plan.initiation =
                weir::core::Initiation::pull;  // some options mean something with these only
            request.plan.transport = weir::core::TransportKind::datagram;
            option.set(request, option.usual.value);
            // Some mean nothing as long as another option has its default value, and have no text then.
            const std::string value = option.get(request);
            CHECK((value.empty() || value == option.usual.value));
        }
    }
}

TEST_CASE("options are found by name, and near it") {
    CHECK(find_option("rate")->name == "rate");
    CHECK(find_option("--rate") == nullptr);
    CHECK(find_option("patterns") == nullptr);
    CHECK(near_option("--ratte") == "--rate");
    CHECK(near_option("chunksize") == "--chunk-size");
    CHECK(near_option("--event_size=3") == "--event-size");
    CHECK(near_option("--inject") != "--inject");  // not for people
    CHECK(near_option("zzzzzzz").empty());
}

TEST_CASE("every option but few may stand in a scenario") {
    std::set<std::string_view> excluded;
    for (const Option& option : option_table()) {
        if (option.is(not_in_scenario)) {
            excluded.insert(option.name);
        }
    }
    CHECK(excluded == std::set<std::string_view>{"scenario", "role", "group-hosts", "join", "join-token",
                                                 "ranks", "dry-run"});
}

TEST_CASE("words are refused with the known ones") {
    RunRequest request;
    const auto refusal = [&](const char* option, const char* value) {
        return refusal_of([&] { find_option(option)->set(request, value); });
    };
    CHECK(contains(refusal("policy", "fair"), "balanced, token, round-robin, random, none"));
    CHECK(contains(refusal("transport", "pigeon"), "send, put, get"));
    CHECK(contains(refusal("generation", "burst"), "sets, steady, saturate"));
    CHECK(contains(refusal("verify", "yes"), "none, header, sample, full"));
    CHECK(contains(refusal("overflow", "x"), "count, drop"));
    CHECK(contains(refusal("idle", "x"), "auto, spin, yield, nap"));
    CHECK(contains(refusal("output", "x"), "text, json, quiet"));
    CHECK(contains(refusal("role", "x"), "scheduler, producer, consumer"));
    CHECK(contains(refusal("busy-cpu", "x"), "idle, burn"));
    CHECK(contains(refusal("require", "x"), "sustained, on-time, lossless, none"));
    CHECK(contains(refusal("scheduler-rank", "x"), "first, last or a number"));
    CHECK(contains(refusal("scheduler-host", "a[1-2]"), "are 2 hosts"));
    CHECK(contains(refusal("tag", "x"), "KEY=VALUE"));
    CHECK(contains(refusal("label", "a\tb"), "control character"));
    CHECK(contains(refusal("out", ""), "nothing is given"));
}

TEST_CASE("zero and too much are refused") {
    RunRequest request;
    for (const char* option :
         {"producers", "consumers", "window", "streams", "slots", "producers-per-host"}) {
        CAPTURE(option);
        CHECK(contains(refusal_of([&] { find_option(option)->set(request, "0"); }), "0 is out of range"));
        CHECK(refusal_of([&] { find_option(option)->set(request, "99999999"); }) != "accepted");
    }
    for (const char* option : {"chunk-size", "buffer", "slot-size"}) {
        CHECK(contains(refusal_of([&] { find_option(option)->set(request, "0B"); }), "out of range"));
    }
    CHECK(contains(refusal_of([&] { find_option("chunk-size")->set(request, "2GiB"); }), "out of range"));
    CHECK(contains(refusal_of([&] { find_option("duration")->set(request, "0s"); }), "out of range"));
    CHECK(contains(refusal_of([&] { find_option("rate")->set(request, "0Gb/s"); }), "out of range"));
    CHECK(contains(refusal_of([&] { find_option("interval")->set(request, "0s"); }), "out of range"));
}

TEST_CASE("repeatable options add up") {
    RunRequest request;
    const Option& tag = *find_option("tag");
    tag.set(request, "switch=shallow");
    tag.set(request, "pfc=on");
    CHECK(tag.get(request) == "switch=shallow pfc=on");
    const Option& require = *find_option("require");
    require.set(request, "sustained");
    require.set(request, "lossless");
    CHECK(require.get(request) == "sustained,lossless");
    require.set(request, "none");
    CHECK(require.get(request) == "none");
}
