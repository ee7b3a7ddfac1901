// What a counter tells of the network, by its name. Vendors name the same thing in many ways; the lists here
// are what drivers of Linux are known to call it. A counter that is not known means nothing, it is recorded
// only.
#pragma once

#include <cstdint>
#include <string_view>

namespace weir::telemetry {

enum class CounterMeaning : std::uint8_t {
    none,
    lost,                ///< packets that were dropped, came again, or did not come when they should have
    pause_received,      ///< frames that told this host to stop sending
    pause_sent,          ///< frames by which this host told the switch to stop
    pause_microseconds,  ///< time for which this host had to stop sending
    marked,              ///< ECN marks and the notifications that answer them
    received_bytes,
    received_packets,
};

/// `column`: "mlx5_0.np_cnp_sent"
CounterMeaning meaning_of(std::string_view column);

}  // namespace weir::telemetry
