#include "simulation/fault.hpp"

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
using weir::simulation::injected_fault_text;
using weir::simulation::InjectedFault;
using weir::simulation::parse_injected_fault;

namespace {

constexpr Instant fault_from_the_beginning{std::numeric_limits<std::int64_t>::min()};

/// A whole number and ns, us, ms or s: enough of what the command line takes.
Duration time_in_fault(std::string_view text) {
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

InjectedFault fault_of(std::string_view text) {
    return parse_injected_fault(text, time_in_fault);
}

/// What is said against it; "accepted" if nothing is.
std::string objection_to_fault(std::string_view text) {
    try {
        parse_injected_fault(text, time_in_fault);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "accepted";
}

bool fault_message_has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a pause says who, when and for how long") {
    const InjectedFault fault = fault_of("pause:consumer=3,at=10s,for=2s");
    CHECK(fault.kind == InjectedFault::Kind::pause);
    CHECK((fault.node == NodeId{Role::consumer, 3}));
    CHECK(fault.at == Instant{} + Duration::seconds(10));
    CHECK(fault.length == Duration::seconds(2));
}

TEST_CASE("a slow consumer has a factor and stays slow if nothing else is said") {
    const InjectedFault fault = fault_of("slow:consumer=3,at=10s,factor=2");
    CHECK(fault.kind == InjectedFault::Kind::slow);
    CHECK((fault.node == NodeId{Role::consumer, 3}));
    CHECK(fault.at == Instant{} + Duration::seconds(10));
    CHECK(fault.length == Duration::max());
    CHECK(fault.factor == 2.0);
}

TEST_CASE("a slow scheduler is slow from the beginning if nothing else is said") {
    const InjectedFault fault = fault_of("slow:scheduler,factor=100");
    CHECK(fault.kind == InjectedFault::Kind::slow);
    CHECK(fault.node == weir::core::scheduler_node());
    CHECK(fault.at == fault_from_the_beginning);
    CHECK(fault.length == Duration::max());
    CHECK(fault.factor == 100.0);
}

TEST_CASE("degraded links have a fraction as factor") {
    const InjectedFault fault = fault_of("degrade:producer=0,at=5s,for=1s,factor=0.1");
    CHECK(fault.kind == InjectedFault::Kind::degrade);
    CHECK((fault.node == NodeId{Role::producer, 0}));
    CHECK(fault.at == Instant{} + Duration::seconds(5));
    CHECK(fault.length == Duration::seconds(1));
    CHECK(fault.factor == 0.1);
}

TEST_CASE("a death needs no end") {
    const InjectedFault fault = fault_of("die:consumer=1,at=4s");
    CHECK(fault.kind == InjectedFault::Kind::die);
    CHECK((fault.node == NodeId{Role::consumer, 1}));
    CHECK(fault.at == Instant{} + Duration::seconds(4));
    CHECK(fault.length == Duration::max());
}

TEST_CASE("a delay concerns all messages") {
    const InjectedFault fault = fault_of("delay:extra=1ms");
    CHECK(fault.kind == InjectedFault::Kind::delay);
    CHECK(fault.extra == Duration::milliseconds(1));
    CHECK(fault.at == fault_from_the_beginning);
    CHECK(fault.length == Duration::max());
}

TEST_CASE("the parts of a fault may come in any order") {
    const InjectedFault fault = fault_of("degrade:factor=0,for=250us,producer=12,at=3ns");
    CHECK((fault.node == NodeId{Role::producer, 12}));
    CHECK(fault.at == Instant{3});
    CHECK(fault.length == Duration::microseconds(250));
    CHECK(fault.factor == 0.0);
}

TEST_CASE("the limits of what a fault may say are allowed") {
    for (const char* text :
         {"slow:consumer=0,factor=1", "slow:scheduler,factor=1000000", "degrade:producer=1,factor=1",
          "degrade:consumer=1,factor=0", "delay:extra=60s", "delay:extra=1ns", "die:scheduler",
          "pause:scheduler,for=1ns", "die:producer=4294967295"}) {
        CAPTURE(text);
        CHECK(objection_to_fault(text) == "accepted");
    }
}

TEST_CASE("a fault's text is read as the same fault") {
    for (const char* text :
         {"pause:consumer=3,at=10s,for=2s", "slow:consumer=3,at=10s,factor=2", "slow:scheduler,factor=100",
          "degrade:producer=0,at=5s,for=1s,factor=0.1", "die:consumer=1,at=4s", "delay:extra=1ms",
          "pause:scheduler,for=1ns", "die:producer=7", "delay:at=1us,for=3ms,extra=59999999999ns",
          "slow:consumer=999,at=1ns,for=5ns,factor=1.0000000000000002",
          "degrade:consumer=1,factor=3.3333333333333335e-11", "pause:producer=1,at=-3s,for=1s"}) {
        const InjectedFault before = fault_of(text);
        const std::string written = injected_fault_text(before);
        CAPTURE(text, written);
        const InjectedFault after = fault_of(written);
        CHECK(after.kind == before.kind);
        CHECK(after.node == before.node);
        CHECK(after.at == before.at);
        CHECK(after.length == before.length);
        CHECK(after.factor == before.factor);
        CHECK(after.extra == before.extra);
        CHECK(injected_fault_text(after) == written);
    }
}

TEST_CASE("a fault's text has its times in nanoseconds and leaves out what was not said") {
    CHECK(injected_fault_text(fault_of("pause:consumer=3,for=2s,at=10s")) ==
          "pause:consumer=3,at=10000000000ns,for=2000000000ns");
    CHECK(injected_fault_text(fault_of("slow:scheduler,factor=100")) == "slow:scheduler,factor=100");
    CHECK(injected_fault_text(fault_of("die:producer=1")) == "die:producer=1");
    CHECK(injected_fault_text(fault_of("delay:extra=1ms")) == "delay:extra=1000000ns");
    CHECK(injected_fault_text(fault_of("degrade:producer=0,at=5ns,factor=0.1")) ==
          "degrade:producer=0,at=5ns,factor=0.1");
}

TEST_CASE("a wrong fault is refused with a message that says what is wrong and shows a right one") {
    struct Case {
        const char* text;
        const char* message;
    };
    for (const Case& it : {
             Case{"", "there is no fault ''"},
             Case{"explode:consumer=1", "there is no fault 'explode'"},
             Case{"explode:consumer=1", "pause, die, slow, degrade and delay"},
             Case{"Pause:consumer=1,for=1s", "there is no fault 'Pause'"},
             Case{"die", "does not say who"},
             Case{"die:", "does not say who"},
             Case{"die:at=1s", "does not say who"},
             Case{"pause:consumer=1", "a pause needs for=TIME"},
             Case{"slow:producer=0,factor=2", "slow is for a consumer or the scheduler"},
             Case{"slow:consumer=0,factor=0.5", "factor= from 1 to 1000000"},
             Case{"slow:consumer=0,factor=1000001", "factor= from 1 to 1000000"},
             Case{"slow:consumer=0,factor=inf", "factor= from 1 to 1000000"},
             Case{"degrade:scheduler,factor=0.5", "degrade is for a producer or a consumer"},
             Case{"degrade:producer=0,factor=1.5", "factor= from 0 to 1"},
             Case{"degrade:producer=0,factor=-0.5", "factor= from 0 to 1"},
             Case{"delay:at=1s", "a delay needs extra=TIME"},
             Case{"delay:extra=0s", "a delay needs extra=TIME"},
             Case{"delay:extra=-1s", "a delay needs extra=TIME"},
             Case{"delay:extra=60001ms", "at most 60s"},
             Case{"die:consumer=x", "'x' is no number"},
             Case{"die:consumer=-1", "'-1' is no number"},
             Case{"die:consumer=1 ", "'1 ' is no number"},
             Case{"die:consumer=4294967296", "'4294967296' is no number"},
             Case{"die:consumer=", "'' is no number"},
             Case{"die:consumer", "'' is no number"},
             Case{"slow:consumer=1,factor=", "'' is no number"},
             Case{"slow:consumer=1,factor=2x", "'2x' is no number"},
             Case{"die:consumer=1,when=3s", "'when' is not known here"},
             Case{"die:scheduler=1", "'scheduler' is not known here"},
             Case{"die:,consumer=1", "'' is not known here"},
         }) {
        CAPTURE(it.text, it.message);
        const std::string objection = objection_to_fault(it.text);
        CAPTURE(objection);
        CHECK(fault_message_has(objection, it.message));
        CHECK(fault_message_has(objection, "'" + std::string(it.text) + "'"));
        CHECK(fault_message_has(objection, "write for example pause:consumer=3,at=10s,for=2s"));
    }
}

TEST_CASE("what the time parser refuses is refused with its own message") {
    CHECK(objection_to_fault("die:consumer=1,at=soon") == "'soon' is no time");
    CHECK(objection_to_fault("pause:consumer=1,for=2") == "'2' is no time");
    CHECK(objection_to_fault("delay:extra=") == "'' is no time");
}
