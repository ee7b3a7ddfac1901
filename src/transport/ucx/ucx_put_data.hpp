// Transport `put` over the engine `ucx`: a producer writes a message into the buffer of the place that it was
// granted, waits until it lies there (a flush of the endpoint, which does not block), and notifies it.
//
// (Rejected: a fence instead of the flush. It orders writes and atomic operations, and not the active message
// that informs the consumer.)
#pragma once

#include "transport/ucx/ucx_remote_data.hpp"

namespace weir::transport {

class UcxPutData final : public UcxRemoteData {
  public:
    UcxPutData(UcxNetwork::Settings settings, int self, const ChunkBuffers& buffers)
        : UcxRemoteData(std::move(settings), self, buffers) {}

    void send(int to, Target target, std::span<const std::byte> message, std::size_t sending) override;
    void receive(const Arrival& arrival, std::size_t buffer) override;
    [[nodiscard]] bool writes_into_buffers() const override { return true; }

  private:
    void next_step(Transfer& transfer) override;
};

}  // namespace weir::transport
