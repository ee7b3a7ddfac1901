// What the devices of a simulated network count, as a real cluster would give it: NICs of hosts and ports of
// switches. A model that has such devices implements it; the recorder (network_recorder.hpp) reads it at the
// ends of seconds and rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/units.hpp"
#include "telemetry/switch_counters.hpp"

namespace weir::simulation {

class NetworkCounters {
  public:
    NetworkCounters() = default;
    NetworkCounters(const NetworkCounters&) = delete;
    NetworkCounters& operator=(const NetworkCounters&) = delete;
    virtual ~NetworkCounters() = default;

    // Fixed from the beginning.

    [[nodiscard]] virtual std::vector<std::string> hosts() const = 0;
    /// Counters of every host, as columns of hosts/NAME.csv.
    [[nodiscard]] virtual std::vector<std::string> host_columns() const = 0;
    [[nodiscard]] virtual std::vector<telemetry::SwitchDescription> switches() const = 0;

    // Readings. `at` does not go back, and all that happens before it has happened.

    /// Running counts of a host, by column. Replaces `values`.
    virtual void read_host(core::Instant at, std::size_t host, std::vector<std::uint64_t>& values) = 0;
    /// What senders did about losses so far.
    [[nodiscard]] virtual telemetry::LossRecovery loss_recovery() const = 0;
    /// What a switch has counted since the last reading. Replaces `reading`.
    virtual void read_switch(core::Instant at, std::size_t index, telemetry::SwitchReading& reading) = 0;
};

}  // namespace weir::simulation
