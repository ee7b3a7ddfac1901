// Warm-up of the engine `ucx`: every pair of ranks that will talk has talked, and every chunk buffer has been
// sent from or received into, so that connections, memory pages and the keys of RDMA exist before anything is
// measured. As with MPI (mpi_warmup.hpp), both sides compute the same numbers of messages from the plan.
#pragma once

#include <cstdint>
#include <vector>

#include "core/plan.hpp"
#include "core/role_map.hpp"
#include "transport/buffers.hpp"
#include "transport/greeting_partners.hpp"
#include "transport/ucx_control.hpp"
#include "transport/ucx_data.hpp"
#include "transport/warmup.hpp"

namespace weir::transport {

class UcxWarmup final : public Warmup {
  public:
    /// Data messages that a producer has under way at most: their indices are those of UcxData::send().
    static constexpr std::size_t sends_at_a_time = 64;

    /// `data` (none: the scheduler's rank) and `buffers` are this rank's, and in use until step() has
    /// returned true.
    UcxWarmup(core::NodeId self, const core::RoleMap& roles, const core::Plan& plan, UcxControl& control,
              UcxData* data, const ChunkBuffers& buffers);

    bool step() override;
    [[nodiscard]] std::int64_t messages_done() const override;
    [[nodiscard]] std::int64_t messages_total() const override;
    /// What is under way belongs to `control` and `data`.
    bool cancel(Deadline /*deadline*/) override { return true; }

  private:
    void greet();
    void complete_sent();
    void send();
    void begin_receiving();
    void complete_received();

    const core::RoleMap& roles_;
    const ChunkBuffers& buffers_;
    UcxControl& control_;
    UcxData* data_;
    GreetingPartners partners_;
    std::size_t greeted_ = 0;
    std::vector<Unreachable> unreachable_;
    std::int64_t per_pair_;
    std::int64_t consumer_buffers_;  ///< of each consumer
    std::uint64_t fill_seed_ = 0;

    // Producer: message i goes from buffer i mod count to consumer (first + i) mod M.
    std::int64_t to_send_ = 0;
    std::int64_t handed_over_ = 0;
    std::int64_t sent_ = 0;
    std::uint32_t first_consumer_ = 0;
    std::vector<bool> sending_;  ///< by index of a message under way

    // Consumer: message i lands in buffer i mod count.
    std::int64_t to_receive_ = 0;
    std::int64_t begun_ = 0;
    std::int64_t received_ = 0;
    std::vector<bool> receiving_;              ///< by buffer
    std::vector<std::int64_t> received_from_;  ///< by rank
};

}  // namespace weir::transport
