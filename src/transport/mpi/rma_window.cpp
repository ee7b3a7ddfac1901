#include "transport/mpi/rma_window.hpp"

#include "transport/mpi/mpi_support.hpp"

namespace weir::transport {

namespace {

/// Loads and stores of the target and operations of its peers see the same memory. Without that, a consumer
/// would have to lock its window for every look into it.
bool is_unified(MPI_Win window) {
    void* attribute = nullptr;
    int found = 0;
    check_mpi(MPI_Win_get_attr(window, MPI_WIN_MODEL, static_cast<void*>(&attribute), &found),
              "MPI_Win_get_attr");
    return found != 0 && *static_cast<const int*>(attribute) == MPI_WIN_UNIFIED;
}

}  // namespace

RmaWindow::RmaWindow(MPI_Comm comm, std::int64_t bytes, const std::string& transport,
                     const std::string& how_less) {
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

void RmaWindow::put(std::span<const std::byte> from, int target, std::int64_t displacement,
                    MPI_Request& request) {
    const int size = static_cast<int>(from.size());
    check_mpi(MPI_Rput(from.data(), size, MPI_BYTE, target, static_cast<MPI_Aint>(displacement), size,
                       MPI_BYTE, window_, &request),
              "MPI_Rput", target);
}

void RmaWindow::get(std::span<std::byte> into, int target, std::int64_t displacement, MPI_Request& request) {
    const int size = static_cast<int>(into.size());
    check_mpi(MPI_Rget(into.data(), size, MPI_BYTE, target, static_cast<MPI_Aint>(displacement), size,
                       MPI_BYTE, window_, &request),
              "MPI_Rget", target);
}

void RmaWindow::flush(int target) {
    waits_for_.store(target, std::memory_order_relaxed);
    const int code = MPI_Win_flush(target, window_);
    waits_for_.store(-1, std::memory_order_relaxed);
    check_mpi(code, "MPI_Win_flush", target);
}

void RmaWindow::sync() {
    check_mpi(MPI_Win_sync(window_), "MPI_Win_sync");
}

void RmaWindow::free() {
    check_mpi(MPI_Win_unlock_all(window_), "MPI_Win_unlock_all");
    check_mpi(MPI_Win_free(&window_), "MPI_Win_free");
    memory_ = nullptr;
}

}  // namespace weir::transport
