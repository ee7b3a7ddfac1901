#include "transport/ucx/ucx_put_data.hpp"

namespace weir::transport {

void UcxPutData::send(int to, Target target, std::span<const std::byte> message, std::size_t sending) {
    Transfer& transfer = begin_transfer(to, target, message.size(), sending);
    const auto [endpoint, key] = network_.next_connection(to);
    if (key == nullptr) {
        transfer.status = UCS_ERR_CANCELED;
        end_transfer(transfer);
        return;
    }
    const ucp_request_param_t params = request_params(request_ended, &transfer);
    ++transfer.pending;  // not before both are begun
    await(transfer, network_.api().put_nbx(endpoint, message.data(), message.size(),
                                           remote_address(to, target.buffer), key, &params));
    ucp_request_param_t of_flush = params;
    of_flush.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    await(transfer, network_.api().ep_flush_nbx(endpoint, &of_flush));
    ended(transfer, UCS_OK);
}

void UcxPutData::next_step(Transfer& transfer) {
    if (transfer.step++ == 0 && transfer.status == UCS_OK) {
        send_notice(transfer);
        if (transfer.status == UCS_OK) {
            return;
        }
    }
    end_transfer(transfer);
}

void UcxPutData::receive(const Arrival& arrival, std::size_t buffer) {
    begin_receiving();
    end_receiving(arrival, buffer, UCS_OK);
}

}  // namespace weir::transport
