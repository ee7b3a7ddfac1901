// Small things that every MPI part of the transport needs: error codes turned into exceptions, and receives
// withdrawn in a bounded time.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/role_map.hpp"
#include "transport/transport.hpp"

namespace weir::transport {

/// What MPI calls an error.
[[nodiscard]] std::string mpi_error_text(int code);

/// Throws TransportError unless `code` is MPI_SUCCESS. `operation` names the call, `peer` the rank it
/// concerned.
void check_mpi(int code, const char* operation, int peer = -1);

/// Throws for the operation in `statuses`, after a call that returned MPI_ERR_IN_STATUS or another error.
/// `peer_of(i)` is the peer of the operation that statuses[i] is about, or -1.
[[noreturn]] void throw_from_statuses(int code, std::span<const MPI_Status> statuses, const char* operation,
                                      const std::function<int(std::size_t)>& peer_of);

/// Completes what can be completed by now (MPI_Testsome). Returns how many requests that are; the first so
/// many of `finished` are their indices, of `statuses` what became of them. Both are as long as `requests`.
/// Throws TransportError; `peer_of(i)` is the peer of requests[finished[i]], or -1.
template <typename PeerOf>
std::size_t complete_some(std::span<MPI_Request> requests, std::span<int> finished,
                          std::span<MPI_Status> statuses, const char* operation, const PeerOf& peer_of) {
    int count = 0;
    const int code = MPI_Testsome(static_cast<int>(requests.size()), requests.data(), &count, finished.data(),
                                  statuses.data());
    // MPI_UNDEFINED, which is negative: no request was under way.
    const std::size_t completed = count > 0 ? static_cast<std::size_t>(count) : 0;
    if (code != MPI_SUCCESS) {
        throw_from_statuses(code, statuses.first(completed), operation, peer_of);
    }
    return completed;
}

/// Requests of one kind of operation, of which so many can be under way.
class RequestPool {
  public:
    RequestPool() = default;
    explicit RequestPool(std::size_t count)
        : requests_(count, MPI_REQUEST_NULL), finished_(count), statuses_(count) {
        for (std::size_t request = count; request-- > 0;) {
            free_.push_back(request);
        }
    }

    [[nodiscard]] std::size_t size() const { return requests_.size(); }
    [[nodiscard]] std::size_t under_way() const { return requests_.size() - free_.size(); }
    /// One that is free; there must be one.
    [[nodiscard]] bool has_free() const { return !free_.empty(); }
    std::size_t take() {
        const std::size_t request = free_.back();
        free_.pop_back();
        return request;
    }
    [[nodiscard]] MPI_Request& at(std::size_t request) { return requests_[request]; }

    /// Those that have completed; they are free again. Valid until the next call. Throws TransportError;
    /// `peer_of(request)` is its peer.
    template <typename PeerOf>
    std::span<const int> complete(const char* operation, const PeerOf& peer_of) {
        const std::size_t count =
            under_way() == 0 ? 0
                             : complete_some(requests_, finished_, statuses_, operation, [&](std::size_t i) {
                                   return peer_of(static_cast<std::size_t>(finished_[i]));
                               });
        const auto finished = std::span<const int>(finished_).first(count);
        free_.insert(free_.end(), finished.begin(), finished.end());
        return finished;
    }

  private:
    std::vector<MPI_Request> requests_;
    std::vector<std::size_t> free_;
    std::vector<int> finished_;
    std::vector<MPI_Status> statuses_;
};

/// A copy of `comm` whose errors are returned; collective.
[[nodiscard]] MPI_Comm duplicate(MPI_Comm comm);

/// The part that this rank of `comm` plays; `comm` has as many ranks as there are roles.
core::NodeId node_of_this_rank(MPI_Comm comm, const core::RoleMap& roles);

/// Bytes that the operation of `status` moved.
std::size_t bytes_of(const MPI_Status& status);

/// Cancels receives and completes them; `arrived(i, status)` is called for those that a message reached
/// first. False when some were neither at the deadline: a message is arriving and its sender does not finish.
bool withdraw(std::span<MPI_Request> receives, Deadline deadline,
              const std::function<void(std::size_t, const MPI_Status&)>& arrived);

}  // namespace weir::transport
