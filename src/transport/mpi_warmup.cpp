#include "transport/mpi_warmup.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "core/assertion.hpp"
#include "core/memory_need.hpp"
#include "transport/payload.hpp"

namespace weir::transport {

namespace {

constexpr std::int64_t sends_at_a_time = 64;
constexpr int receives_per_step = 256;

}  // namespace

MpiWarmup::MpiWarmup(MPI_Comm data, int data_tag, MPI_Comm control, int control_tag,
                     const core::RoleMap& roles, const core::Plan& plan, const ChunkBuffers& buffers)
    : data_(data),
      data_tag_(data_tag),
      roles_(roles),
      buffers_(buffers),
      greetings_(control, control_tag, roles),
      per_pair_(warmup_messages_per_pair(plan)) {
    const core::NodeId self = node_of_this_rank(control, roles);
    const auto count = static_cast<std::int64_t>(buffers.count());
    fill_seed_ = payload_seed(plan, self.index);

    switch (self.role) {
        case core::Role::scheduler:
            break;
        case core::Role::producer:
            to_send_ = per_pair_ * roles.consumers();
            // Producers begin at different consumers, so that these do not all get their data at the same
            // time.
            first_consumer_ =
                static_cast<std::uint32_t>(std::uint64_t{self.index} * roles.consumers() / roles.producers());
            sends_.assign(static_cast<std::size_t>(
                              std::min({std::int64_t{plan.streams} * plan.window, count, sends_at_a_time})),
                          MPI_REQUEST_NULL);
            finished_.resize(sends_.size());
            statuses_.resize(sends_.size());
            break;
        case core::Role::consumer:
            to_receive_ = per_pair_ * roles.producers();
            WEIR_ASSERT(to_receive_ >= count);
            received_from_.assign(static_cast<std::size_t>(roles.ranks()), 0);
            receives_.assign(static_cast<std::size_t>(count), MPI_REQUEST_NULL);
            break;
    }
}

void MpiWarmup::post_data() {
    const std::size_t index = static_cast<std::size_t>(posted_) % receives_.size();
    const auto memory = buffers_.at(index);
    check_mpi(MPI_Irecv(memory.data(), static_cast<int>(memory.size()), MPI_BYTE, MPI_ANY_SOURCE, data_tag_,
                        data_, &receives_[index]),
              "MPI_Irecv for warm-up");
    ++posted_;
}

bool MpiWarmup::step() {
    greetings_.step();
    step_sending();
    step_receiving();
    return messages_done() == messages_total();
}

void MpiWarmup::step_sending() {
    if (sent_ == to_send_) {
        return;
    }
    sent_ += static_cast<std::int64_t>(
        complete_some(sends_, finished_, statuses_, "sending in warm-up", [](std::size_t) { return -1; }));

    std::size_t filled_bytes = 0;
    while (handed_over_ < to_send_ && filled_bytes < fill_bytes_per_step) {
        // A request is used again when the message that it stood for is through. All messages that are
        // `window` or more older than this one are then through as well, and there are at least as many
        // buffers: this one's buffer is free.
        MPI_Request& request = sends_[static_cast<std::size_t>(handed_over_) % sends_.size()];
        if (request != MPI_REQUEST_NULL) {
            return;
        }
        const std::size_t index = static_cast<std::size_t>(handed_over_) % buffers_.count();
        const auto memory = buffers_.at(index);
        if (static_cast<std::size_t>(handed_over_) < buffers_.count()) {
            fill_payload(memory.subspan(core::chunk_header_bytes), buffer_seed(fill_seed_, index));
            filled_bytes += memory.size();
        }
        const core::ConsumerId to{
            static_cast<std::uint32_t>((first_consumer_ + handed_over_) % roles_.consumers())};
        const int rank = roles_.rank(core::node_of(to));
        check_mpi(MPI_Isend(memory.data(), static_cast<int>(memory.size()), MPI_BYTE, rank, data_tag_, data_,
                            &request),
                  "MPI_Isend for warm-up", rank);
        ++handed_over_;
    }
}

void MpiWarmup::step_receiving() {
    while (posted_ < std::ssize(receives_)) {  // not in the constructor: cancel() withdraws them
        post_data();
    }
    // In posting order; see mpi_control.hpp.
    for (int n = 0; n < receives_per_step && received_ < to_receive_; ++n) {
        int done = 0;
        MPI_Status status{};
        check_mpi(
            MPI_Test(&receives_[static_cast<std::size_t>(received_) % receives_.size()], &done, &status),
            "receiving in warm-up");
        if (done == 0) {
            return;
        }
        const auto source = static_cast<std::size_t>(status.MPI_SOURCE);
        if (bytes_of(status) != buffers_.message_bytes() || ++received_from_[source] > per_pair_) {
            throw TransportError(
                "warm-up", Rank{status.MPI_SOURCE},
                "it sent " + std::to_string(bytes_of(status)) + " bytes as message " +
                    std::to_string(received_from_[source]) + " of " + std::to_string(per_pair_) + ", not " +
                    std::to_string(buffers_.message_bytes()) + ": do all ranks run the same plan?");
        }
        ++received_;
        if (posted_ < to_receive_) {
            post_data();
        }
    }
}

bool MpiWarmup::cancel(Deadline deadline) {
    const bool withdrawn = withdraw(receives_, deadline, [](std::size_t, const MPI_Status&) {});
    return greetings_.cancel(deadline) && withdrawn && sent_ == handed_over_;
}

}  // namespace weir::transport
