#include "runtime/clock_sync.hpp"

#include "runtime/common_clock.hpp"

namespace weir::runtime {

namespace {

constexpr int ping_tag = 21;
constexpr int pong_tag = 22;
constexpr int result_tag = 23;
constexpr int exchanges = 25;

void send(Job& job, const void* data, int bytes, int to, int tag) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Isend(data, bytes, MPI_BYTE, to, tag, job.communicator(), &request),
              "clock synchronisation");
    job.wait(request, job.exchange_limit(), "clock synchronisation");
}

void receive(Job& job, void* data, int bytes, int from, int tag) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Irecv(data, bytes, MPI_BYTE, from, tag, job.communicator(), &request),
              "clock synchronisation");
    job.wait(request, job.exchange_limit(), "clock synchronisation");
}

ClockOffset probe(Job& job, int rank) {
    ClockOffset best{0, INT64_MAX};
    for (int exchange = 0; exchange < exchanges; ++exchange) {
        const std::int64_t sent_ns = monotonic_ns();
        send(job, &sent_ns, sizeof sent_ns, rank, ping_tag);
        std::int64_t remote_ns = 0;
        receive(job, &remote_ns, sizeof remote_ns, rank, pong_tag);
        const std::int64_t received_ns = monotonic_ns();
        const std::int64_t error_ns = (received_ns - sent_ns + 1) / 2;
        if (error_ns < best.error_ns) {
            best = {remote_ns - (sent_ns + error_ns), error_ns};
        }
    }
    return best;
}

}  // namespace

ClockOffset measure_clock_offset(Job& job, int reference_rank) {
    ClockOffset mine;
    if (job.rank() != reference_rank) {
        for (int exchange = 0; exchange < exchanges; ++exchange) {
            std::int64_t sent_ns = 0;
            receive(job, &sent_ns, sizeof sent_ns, reference_rank, ping_tag);
            const std::int64_t now_ns = monotonic_ns();
            send(job, &now_ns, sizeof now_ns, reference_rank, pong_tag);
        }
        receive(job, &mine, sizeof mine, reference_rank, result_tag);
        return mine;
    }
    for (int rank = 0; rank < job.size(); ++rank) {
        if (rank != reference_rank) {
            const ClockOffset offset = probe(job, rank);
            send(job, &offset, sizeof offset, rank, result_tag);
        }
    }
    return mine;
}

}  // namespace weir::runtime
