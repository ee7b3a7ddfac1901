// Memory that receives are posted into, together with these. If any of them is still posted when this ends,
// however that comes about (an exception out of a constructor included), the memory stays for good: MPI may
// write into it for as long as it is called at all.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace weir::transport {

class ReceiveMemory {
  public:
    ReceiveMemory() = default;
    /// For so many receives of `bytes_each`.
    ReceiveMemory(std::size_t receives, std::size_t bytes_each)
        : requests(receives, MPI_REQUEST_NULL),
          bytes_each_(bytes_each),
          memory_(std::make_unique<std::byte[]>(receives * bytes_each)) {}
    ReceiveMemory(const ReceiveMemory&) = delete;
    ReceiveMemory& operator=(const ReceiveMemory&) = delete;
    /// Does not touch MPI.
    ~ReceiveMemory() {
        if (std::any_of(requests.begin(), requests.end(),
                        [](MPI_Request request) { return request != MPI_REQUEST_NULL; })) {
            static_cast<void>(memory_.release());
        }
    }

    [[nodiscard]] std::byte* at(std::size_t receive) const { return memory_.get() + receive * bytes_each_; }

    std::vector<MPI_Request> requests;

  private:
    std::size_t bytes_each_ = 0;
    std::unique_ptr<std::byte[]> memory_;
};

}  // namespace weir::transport
