// Facts about the process and host that a rank runs on, and what follows from those of all ranks.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "host/idle.hpp"

namespace weir::host {

/// Where one rank runs. Shared among the ranks at the start.
///
/// A name does not make a host: clones and containers have one name for several. Ranks are on one host if the
/// name, the boot of the kernel and the network namespace are the same, because that is what counts a host's
/// traffic. They see each other's processes if the boot and the namespace of process numbers are the same.
/// What cannot be read is empty.
struct RankLocation {
    std::string host;  ///< its name, after tell_apart() that of no other host
    std::int64_t pid = 0;
    std::vector<int> cpus = {};  ///< that the process may run on
    double cpu_quota = 0;        ///< cores' worth of time that the control group allows; 0: no limit
    std::string leaf = {};  ///< the switch that the host is connected to, as SLURM knows it; empty: unknown
    std::string boot = {};  ///< id of the kernel's boot
    std::string pid_namespace = {};
    std::string network_namespace = {};

    /// Where this process number means this process, if the host is the same.
    [[nodiscard]] std::string pids() const { return boot + " " + pid_namespace; }
};

/// The switch that a node is connected to, of an address as SLURM_TOPOLOGY_ADDR; empty: it names none.
std::string leaf_in(std::string_view address);

/// Where this process runs.
RankLocation this_location();

std::string encode_location(const RankLocation& location);
/// Throws nlohmann::json::exception if the text is none of encode_location.
RankLocation decode_location(const std::string& text);

/// Makes names of hosts unique, for files and people: of several with one name all but the first get a number
/// ("eb01-2"). Returns a line for each such name, "2 machines have the host name eb01: ...".
std::vector<std::string> tell_apart(std::vector<RankLocation>& locations);

/// "0-3,8"
std::string cpu_list_text(const std::vector<int>& cpus);

/// That this process may run on.
std::vector<int> allowed_cpus();

/// How many of these cores a process gets that may use `quota` cores' worth of time; 0: no limit.
int cores_within(std::size_t cores, double quota);

/// The cores that the ranks on `host` share and how many ranks those are.
struct HostLoad {
    int ranks = 0;
    int cores = 0;
};
HostLoad load_of(const std::string& host, const std::vector<RankLocation>& locations);

/// The environment variables of this process that steer MPI, UCX and SLURM; no secrets, and not what the
/// launcher sets for each of its ranks.
std::map<std::string, std::string> steering_variables();

/// What `environment` in run.json has of this host and process: kernel, processor, MPI library, the UCX that
/// MPI loaded (null: none), the environment variables that steer MPI, UCX and SLURM. After MPI_Init.
nlohmann::ordered_json environment_facts(const std::string& mpi_library);

/// What cannot be read is left out.
std::set<int> processors_in(std::string_view list);

}  // namespace weir::host
