#include "transport/ucx/ucx_api.hpp"

#include <dlfcn.h>

#include <cstdlib>

#include "transport/transport.hpp"
#include "transport/ucx/ucx_words.hpp"

namespace weir::transport {

namespace {

constexpr const char* library_name = "libucp.so.0";

[[noreturn]] void cannot_load(const char* name) {
    const char* const reason = dlerror();
    throw TransportError(name, Rank{},
                         std::string(reason == nullptr ? "not found" : reason) +
                             "; install UCX 1.13 or later (Debian: libucx0), or use the engine mpi");
}

template <typename Function>
void find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (function == nullptr) {
        cannot_load(name);
    }
}

UcxApi load() {
    // In the environment, because UCX 1.13 does not take them in any other way.
    for (const auto& [name, value] : ucx_variables([](const char* name) { return std::getenv(name); })) {
        setenv(name, value, 0);
    }
    // Never closed: UCX has threads and hooks that it cannot take back.
    void* const library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        cannot_load(library_name);
    }
    UcxApi api;
    find(library, "ucp_config_read", api.config_read);
    find(library, "ucp_config_modify", api.config_modify);
    find(library, "ucp_config_release", api.config_release);
    find(library, "ucp_init_version", api.init_version);
    find(library, "ucp_cleanup", api.cleanup);
    find(library, "ucp_mem_map", api.mem_map);
    find(library, "ucp_mem_unmap", api.mem_unmap);
    find(library, "ucp_worker_create", api.worker_create);
    find(library, "ucp_worker_destroy", api.worker_destroy);
    find(library, "ucp_worker_query", api.worker_query);
    find(library, "ucp_worker_release_address", api.worker_release_address);
    find(library, "ucp_worker_progress", api.worker_progress);
    find(library, "ucp_worker_set_am_recv_handler", api.worker_set_am_recv_handler);
    find(library, "ucp_ep_create", api.ep_create);
    find(library, "ucp_ep_close_nbx", api.ep_close_nbx);
    find(library, "ucp_ep_print_info", api.ep_print_info);
    find(library, "ucp_am_send_nbx", api.am_send_nbx);
    find(library, "ucp_am_recv_data_nbx", api.am_recv_data_nbx);
    find(library, "ucp_am_data_release", api.am_data_release);
    find(library, "ucp_put_nbx", api.put_nbx);
    find(library, "ucp_get_nbx", api.get_nbx);
    find(library, "ucp_ep_flush_nbx", api.ep_flush_nbx);
    find(library, "ucp_rkey_pack", api.rkey_pack);
    find(library, "ucp_rkey_buffer_release", api.rkey_buffer_release);
    find(library, "ucp_ep_rkey_unpack", api.ep_rkey_unpack);
    find(library, "ucp_rkey_destroy", api.rkey_destroy);
    find(library, "ucp_request_check_status", api.request_check_status);
    find(library, "ucp_request_free", api.request_free);
    find(library, "ucs_status_string", api.status_string);  // of libucs, which libucp needs
    return api;
}

}  // namespace

const UcxApi& UcxApi::loaded() {
    static const UcxApi api = load();
    return api;
}

void UcxApi::check(ucs_status_t status, const char* operation) const {
    if (status != UCS_OK) {
        throw TransportError(operation, Rank{}, status_string(status));
    }
}

}  // namespace weir::transport
