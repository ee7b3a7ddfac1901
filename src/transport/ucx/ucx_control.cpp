#include "transport/ucx/ucx_control.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "core/assertion.hpp"

namespace weir::transport {

UcxControl::UcxControl(UcxNetwork::Settings settings, int self, std::size_t sends)
    : self_(self),
      ranks_(settings.ranks),
      send_bound_(sends),
      network_(std::move(settings)),
      life_of_(static_cast<std::size_t>(ranks_)),
      next_number_(static_cast<std::size_t>(ranks_)),
      order_(ranks_) {
    network_.receive(packet_kind, packet_arrived, this, false);
}

UcxControl::~UcxControl() {
    for (std::unique_ptr<Sending>& sending : all_) {
        if (sending->under_way) {  // UCX keeps its memory, and the context with it
            network_.abandon();
            static_cast<void>(sending.release());
        }
    }
}

void UcxControl::send(Rank to, std::span<const std::byte> packet) {
    WEIR_ASSERT(!closed_ && !packet.empty() && packet.size() <= packet_limit);
    if (network_.is_outlived(to.value) && !has_room()) {
        network_.fail(to.value, UCS_ERR_TIMED_OUT);  // what is under way does not leave
        return;
    }
    Sending& sending = next_sending(to.value);
    sending.header = {self_, next_number_[static_cast<std::size_t>(to.value)]++, life_};
    std::memcpy(sending.content.data(), packet.data(), packet.size());
    begin(sending, packet.size());
}

bool UcxControl::has_room() {
    if (under_way() == send_bound_) {
        network_.progress();
    }
    return under_way() < send_bound_;
}

UcxControl::Sending& UcxControl::next_sending(int to) {
    if (!has_room()) {
        const auto to_this = std::count_if(all_.begin(), all_.end(), [to](const auto& sending) {
            return sending->under_way && sending->to == to;
        });
        throw TransportError("sending a control packet", Rank{to},
                             std::to_string(send_bound_) + " packets are under way and do not leave, " +
                                 std::to_string(to_this) + " of them to this rank");
    }
    if (spare_.empty()) {
        spare_.push_back(all_.emplace_back(std::make_unique<Sending>()).get());
        spare_.back()->control = this;
    }
    Sending& sending = *spare_.back();
    spare_.pop_back();
    sending.to = to;
    sending.under_way = true;
    return sending;
}

void UcxControl::begin(Sending& sending, std::size_t bytes) {
    const ucp_ep_h endpoint = network_.endpoint(sending.to);
    if (endpoint == nullptr) {
        end(sending, UCS_ERR_CANCELED);
        return;
    }
    ucp_request_param_t params{};
    params.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
    params.flags = UCP_AM_SEND_FLAG_EAGER;
    params.cb.send = sent;
    params.user_data = &sending;
    const ucs_status_t status =
        status_of(network_.api().am_send_nbx(endpoint, packet_kind, &sending.header, sizeof(sending.header),
                                             sending.content.data(), bytes, &params));
    if (status != UCS_INPROGRESS) {
        end(sending, status);
    }
}

void UcxControl::sent(void* request, ucs_status_t status, void* sending) {
    Sending& one = *static_cast<Sending*>(sending);
    one.control->end(one, status);
    one.control->network_.api().request_free(request);
}

void UcxControl::end(Sending& sending, ucs_status_t status) {
    if (status != UCS_OK) {
        network_.fail(sending.to, status);
    }
    sending.under_way = false;
    spare_.push_back(&sending);
}

ucs_status_t UcxControl::packet_arrived(void* control, const void* header, std::size_t header_length,
                                        void* data, std::size_t bytes, const ucp_am_recv_param_t* params) {
    UcxControl& self = *static_cast<UcxControl*>(control);
    Header read;
    if (header_length == sizeof(read)) {
        std::memcpy(&read, header, sizeof(read));
    }
    if (read.source < 0 || read.source >= self.ranks_ || bytes == 0 || bytes > packet_limit ||
        (params->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) {
        self.unreadable_ = "a message of " + std::to_string(bytes) + " bytes is no control packet";
    } else if (!self.closed_ && read.life == self.life_of_[static_cast<std::size_t>(read.source)]) {
        self.order_.add(Rank{read.source}, read.number, {static_cast<const std::byte*>(data), bytes},
                        self.arrived_);
    }
    return UCS_OK;
}

void UcxControl::poll(Polled& found) {
    if (closed_) {
        return;
    }
    network_.progress();
    found.add(arrived_);
    arrived_.clear();
    if (!unreadable_.empty()) {
        throw TransportError("receiving control packets over UCX", Rank{}, std::exchange(unreadable_, {}));
    }
    network_.report_failures(found.unreachable);
}

void UcxControl::disconnect(int rank) {
    network_.disconnect(rank);
    ++life_of_[static_cast<std::size_t>(rank)];
    const auto to_it = [rank](const auto& sending) { return sending->under_way && sending->to == rank; };
    const Deadline deadline = std::chrono::steady_clock::now() + UcxNetwork::disconnect_limit;
    while (!network_.disconnected() || std::any_of(all_.begin(), all_.end(), to_it)) {
        network_.progress();
        if (std::chrono::steady_clock::now() >= deadline) {
            throw TransportError("giving up control packets", Rank{rank}, "they stay under way");
        }
    }
}

void UcxControl::reconnect(int rank, std::string address, std::uint32_t life) {
    network_.reconnect(rank, std::move(address));
    life_of_[static_cast<std::size_t>(rank)] = life;
    next_number_[static_cast<std::size_t>(rank)] = 0;
    order_.reset(Rank{rank});
}

bool UcxControl::close(Deadline deadline) {
    closed_ = true;
    return network_.close(deadline) && under_way() == 0;
}

}  // namespace weir::transport
