#include "transport/ucx/ucx_get_data.hpp"

#include <cstring>
#include <utility>

namespace weir::transport {

UcxGetData::UcxGetData(UcxNetwork::Settings settings, int self, const ChunkBuffers& buffers)
    : UcxRemoteData(std::move(settings), self, buffers),
      readings_(buffers.count(), Reading{.data = this, .arrival = {}}) {
    network_.receive(answer_kind, answer_arrived, this, false);
}

void UcxGetData::send(int to, Target target, std::span<const std::byte> message, std::size_t sending) {
    target.buffer = buffers_.index_of(message.data());
    Transfer& transfer = begin_transfer(to, target, message.size(), sending);
    ++transfer.pending;  // the answer
    send_notice(transfer);
    if (transfer.status != UCS_OK) {
        take_answer(transfer, transfer.status);
    }
}

void UcxGetData::take_answer(Transfer& transfer, ucs_status_t status) {
    if (!std::exchange(transfer.answered, true)) {
        ended(transfer, status);
    }
}

void UcxGetData::give_up(int rank) {
    for (Transfer& transfer : transfers_) {
        if (transfer.to == rank) {
            take_answer(transfer, UCS_ERR_CANCELED);
        }
    }
}

ucs_status_t UcxGetData::answer_arrived(void* self, const void* header, std::size_t header_length,
                                        void* /*data*/, std::size_t /*bytes*/,
                                        const ucp_am_recv_param_t* /*params*/) {
    UcxGetData& data = *static_cast<UcxGetData*>(self);
    DataNotice notice;
    if (header_length == sizeof(notice)) {
        std::memcpy(&notice, header, sizeof(notice));
        if (Transfer* const transfer = data.find(notice)) {  // else of a rank that was given up
            data.take_answer(*transfer, UCS_OK);
        }
    }
    return UCS_OK;
}

void UcxGetData::receive(const Arrival& arrival, std::size_t buffer) {
    readings_[buffer].arrival = arrival;
    begin_receiving();
    const auto [endpoint, key] = network_.next_connection(arrival.source.value);
    if (key == nullptr) {
        end_reading(buffer, UCS_ERR_CANCELED);
        return;
    }
    const ucp_request_param_t params = request_params(message_read, &readings_[buffer]);
    const ucs_status_t status =
        status_of(network_.api().get_nbx(endpoint, buffers_.at(buffer).data(), arrival.bytes,
                                         remote_address(arrival.source.value, arrival.buffer), key, &params));
    if (status != UCS_INPROGRESS) {
        end_reading(buffer, status);
    }
}

void UcxGetData::message_read(void* request, ucs_status_t status, void* reading) {
    Reading& one = *static_cast<Reading*>(reading);
    UcxGetData& data = *one.data;
    data.end_reading(static_cast<std::size_t>(&one - data.readings_.data()), status);
    data.network_.api().request_free(request);
}

void UcxGetData::end_reading(std::size_t buffer, ucs_status_t status) {
    const Arrival& arrival = readings_[buffer].arrival;
    end_receiving(arrival, buffer, status);
    if (status == UCS_OK) {
        to_answer_.push_back(arrival);
    }
}

void UcxGetData::progress() {
    UcxRemoteData::progress();
    for (const Arrival& arrival : std::exchange(to_answer_, {})) {
        answer(arrival);
    }
}

void UcxGetData::answer(const Arrival& arrival) {
    const ucp_ep_h endpoint = network_.endpoint(arrival.source.value);
    if (endpoint == nullptr) {
        return;
    }
    if (free_answers_.empty()) {
        free_answers_.push_back(static_cast<std::uint32_t>(answers_.size()));
        answers_.push_back({.data = this, .index = free_answers_.back(), .notice = {}});
    }
    Answer& answer = answers_[free_answers_.back()];
    free_answers_.pop_back();
    answer.notice = {.source = self_, .transfer = arrival.transfer, .ticket = arrival.ticket};
    ucp_request_param_t params = request_params(answer_sent, &answer);
    params.op_attr_mask &= ~static_cast<std::uint32_t>(UCP_OP_ATTR_FIELD_MEMH);
    const ucs_status_t status = status_of(network_.api().am_send_nbx(
        endpoint, answer_kind, &answer.notice, sizeof(DataNotice), nullptr, 0, &params));
    if (status != UCS_INPROGRESS) {
        free_answers_.push_back(answer.index);
        if (status != UCS_OK) {
            network_.fail(arrival.source.value, status);
        }
    }
}

void UcxGetData::answer_sent(void* request, ucs_status_t /*status*/, void* answer) {
    const Answer& sent = *static_cast<Answer*>(answer);
    sent.data->free_answers_.push_back(sent.index);
    sent.data->network_.api().request_free(request);
}

}  // namespace weir::transport
