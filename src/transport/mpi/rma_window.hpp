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

#include "transport/mpi/mpi_support.hpp"

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
    RmaWindow(MPI_Comm comm, std::int64_t bytes, const std::string& transport, const std::string& how_less) {
        void* memory = nullptr;
        try {
            check_mpi(MPI_Win_allocate(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, comm,
                                       static_cast<void*>(&memory), &window_),
                      "MPI_Win_allocate");
        } catch (const TransportError& error) {
            throw CapacityError(
                "--transport " + transport + ": MPI made no window (" + error.what() + "; " +
                std::to_string(bytes) +
                " bytes on this rank); use --transport send, which needs none. With UCX, mpirun may need "
                "--mca osc ucx; if memory is short, less of " +
                how_less + " helps");
        }
        check_mpi(MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
        if (!is_unified(window_)) {
            throw TransportError(
                "MPI_Win_allocate", Rank{},
                "this MPI keeps a private copy of what a window shows to others (no unified memory "
                "model), so one-sided transfers would be invisible: use --transport send");
        }
        memory_ = static_cast<std::byte*>(memory);
        // No lock of this run excludes another one, so MPI need not ask the targets.
        check_mpi(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
    }

    RmaWindow(const RmaWindow&) = delete;
    RmaWindow& operator=(const RmaWindow&) = delete;
    /// Leaves the window to MPI: freeing it is collective, see free().
    ~RmaWindow() = default;

    /// This rank's memory, which MPI owns; not aligned to anything.
    [[nodiscard]] std::byte* memory() const { return memory_; }

    /// Start an operation on `target`'s memory from byte `displacement` on. `request` completes when `from`
    /// may be written to again, which has no meaning for `target`; and when the data lies in `into`.
    void put(std::span<const std::byte> from, int target, std::int64_t displacement, MPI_Request& request) {
        const int size = static_cast<int>(from.size());
        check_mpi(MPI_Rput(from.data(), size, MPI_BYTE, target, static_cast<MPI_Aint>(displacement), size,
                           MPI_BYTE, window_, &request),
                  "MPI_Rput", target);
    }

    void get(std::span<std::byte> into, int target, std::int64_t displacement, MPI_Request& request) {
        const int size = static_cast<int>(into.size());
        check_mpi(MPI_Rget(into.data(), size, MPI_BYTE, target, static_cast<MPI_Aint>(displacement), size,
                           MPI_BYTE, window_, &request),
                  "MPI_Rget", target);
    }

    /// Waits until all that was put to `target` lies there. Short if all requests to it have completed; how
    /// short is up to MPI. `target` may have to answer, so this does not return if it never does:
    /// waits_for().
    void flush(int target) {
        waits_for_.store(target, std::memory_order_relaxed);
        const int code = MPI_Win_flush(target, window_);
        waits_for_.store(-1, std::memory_order_relaxed);
        check_mpi(code, "MPI_Win_flush", target);
    }

    /// Between loads and stores of this process in its own window and the messages about them: before peers
    /// are told what was stored here, and before what they announce as put here is loaded.
    void sync() { check_mpi(MPI_Win_sync(window_), "MPI_Win_sync"); }

    /// Collective, no operation under way: ends the lock and gives window and memory back.
    void free() {
        check_mpi(MPI_Win_unlock_all(window_), "MPI_Win_unlock_all");
        check_mpi(MPI_Win_free(&window_), "MPI_Win_free");
        memory_ = nullptr;
    }

    /// The target of a flush that has not returned, or -1. Any thread may read it.
    [[nodiscard]] int waits_for() const { return waits_for_.load(std::memory_order_relaxed); }

  private:
    /// Loads and stores of the target and operations of its peers see the same memory. Without that, a
    /// consumer would have to lock its window for every look into it.
    static bool is_unified(MPI_Win window) {
        void* attribute = nullptr;
        int found = 0;
        check_mpi(MPI_Win_get_attr(window, MPI_WIN_MODEL, static_cast<void*>(&attribute), &found),
                  "MPI_Win_get_attr");
        return found != 0 && *static_cast<const int*>(attribute) == MPI_WIN_UNIFIED;
    }

    MPI_Win window_ = MPI_WIN_NULL;
    std::byte* memory_ = nullptr;
    std::atomic<int> waits_for_{-1};
};

}  // namespace weir::transport
