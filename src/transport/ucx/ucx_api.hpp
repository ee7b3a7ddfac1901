// The functions of UCP that weir calls, out of the library that the dynamic loader finds when the engine
// `ucx` is asked for. (Rejected: linking it. Then no run would start without UCX, and one could not see any
// more whether the MPI library brought it.)
#pragma once

#include <ucp/api/ucp.h>

#include <cstdint>
#include <string>

namespace weir::transport {

struct UcxApi {
    decltype(&::ucp_config_read) config_read = nullptr;
    decltype(&::ucp_config_modify) config_modify = nullptr;
    decltype(&::ucp_config_release) config_release = nullptr;
    decltype(&::ucp_init_version) init_version = nullptr;
    decltype(&::ucp_cleanup) cleanup = nullptr;
    decltype(&::ucp_mem_map) mem_map = nullptr;
    decltype(&::ucp_mem_unmap) mem_unmap = nullptr;
    decltype(&::ucp_worker_create) worker_create = nullptr;
    decltype(&::ucp_worker_destroy) worker_destroy = nullptr;
    decltype(&::ucp_worker_query) worker_query = nullptr;
    decltype(&::ucp_worker_release_address) worker_release_address = nullptr;
    decltype(&::ucp_worker_progress) worker_progress = nullptr;
    decltype(&::ucp_worker_set_am_recv_handler) worker_set_am_recv_handler = nullptr;
    decltype(&::ucp_ep_create) ep_create = nullptr;
    decltype(&::ucp_ep_close_nbx) ep_close_nbx = nullptr;
    decltype(&::ucp_ep_print_info) ep_print_info = nullptr;
    decltype(&::ucp_am_send_nbx) am_send_nbx = nullptr;
    decltype(&::ucp_am_recv_data_nbx) am_recv_data_nbx = nullptr;
    decltype(&::ucp_am_data_release) am_data_release = nullptr;
    decltype(&::ucp_put_nbx) put_nbx = nullptr;
    decltype(&::ucp_get_nbx) get_nbx = nullptr;
    decltype(&::ucp_ep_flush_nbx) ep_flush_nbx = nullptr;
    decltype(&::ucp_rkey_pack) rkey_pack = nullptr;
    decltype(&::ucp_rkey_buffer_release) rkey_buffer_release = nullptr;
    decltype(&::ucp_ep_rkey_unpack) ep_rkey_unpack = nullptr;
    decltype(&::ucp_rkey_destroy) rkey_destroy = nullptr;
    decltype(&::ucp_request_check_status) request_check_status = nullptr;
    decltype(&::ucp_request_free) request_free = nullptr;
    decltype(&::ucs_status_string) status_string = nullptr;

    /// Loads the library at the first call, which should be before MPI_Init: it sets a variable of the
    /// environment for it. Throws TransportError.
    static const UcxApi& loaded();

    /// Throws TransportError unless `status` is UCS_OK. `operation` names the call.
    void check(ucs_status_t status, const char* operation) const;
};

/// What a call with the ending nbx returned: a request that is under way, nothing (done), or an error.
[[nodiscard]] inline ucs_status_t status_of(ucs_status_ptr_t result) {
    if (result == nullptr) {
        return UCS_OK;
    }
    const auto value = reinterpret_cast<std::intptr_t>(result);
    return value < 0 && value >= static_cast<std::intptr_t>(UCS_ERR_LAST) ? static_cast<ucs_status_t>(value)
                                                                          : UCS_INPROGRESS;
}

}  // namespace weir::transport
