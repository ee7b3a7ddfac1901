// All settings that a measured run needs, the same on every rank, but for the log form
// of one rank and the name of the own host.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/plan.hpp"
#include "core/units.hpp"
#include "host/host_facts.hpp"
#include "host/idle.hpp"
#include "participant/run_description.hpp"
#include "participant/run_record_builder.hpp"
#include "show/live_view.hpp"
#include "transport/datagram/datagram_transport.hpp"
#include "transport/disturbing_transport.hpp"

namespace weir::job {

class GroupedRuns;

struct RunSettings : participant::RunDescription {
    std::vector<host::RankLocation> locations;  ///< by rank
    std::vector<std::string> told_apart;        ///< a line for each name that several hosts have

    std::optional<host::IdleMode> idle_mode;  ///< nothing: chosen from the host's load
    core::Duration silence_timeout;
    show::LiveForm output = show::LiveForm::text;

    transport::DatagramOptions datagrams;
    core::EnginePlan engine;

    std::vector<transport::ChunkDisturbance> faults;  ///< to be injected, in tests

    std::string command = "weir run";  ///< how messages of this run begin
    participant::ExplainRun causes{};  ///< for the record of a run that reached its end
    GroupedRuns* groups = nullptr;     ///< of this run's job; nullptr: it is the only one. Not owned
    int job_ranks_here = 0;            ///< of all groups on this rank's host; 0: of this group alone

    /// The leader collects reports, keeps the clock, ends the run and writes the record. It is on the rank of
    /// the scheduler, which grants: the rank whose host and process users call the scheduler's.
    [[nodiscard]] int leader_rank() const { return roles.scheduler_rank(); }

    [[nodiscard]] const std::string& host_of(int rank) const {
        return locations.at(static_cast<std::size_t>(rank)).host;
    }

    /// Takes over where the ranks run, also into the description.
    void set_locations(std::vector<host::RankLocation> by_rank) {
        locations = std::move(by_rank);
        rank_hosts.clear();
        for (const host::RankLocation& location : locations) {
            rank_hosts.push_back(
                {location.host, location.pid, host::cpu_list_text(location.cpus), location.leaf});
        }
    }
};

using participant::rank_text;
using participant::ranks_text;

}  // namespace weir::job
