// One MPI window over the chunk buffers that peers reach into: the consumers' with transport `put`, the
// producers' with `get`. Passive target throughout: one shared lock on all ranks for the whole run, so that
// no rank waits for a turn of its peer's loop to start an operation.
//
// MPI_Win_allocate and not MPI_Win_create, although that needs memory of MPI's: among ranks on one host Open
// MPI then uses memory that they share, and operations are copies; over memory of our own it would emulate
// them by messages. Open MPI's way of completing a request (an atomic operation or a flush behind it) is
// costly in other places: see requests_limit.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace weir::transport {

class RmaWindow {
  public:
    /// Requests of one rank that may be under way. With UCX, Open MPI 5 ends the process at the 255th
    /// (github.com/open-mpi/ompi/issues/14192).
    static constexpr std::size_t requests_limit = 128;

    /// Collective over `comm`, whose errors must return: `bytes` of this rank's memory, 0 on ranks whose
    /// memory no other uses. Throws CapacityError when MPI makes no window, with a message that names
    /// `transport` (put or get) and ends with how there could be less of it; TransportError when its windows
    /// are of no use here.
    RmaWindow(MPI_Comm comm, std::int64_t bytes, const std::string& transport, const std::string& how_less);
    RmaWindow(const RmaWindow&) = delete;
    RmaWindow& operator=(const RmaWindow&) = delete;
    /// Leaves the window to MPI: freeing it is collective, see free().
    ~RmaWindow() = default;

    /// This rank's memory, which MPI owns; not aligned to anything.
    [[nodiscard]] std::byte* memory() const { return memory_; }

    /// Start an operation on `target`'s memory from byte `displacement` on. `request` completes when `from`
    /// may be written to again, which has no meaning for `target`; and when the data lies in `into`.
    void put(std::span<const std::byte> from, int target, std::int64_t displacement, MPI_Request& request);
    void get(std::span<std::byte> into, int target, std::int64_t displacement, MPI_Request& request);

    /// Waits until all that was put to `target` lies there. Short if all requests to it have completed; how
    /// short is up to MPI. `target` may have to answer, so this does not return if it never does:
    /// waits_for().
    void flush(int target);

    /// Between loads and stores of this process in its own window and the messages about them: before peers
    /// are told what was stored here, and before what they announce as put here is loaded.
    void sync();

    /// Collective, no operation under way: ends the lock and gives window and memory back.
    void free();

    /// The target of a flush that has not returned, or -1. Any thread may read it.
    [[nodiscard]] int waits_for() const { return waits_for_.load(std::memory_order_relaxed); }

  private:
    MPI_Win window_ = MPI_WIN_NULL;
    std::byte* memory_ = nullptr;
    std::atomic<int> waits_for_{-1};
};

}  // namespace weir::transport
