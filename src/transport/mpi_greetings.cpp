#include "transport/mpi_greetings.hpp"

#include <algorithm>

namespace weir::transport {

namespace {

constexpr std::int64_t at_a_time = 64;

}  // namespace

MpiGreetings::MpiGreetings(MPI_Comm comm, int tag, const core::RoleMap& roles)
    : comm_(comm),
      tag_(tag),
      partners_(greeting_partners(node_of_this_rank(comm, roles), roles)),
      memory_(static_cast<std::size_t>(std::min(partners_.expected, at_a_time)), sizeof(greeting_)) {
    while (posted_ < static_cast<std::int64_t>(receives_.size())) {
        post();
    }
}

void MpiGreetings::post() {
    const std::size_t index = static_cast<std::size_t>(posted_) % receives_.size();
    check_mpi(MPI_Irecv(memory_.at(index), sizeof(greeting_), MPI_BYTE, MPI_ANY_SOURCE, tag_, comm_,
                        &receives_[index]),
              "MPI_Irecv of a greeting");
    ++posted_;
}

void MpiGreetings::step() {
    for (std::size_t i = 0; i < sends_.size();) {
        int done = 0;
        check_mpi(MPI_Test(&sends_[i], &done, MPI_STATUS_IGNORE), "sending a greeting");
        if (done == 0) {
            ++i;
            continue;
        }
        ++sent_;
        sends_[i] = sends_.back();
        sends_.pop_back();
    }
    while (handed_over_ < static_cast<std::int64_t>(partners_.to.size()) &&
           static_cast<std::int64_t>(sends_.size()) < at_a_time) {
        const int rank = partners_.to[static_cast<std::size_t>(handed_over_)];
        MPI_Request request = MPI_REQUEST_NULL;
        check_mpi(MPI_Isend(&greeting_, sizeof(greeting_), MPI_BYTE, rank, tag_, comm_, &request),
                  "MPI_Isend of a greeting", rank);
        sends_.push_back(request);
        ++handed_over_;
    }
    while (received_ < partners_.expected) {
        int done = 0;
        check_mpi(MPI_Test(&receives_[static_cast<std::size_t>(received_) % receives_.size()], &done,
                           MPI_STATUS_IGNORE),
                  "receiving a greeting");
        if (done == 0) {
            return;
        }
        ++received_;
        if (posted_ < partners_.expected) {
            post();
        }
    }
}

bool MpiGreetings::cancel(Deadline deadline) {
    return withdraw(receives_, deadline, [](std::size_t, const MPI_Status&) {}) && sends_.empty();
}

}  // namespace weir::transport
