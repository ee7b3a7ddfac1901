// Facts about the process and host that a rank runs on, and what follows from those of all ranks.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/idle.hpp"

namespace weir::runtime {

/// One rank's place. Shared among the ranks at the start.
struct Place {
    std::string host;
    std::int64_t pid = 0;
    std::vector<int> cpus;  ///< that the process may run on
    double cpu_quota = 0;   ///< cores' worth of time that the control group allows; 0: no limit
};

/// Of this process.
Place this_place();

std::string encode_place(const Place& place);
/// Throws nlohmann::json::exception if the text is none of encode_place.
Place decode_place(const std::string& text);

/// "0-3,8"
std::string cpu_list_text(const std::vector<int>& cpus);

/// The cores that the ranks on `host` share and how many ranks those are.
struct HostLoad {
    int ranks = 0;
    int cores = 0;
};
HostLoad load_of(const std::string& host, const std::vector<Place>& places);

/// The environment variables of this process that steer MPI, UCX and SLURM; no secrets, and not what the
/// launcher sets for each of its ranks.
std::map<std::string, std::string> steering_variables();

/// Of this host and process, for `environment` in run.json: kernel, processor, MPI library, the UCX that MPI
/// loaded (null: none), the environment variables that steer MPI, UCX and SLURM. After MPI_Init.
nlohmann::ordered_json environment_facts(const std::string& mpi_library);

}  // namespace weir::runtime
