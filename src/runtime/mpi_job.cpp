#include "runtime/job.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <thread>

#include "runtime/common_clock.hpp"
#include "runtime/left_to_mpi.hpp"
#include "transport/mpi_support.hpp"

namespace weir::runtime {

void check_exchange(int status, const char* what) {
    if (status != MPI_SUCCESS) {
        throw JobError(fmt::format("MPI failed in {}: {}", what, transport::mpi_error_text(status)));
    }
}

Job::Job(int& argc, char**& argv) {
    int provided = 0;
    check_exchange(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), "start-up");
    check_exchange(MPI_Comm_dup(MPI_COMM_WORLD, &communicator_), "start-up");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(communicator_, &rank_);
    MPI_Comm_size(communicator_, &size_);
}

Job::~Job() {
    MPI_Comm_free(&communicator_);
    MPI_Finalize();
}

std::string Job::library_version() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
    int length = 0;
    MPI_Get_library_version(text, &length);
    std::string version(text, static_cast<std::size_t>(length));
    while (!version.empty() && (version.back() == '\0' || version.back() == '\n' || version.back() == ' ')) {
        version.pop_back();
    }
    return version;
}

void Job::wait(MPI_Request& request, core::Duration limit, const char* what) const {
    Waiting waiting(*this, limit, what);
    while (true) {
        int done = 0;
        check_exchange(MPI_Test(&request, &done, MPI_STATUS_IGNORE), what);
        if (done != 0) {
            return;
        }
        waiting.nap();
    }
}

Job::Waiting::Waiting(const Job& job, core::Duration limit, const char* what)
    : job_(job),
      limit_(limit),
      what_(what),
      began_ns_(monotonic_ns()),
      next_check_ns_(began_ns_ + check_period.ns) {}

void Job::Waiting::restart() {
    began_ns_ = monotonic_ns();
    naps_ = 0;
}

void Job::Waiting::check() {
    job_.call_waiting_hook();
    const std::int64_t now_ns = monotonic_ns();
    if (now_ns >= next_check_ns_) {
        next_check_ns_ = now_ns + check_period.ns;
        job_.check_notices(what_);
    }
    if (now_ns - began_ns_ > limit_.ns) {
        throw ExchangeTimeout(fmt::format("waited {:.0f} s for the other ranks without success: {}",
                                          limit_.in_seconds(), what_));
    }
}

void Job::Waiting::nap() {
    check();
    // Short waits are common at first, long ones later: back off from yielding to naps of 1 ms.
    if (++naps_ < 20) {
        std::this_thread::yield();
    } else {
        std::this_thread::sleep_for(std::chrono::microseconds(std::min(naps_ * 5, 1000)));
    }
}

std::vector<std::string> Job::share(const std::string& text, const char* what) {
    const auto ranks = static_cast<std::size_t>(size_);
    struct Memory {
        std::string mine;
        int length = 0;
        std::vector<int> lengths;
        std::vector<int> places;
        std::string all;
    };
    LeftToMpi<Memory> memory;
    memory->mine = text;
    memory->length = static_cast<int>(text.size());
    memory->lengths.resize(ranks);
    memory->places.resize(ranks);
    MPI_Request request = MPI_REQUEST_NULL;
    check_exchange(MPI_Iallgather(&memory->length, 1, MPI_INT, memory->lengths.data(), 1, MPI_INT,
                                  communicator_, &request),
                   what);
    wait(request, exchange_limit_, what);
    const std::vector<int>& lengths = memory->lengths;
    std::vector<int>& places = memory->places;
    std::exclusive_scan(lengths.begin(), lengths.end(), places.begin(), 0);
    memory->all.resize(static_cast<std::size_t>(places.back()) + static_cast<std::size_t>(lengths.back()));
    check_exchange(MPI_Iallgatherv(memory->mine.data(), memory->length, MPI_CHAR, memory->all.data(),
                                   lengths.data(), places.data(), MPI_CHAR, communicator_, &request),
                   what);
    wait(request, exchange_limit_, what);
    std::vector<std::string> texts;
    texts.reserve(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        texts.push_back(memory->all.substr(static_cast<std::size_t>(places[rank]),
                                           static_cast<std::size_t>(lengths[rank])));
    }
    return texts;
}

void Job::gather(std::span<const std::byte> bytes, int root, const char* what,
                 const std::function<void(int rank, std::span<const std::byte>)>& receive) {
    // Point to point and one rank after the other: thousands of blocks of 50 kB and more need not lie in
    // memory at once, and the counts of a gatherv are int.
    constexpr int tag = 11;
    LeftToMpi<std::vector<std::byte>> block;
    if (rank_ != root) {
        block->assign(bytes.begin(), bytes.end());
        MPI_Request request = MPI_REQUEST_NULL;
        check_exchange(MPI_Isend(block->data(), static_cast<int>(block->size()), MPI_BYTE, root, tag,
                                 communicator_, &request),
                       what);
        wait(request, exchange_limit_, what);
        return;
    }
    Waiting waiting(*this, exchange_limit_, what);
    for (int rank = 0; rank < size_; ++rank) {
        if (rank == root) {
            receive(rank, bytes);
            continue;
        }
        int there = 0;
        MPI_Status status;
        while (true) {
            check_exchange(MPI_Iprobe(rank, tag, communicator_, &there, &status), what);
            if (there != 0) {
                break;
            }
            waiting.nap();
        }
        int length = 0;
        MPI_Get_count(&status, MPI_BYTE, &length);
        block->resize(static_cast<std::size_t>(length));
        MPI_Request request = MPI_REQUEST_NULL;
        check_exchange(MPI_Irecv(block->data(), length, MPI_BYTE, rank, tag, communicator_, &request), what);
        wait(request, exchange_limit_, what);
        receive(rank, *block);
    }
}

std::vector<std::optional<std::string>> Job::collect(const std::string& text, int root, core::Duration limit,
                                                     const char* what) {
    constexpr int tag = 12;
    constexpr auto nap = std::chrono::microseconds(200);
    const std::int64_t deadline_ns = monotonic_ns() + limit.ns;
    if (rank_ != root) {
        unsent_.push_back(text);
        MPI_Request request = MPI_REQUEST_NULL;
        check_exchange(MPI_Isend(unsent_.back().data(), static_cast<int>(text.size()), MPI_CHAR, root, tag,
                                 communicator_, &request),
                       what);
        int done = 0;
        while (done == 0 && monotonic_ns() < deadline_ns) {
            check_exchange(MPI_Test(&request, &done, MPI_STATUS_IGNORE), what);
            call_waiting_hook();
            std::this_thread::sleep_for(nap);
        }
        if (done != 0) {
            unsent_.pop_back();
        }
        return {};
    }
    unread_.splice(unread_.end(), receiving_);
    std::vector<std::optional<std::string>> texts(static_cast<std::size_t>(size_));
    texts[static_cast<std::size_t>(root)] = text;
    int missing = size_ - 1;
    while (missing > 0 && monotonic_ns() < deadline_ns) {
        call_waiting_hook();
        const bool began = begin_receiving(tag, what);
        const int ended = complete_received(texts, what);
        missing -= ended;
        if (!began && ended == 0) {
            std::this_thread::sleep_for(nap);
        }
    }
    return texts;
}

bool Job::begin_receiving(int tag, const char* what) {
    int there = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    check_exchange(MPI_Improbe(MPI_ANY_SOURCE, tag, communicator_, &there, &message, &status), what);
    if (there == 0) {
        return false;
    }
    int length = 0;
    MPI_Get_count(&status, MPI_CHAR, &length);
    Receiving& one = receiving_.emplace_back();
    one.rank = status.MPI_SOURCE;
    one.text.resize(static_cast<std::size_t>(length));
    check_exchange(MPI_Imrecv(one.text.data(), length, MPI_CHAR, &message, &one.request), what);
    return true;
}

int Job::complete_received(std::vector<std::optional<std::string>>& texts, const char* what) {
    int completed = 0;
    for (auto one = receiving_.begin(); one != receiving_.end();) {
        int done = 0;
        check_exchange(MPI_Test(&one->request, &done, MPI_STATUS_IGNORE), what);
        if (done == 0) {
            ++one;
            continue;
        }
        texts[static_cast<std::size_t>(one->rank)] = std::move(one->text);
        one = receiving_.erase(one);
        ++completed;
    }
    return completed;
}

std::string Job::broadcast(const std::string& text, int root, const char* what) {
    struct Memory {
        std::uint64_t length = 0;
        std::string text;
    };
    LeftToMpi<Memory> memory;
    memory->length = text.size();
    MPI_Request request = MPI_REQUEST_NULL;
    check_exchange(MPI_Ibcast(&memory->length, 1, MPI_UINT64_T, root, communicator_, &request), what);
    wait(request, exchange_limit_, what);
    memory->text = text;
    memory->text.resize(memory->length);
    check_exchange(MPI_Ibcast(memory->text.data(), static_cast<int>(memory->length), MPI_CHAR, root,
                              communicator_, &request),
                   what);
    wait(request, exchange_limit_, what);
    return memory->text;
}

void Job::barrier(const char* what) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_exchange(MPI_Ibarrier(communicator_, &request), what);
    wait(request, exchange_limit_, what);
}

std::vector<Objection> Job::objections(const std::string& mine, const char* what) {
    std::vector<Objection> found;
    const auto texts = share(mine, what);
    for (std::size_t rank = 0; rank < texts.size(); ++rank) {
        if (!texts[rank].empty()) {
            found.push_back({static_cast<int>(rank), texts[rank]});
        }
    }
    return found;
}

void Job::leave(int status) {
    std::fflush(nullptr);
    _exit(status);
}

void Job::abort(int status) {
    std::fflush(nullptr);
    MPI_Abort(MPI_COMM_WORLD, status);
    _exit(status);
}

}  // namespace weir::runtime
