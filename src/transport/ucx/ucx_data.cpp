#include "transport/ucx/ucx_data.hpp"

#include <deque>

namespace weir::transport {

namespace {

class UcxMessageData final : public UcxData {
  public:
    UcxMessageData(UcxNetwork::Settings settings, int self, const ChunkBuffers& buffers)
        : UcxData(std::move(settings), self, buffers),
          receivings_(buffers.count(), Receiving{.data = this, .arrival = {}}) {
        network_.receive(message_kind, message_announced, this, true);
    }

    void send(int to, Target target, std::span<const std::byte> message, std::size_t sending) override {
        begin_sending(to);
        const ucp_ep_h endpoint = network_.next_connection(to).endpoint;
        if (endpoint == nullptr) {
            end_sending(sending, to, UCS_ERR_CANCELED);
            return;
        }
        if (free_.empty()) {
            free_.push_back(static_cast<std::uint32_t>(sendings_.size()));
            sendings_.push_back({.data = this, .index = free_.back(), .header = {}});
        }
        Sending& one = sendings_[free_.back()];
        free_.pop_back();
        one.sending = sending;
        one.to = to;
        one.header = {self_, target.place};
        const ucp_request_param_t params = request_params(message_sent, &one);
        const ucs_status_t status =
            status_of(network_.api().am_send_nbx(endpoint, message_kind, &one.header, sizeof(one.header),
                                                 message.data(), message.size(), &params));
        if (status != UCS_INPROGRESS) {
            free_.push_back(one.index);
            one.to = -1;
            end_sending(sending, to, status);
        }
    }

    void receive(const Arrival& arrival, std::size_t buffer) override {
        receivings_[buffer].arrival = arrival;
        begin_receiving();
        std::byte* const to = buffers_.at(buffer).data();
        if (!arrival.rendezvous) {
            std::memcpy(to, arrival.data, arrival.bytes);
            network_.api().am_data_release(network_.worker(), arrival.data);
            end_receiving(arrival, buffer, UCS_OK);
            return;
        }
        ucp_request_param_t params = request_params(nullptr, &receivings_[buffer]);
        params.cb.recv_am = message_received;
        const ucs_status_t status = status_of(
            network_.api().am_recv_data_nbx(network_.worker(), arrival.data, to, arrival.bytes, &params));
        if (status != UCS_INPROGRESS) {
            end_receiving(arrival, buffer, status);
        }
    }

    void drop(const Arrival& arrival) override {
        network_.api().am_data_release(network_.worker(), arrival.data);
    }

  private:
    /// In front of every message. Plain memory on the wire: all ranks run the same executable.
    struct Header {
        std::int32_t source = -1;
        std::uint32_t place = 0;
    };
    struct Sending {
        UcxMessageData* data = nullptr;
        std::uint32_t index = 0;
        std::size_t sending = 0;
        int to = -1;  ///< -1: not in use, or given up
        Header header;
    };
    struct Receiving {
        UcxMessageData* data = nullptr;
        Arrival arrival;
    };

    static void message_sent(void* request, ucs_status_t status, void* sending) {
        Sending& one = *static_cast<Sending*>(sending);
        UcxMessageData& data = *one.data;
        const int to = std::exchange(one.to, -1);
        data.free_.push_back(one.index);
        if (to >= 0) {
            data.end_sending(one.sending, to, status);
        }
        data.network_.api().request_free(request);
    }

    static void message_received(void* request, ucs_status_t status, std::size_t /*bytes*/, void* receiving) {
        Receiving& one = *static_cast<Receiving*>(receiving);
        UcxMessageData& data = *one.data;
        data.end_receiving(one.arrival, static_cast<std::size_t>(&one - data.receivings_.data()), status);
        data.network_.api().request_free(request);
    }

    static ucs_status_t message_announced(void* to, const void* header, std::size_t header_length, void* data,
                                          std::size_t bytes, const ucp_am_recv_param_t* params) {
        UcxMessageData& self = *static_cast<UcxMessageData*>(to);
        Header read;
        if (header_length == sizeof(read)) {
            std::memcpy(&read, header, sizeof(read));
        }
        if (read.source < 0 || read.source >= self.ranks_ || bytes > self.buffers_.message_bytes()) {
            self.refuse(bytes);
            return UCS_OK;
        }
        if (self.drops_) {
            return UCS_OK;
        }
        self.arrivals_.push_back({.place = read.place,
                                  .source = Rank{read.source},
                                  .bytes = bytes,
                                  .data = data,
                                  .rendezvous = (params->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0});
        return UCS_INPROGRESS;
    }

    void give_up(int rank) override {
        for (Sending& one : sendings_) {
            if (one.to == rank) {  // what UCX still has of it is not used again before it has called back
                one.to = -1;
                end_sending(one.sending, rank, UCS_ERR_CANCELED);
            }
        }
    }

    std::deque<Sending> sendings_;  ///< UCX has pointers to them
    std::vector<std::uint32_t> free_;
    std::vector<Receiving> receivings_;  ///< by buffer; UCX has pointers to them
};

}  // namespace

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

// Transport `send` over the engine `ucx`: active messages, by rendezvous unless they are small. The bytes of
// a message move when the receiver has a buffer for it.
//
// (Rejected: tagged messages. A receive for any producer, as places need it, is then found by a search
// through all that are posted, and nothing names the sender but the tag.)

std::unique_ptr<UcxData> make_ucx_messages(UcxNetwork::Settings settings, int self,
                                           const ChunkBuffers& buffers) {
    return std::make_unique<UcxMessageData>(std::move(settings), self, buffers);
}

}  // namespace weir::transport
