#include "transport/ucx_data.hpp"

#include <chrono>
#include <cstring>
#include <utility>

#include "core/assertion.hpp"

namespace weir::transport {

UcxData::UcxData(UcxNetwork::Settings settings, int self, const ChunkBuffers& buffers, std::size_t sendings)
    : self_(self),
      ranks_(settings.ranks),
      buffers_(buffers),
      network_(std::move(settings)),
      memory_(network_.register_memory(buffers.memory())),
      handlers_{{{this, Kind::chunk}, {this, Kind::warmup}}},
      sending_to_(static_cast<std::size_t>(ranks_)),
      sendings_(sendings, Sending{.data = this, .to = -1, .header = {}}),
      receivings_(buffers.count(), Receiving{.data = this, .arrival = {}}) {
    for (Handler& handler : handlers_) {
        network_.receive(static_cast<unsigned>(handler.kind), message_announced, &handler, true);
    }
}

UcxData::~UcxData() {
    if (sending_ > 0 || receiving_ > 0) {
        network_.abandon();
    }
}

ucp_request_param_t UcxData::request_params() const {
    ucp_request_param_t params{};
    params.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_MEMH |
                          UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    params.memh = memory_;
    params.memory_type = UCS_MEMORY_TYPE_HOST;
    return params;
}

void UcxData::send(Kind kind, int to, std::uint32_t place, std::span<const std::byte> message,
                   std::size_t sending) {
    Sending& one = sendings_[sending];
    one.to = to;
    one.header = {self_, place};
    ++sending_;
    ++sending_to_[static_cast<std::size_t>(to)];
    const ucp_ep_h endpoint = network_.endpoint(to);
    if (endpoint == nullptr) {
        end_sending(sending, UCS_ERR_CANCELED);
        return;
    }
    ucp_request_param_t params = request_params();
    params.cb.send = message_sent;
    params.user_data = &one;
    const ucs_status_t status =
        status_of(network_.api().am_send_nbx(endpoint, static_cast<unsigned>(kind), &one.header,
                                             sizeof(one.header), message.data(), message.size(), &params));
    if (status != UCS_INPROGRESS) {
        end_sending(sending, status);
    }
}

void UcxData::message_sent(void* request, ucs_status_t status, void* sending) {
    Sending& one = *static_cast<Sending*>(sending);
    UcxData& data = *one.data;
    data.end_sending(static_cast<std::size_t>(&one - data.sendings_.data()), status);
    data.network_.api().request_free(request);
}

void UcxData::end_sending(std::size_t sending, ucs_status_t status) {
    if (status != UCS_OK) {
        network_.fail(sendings_[sending].to, status);
    }
    --sending_;
    --sending_to_[static_cast<std::size_t>(sendings_[sending].to)];
    sent_.push_back({sending, status == UCS_OK});
}

ucs_status_t UcxData::message_announced(void* handler, const void* header, std::size_t header_length,
                                        void* data, std::size_t bytes, const ucp_am_recv_param_t* params) {
    const Handler& announced = *static_cast<const Handler*>(handler);
    UcxData& self = *announced.data;
    Header read;
    if (header_length == sizeof(read)) {
        std::memcpy(&read, header, sizeof(read));
    }
    if (read.source < 0 || read.source >= self.ranks_ || bytes > self.buffers_.message_bytes()) {
        self.unreadable_ = "a message of " + std::to_string(bytes) + " bytes, and chunks have at most " +
                           std::to_string(self.buffers_.message_bytes());
        return UCS_OK;
    }
    if (self.drops_) {
        return UCS_OK;
    }
    Arrival arrival{.place = read.place,
                    .source = Rank{read.source},
                    .bytes = bytes,
                    .data = data,
                    .rendezvous = (params->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0};
    // Grants bound how many chunks wait for a buffer. Nothing but this bounds messages of the warm-up, which
    // leave without the receiver when they are small: their bytes are not needed.
    const bool stays = announced.kind == Kind::chunk || arrival.rendezvous;
    if (!stays) {
        arrival.data = nullptr;
    }
    self.arrivals(announced.kind).push_back(arrival);
    return stays ? UCS_INPROGRESS : UCS_OK;
}

void UcxData::receive(const Arrival& arrival, std::size_t buffer) {
    receivings_[buffer].arrival = arrival;
    ++receiving_;
    std::byte* const to = buffers_.at(buffer).data();
    if (!arrival.rendezvous) {
        if (arrival.data == nullptr) {
            std::memset(to, 0, arrival.bytes);
        } else {
            std::memcpy(to, arrival.data, arrival.bytes);
            network_.api().am_data_release(network_.worker(), arrival.data);
        }
        end_receiving(buffer, UCS_OK);
        return;
    }
    ucp_request_param_t params = request_params();
    params.cb.recv_am = message_received;
    params.user_data = &receivings_[buffer];
    const ucs_status_t status = status_of(
        network_.api().am_recv_data_nbx(network_.worker(), arrival.data, to, arrival.bytes, &params));
    if (status != UCS_INPROGRESS) {
        end_receiving(buffer, status);
    }
}

void UcxData::message_received(void* request, ucs_status_t status, std::size_t /*bytes*/, void* receiving) {
    Receiving& one = *static_cast<Receiving*>(receiving);
    UcxData& data = *one.data;
    data.end_receiving(static_cast<std::size_t>(&one - data.receivings_.data()), status);
    data.network_.api().request_free(request);
}

void UcxData::end_receiving(std::size_t buffer, ucs_status_t status) {
    const Arrival& arrival = receivings_[buffer].arrival;
    if (status != UCS_OK) {
        network_.fail(arrival.source.value, status);
    }
    --receiving_;
    received_.push_back({arrival, buffer, status == UCS_OK});
}

void UcxData::drop(const Arrival& arrival) {
    if (arrival.data == nullptr) {
        return;
    }
    network_.api().am_data_release(network_.worker(), arrival.data);
}

void UcxData::disconnect(int rank) {
    network_.disconnect(rank);
    const Deadline deadline = std::chrono::steady_clock::now() + UcxNetwork::disconnect_limit;
    while (!network_.disconnected() || sending_to_[static_cast<std::size_t>(rank)] > 0) {
        network_.progress();
        if (std::chrono::steady_clock::now() >= deadline) {
            throw TransportError("giving up data", Rank{rank}, "they stay under way");
        }
    }
}

void UcxData::report_failures(std::vector<Unreachable>& found) {
    if (!unreadable_.empty()) {
        throw TransportError("receiving data over UCX", Rank{}, std::exchange(unreadable_, {}));
    }
    network_.report_failures(found);
}

bool UcxData::close(Deadline deadline) {
    drops_ = true;
    for (std::vector<Arrival>& arrivals : arrivals_) {
        for (const Arrival& arrival : arrivals) {
            drop(arrival);
        }
        arrivals.clear();
    }
    // Fetches end by themselves, or fail with the connection; those that this rank has not made are not
    // closed.
    while (receiving_ > 0 && std::chrono::steady_clock::now() < deadline) {
        network_.progress();
    }
    return network_.close(deadline) && sending_ == 0 && receiving_ == 0;
}

}  // namespace weir::transport
