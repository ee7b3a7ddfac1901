#include "mpi_memory.hpp"

#include <malloc.h>
#include <mpi.h>
#include <pthread.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

namespace {

/// Fixed memory: it is looked at while memory is freed.
struct Handed {
    MPI_Request request;
    std::uintptr_t begin;
    std::uintptr_t end;
    const char* call;
};
constexpr std::size_t handed_most = 65536;
std::array<Handed, handed_most> handed;
std::size_t handed_count = 0;
const char* freed_under = nullptr;
std::uintptr_t freed_bytes = 0;
int receives_until_failure = -1;
pthread_t watched_thread;  ///< MPI is called by one thread only

void hand(MPI_Request request, const void* memory, std::uintptr_t bytes, const char* call) {
    watched_thread = pthread_self();
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    if (request == MPI_REQUEST_NULL || bytes == 0) {
        return;
    }
    if (handed_count == handed.size()) {
        std::abort();
    }
    handed[handed_count++] = {request, begin, begin + bytes, call};
}

void give_back(MPI_Request request) {
    for (std::size_t i = handed_count; i-- > 0;) {
        if (handed[i].request == request) {
            handed[i] = handed[--handed_count];
        }
    }
}

std::uintptr_t bytes_of(int count, MPI_Datatype type) {
    int size = 0;
    PMPI_Type_size(type, &size);
    return static_cast<std::uintptr_t>(count) * static_cast<std::uintptr_t>(size);
}

void look_at_freed(void* memory) {
    if (memory == nullptr || handed_count == 0 || freed_under != nullptr ||
        pthread_equal(watched_thread, pthread_self()) == 0) {
        return;
    }
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    const std::uintptr_t end = begin + malloc_usable_size(memory);
    for (std::size_t i = 0; i < handed_count; ++i) {
        if (handed[i].begin < end && begin < handed[i].end) {
            freed_under = handed[i].call;
            freed_bytes = handed[i].end - handed[i].begin;
            return;
        }
    }
}

}  // namespace

namespace weir::test {

std::string found_wrong_with_mpi_memory() {
    if (freed_under != nullptr) {
        return "memory of " + std::string(freed_under) + " (" + std::to_string(freed_bytes) +
               " bytes) was freed while MPI could still use it";
    }
    pthread_attr_t attributes;
    void* lowest = nullptr;
    std::size_t size = 0;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &lowest, &size);
    pthread_attr_destroy(&attributes);
    const auto stack_begin = reinterpret_cast<std::uintptr_t>(lowest);
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    for (std::size_t i = 0; i < handed_count; ++i) {
        if (handed[i].begin >= stack_begin && handed[i].begin < here) {
            return "memory of " + std::string(handed[i].call) + " (" +
                   std::to_string(handed[i].end - handed[i].begin) +
                   " bytes) lay on the stack of a function that has returned, and MPI can still use it";
        }
    }
    return {};
}

void fail_receive_after(int receives) {
    receives_until_failure = receives;
}

}  // namespace weir::test

// NOLINTBEGIN(misc-new-delete-overloads,cppcoreguidelines-no-malloc,readability-inconsistent-declaration-parameter-name)
void* operator new(std::size_t size) {
    if (void* memory = std::malloc(size == 0 ? 1 : size)) {
        return memory;
    }
    throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
    return std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* memory) noexcept {
    look_at_freed(memory);
    std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept {
    operator delete(memory);
}

extern "C" {

int MPI_Isend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
              MPI_Request* request) {
    const int status = PMPI_Isend(buf, count, datatype, dest, tag, comm, request);
    hand(*request, buf, bytes_of(count, datatype), "MPI_Isend");
    return status;
}
int MPI_Irecv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
              MPI_Request* request) {
    if (receives_until_failure >= 0 && receives_until_failure-- == 0) {
        return MPI_ERR_OTHER;
    }
    const int status = PMPI_Irecv(buf, count, datatype, source, tag, comm, request);
    hand(*request, buf, bytes_of(count, datatype), "MPI_Irecv");
    return status;
}
int MPI_Imrecv(void* buf, int count, MPI_Datatype datatype, MPI_Message* message, MPI_Request* request) {
    const int status = PMPI_Imrecv(buf, count, datatype, message, request);
    hand(*request, buf, bytes_of(count, datatype), "MPI_Imrecv");
    return status;
}
int MPI_Ibcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
               MPI_Request* request) {
    const int status = PMPI_Ibcast(buffer, count, datatype, root, comm, request);
    hand(*request, buffer, bytes_of(count, datatype), "MPI_Ibcast");
    return status;
}
int MPI_Iallgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
    int ranks = 0;
    PMPI_Comm_size(comm, &ranks);
    const int status =
        PMPI_Iallgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
    hand(*request, sendbuf, bytes_of(sendcount, sendtype), "MPI_Iallgather");
    hand(*request, recvbuf, bytes_of(recvcount, recvtype) * static_cast<std::uintptr_t>(ranks),
         "MPI_Iallgather");
    return status;
}
int MPI_Iallgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                    MPI_Request* request) {
    int ranks = 0;
    PMPI_Comm_size(comm, &ranks);
    const int status =
        PMPI_Iallgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request);
    hand(*request, sendbuf, bytes_of(sendcount, sendtype), "MPI_Iallgatherv");
    hand(*request, recvbuf, bytes_of(displs[ranks - 1] + recvcounts[ranks - 1], recvtype), "MPI_Iallgatherv");
    hand(*request, recvcounts, sizeof(int) * static_cast<std::uintptr_t>(ranks), "MPI_Iallgatherv");
    return status;
}
int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
    const MPI_Request tested = *request;
    const int result = PMPI_Test(request, flag, status);
    if (*flag != 0) {
        give_back(tested);
    }
    return result;
}
int MPI_Testsome(int incount, MPI_Request requests[], int* outcount, int indices[], MPI_Status statuses[]) {
    const std::vector<MPI_Request> tested(requests, requests + incount);
    const int result = PMPI_Testsome(incount, requests, outcount, indices, statuses);
    for (int i = 0; i < *outcount; ++i) {  // MPI_UNDEFINED is negative
        give_back(tested[static_cast<std::size_t>(indices[i])]);
    }
    return result;
}
int MPI_Finalize() {
    handed_count = 0;
    return PMPI_Finalize();
}

}  // extern "C"
// NOLINTEND(misc-new-delete-overloads,cppcoreguidelines-no-malloc,readability-inconsistent-declaration-parameter-name)
