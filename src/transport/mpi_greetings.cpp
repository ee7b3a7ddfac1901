#include "transport/mpi_greetings.hpp"

#include <algorithm>

namespace weir::transport {

namespace {

constexpr std::int64_t at_a_time = 64;

std::int64_t expected_by(core::Role role, const core::RoleMap& roles) {
    switch (role) {
        case core::Role::scheduler:
            return roles.ranks() - 1;
        case core::Role::producer:
            return 1 + std::int64_t{roles.consumers()};
        case core::Role::consumer:
            return 1;
    }
    return 0;
}

}  // namespace

MpiGreetings::MpiGreetings(MPI_Comm comm, int tag, const core::RoleMap& roles)
    : comm_(comm),
      tag_(tag),
      expected_(expected_by(node_of_this_rank(comm, roles).role, roles)),
      memory_(static_cast<std::size_t>(std::min(expected_, at_a_time)), sizeof(greeting_)) {
    const core::NodeId self = node_of_this_rank(comm, roles);
    switch (self.role) {
        case core::Role::scheduler:
            for (int other = 0; other < roles.ranks(); ++other) {
                if (other != roles.scheduler_rank()) {
                    to_.push_back(other);
                }
            }
            break;
        case core::Role::producer:
            to_.push_back(roles.scheduler_rank());
            break;
        case core::Role::consumer:
            to_.push_back(roles.scheduler_rank());
            for (std::uint32_t i = 0; i < roles.producers(); ++i) {
                const core::ProducerId producer{(self.index + i) % roles.producers()};
                to_.push_back(roles.rank(core::node_of(producer)));
            }
            break;
    }
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
    while (handed_over_ < static_cast<std::int64_t>(to_.size()) &&
           static_cast<std::int64_t>(sends_.size()) < at_a_time) {
        const int rank = to_[static_cast<std::size_t>(handed_over_)];
        MPI_Request request = MPI_REQUEST_NULL;
        check_mpi(MPI_Isend(&greeting_, sizeof(greeting_), MPI_BYTE, rank, tag_, comm_, &request),
                  "MPI_Isend of a greeting", rank);
        sends_.push_back(request);
        ++handed_over_;
    }
    while (received_ < expected_) {
        int done = 0;
        check_mpi(MPI_Test(&receives_[static_cast<std::size_t>(received_) % receives_.size()], &done,
                           MPI_STATUS_IGNORE),
                  "receiving a greeting");
        if (done == 0) {
            return;
        }
        ++received_;
        if (posted_ < expected_) {
            post();
        }
    }
}

bool MpiGreetings::cancel(Deadline deadline) {
    return withdraw(receives_, deadline, [](std::size_t, const MPI_Status&) {}) && sends_.empty();
}

}  // namespace weir::transport
