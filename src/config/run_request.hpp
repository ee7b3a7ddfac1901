// All options of a run, resolved: what `weir run` is to do. The options fill it
// (option_table), resolve() completes and checks it, the number of ranks fixes the layout
// (role_assignment).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/distributions.hpp"
#include "config/quantities.hpp"
#include "config/switch_description.hpp"
#include "config/traffic_file.hpp"
#include "core/network_plan.hpp"
#include "core/plan.hpp"
#include "core/units.hpp"

namespace weir::config {

/// How a rank waits when there is nothing to do. `automatic`: spin when there is a core per rank, nap when
/// not.
enum class Idle : std::uint8_t { automatic, spin, yield, nap };

/// What the first rank writes to standard output.
enum class OutputForm : std::uint8_t { text, json, quiet };

/// What --require asks for; a requirement that does not hold makes exit status 3.
struct Requirements {
    bool sustained = false;  ///< no producer above occupancy 1 after the warm-up, no event lost
    bool on_time = false;    ///< no late set, no event lost
    bool lossless = false;   ///< no event lost
    bool operator==(const Requirements&) const = default;
};

/// Who is to do what, as asked for. 0, empty and nullopt: not said.
/// Hosts that are connected to one switch.
struct LeafHosts {
    std::string leaf;
    std::vector<std::string> hosts;  ///< expanded
};

struct RoleRequest {
    std::uint32_t producers = 0;
    std::uint32_t consumers = 0;
    std::vector<std::string> producer_hosts;  ///< expanded
    std::vector<std::string> consumer_hosts;  ///< expanded
    std::string scheduler_host;
    std::uint32_t producers_per_host = 0;
    std::uint32_t consumers_per_host = 0;
    /// Rank of the scheduler in the job: "first", "last" or a number; empty: first, or by host list.
    std::string scheduler_rank;
    std::optional<core::Role> role;  ///< of this rank (MPMD start)
    std::vector<LeafHosts> leaves;   ///< a host is below one of them at most
};

/// A start without MPI.
struct JoinRequest {
    std::string host;  ///< where rank 0 listens; empty: MPI starts the job
    std::string port;
    std::string token_file;   ///< empty: the token is in the environment
    std::uint32_t ranks = 0;  ///< 0: the number comes from the launcher, or from rank 0
};

/// How the job is divided into groups, each with a scheduler of its own. Both empty: one group.
struct GroupRequest {
    std::uint32_t count = 0;
    std::vector<std::vector<std::string>> hosts;  ///< of each group, expanded
};

/// One option as it stood on the command line; `name` without dashes.
struct GivenOption {
    std::string name;
    std::string value;
    bool operator==(const GivenOption&) const = default;
};

/// Where an option's value came from, in order of precedence.
enum class Origin : std::uint8_t { preset, scenario, command_line };

struct RunRequest {
    /// Complete after resolve(), --scale applied; only producers and consumers may still be 0 (= from the
    /// ranks), until apply_layout().
    core::Plan plan;
    TrafficDescription traffic;     ///< --pattern with a file; what plan.traffic is made of
    bool addressed = false;         ///< --destination
    std::string event_size_trace;   ///< file behind plan.event_size, if a trace
    std::string busy_trace;         ///< file behind plan.busy, if a trace
    std::string result_size_trace;  ///< file behind plan.result_size, if a trace

    core::Bytes socket_buffer;     ///< of datagrams' sockets; 0: the kernel's default
    std::string datagram_network;  ///< interface or network of datagrams; empty: chosen
    core::EnginePlan engine;       ///< of a measured run
    core::QueuePairs queue_pairs;  ///< of data: of a measured run with engine ucx, and of simulated packets
    std::optional<core::Bytes>
        acts_at;  ///< in a port, with which the switch under test acts; nothing: not said

    /// What a simulation assumes; `simulated`: this is one.
    bool simulated = false;
    core::NetworkPlan network;
    PacketOptions packets;
    SwitchDescription switches;       ///< network model `packet`: as described and as options change it
    std::vector<std::string> faults;  ///< --fault, read by the simulation

    RoleRequest roles;
    JoinRequest join;
    GroupRequest groups;
    std::string scenario;        ///< name or file as given; empty: none
    std::string scenario_title;  ///< from the scenario
    std::string scenario_found;  ///< from the scenario: what its source found; empty: not said
    Ratio scale;
    Ratio time_scale;

    Requirements require;
    Idle idle = Idle::automatic;
    core::Duration silence_timeout;  ///< a rank that is silent for this long counts as lost

    std::string label;
    std::vector<std::pair<std::string, std::string>> tags;  ///< in the order given; keys are unique
    std::size_t scenario_tags = 0;  ///< so many of them, from the first on, the command line may replace
    std::string out;                ///< run directory; empty: default_run_directory()
    OutputForm output = OutputForm::text;
    bool counters = true;  ///< record what the hosts' network counters counted
    bool dry_run = false;
    std::vector<std::string> injections;  ///< --inject, passed through to the transport's test hooks

    std::map<std::string, Origin, std::less<>>
        origins;                            ///< option name -> where its value came from; absent: default
    std::vector<GivenOption> command_line;  ///< as given, for run.json and for MPMD starts
    std::vector<std::string> notes;         ///< choices of resolve() that the user should read, one line each

    [[nodiscard]] Origin origin(std::string_view option) const {
        const auto found = origins.find(option);
        return found == origins.end() ? Origin::preset : found->second;
    }
    [[nodiscard]] bool given(std::string_view option) const { return origin(option) != Origin::preset; }
    /// Whether it is given, and not by a scenario of which the command line overrides `other`.
    [[nodiscard]] bool insists(std::string_view option, std::string_view other) const {
        return given(option) && origin(option) >= origin(other);
    }
};

}  // namespace weir::config
