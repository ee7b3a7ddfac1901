#include "transport/mpi_control.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/assertion.hpp"

namespace weir::transport {

MpiControl::MpiControl(MPI_Comm comm, std::size_t receives, std::size_t sends)
    : comm_(comm), send_bound_(sends), received_(receives, packet_limit) {
    WEIR_ASSERT(receives > 0 && sends > 0);
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
    Packet memory;
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
    sending_.push_back({std::move(memory), to});
    send_requests_.push_back(request);
    ++packets_sent;
}

void MpiControl::poll(Polled& found) {
    for (std::size_t packets = 0; packets < receiving_.size() && !closed_; ++packets) {
        int done = 0;
        MPI_Status status{};
        check_mpi(MPI_Test(&receiving_[head_], &done, &status), "receiving a control packet");
        if (done == 0) {
            break;
        }
        arrived(status, found);
    }
    reclaim();
}

MpiControl::LentReceive::LentReceive(MpiControl& owner, MPI_Request& request)
    : owner_(owner), request_(request) {
    request_ = owner_.closed_ ? MPI_REQUEST_NULL : owner_.receiving_[owner_.head_];
}

MpiControl::LentReceive::~LentReceive() {
    if (!owner_.closed_) {
        owner_.receiving_[owner_.head_] = request_;
    }
}

void MpiControl::poll_after(const MPI_Status* status, Polled& found) {
    if (status == nullptr) {
        reclaim();
        return;
    }
    WEIR_ASSERT(!closed_ && receiving_[head_] == MPI_REQUEST_NULL);
    arrived(*status, found);
    poll(found);
}

void MpiControl::arrived(const MPI_Status& status, Polled& found) {
    const std::size_t size = bytes_of(status);
    const std::byte* const begin = received_.at(head_);
    found.packets.push_back({Rank{status.MPI_SOURCE}, found.bytes.size(), size});
    found.bytes.insert(found.bytes.end(), begin, begin + size);
    ++packets_received;
    post(head_);
    head_ = head_ + 1 == receiving_.size() ? 0 : head_ + 1;
}

void MpiControl::reclaim() {
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
