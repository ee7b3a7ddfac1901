#include "transport/ucx/ucx_remote_data.hpp"

#include <cstring>
#include <string_view>
#include <utility>

#include "core/assertion.hpp"

namespace weir::transport {

namespace {

/// What a rank sends about its chunk buffers, in front of the key and of the address of its worker.
struct AddressHead {
    std::uint64_t base = 0;
    std::uint32_t stride = 0;
    std::uint32_t key_bytes = 0;
};

}  // namespace

UcxRemoteData::UcxRemoteData(UcxNetwork::Settings settings, int self, const ChunkBuffers& buffers)
    : UcxData(std::move(settings), self, buffers),
      stride_(buffers.stride()),
      bases_(static_cast<std::size_t>(ranks_)) {
    network_.receive(message_kind, message_announced, this, false);
}

std::string UcxRemoteData::address() const {
    const std::string key = network_.key_of(memory_);
    const AddressHead head{.base = reinterpret_cast<std::uintptr_t>(buffers_.memory().data()),
                           .stride = static_cast<std::uint32_t>(stride_),
                           .key_bytes = static_cast<std::uint32_t>(key.size())};
    return std::string(reinterpret_cast<const char*>(&head), sizeof head) + key + network_.address();
}

void UcxRemoteData::take_address(int rank, const std::string& text, std::string& of_worker) {
    if (text.empty()) {
        of_worker.clear();  // of a rank without data
        return;
    }
    AddressHead head;
    if (text.size() >= sizeof head) {
        std::memcpy(&head, text.data(), sizeof head);
    }
    if (text.size() < sizeof head + head.key_bytes || head.stride != stride_) {
        throw TransportError(
            "the exchange of addresses", Rank{rank},
            "its chunk buffers are not what this rank expects: do all ranks run the same plan?");
    }
    bases_[static_cast<std::size_t>(rank)] = head.base;
    network_.set_key(rank, text.substr(sizeof head, head.key_bytes));
    of_worker = text.substr(sizeof head + head.key_bytes);
}

void UcxRemoteData::set_addresses(std::vector<std::string> addresses) {
    for (int rank = 0; rank < std::ssize(addresses); ++rank) {
        std::string& address = addresses[static_cast<std::size_t>(rank)];
        take_address(rank, std::string(address), address);
    }
    network_.set_addresses(std::move(addresses));
}

void UcxRemoteData::reconnect(int rank, const std::string& address) {
    std::string of_worker;
    take_address(rank, address, of_worker);
    network_.reconnect(rank, std::move(of_worker));
}

UcxRemoteData::Transfer& UcxRemoteData::begin_transfer(int to, Target target, std::size_t bytes,
                                                       std::size_t sending) {
    begin_sending(to);
    if (free_.empty()) {
        free_.push_back(static_cast<std::uint32_t>(transfers_.size()));
        transfers_.push_back({.data = this, .index = free_.back(), .notice = {}});
    }
    Transfer& transfer = transfers_[free_.back()];
    free_.pop_back();
    const std::uint32_t ticket = transfer.ticket + 1;
    transfer = {.data = this,
                .index = transfer.index,
                .ticket = ticket,
                .sending = sending,
                .to = to,
                .notice = {.source = self_,
                           .place = target.place,
                           .buffer = target.buffer,
                           .bytes = static_cast<std::uint32_t>(bytes),
                           .transfer = transfer.index,
                           .ticket = ticket}};
    return transfer;
}

void UcxRemoteData::end_transfer(Transfer& transfer) {
    end_sending(transfer.sending, std::exchange(transfer.to, -1), transfer.status);
    free_.push_back(transfer.index);
}

void UcxRemoteData::await(Transfer& transfer, ucs_status_ptr_t result) {
    ++transfer.pending;
    if (const ucs_status_t status = status_of(result); status != UCS_INPROGRESS) {
        ended(transfer, status);
    }
}

void UcxRemoteData::ended(Transfer& transfer, ucs_status_t status) {
    if (status != UCS_OK) {
        transfer.status = status;
    }
    if (--transfer.pending == 0) {
        ready_.push_back(transfer.index);
    }
}

void UcxRemoteData::request_ended(void* request, ucs_status_t status, void* transfer) {
    Transfer& ended = *static_cast<Transfer*>(transfer);
    UcxRemoteData& data = *ended.data;
    data.ended(ended, status);
    data.network_.api().request_free(request);
}

void UcxRemoteData::send_notice(Transfer& transfer) {
    const ucp_ep_h endpoint = network_.endpoint(transfer.to);
    if (endpoint == nullptr) {
        transfer.status = UCS_ERR_CANCELED;
        return;
    }
    ucp_request_param_t params = request_params(request_ended, &transfer);
    params.op_attr_mask &= ~static_cast<std::uint32_t>(UCP_OP_ATTR_FIELD_MEMH);
    await(transfer, network_.api().am_send_nbx(endpoint, message_kind, &transfer.notice, sizeof(DataNotice),
                                               nullptr, 0, &params));
}

void UcxRemoteData::progress() {
    network_.progress();
    while (!ready_.empty()) {
        Transfer& transfer = transfers_[ready_.back()];
        ready_.pop_back();
        next_step(transfer);
    }
}

UcxRemoteData::Transfer* UcxRemoteData::find(const DataNotice& notice) {
    if (notice.transfer >= transfers_.size()) {
        return nullptr;
    }
    Transfer& transfer = transfers_[notice.transfer];
    return transfer.ticket == notice.ticket && transfer.to == notice.source ? &transfer : nullptr;
}

ucs_status_t UcxRemoteData::message_announced(void* to, const void* header, std::size_t header_length,
                                              void* /*data*/, std::size_t bytes,
                                              const ucp_am_recv_param_t* /*params*/) {
    UcxRemoteData& self = *static_cast<UcxRemoteData*>(to);
    DataNotice notice;
    if (header_length == sizeof(notice)) {
        std::memcpy(&notice, header, sizeof(notice));
    }
    if (bytes != 0 || notice.source < 0 || notice.source >= self.ranks_ ||
        notice.bytes > self.buffers_.message_bytes()) {
        self.refuse(notice.bytes);
        return UCS_OK;
    }
    const Arrival arrival{.place = notice.place,
                          .source = Rank{notice.source},
                          .bytes = notice.bytes,
                          .buffer = notice.buffer,
                          .transfer = notice.transfer,
                          .ticket = notice.ticket};
    if (self.drops_) {
        self.announce_dropped(arrival);
    } else {
        self.arrivals_.push_back(arrival);
    }
    return UCS_OK;
}

}  // namespace weir::transport
