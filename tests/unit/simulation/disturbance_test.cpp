#include "simulation/disturbance.hpp"

#include <charconv>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

#include "catch.hpp"

using weir::core::Duration;
using weir::core::Instant;
using weir::core::NodeId;
using weir::core::Role;
using weir::simulation::Disturbance;
using weir::simulation::parse_disturbance;

namespace {

constexpr Instant from_the_beginning{std::numeric_limits<std::int64_t>::min()};

/// A whole number and ns, us, ms or s: enough of what the command line takes.
Duration time_of(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    if (error == std::errc{}) {
        if (unit == "ns") {
            return Duration::nanoseconds(number);
        }
        if (unit == "us") {
            return Duration::microseconds(number);
        }
        if (unit == "ms") {
            return Duration::milliseconds(number);
        }
        if (unit == "s") {
            return Duration::seconds(number);
        }
    }
    throw std::invalid_argument("'" + std::string(text) + "' is no time");
}

/// Gb/s only.
weir::core::BitRate rate_of(std::string_view text) {
    std::int64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return {number * 1'000'000'000};
}

Disturbance disturbance_of(std::string_view text) {
    return parse_disturbance(text, time_of, rate_of);
}

/// What is said against it; "accepted" if nothing is.
std::string objection_to(std::string_view text) {
    try {
        parse_disturbance(text, time_of, rate_of);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "accepted";
}

bool message_has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a pause has a rank, a time and a length") {
    const Disturbance disturbance = disturbance_of("pause:consumer=3,at=10s,for=2s");
    CHECK(disturbance.kind == Disturbance::Kind::pause);
    CHECK((disturbance.node == NodeId{Role::consumer, 3}));
    CHECK(disturbance.at == Instant{} + Duration::seconds(10));
    CHECK(disturbance.length == Duration::seconds(2));
}

TEST_CASE("a slow consumer has a factor and stays slow if nothing else is said") {
    const Disturbance disturbance = disturbance_of("slow:consumer=3,at=10s,factor=2");
    CHECK(disturbance.kind == Disturbance::Kind::slow);
    CHECK((disturbance.node == NodeId{Role::consumer, 3}));
    CHECK(disturbance.at == Instant{} + Duration::seconds(10));
    CHECK(disturbance.length == Duration::max());
    CHECK(disturbance.factor == 2.0);
}

TEST_CASE("a slow scheduler is slow from the beginning if nothing else is said") {
    const Disturbance disturbance = disturbance_of("slow:scheduler,factor=100");
    CHECK(disturbance.kind == Disturbance::Kind::slow);
    CHECK(disturbance.node == weir::core::scheduler_node());
    CHECK(disturbance.at == from_the_beginning);
    CHECK(disturbance.length == Duration::max());
    CHECK(disturbance.factor == 100.0);
}

TEST_CASE("degraded links have a fraction as factor") {
    const Disturbance disturbance = disturbance_of("degrade:producer=0,at=5s,for=1s,factor=0.1");
    CHECK(disturbance.kind == Disturbance::Kind::degrade);
    CHECK((disturbance.node == NodeId{Role::producer, 0}));
    CHECK(disturbance.at == Instant{} + Duration::seconds(5));
    CHECK(disturbance.length == Duration::seconds(1));
    CHECK(disturbance.factor == 0.1);
}

TEST_CASE("a death needs no end") {
    const Disturbance disturbance = disturbance_of("die:consumer=1,at=4s");
    CHECK(disturbance.kind == Disturbance::Kind::die);
    CHECK((disturbance.node == NodeId{Role::consumer, 1}));
    CHECK(disturbance.at == Instant{} + Duration::seconds(4));
    CHECK(disturbance.length == Duration::max());
}

TEST_CASE("a lost consumer may be started again") {
    const Disturbance disturbance = disturbance_of("die:consumer=1,at=4s,back=9s");
    CHECK(disturbance.kind == Disturbance::Kind::die);
    CHECK(disturbance.at == Instant{} + Duration::seconds(4));
    CHECK(disturbance.length == Duration::seconds(5));
    CHECK(message_has(objection_to("die:producer=1,at=4s,back=9s"), "back= is for a consumer that dies"));
    CHECK(message_has(objection_to("pause:consumer=1,at=4s,for=1s,back=9s"), "back= is for"));
    CHECK(message_has(objection_to("die:consumer=1,at=4s,back=4s"), "must be later"));
    CHECK(message_has(objection_to("die:consumer=1,back=4s"), "back= needs at="));
    CHECK(message_has(objection_to("die:consumer=1,at=4s,for=4s"), "die has no end"));
}

TEST_CASE("a consumer may be cut off, for a while or for good") {
    CHECK(disturbance_of("cut:consumer=1,at=4s,for=2s").length == Duration::seconds(2));
    CHECK(disturbance_of("cut:consumer=1,at=4s").length == Duration::max());
    CHECK(message_has(objection_to("cut:producer=1,at=4s"), "cut is for a consumer"));
}

TEST_CASE("links, switches and hosts of the network have names") {
    const Disturbance cut = disturbance_of("cut:link=leaf-0:spine-1,at=4s,for=2s,disconnects");
    CHECK(cut.kind == Disturbance::Kind::cut_link);
    CHECK(cut.place == "leaf-0:spine-1");
    CHECK(cut.length == Duration::seconds(2));
    CHECK(cut.disconnects);
    CHECK(cut.text == "cut:link=leaf-0:spine-1");
    CHECK(disturbance_of("cut:switch=spine-1").kind == Disturbance::Kind::cut_switch);
    CHECK(disturbance_of("degrade:link=a:b,to=10Gb/s").to == weir::core::BitRate{10'000'000'000});
    CHECK(disturbance_of("degrade:link=a:b,factor=0.5").factor == 0.5);
    CHECK(disturbance_of("errors:link=a:b,share=1e-6").factor == 1e-6);
    CHECK(disturbance_of("storm:host=consumer-3").place == "consumer-3");
}

TEST_CASE("a delay concerns all messages") {
    const Disturbance disturbance = disturbance_of("delay:extra=1ms");
    CHECK(disturbance.kind == Disturbance::Kind::delay);
    CHECK(disturbance.extra == Duration::milliseconds(1));
    CHECK(disturbance.at == from_the_beginning);
    CHECK(disturbance.length == Duration::max());
}

TEST_CASE("the parts of a disturbance may come in any order") {
    const Disturbance disturbance = disturbance_of("degrade:factor=0,for=250us,producer=12,at=3ns");
    CHECK((disturbance.node == NodeId{Role::producer, 12}));
    CHECK(disturbance.at == Instant{3});
    CHECK(disturbance.length == Duration::microseconds(250));
    CHECK(disturbance.factor == 0.0);
}

TEST_CASE("the limits of what a disturbance may be are allowed") {
    for (const char* text : {"slow:consumer=0,factor=1", "slow:scheduler,factor=1000000",
                             "degrade:producer=1,factor=1", "degrade:consumer=1,for=1s,factor=0",
                             "delay:extra=60s", "delay:extra=1ns", "die:scheduler", "pause:scheduler,for=1ns",
                             "drift:producer=0,ppm=-10000", "flood:consumer=0", "die:producer=4294967295"}) {
        CAPTURE(text);
        CHECK(objection_to(text) == "accepted");
    }
}

TEST_CASE("a wrong disturbance is refused with what is wrong and an example") {
    struct Case {
        const char* text;
        const char* message;
    };
    for (const Case& it : {
             Case{"", "there is no disturbance ''"},
             Case{"explode:consumer=1", "there is no disturbance 'explode'"},
             Case{"explode:consumer=1",
                  "pause, die, cut, slow, degrade, delay, drift, flood, errors and storm"},
             Case{"Pause:consumer=1,for=1s", "there is no disturbance 'Pause'"},
             Case{"errors:share=0.1", "names no link; write link=NAME:NAME"},
             Case{"storm", "names no host; write host=NAME"},
             Case{"storm:consumer=1", "names no host"},
             Case{"pause:link=a:b,for=1s", "link= is for cut, degrade and errors"},
             Case{"cut:host=a", "host= is for storm"},
             Case{"degrade:switch=a,factor=0.1", "switch= is for cut"},
             Case{"cut:link=a:b,consumer=1", "names two nodes"},
             Case{"errors:link=a:b", "errors need share="},
             Case{"errors:link=a:b,share=1.5", "share= must be from 1e-12 to 1"},
             Case{"errors:link=a:b,share=nan", "share= must be from 1e-12 to 1"},
             Case{"cut:link=a:b,share=0.1", "share= is for errors"},
             Case{"degrade:link=a:b", "factor= is missing"},
             Case{"degrade:link=a:b,factor=2", "degrade needs factor= from 0 to 1"},
             Case{"degrade:link=a:b,factor=0.5,to=1Gb/s", "to= is for degrade with link="},
             Case{"cut:link=a:b,to=1Gb/s", "to= is for degrade with link="},
             Case{"storm:host=a,disconnects", "disconnects is for cut"},
             Case{"cut:link=a:b,for=0s", "for= must be more than 0"},
             Case{"die", "names no node"},
             Case{"die:", "names no node"},
             Case{"die:at=1s", "names no node"},
             Case{"pause:consumer=1", "a pause needs for=TIME"},
             Case{"slow:producer=0,factor=2", "slow is for a consumer or the scheduler"},
             Case{"slow:consumer=0,factor=0.5", "factor= from 1 to 1000000"},
             Case{"slow:consumer=0,factor=1000001", "factor= from 1 to 1000000"},
             Case{"slow:consumer=0,factor=inf", "factor= from 1 to 1000000"},
             Case{"degrade:scheduler,factor=0.5", "degrade is for a producer or a consumer"},
             Case{"degrade:producer=0,factor=1.5", "factor= from 0 to 1"},
             Case{"degrade:producer=0,factor=-0.5", "factor= from 0 to 1"},
             Case{"degrade:producer=0,factor=0", "factor=0 without for= lets nothing through for ever"},
             Case{"degrade:link=a:b,at=1s,factor=0", "write a factor above 0, or for=TIME"},
             Case{"drift:consumer=0,ppm=5", "drift is for a producer"},
             Case{"drift:producer=0", "drift is for a producer, with ppm="},
             Case{"drift:producer=0,ppm=10001", "ppm= from -10000 to 10000"},
             Case{"drift:producer=0,ppm=nan", "ppm= from -10000 to 10000"},
             Case{"pause:producer=0,for=1s,ppm=1", "ppm= is for drift"},
             Case{"flood:producer=0", "flood is for a consumer"},
             Case{"delay:at=1s", "a delay needs extra=TIME"},
             Case{"delay:extra=0s", "a delay needs extra=TIME"},
             Case{"delay:extra=-1s", "a delay needs extra=TIME"},
             Case{"delay:extra=60001ms", "at most 60s"},
             Case{"die:consumer=x", "'x' is not a number"},
             Case{"die:consumer=-1", "'-1' is not a number"},
             Case{"die:consumer=1 ", "'1 ' is not a number"},
             Case{"die:consumer=4294967296", "'4294967296' is not a number"},
             Case{"die:consumer=", "'' is not a number"},
             Case{"die:consumer", "'' is not a number"},
             Case{"slow:consumer=1,factor=", "'' is not a number"},
             Case{"slow:consumer=1,factor=2x", "'2x' is not a number"},
             Case{"die:consumer=1,when=3s", "'when' is not known here"},
             Case{"die:scheduler=1", "'scheduler' is not known here"},
             Case{"die:,consumer=1", "'' is not known here"},
         }) {
        CAPTURE(it.text, it.message);
        const std::string objection = objection_to(it.text);
        CAPTURE(objection);
        CHECK(message_has(objection, it.message));
        CHECK(message_has(objection, "'" + std::string(it.text) + "'"));
        CHECK(message_has(objection, "write for example pause:consumer=3,at=10s,for=2s"));
    }
}

TEST_CASE("what the time parser refuses is refused with its own message") {
    CHECK(objection_to("die:consumer=1,at=soon") == "'soon' is no time");
    CHECK(objection_to("pause:consumer=1,for=2") == "'2' is no time");
    CHECK(objection_to("delay:extra=") == "'' is no time");
}
