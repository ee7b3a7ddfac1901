#include "transport/mpi/mpi_support.hpp"

#include <array>

namespace weir::transport {

std::string mpi_error_text(int code) {
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) {
        return "MPI error " + std::to_string(code);
    }
    return {text.data(), static_cast<std::size_t>(length)};
}

void check_mpi(int code, const char* operation, int peer) {
    if (code != MPI_SUCCESS) {
        throw TransportError(operation, Rank{peer}, mpi_error_text(code));
    }
}

void throw_from_statuses(int code, std::span<const MPI_Status> statuses, const char* operation,
                         const std::function<int(std::size_t)>& peer_of) {
    int error_class = MPI_ERR_OTHER;
    MPI_Error_class(code, &error_class);
    if (error_class == MPI_ERR_IN_STATUS) {
        for (std::size_t i = 0; i < statuses.size(); ++i) {
            const int error = statuses[i].MPI_ERROR;
            if (error != MPI_SUCCESS && error != MPI_ERR_PENDING) {
                throw TransportError(operation, Rank{peer_of(i)}, mpi_error_text(error));
            }
        }
    }
    throw TransportError(operation, Rank{}, mpi_error_text(code));
}

MPI_Comm duplicate(MPI_Comm comm) {
    MPI_Comm copy = MPI_COMM_NULL;
    check_mpi(MPI_Comm_dup(comm, &copy), "MPI_Comm_dup");
    check_mpi(MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    return copy;
}

core::NodeId node_of_this_rank(MPI_Comm comm, const core::RoleMap& roles) {
    int rank = -1;
    int ranks = 0;
    check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(comm, &ranks), "MPI_Comm_size");
    WEIR_ASSERT(ranks == roles.ranks());
    return roles.node(rank);
}

std::size_t bytes_of(const MPI_Status& status) {
    int count = 0;
    check_mpi(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count", status.MPI_SOURCE);
    return count == MPI_UNDEFINED ? 0 : static_cast<std::size_t>(count);
}

bool withdraw(std::span<MPI_Request> receives, Deadline deadline,
              const std::function<void(std::size_t, const MPI_Status&)>& arrived) {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < receives.size(); ++i) {
        if (receives[i] != MPI_REQUEST_NULL) {
            check_mpi(MPI_Cancel(&receives[i]), "MPI_Cancel");
            open.push_back(i);
        }
    }
    // A cancelled request completes by itself; only one that a message has reached may take
    // longer.
    while (!open.empty()) {
        std::size_t kept = 0;
        for (const std::size_t i : open) {
            int done = 0;
            MPI_Status status{};
            check_mpi(MPI_Test(&receives[i], &done, &status), "MPI_Test of a cancelled receive");
            if (done == 0) {
                open[kept++] = i;
                continue;
            }
            int cancelled = 0;
            check_mpi(MPI_Test_cancelled(&status, &cancelled), "MPI_Test_cancelled");
            if (cancelled == 0) {
                arrived(i, status);
            }
        }
        open.resize(kept);
        if (!open.empty() && std::chrono::steady_clock::now() >= deadline) {
            return false;
        }
    }
    return true;
}

}  // namespace weir::transport
