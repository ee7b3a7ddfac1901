#include "job/host_snapshot.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "host/host_facts.hpp"
#include "host/read_settings.hpp"
#include "job/mpi_choice.hpp"
#include "job/mpi_job.hpp"

namespace weir::job {

namespace {

/// Variables that decide which way data go. What else the launcher sets differs between hosts without meaning
/// anything.
constexpr std::array<std::string_view, 7> of_the_data{"UCX_",
                                                      "OMPI_MCA_pml",
                                                      "OMPI_MCA_btl",
                                                      "OMPI_MCA_mtl",
                                                      "OMPI_MCA_osc",
                                                      "OMPI_MCA_coll",
                                                      "OMPI_MCA_opal_common_ucx"};

bool steers_data(const std::string& variable) {
    return std::any_of(of_the_data.begin(), of_the_data.end(),
                       [&](std::string_view prefix) { return variable.starts_with(prefix); });
}

}  // namespace

host::HostSettings host_snapshot(const std::string& root) {
    const auto kernel = root.empty() ? host::kernel_settings() : host::no_kernel_settings();
    host::HostSettings settings =
        host::read_settings(host::this_location().host, {.root = root, .kernel = *kernel});
    for (const auto& [name, value] : host::steering_variables()) {
        if (steers_data(name) && !ucx_log::is_ours(name)) {
            settings.variables[name] = value;
        }
    }
    const std::string library = MpiJob::library_version();
    settings.versions["MPI"] = library.substr(0, library.find(','));
    return settings;
}

}  // namespace weir::job
