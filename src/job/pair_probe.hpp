// Moves a little data between the pairs of a plan before a run: who reaches whom, how fast, how far. Not a
// measurement of the network under load: in every round, pairs that share no node go at the same time.
#pragma once

#include <string>
#include <vector>

#include "core/role_map.hpp"
#include "host/host_facts.hpp"
#include "host/probe.hpp"
#include "job/mpi_job.hpp"

namespace weir::job {

struct PairProbes {
    std::vector<host::PairProbe> pairs;  ///< in which this rank is the consumer
    std::string stopped;                 ///< why it ended before its time; empty: it did not
    bool mpi_is_clean = true;            ///< no message is left under way, so MPI can be ended in order
};

/// How long a pair may take.
struct ProbeLimits {
    core::Duration answer = core::Duration::seconds(3);  ///< to a small message
    core::Duration round = core::Duration::seconds(10);  ///< for the next large one, and for all ranks
};

/// Every rank of the job calls it. Bounded: a pair that does not answer costs the time of an answer, and a
/// rank that is gone ends the probe.
PairProbes probe_pairs(MpiJob& job, const core::RoleMap& roles,
                       const std::vector<host::RankLocation>& locations, const host::ProbeRounds& rounds,
                       const ProbeLimits& limits = {});

/// To travel to the rank that reports.
std::string encode_probes(const PairProbes& probes);
/// Throws nlohmann::json::exception if the text is none of encode_probes.
PairProbes decode_probes(const std::string& text);

}  // namespace weir::job
