#include "transport/mpi/mpi_transport.hpp"

namespace weir::transport {

namespace {

/// Receives that a poll tests at once.
constexpr std::size_t tested_at_once = 8;
/// Open MPI's shared memory copies a packet up to this size and lets go of it at once.
constexpr std::size_t inline_bytes = 256;
/// A test of a send that is not over makes progress, and may give up the core; after one, no other is made
/// for so many sends.
constexpr int early_tests_left_out = 100;
/// For the same reason, sends that were not over at once are not tested after each test of others.
constexpr int polls_per_reclaim = 16;
constexpr std::size_t many_sends = 64;

}  // namespace

MpiControl::MpiControl(MPI_Comm comm, std::size_t receives, std::size_t sends)
    : comm_(comm), send_bound_(sends), received_(receives, packet_limit), arrivals_(receives) {
    WEIR_ASSERT(receives >= LentReceives::count && sends > 0);
    for (std::size_t index = 0; index < receiving_.size(); ++index) {
        post(index);
    }
}

MpiControl::~MpiControl() {
    for (Sending& sending : sending_) {
        static_cast<void>(sending.packet.release());
    }
}

void MpiControl::post(std::size_t index) {
    check_mpi(MPI_Irecv(received_.at(index), packet_limit, MPI_BYTE, MPI_ANY_SOURCE, packet_tag, comm_,
                        &receiving_[index]),
              "MPI_Irecv of a control packet");
}

void MpiControl::send(Rank to, std::span<const std::byte> packet) {
    WEIR_ASSERT(!closed_ && !packet.empty() && packet.size() <= packet_limit);
    if (sending_.size() == send_bound_) {
        reclaim();
    }
    if (sending_.size() == send_bound_) {
        const auto to_this = std::count_if(sending_.begin(), sending_.end(),
                                           [to](const Sending& sending) { return sending.to == to; });
        throw TransportError("sending a control packet", to,
                             std::to_string(send_bound_) + " packets are under way and do not leave, " +
                                 std::to_string(to_this) + " of them to this rank");
    }
    PacketMemory memory;
    if (spare_.empty()) {
        memory = std::make_unique<std::byte[]>(packet_limit);
    } else {
        memory = std::move(spare_.back());
        spare_.pop_back();
    }
    std::memcpy(memory.get(), packet.data(), packet.size());
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Isend(memory.get(), static_cast<int>(packet.size()), MPI_BYTE, to.value, packet_tag, comm_,
                        &request),
              "MPI_Isend of a control packet", to.value);
    if (has_left(request, packet.size(), to)) {
        spare_.push_back(std::move(memory));
        return;
    }
    sending_.push_back({std::move(memory), to});
    send_requests_.push_back(request);
}

bool MpiControl::has_left(MPI_Request& request, std::size_t bytes, Rank to) {
    if (bytes > inline_bytes) {
        return false;
    }
    if (early_tests_left_out_ > 0) {
        --early_tests_left_out_;
        return false;
    }
    int done = 0;
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "sending a control packet", to.value);
    early_tests_left_out_ = done != 0 ? 0 : early_tests_left_out;
    return done != 0;
}

void MpiControl::poll(Polled& found) {
    for (std::size_t packets = 0; packets < receiving_.size() && !closed_;) {
        const std::size_t tested = std::min(tested_at_once, receiving_.size() - head_);
        const std::size_t first = head_;
        finished_.resize(std::max(finished_.size(), tested));
        statuses_.resize(std::max(statuses_.size(), tested));
        const std::size_t finished = complete_some(std::span(receiving_).subspan(first, tested), finished_,
                                                   statuses_, "receiving a control packet",
                                                   [this](std::size_t i) { return statuses_[i].MPI_SOURCE; });
        for (std::size_t i = 0; i < finished; ++i) {
            note(first + static_cast<std::size_t>(finished_[i]), statuses_[i]);
        }
        const std::size_t delivered = deliver(found);
        packets += delivered;
        if (delivered < tested) {
            break;
        }
    }
    reclaim();
}

MpiControl::LentReceives::LentReceives(MpiControl& owner, std::span<MPI_Request> requests)
    : owner_(owner), requests_(requests.first(count)) {
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t index = owner.head_ + i;
        const bool lent = !owner.closed_ && index < owner.receiving_.size();
        requests_[i] = lent ? owner.receiving_[index] : MPI_REQUEST_NULL;
    }
}

MpiControl::LentReceives::~LentReceives() {
    for (std::size_t i = 0; i < count && owner_.head_ + i < owner_.receiving_.size(); ++i) {
        if (!owner_.closed_) {
            owner_.receiving_[owner_.head_ + i] = requests_[i];
        }
    }
}

void MpiControl::poll_after(Polled& found) {
    if (!closed_) {
        deliver(found);
    }
    reclaim_in_time();
}

void MpiControl::note(std::size_t index, const MPI_Status& status) {
    WEIR_ASSERT(!closed_ && receiving_[index] == MPI_REQUEST_NULL);
    arrivals_[index] = {status.MPI_SOURCE, bytes_of(status)};
}

std::size_t MpiControl::deliver(Polled& found) {
    std::size_t packets = 0;
    for (; arrivals_[head_].source != Arrival::nobody; ++packets) {
        const auto [source, bytes] = std::exchange(arrivals_[head_], {});
        found.add_packet(Rank{source}, {received_.at(head_), bytes});
        post(head_);
        head_ = head_ + 1 == receiving_.size() ? 0 : head_ + 1;
    }
    return packets;
}

void MpiControl::reclaim_in_time() {
    if (++polls_since_reclaim_ >= polls_per_reclaim || sending_.size() >= many_sends) {
        reclaim();
    }
}

void MpiControl::reclaim() {
    polls_since_reclaim_ = 0;
    if (sending_.empty()) {
        return;
    }
    const std::size_t count = sending_.size();
    finished_.resize(std::max(finished_.size(), count));
    statuses_.resize(std::max(statuses_.size(), count));
    const std::size_t finished = complete_some(
        std::span(send_requests_).first(count), finished_, statuses_, "sending a control packet",
        [this](std::size_t i) { return sending_[static_cast<std::size_t>(finished_[i])].to.value; });
    // From the back, so that the last element that fills a gap is never one that has finished itself. MPI
    // does not promise an order.
    std::sort(finished_.begin(), finished_.begin() + static_cast<std::ptrdiff_t>(finished));
    for (std::size_t i = finished; i-- > 0;) {
        const auto index = static_cast<std::size_t>(finished_[i]);
        spare_.push_back(std::move(sending_[index].packet));
        if (index + 1 != sending_.size()) {
            sending_[index] = std::move(sending_.back());
            send_requests_[index] = send_requests_.back();
        }
        sending_.pop_back();
        send_requests_.pop_back();
    }
}

bool MpiControl::close(Deadline deadline) {
    closed_ = true;
    const bool withdrawn = withdraw(receiving_, deadline, [](std::size_t, const MPI_Status&) {});
    while (!sending_.empty()) {
        reclaim();
        if (std::chrono::steady_clock::now() >= deadline) {
            break;
        }
    }
    return withdrawn && sending_.empty();
}

}  // namespace weir::transport
