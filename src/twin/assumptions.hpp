// What a twin assumes of hosts and network, read from what the run showed.
//
// What rows hold directly is taken as it is: the scheduler's time for a message, times of processing, stalls.
// Speeds of links and the latency of control messages are not in the rows: of a link only what it carried
// while something was on its way, which is less than its speed where the other end was the limit. So the twin
// begins with that, the least that the links can have, and is simulated; where it moved data more slowly than
// the run, its links become faster, until both agree. Whether the links of a role were a limit at all is not
// seen in one rate: it is an assumption (Limits), and each of the four is tried. (Rejected: the speed of
// interfaces, which is not what a shaped port or a virtual link carries; and the best 10 ms, in which buffers
// of hosts fill.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/units.hpp"
#include "twin/shown_run.hpp"

namespace weir::twin {

/// A consumer whose processing takes another time than that of the others.
struct SlowConsumer {
    std::uint32_t consumer = 0;
    double factor = 1;
};

inline constexpr double fastest_link = 1e12;  ///< b/s, that a fluid simulation takes

/// Of what a link carries, in packets of 4096 bytes; the rest is headers.
inline constexpr double payload_share = 0.98;

/// Whose links held data up, by assumption; the others carry what their interfaces say, or whatever there is.
struct Limits {
    bool producer_links = true;
    bool consumer_links = true;
    bool change = false;      ///< they were slower for a part of the run, where rows look like that
    bool exceptions = false;  ///< only those of ranks that differ from the others

    [[nodiscard]] bool has(core::Role role) const {
        return role == core::Role::producer ? producer_links : consumer_links;
    }
};

/// A link that carried less in some seconds, one after the other, than in the rest of the run.
struct SlowedLink {
    core::NodeId node;
    double begin_s = 0;
    double end_s = 0;
    double least = 0;   ///< b/s of payload
    double factor = 1;  ///< of the link's speed
};

/// What others moved over the interface of a host, in the direction of the data of these ranks: of each its
/// part.
struct ForeignTraffic {
    core::NodeId node;
    double bits_per_second = 0;
};

struct Assumptions {
    Limits limits;
    std::vector<double> producer_links;  ///< payload, b/s, by index
    std::vector<double> consumer_links;
    double latency_s = 0;          ///< of a control message, one way
    double scheduler_s = 0;        ///< of the scheduler, for a message
    double processing_factor = 1;  ///< of the plan's times
    std::vector<SlowConsumer> slow_consumers;
    std::vector<SlowedLink> slowed_links;
    /// Beside what `*_links` have where they are a limit, and a part of it elsewhere.
    std::vector<ForeignTraffic> foreign;
    std::vector<ShownStall> stalls;
    std::size_t left_out_stalls = 0;  ///< too short to matter, or too many

    [[nodiscard]] double foreign_of(core::NodeId node) const;  ///< b/s; 0: none
};

/// Whether the rows of a rank of this role look as if its link had been slower for a part of the run.
bool links_change(const ShownRun& run, core::Role role);

/// Whether the link of one rank carried less, or more, than those of the others of its role.
bool has_exceptions(const ShownRun& run);

/// Needs the rows.
Assumptions assumed_of(const ShownRun& run, Limits limits);

/// Corrects links and latency by what a simulation with them showed, again and again. What changes little by
/// a correction is corrected more the next time.
class Correction {
  public:
    /// From what the latency of control messages is told: slots that consumers call free and the scheduler
    /// does not, or the time for which producers wait. The first is nearer to it; where chunks wait in the
    /// buffers of hosts, slots are called free meanwhile, and the second is. Where events wait for the
    /// streams of producers that send to a slow consumer, neither tells: then it is assumed to be next to
    /// nothing.
    enum class Latency : std::uint8_t { from_slots, from_waiting, none };

    Correction(const ShownRun& run, Latency latency) : run_(run), told_(latency) {}

    /// False: it agrees with the run within a hundredth, nothing was changed.
    bool correct(Assumptions& assumptions, const ShownRun& twin);

  private:
    /// By which power of the ratio one quantity is corrected.
    struct Strength {
        double power = 1;
        double last = 0;  ///< logarithm of the ratio that was missing
    };
    bool correct_links(std::vector<double>& links, const ShownRun& twin, core::Role role,
                       const Limits& limits);
    static bool correct_value(double& value, double ratio, Strength& strength);

    const ShownRun& run_;
    Latency told_;
    std::map<std::pair<core::Role, std::size_t>, Strength> links_;  ///< by the first rank of a group
    Strength latency_;
};

}  // namespace weir::twin
