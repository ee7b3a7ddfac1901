#include "job/mailbox.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "job/mpi_job.hpp"

namespace weir::job {

namespace {

constexpr int mail_tag = 31;

}  // namespace

bool Mailbox::is_done(Transfer& transfer) {
    int done = 0;
    check_exchange(MPI_Test(&transfer.request, &done, MPI_STATUS_IGNORE), what_);
    return done != 0;
}

bool Mailbox::send(int to, std::uint8_t kind, std::span<const std::byte> bytes) {
    progress();
    if (unsent_.size() >= unsent_max) {
        return false;
    }
    Transfer& one = unsent_.emplace_back();
    one.bytes.push_back(std::byte{kind});
    one.bytes.insert(one.bytes.end(), bytes.begin(), bytes.end());
    check_exchange(MPI_Isend(one.bytes.data(), static_cast<int>(one.bytes.size()), MPI_BYTE, to, mail_tag,
                             communicator_, &one.request),
                   what_);
    return true;
}

void Mailbox::begin_receiving() {
    int there = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    check_exchange(MPI_Improbe(MPI_ANY_SOURCE, mail_tag, communicator_, &there, &message, &status), what_);
    if (there == 0) {
        return;
    }
    int length = 0;
    MPI_Get_count(&status, MPI_BYTE, &length);
    Transfer& one = receiving_.emplace_back();
    one.from = status.MPI_SOURCE;
    one.bytes.resize(static_cast<std::size_t>(length));
    check_exchange(MPI_Imrecv(one.bytes.data(), length, MPI_BYTE, &message, &one.request), what_);
}

std::optional<Mail> Mailbox::take() {
    progress();
    begin_receiving();
    const auto is_first = [this](Transfers::iterator transfer) {  // of its sender
        return std::none_of(receiving_.begin(), transfer,
                            [&](const Transfer& before) { return before.from == transfer->from; });
    };
    auto found = receiving_.begin();
    while (found != receiving_.end() && !(is_done(*found) && is_first(found))) {
        ++found;
    }
    if (found == receiving_.end()) {
        return std::nullopt;
    }
    const Transfer transfer = std::move(*found);
    receiving_.erase(found);
    if (transfer.bytes.empty()) {
        return std::nullopt;
    }
    return Mail{.from = transfer.from,
                .kind = std::to_integer<std::uint8_t>(transfer.bytes.front()),
                .bytes = {transfer.bytes.begin() + 1, transfer.bytes.end()}};
}

bool Mailbox::progress() {
    for (auto one = unsent_.begin(); one != unsent_.end();) {
        one = is_done(*one) ? unsent_.erase(one) : std::next(one);
    }
    return unsent_.empty();
}

}  // namespace weir::job
