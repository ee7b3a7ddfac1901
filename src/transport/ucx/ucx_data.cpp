#include "transport/ucx/ucx_data.hpp"

#include <chrono>
#include <utility>

namespace weir::transport {

UcxData::UcxData(UcxNetwork::Settings settings, int self, const ChunkBuffers& buffers)
    : self_(self),
      ranks_(settings.ranks),
      buffers_(buffers),
      network_(std::move(settings)),
      memory_(network_.register_memory(buffers.memory())),
      sending_to_(static_cast<std::size_t>(ranks_)) {}

UcxData::~UcxData() {
    if (sending_ > 0 || receiving_ > 0 || gave_up_) {
        network_.abandon();
    }
}

ucp_request_param_t UcxData::request_params(ucp_send_nbx_callback_t callback, void* argument) const {
    ucp_request_param_t params{};
    params.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_MEMH |
                          UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    params.cb.send = callback;
    params.user_data = argument;
    params.memh = memory_;
    params.memory_type = UCS_MEMORY_TYPE_HOST;
    return params;
}

void UcxData::begin_sending(int to) {
    ++sending_;
    ++sending_to_[static_cast<std::size_t>(to)];
}

void UcxData::end_sending(std::size_t sending, int to, ucs_status_t status) {
    if (status != UCS_OK) {
        network_.fail(to, status);
    }
    --sending_;
    --sending_to_[static_cast<std::size_t>(to)];
    sent_.push_back({sending, status == UCS_OK});
}

void UcxData::end_receiving(const Arrival& arrival, std::size_t buffer, ucs_status_t status) {
    if (status != UCS_OK) {
        network_.fail(arrival.source.value, status);
    }
    --receiving_;
    received_.push_back({arrival, buffer, status == UCS_OK});
}

void UcxData::refuse(std::size_t bytes) {
    unreadable_ = "a message of " + std::to_string(bytes) + " bytes, and chunks have at most " +
                  std::to_string(buffers_.message_bytes());
}

void UcxData::report_failures(std::vector<Unreachable>& found) {
    if (!unreadable_.empty()) {
        throw TransportError("receiving data over UCX", Rank{}, std::exchange(unreadable_, {}));
    }
    network_.report_failures(found);
}

void UcxData::disconnect(int rank) {
    network_.disconnect(rank);
    const auto now = std::chrono::steady_clock::now();
    const Deadline patient_until = now + UcxNetwork::disconnect_patience;
    const Deadline deadline = now + UcxNetwork::disconnect_limit;
    const std::size_t& left = sending_to_[static_cast<std::size_t>(rank)];
    while (!network_.disconnected() || left > 0) {
        progress();
        // UCX does not call back for all that it has to an endpoint that is closed by force. Nothing waits
        // for these bytes any more, whatever they are when they leave.
        if (left > 0 && std::chrono::steady_clock::now() >= patient_until) {
            gave_up_ = true;
            give_up(rank);
        }
        if (std::chrono::steady_clock::now() >= deadline) {
            throw TransportError("giving up data", Rank{rank}, "they stay under way");
        }
    }
}

bool UcxData::close(Deadline deadline) {
    drops_ = true;
    for (const Arrival& arrival : arrivals_) {
        drop(arrival);
    }
    arrivals_.clear();
    // Fetches end by themselves, or fail with the connection; those that this rank has not made are not
    // closed.
    while ((receiving_ > 0 || answering()) && std::chrono::steady_clock::now() < deadline) {
        progress();
    }
    const bool closed = network_.close(deadline);
    progress();
    return closed && sending_ == 0 && receiving_ == 0;
}

}  // namespace weir::transport
