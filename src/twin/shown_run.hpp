// What a run showed of itself: the parts of its run.json and rows from which a twin is made, and with which
// it is compared. A twin's own record is read in the same way, so that both sides of a comparison mean the
// same. What comes from files is checked here: a missing or impossible value is refused with its name.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/units.hpp"

namespace weir::twin {

/// A run that cannot be read, or of which there can be no twin: what was found, and what would be right.
class Unreadable : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Figures of a histogram; all 0 without values.
struct ShownTimes {
    std::uint64_t count = 0;
    double p50_us = 0;
    double p99_us = 0;
    double mean_us = 0;
};

/// What the busiest interface of a host moved in the measured time.
struct ShownHost {
    std::string name;
    double received_bytes = 0;
    double sent_bytes = 0;
    double bits_per_second = 0;  ///< its nominal speed; 0: not known, or it is no device and has any speed
};

/// A rank's loop that did not turn for some time.
struct ShownStall {
    core::NodeId node;
    double end_s = 0;  ///< on the common clock, as well as it is known
    double length_s = 0;
};

/// A consumer without which the run went on (--on-failure continue).
struct ShownLoss {
    std::uint32_t consumer = 0;
    double since_s = 0;
    std::optional<double> back_s;  ///< nothing: it did not come back
};

/// What a rank sent or received in a second, or in the part of one that warm-up and drain have.
struct ShownSecond {
    double begin_s = 0;
    double covered_s = 0;
    double bits = 0;
    double moving_s = 0;  ///< with a transfer under way
    bool measured = false;
};

struct ShownRank {
    core::NodeId node;
    std::string host;  ///< empty: not known
    std::string leaf;  ///< the switch that its host is connected to; empty: not known
    std::string file;  ///< its rows
    double measured_s = 0;
    double bits_per_second = 0;  ///< sent or received, mean of the measured time
    /// Its part of the nominal speed of its host's interface; 0: not known.
    double interface_bits_per_second = 0;
    double moving_s = 0;   ///< with a transfer under way
    double stalled_s = 0;  ///< in stalls of 10 ms and more
    // Shares of the measured time; the first four of a producer, the rest of a consumer.
    double transferring = 0;
    double waiting_for_slot = 0;
    double waiting_for_grant = 0;
    double waiting_for_data = 0;
    double receiving = 0;
    double blocked = 0;
    double free_slot_s = 0;  ///< slots x s, of consumers and scheduler
    /// That heartbeats took to the leader or from it, the less of both; 0: not known.
    double way_s = 0;
    std::uint64_t events = 0;  ///< sent or received in the whole run
    double bytes = 0;          ///< of these events

    // From the rows; 0 if they were not read. Processing in all of the run, the rest in the measured time.
    double processed_events = 0;
    double processing_s = 0;
    double handling_s = 0;
    double messages = 0;  ///< that the scheduler handled
    std::vector<ShownSecond> seconds;
};

struct ShownRun {
    std::vector<std::pair<std::string, std::string>> plan;  ///< options with their values
    /// "ecn.on=true": every key of a switch that was read from a file, which need not be here any more.
    std::vector<std::string> switch_keys;
    std::string no_twin;  ///< why there can be none; empty: there can
    std::uint32_t producers = 0;
    std::uint32_t consumers = 0;
    double interval_s = 0;
    double duration_s = 0;
    bool default_buffer = false;     ///< of one set
    bool default_slot_size = false;  ///< of one event
    bool simulated = false;
    std::string verdict;     ///< "LATE: 3 of 20 sets were late.", as it was told at its end
    bool sustained = false;  ///< where that was not judged: whether it was on time
    bool on_time = false;
    std::uint64_t sets = 0;
    std::uint64_t late_sets = 0;
    double least_slack_s = 0;
    double clock_error_s = 0;  ///< half of the shortest round trip; 0: not known
    std::uint64_t lost_events = 0;
    std::vector<ShownRank> ranks;
    std::vector<ShownStall> stalls;  ///< from the rows
    std::vector<ShownLoss> losses;
    ShownTimes scheduling;  ///< offer to grant
    ShownTimes transfer;
    ShownTimes delivery;
    ShownTimes processing;         ///< as drawn
    std::vector<ShownHost> hosts;  ///< whose interfaces were counted

    /// Simulated packet by packet: its switches and the settings of NICs are part of the plan.
    [[nodiscard]] bool has_packets() const;
    [[nodiscard]] double goodput() const;      ///< b/s, of all consumers
    [[nodiscard]] double event_bytes() const;  ///< mean
    /// Slots that consumers call free and the scheduler does not, for each event, in s: credits and grants on
    /// their way or not read.
    [[nodiscard]] double unseen_slot_s() const;
    /// The most that a message takes that meets no data, with the nap of who reads it. 0: not known.
    [[nodiscard]] double longest_way_s() const;
    /// Share of all producers' time in which events were there, and neither slot nor grant.
    [[nodiscard]] std::string host_of(core::NodeId node) const;  ///< empty: not known
    [[nodiscard]] double slot_share() const;  ///< of time, that producers waited for a slot
    [[nodiscard]] double waiting_share() const;
    /// Of every producer and consumer, where it ran.
    [[nodiscard]] bool hosts_known() const;
    /// All hosts are known to be connected to the same switch.
    [[nodiscard]] bool has_one_leaf() const;
    [[nodiscard]] const ShownRank& scheduler() const;
};

/// Throws Unreadable. The rows are not there yet.
ShownRun read_record(const nlohmann::ordered_json& json);

/// Adds what the rows of run.ranks[index] (a file of ranks/) show. Throws Unreadable.
void read_rows(ShownRun& run, std::size_t index, std::string_view csv);

}  // namespace weir::twin
