// The part of Job that finds out which ranks are still there after an exchange has failed. A rank that waits
// in vain complains to the leader; the leader, told so or waiting in vain itself, calls every rank; who is
// there answers. Point to point, because a collective needs everybody.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <list>
#include <string_view>
#include <thread>

#include "runtime/common_clock.hpp"
#include "runtime/job.hpp"

namespace weir::runtime {

namespace {

constexpr int complaint_tag = 13;
constexpr int call_tag = 14;
constexpr int answer_tag = 15;
constexpr auto between_looks = std::chrono::microseconds(500);

/// Read by MPI for as long as a message may be under way, so for ever.
const char byte_to_send = 0;

/// Without a text: an exchange did not end.
struct Complaint {
    std::int32_t rank = -1;
    char text[480] = {};  ///< zero-terminated
};

}  // namespace

bool Job::is_there(int source, int tag) const {
    int there = 0;
    MPI_Status status;
    check_mpi(MPI_Iprobe(source, tag, communicator_, &there, &status), "a roll call");
    return there != 0;
}

void Job::tell(int rank, int tag) const {
    MPI_Request request = MPI_REQUEST_NULL;
    if (MPI_Isend(&byte_to_send, 1, MPI_CHAR, rank, tag, communicator_, &request) == MPI_SUCCESS) {
        MPI_Request_free(&request);
    }
}

void Job::look_for_roll_call(const char* what) const {
    if (rank_ == leader_) {
        take_complaint(what);
    } else if (is_there(leader_, call_tag)) {
        throw ExchangeTimeout(std::string("was called to the roll: ") + what);
    }
}

void Job::take_complaint(const char* what) const {
    int there = 0;
    MPI_Status status;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, complaint_tag, communicator_, &there, &status), what);
    if (there == 0) {
        return;
    }
    Complaint complaint;
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    if (bytes != sizeof complaint) {
        throw ExchangeTimeout("was sent a complaint of " + std::to_string(bytes) + " bytes");
    }
    // It is here already, and small: this does not wait.
    check_mpi(MPI_Recv(&complaint, sizeof complaint, MPI_BYTE, status.MPI_SOURCE, complaint_tag,
                       communicator_, MPI_STATUS_IGNORE),
              what);
    const std::string_view text(complaint.text, strnlen(complaint.text, sizeof complaint.text));
    if (text.empty()) {
        throw ExchangeTimeout("was told by rank " + std::to_string(status.MPI_SOURCE) +
                              " that it waits in vain: " + what);
    }
    const bool known = complaint.rank >= 0 && complaint.rank < size_;
    throw RankFailed(known ? complaint.rank : status.MPI_SOURCE, std::string(text));
}

void Job::complain(int rank, const std::string& what, core::Duration patience) const {
    // Each its own: MPI may still read the one before.
    static std::list<Complaint> complaints;
    Complaint& complaint = complaints.emplace_back();
    complaint.rank = rank;
    std::memcpy(complaint.text, what.data(), std::min(what.size(), sizeof complaint.text - 1));
    MPI_Request request = MPI_REQUEST_NULL;
    if (MPI_Isend(&complaint, sizeof complaint, MPI_BYTE, leader_, complaint_tag, communicator_, &request) !=
        MPI_SUCCESS) {
        return;
    }
    const std::int64_t deadline_ns = monotonic_ns() + patience.ns;
    while (monotonic_ns() < deadline_ns) {
        int done = 0;
        if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
            return;
        }
        std::this_thread::sleep_for(between_looks);
    }
}

Job::Roll Job::call_roll(core::Duration patience, const std::function<bool()>& stop) {
    const std::int64_t deadline_ns = monotonic_ns() + patience.ns;
    const auto time_is_left = [&] { return monotonic_ns() < deadline_ns && !stop(); };
    Roll roll;
    if (rank_ != leader_) {
        roll.leader_answers = false;
        complain(-1, {}, core::Duration{});
        try {
            while (!(roll.leader_answers = is_there(leader_, call_tag)) && time_is_left()) {
                std::this_thread::sleep_for(between_looks);
            }
            tell(leader_, answer_tag);
            // The answer leaves while MPI is called.
            for (int turn = 0; turn < 20; ++turn) {
                static_cast<void>(is_there(leader_, call_tag));
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
            tell(rank, call_tag);
        }
    }
    while (!roll.missing.empty() && time_is_left()) {
        const auto answered = [this](int rank) {
            try {
                return is_there(rank, answer_tag);
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

}  // namespace weir::runtime
