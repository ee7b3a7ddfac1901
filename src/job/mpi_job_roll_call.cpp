// The part of MpiJob that finds out which ranks still answer after an exchange has failed. A rank whose
// exchange did not end in time notifies the leader. The leader, notified so or waiting itself, calls every
// rank; who is there, answers. Point to point, because a collective needs all ranks.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <list>
#include <thread>

#include "host/common_clock.hpp"
#include "job/mpi_job.hpp"

namespace weir::job {

namespace {

constexpr int notice_tag = 13;
constexpr int call_tag = 14;
constexpr int answer_tag = 15;
constexpr auto between_looks = std::chrono::microseconds(500);

/// MPI may read it as long as the process lives.
const char byte_to_send = 0;

}  // namespace

bool MpiJob::has_come(int source, int tag) const {
    int there = 0;
    MPI_Status status;
    check_exchange(MPI_Iprobe(source, tag, communicator_, &there, &status), "a roll call");
    return there != 0;
}

void MpiJob::send_byte(int rank, int tag) const {
    MPI_Request request = MPI_REQUEST_NULL;
    if (MPI_Isend(&byte_to_send, 1, MPI_CHAR, rank, tag, communicator_, &request) == MPI_SUCCESS) {
        MPI_Request_free(&request);
    }
}

void MpiJob::check_notices(const char* what) {
    if (rank_ == leader()) {
        receive_notice(what);
    } else if (has_come(leader(), call_tag)) {
        throw ExchangeTimeout(std::string("was called to the roll: ") + what);
    }
}

void MpiJob::receive_notice(const char* what) const {
    int there = 0;
    MPI_Status status;
    check_exchange(MPI_Iprobe(MPI_ANY_SOURCE, notice_tag, communicator_, &there, &status), what);
    if (there == 0) {
        return;
    }
    Notice notice;
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    if (bytes != sizeof notice) {
        throw ExchangeTimeout("received a notice of " + std::to_string(bytes) + " bytes");
    }
    // It is here already, and small: this does not wait.
    check_exchange(MPI_Recv(&notice, sizeof notice, MPI_BYTE, status.MPI_SOURCE, notice_tag, communicator_,
                            MPI_STATUS_IGNORE),
                   what);
    throw_notice(notice, status.MPI_SOURCE, what);
}

void MpiJob::send_notice(const Notice& notice, core::Duration limit) {
    // Each its own: MPI may still read the one before.
    static std::list<Notice> notices;
    MPI_Request request = MPI_REQUEST_NULL;
    if (MPI_Isend(&notices.emplace_back(notice), sizeof notice, MPI_BYTE, leader(), notice_tag, communicator_,
                  &request) != MPI_SUCCESS) {
        return;
    }
    const std::int64_t deadline_ns = host::monotonic_ns() + limit.ns;
    while (host::monotonic_ns() < deadline_ns) {
        int done = 0;
        if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
            return;
        }
        std::this_thread::sleep_for(between_looks);
    }
}

MpiJob::Roll MpiJob::call_roll(core::Duration limit, const std::function<bool()>& stop) {
    const std::int64_t deadline_ns = host::monotonic_ns() + limit.ns;
    const auto time_is_left = [&] { return host::monotonic_ns() < deadline_ns && !stop(); };
    Roll roll;
    if (rank_ != leader()) {
        roll.leader_answers = false;
        send_notice(make_notice(Notice::Kind::exchange_timeout, rank_, 0, {}), core::Duration{});
        try {
            while (!(roll.leader_answers = has_come(leader(), call_tag)) && time_is_left()) {
                std::this_thread::sleep_for(between_looks);
            }
            send_byte(leader(), answer_tag);
            // The answer leaves while MPI is called.
            for (int turn = 0; turn < 20; ++turn) {
                static_cast<void>(has_come(leader(), call_tag));
                std::this_thread::sleep_for(between_looks);
            }
        } catch (const JobError&) {
            // What is known stays.
        }
        return roll;
    }
    for (int rank = 0; rank < size_; ++rank) {
        if (rank != rank_) {
            roll.missing.push_back(rank);
            send_byte(rank, call_tag);
        }
    }
    while (!roll.missing.empty() && time_is_left()) {
        const auto answered = [this](int rank) {
            try {
                return has_come(rank, answer_tag);
            } catch (const JobError&) {
                return false;
            }
        };
        roll.missing.erase(std::remove_if(roll.missing.begin(), roll.missing.end(), answered),
                           roll.missing.end());
        std::this_thread::sleep_for(between_looks);
    }
    return roll;
}

}  // namespace weir::job
