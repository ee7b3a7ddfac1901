// What disturbs a simulated run, and when: written by the user (--fault) or drawn by an exploration.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/units.hpp"

namespace weir::simulation {

struct Disturbance {
    enum class Kind : std::uint8_t {
        pause,    ///< a node does nothing for a time: receives no messages, moves no data
        die,      ///< a node does nothing any more, and is noticed after the silence timeout; with
                  ///< --on-failure continue a consumer may be started again
        cut,      ///< --on-failure continue: nothing gets to or from a consumer, which works on
        slow,     ///< a consumer works `factor` times as long on each event; the scheduler on each message
        degrade,  ///< a node's links carry a `factor` of what they should
        delay,    ///< control messages take up to `extra` longer, at random, in order between any two nodes
        drift,    ///< a producer's clock is fast by `ppm`; it paces by it (shaping `in_step`)
        flood,    ///< the switch has lost a consumer's port, and sends what is for it to all others too
        // Of the network, packet by packet: `place` names what fails.
        cut_link,      ///< a link carries nothing; what is on it or waits for it is lost
        cut_switch,    ///< the same of all links of a switch
        degrade_link,  ///< a link carries a `factor` of its rate, or the rate `to`
        errors,        ///< a link loses a share `factor` of its packets, at random
        storm,         ///< a host pauses its switch for ever
    };
    Kind kind = Kind::pause;
    core::NodeId node{};
    core::Instant at{};
    core::Duration length = core::Duration::max();  ///< max(): to the end
    double factor = 1;
    core::Duration extra{};
    double ppm = 0;
    std::string place{};       ///< as DeviceNames has it
    core::BitRate to{};        ///< above 0: instead of the factor
    bool disconnects = false;  ///< a cut may leave hosts without a way to others
    std::string text{};        ///< "cut:link=leaf-0:spine-1": what fails where
};

constexpr bool is_of_network(Disturbance::Kind kind) {
    return kind >= Disturbance::Kind::cut_link;
}

/// "pause:consumer=3,at=10s,for=2s", "slow:consumer=3,at=10s,factor=2", "slow:scheduler,factor=100",
/// "degrade:producer=0,at=5s,for=1s,factor=0.1", "die:consumer=1,at=4s", "die:consumer=1,at=4s,back=8s",
/// "cut:consumer=1,at=4s,for=2s", "delay:extra=1ms",
/// "drift:producer=3,ppm=-50", "flood:consumer=3,at=1s,for=20ms",
/// "cut:link=leaf-0:spine-1,at=1s,for=1s", "cut:switch=spine-1,at=1s",
/// "degrade:link=leaf-0:spine-1,to=10Gb/s", "errors:link=leaf-0:spine-1,share=1e-6",
/// "storm:host=consumer-3,at=1s". Without `at` from the beginning of the warm-up, without `for` to the end.
/// `parse_time` reads a duration, `parse_rate` a rate; both throw std::invalid_argument. Throws
/// std::invalid_argument with what is wrong and an example.
using TimeParser = core::Duration (*)(std::string_view);
using RateParser = core::BitRate (*)(std::string_view);
Disturbance parse_disturbance(std::string_view text, TimeParser parse_time, RateParser parse_rate);

}  // namespace weir::simulation
