#include "job/clock_sync.hpp"

#include <span>

#include "host/common_clock.hpp"

namespace weir::job {

namespace {

using enum Job::Block;
constexpr const char* synchronisation = "clock synchronisation";
/// The more exchanges, the more likely is one that nothing delayed.
constexpr int most_exchanges = 25;
/// So many in any case, and then no more if all ranks together have had time for `time_for_all`. An exchange
/// takes microseconds where ranks spin; milliseconds where they nap or share cores, and there a hundred ranks
/// would take a quarter of a minute.
constexpr int fewest_exchanges = 5;
constexpr auto time_for_all = core::Duration::seconds(3);
/// What one exchange may take, for ranks that wait for their turn.
constexpr auto longest_exchange = core::Duration::milliseconds(200);

/// What the reference rank sends: a question (`over` is 0), or the result.
struct Question {
    std::int64_t over = 0;
    ClockOffset result;
};

template <typename T>
void send(Job& job, const T& value, int to, Job::Block kind) {
    job.send_block(to, kind, std::as_bytes(std::span(&value, 1)), synchronisation);
}

template <typename T>
T receive(Job& job, int from, Job::Block kind, core::Duration limit) {
    T value{};
    job.receive_block(from, kind, std::as_writable_bytes(std::span(&value, 1)), limit, synchronisation);
    return value;
}

ClockOffset probe(Job& job, int rank) {
    ClockOffset best{0, INT64_MAX};
    const std::int64_t time_is_up_ns = host::monotonic_ns() + time_for_all.ns / job.size();
    for (int exchange = 0; exchange < most_exchanges; ++exchange) {
        const std::int64_t sent_ns = host::monotonic_ns();
        if (exchange >= fewest_exchanges && sent_ns > time_is_up_ns) {
            break;
        }
        send(job, Question{}, rank, clock_question);
        const auto remote_ns = receive<std::int64_t>(job, rank, clock_reading, job.exchange_limit());
        const std::int64_t received_ns = host::monotonic_ns();
        const std::int64_t error_ns = (received_ns - sent_ns + 1) / 2;
        if (error_ns < best.error_ns) {
            best = {remote_ns - (sent_ns + error_ns), error_ns};
        }
    }
    return best;
}

ClockOffset answer(Job& job, int reference_rank) {
    core::Duration limit =
        job.exchange_limit() + longest_exchange * (std::int64_t{fewest_exchanges} * job.size());
    while (true) {
        const auto question = receive<Question>(job, reference_rank, clock_question, limit);
        if (question.over != 0) {
            return question.result;
        }
        send(job, host::monotonic_ns(), reference_rank, clock_reading);
        limit = job.exchange_limit();
    }
}

}  // namespace

ClockOffset measure_clock_offset(Job& job, int reference_rank) {
    if (job.rank() != reference_rank) {
        return answer(job, reference_rank);
    }
    for (int rank = 0; rank < job.size(); ++rank) {
        if (rank == reference_rank || !job.is_present(rank)) {
            continue;
        }
        try {
            send(job, Question{.over = 1, .result = probe(job, rank)}, rank, clock_question);
        } catch (const RankGone& gone) {
            if (gone.rank() != rank || job.is_present(rank)) {
                throw;
            }  // else the run goes on without it
        }
    }
    return {};
}

}  // namespace weir::job
