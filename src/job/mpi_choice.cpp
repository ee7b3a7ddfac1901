#include "job/mpi_choice.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "host/counter_files.hpp"
#include "host/host_facts.hpp"
#include "host/read_settings.hpp"
#include "host/ucx_library.hpp"
#include "job/mpi_job.hpp"

namespace weir::job {

namespace {

/// Number of the file descriptor.
constexpr const char* variable_of_log = "WEIR_UCX_LOG";

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

std::string message_layer() {
    // mca_base_component_2_1_0_t of Open MPI 2 to 5: three numbers, the project's name (16 bytes) and its
    // three numbers, the framework's name (32 bytes) and its three numbers, the component's name (64 bytes).
    struct Component {
        std::int32_t version[3];
        char project[16];
        std::int32_t project_version[3];
        char framework[32];
        std::int32_t framework_version[3];
        char name[64];
    };
    const void* symbol = dlsym(RTLD_DEFAULT, "mca_pml_base_selected_component");
    if (symbol == nullptr) {
        return {};
    }
    Component component;
    std::memcpy(&component, symbol, sizeof component);
    // Should the layout ever change, this is not "pml" any more.
    if (std::strncmp(component.framework, "pml", sizeof component.framework) != 0) {
        return {};
    }
    return {component.name, strnlen(component.name, sizeof component.name)};
}

bool calls_yield() {
    int provided = 0;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) {
        return false;
    }
    int variable = 0;
    int count = 0;
    int value = 0;
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    if (MPI_T_cvar_get_index("mpi_yield_when_idle", &variable) == MPI_SUCCESS &&
        MPI_T_cvar_handle_alloc(variable, nullptr, &handle, &count) == MPI_SUCCESS) {
        if (count != 1 || MPI_T_cvar_read(handle, &value) != MPI_SUCCESS) {
            value = 0;
        }
        MPI_T_cvar_handle_free(&handle);
    }
    MPI_T_finalize();
    return value != 0;
}

namespace ucx_log {

void begin_anew_with_log() {
    if (std::getenv(variable_of_log) != nullptr || std::getenv("UCX_LOG_FILE") != nullptr ||
        std::getenv("UCX_LOG_LEVEL") != nullptr) {
        return;
    }
    // It has to outlive execv, and vanishes with the process.
    const int file = memfd_create("weir-ucx-log", 0);
    if (file < 0) {
        return;
    }
    setenv(variable_of_log, std::to_string(file).c_str(), 1);
    setenv("UCX_LOG_FILE", fmt::format("/proc/self/fd/{}", file).c_str(), 1);
    setenv("UCX_LOG_LEVEL", "info", 1);
    std::string line = host::file_text("/proc/self/cmdline");
    std::vector<char*> arguments;
    for (std::size_t begin = 0; begin < line.size(); begin = line.find('\0', begin) + 1) {
        arguments.push_back(line.data() + begin);
        if (line.find('\0', begin) == std::string::npos) {
            break;
        }
    }
    arguments.push_back(nullptr);
    execv("/proc/self/exe", arguments.data());
    for (const char* variable : {variable_of_log, "UCX_LOG_FILE", "UCX_LOG_LEVEL"}) {
        unsetenv(variable);
    }
    close(file);
}

std::string text() {
    const char* file = std::getenv(variable_of_log);
    // UCX holds what it has not written yet in a stream of its own.
    static_cast<void>(std::fflush(nullptr));
    return file == nullptr ? std::string{} : host::file_text(fmt::format("/proc/self/fd/{}", file));
}

bool is_ours(const std::string& variable) {
    return std::getenv(variable_of_log) != nullptr &&
           (variable == "UCX_LOG_FILE" || variable == "UCX_LOG_LEVEL");
}

}  // namespace ucx_log

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
    if (const auto ucx = host::loaded_ucx()) {
        settings.versions["UCX"] = ucx->version;
    }
    settings.versions["MPI"] = library.substr(0, library.find(','));
    return settings;
}

}  // namespace weir::job
