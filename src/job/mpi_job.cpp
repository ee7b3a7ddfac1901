#include "job/mpi_job.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <thread>

#include "host/common_clock.hpp"
#include "transport/mpi/mpi_support.hpp"

namespace weir::job {

namespace {

/// Memory that MPI reads or writes while an exchange is under way. If the exchange is given up, which shows
/// as an exception, the memory stays for good: MPI may come back to it as long as it is called at all.
template <typename T>
class LeftToMpi {
  public:
    template <typename... Arguments>
    explicit LeftToMpi(Arguments&&... arguments)
        : value_(std::make_unique<T>(std::forward<Arguments>(arguments)...)),
          exceptions_(std::uncaught_exceptions()) {}
    LeftToMpi(const LeftToMpi&) = delete;
    LeftToMpi& operator=(const LeftToMpi&) = delete;
    ~LeftToMpi() {
        if (std::uncaught_exceptions() > exceptions_) {
            static_cast<void>(value_.release());
        }
    }

    T& operator*() { return *value_; }
    T* operator->() { return value_.get(); }

  private:
    std::unique_ptr<T> value_;
    int exceptions_;
};

/// Under srun, processes leave MPI_Init of Open MPI one after the other, and a message that comes to one that
/// is still in there crashes it (github.com/open-mpi/ompi, issue 12495; seen with 4.1.4 and 5.0.7): nothing
/// is sent for a moment, which makes that rare where the ranks of a job start together.
void let_others_start() {
#if defined(OMPI_MAJOR_VERSION)
    const char* job = std::getenv("PMIX_NAMESPACE");
    if (job != nullptr && std::string_view(job).starts_with("slurm.")) {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
#endif
}

int tag_of(Job::Block kind) {
    return 21 + static_cast<int>(kind);
}

constexpr int notice_tag = 13;
constexpr int call_tag = 14;
constexpr int answer_tag = 15;
constexpr auto between_looks = std::chrono::microseconds(500);

/// MPI may read it as long as the process lives.
const char byte_to_send = 0;

}  // namespace

void check_exchange(int status, const char* what) {
    if (status != MPI_SUCCESS) {
        throw JobError(fmt::format("MPI failed in {}: {}", what, transport::mpi_error_text(status)));
    }
}

MpiJob::MpiJob(int& argc, char**& argv) {
    int provided = 0;
    check_exchange(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), "start-up");
    let_others_start();
    check_exchange(MPI_Comm_dup(MPI_COMM_WORLD, &communicator_), "start-up");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(communicator_, &rank_);
    MPI_Comm_size(communicator_, &size_);
}

MpiJob::MpiJob(MPI_Comm communicator) : communicator_(communicator), is_part_(true) {
    MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(communicator_, &rank_);
    MPI_Comm_size(communicator_, &size_);
}

MpiJob::~MpiJob() {
    if (is_part_) {
        return;  // its communicator goes with MPI: messages of an exchange that was given up may still use it
    }
    MPI_Comm_free(&communicator_);
    MPI_Finalize();
}

std::unique_ptr<MpiJob> MpiJob::split(int part, int key) {
    MPI_Comm communicator = MPI_COMM_NULL;
    check_exchange(MPI_Comm_split(communicator_, part < 0 ? MPI_UNDEFINED : part, key, &communicator),
                   "division into groups");
    if (communicator == MPI_COMM_NULL) {
        return nullptr;
    }
    auto job = std::unique_ptr<MpiJob>(new MpiJob(communicator));
    job->set_waiting_hook([this] { call_waiting_hook(); });
    return job;
}

int MpiJob::ranks_on_this_host() {
    MPI_Comm here = MPI_COMM_NULL;
    check_exchange(MPI_Comm_split_type(communicator_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &here),
                   "ranks of this host");
    int ranks = 0;
    MPI_Comm_size(here, &ranks);
    MPI_Comm_free(&here);
    return ranks;
}

int MpiJob::largest(int value, const char* what) {
    return reduce(value, MPI_MAX, what);
}

int MpiJob::reduce(int value, MPI_Op operation, const char* what) {
    struct Memory {
        int mine = 0;
        int all = 0;
    };
    LeftToMpi<Memory> memory;
    memory->mine = value;
    MPI_Request request = MPI_REQUEST_NULL;
    check_exchange(
        MPI_Iallreduce(&memory->mine, &memory->all, 1, MPI_INT, operation, communicator_, &request), what);
    wait(request, exchange_limit(), what);
    return memory->all;
}

std::optional<Objection> MpiJob::first_objection(const std::string& mine, const char* what) {
    const int lowest = size_ - largest(mine.empty() ? 0 : size_ - rank_, what);
    if (lowest == size_) {
        return std::nullopt;
    }
    const int all = reduce(mine.empty() ? 0 : 1, MPI_SUM, what);
    return Objection{lowest, broadcast(mine, lowest, what), all - 1};
}

std::string MpiJob::library_version() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
    int length = 0;
    MPI_Get_library_version(text, &length);
    std::string version(text, static_cast<std::size_t>(length));
    while (!version.empty() && (version.back() == '\0' || version.back() == '\n' || version.back() == ' ')) {
        version.pop_back();
    }
    return version;
}

void MpiJob::wait(MPI_Request& request, core::Duration limit, const char* what) {
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

std::vector<std::string> MpiJob::share(const std::string& text, const char* what) {
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
    wait(request, exchange_limit(), what);
    const std::vector<int>& lengths = memory->lengths;
    std::vector<int>& places = memory->places;
    std::exclusive_scan(lengths.begin(), lengths.end(), places.begin(), 0);
    memory->all.resize(static_cast<std::size_t>(places.back()) + static_cast<std::size_t>(lengths.back()));
    check_exchange(MPI_Iallgatherv(memory->mine.data(), memory->length, MPI_CHAR, memory->all.data(),
                                   lengths.data(), places.data(), MPI_CHAR, communicator_, &request),
                   what);
    wait(request, exchange_limit(), what);
    std::vector<std::string> texts;
    texts.reserve(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        texts.push_back(memory->all.substr(static_cast<std::size_t>(places[rank]),
                                           static_cast<std::size_t>(lengths[rank])));
    }
    return texts;
}

void MpiJob::gather(std::span<const std::byte> bytes, int root, const char* what,
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
        wait(request, exchange_limit(), what);
        return;
    }
    Waiting waiting(*this, exchange_limit(), what);
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
        wait(request, exchange_limit(), what);
        receive(rank, *block);
    }
}

std::vector<std::optional<std::string>> MpiJob::collect(const std::string& text, int root,
                                                        core::Duration limit, const char* what) {
    constexpr auto nap = std::chrono::microseconds(200);
    const std::int64_t deadline_ns = host::monotonic_ns() + limit.ns;
    if (!mail_) {
        mail_.emplace(communicator_, what);
    }
    ++collection_;
    if (rank_ != root) {
        mail_->send(root, collection_, std::as_bytes(std::span(text)));
        while (!mail_->progress() && host::monotonic_ns() < deadline_ns) {
            call_waiting_hook();
            std::this_thread::sleep_for(nap);
        }
        return {};
    }
    std::vector<std::optional<std::string>> texts(static_cast<std::size_t>(size_));
    texts[static_cast<std::size_t>(root)] = text;
    for (int missing = size_ - 1; missing > 0 && host::monotonic_ns() < deadline_ns;) {
        call_waiting_hook();
        const auto mail = mail_->take();
        if (!mail) {
            std::this_thread::sleep_for(nap);
        } else if (mail->kind == collection_) {  // else it comes too late
            texts[static_cast<std::size_t>(mail->from)].emplace(
                reinterpret_cast<const char*>(mail->bytes.data()), mail->bytes.size());
            --missing;
        }
    }
    return texts;
}

std::string MpiJob::broadcast(const std::string& text, int root, const char* what) {
    struct Memory {
        std::uint64_t length = 0;
        std::string text;
    };
    LeftToMpi<Memory> memory;
    memory->length = text.size();
    MPI_Request request = MPI_REQUEST_NULL;
    check_exchange(MPI_Ibcast(&memory->length, 1, MPI_UINT64_T, root, communicator_, &request), what);
    wait(request, exchange_limit(), what);
    memory->text = text;
    memory->text.resize(memory->length);
    check_exchange(MPI_Ibcast(memory->text.data(), static_cast<int>(memory->length), MPI_CHAR, root,
                              communicator_, &request),
                   what);
    wait(request, exchange_limit(), what);
    return memory->text;
}

void MpiJob::barrier(const char* what) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_exchange(MPI_Ibarrier(communicator_, &request), what);
    wait(request, exchange_limit(), what);
}

void MpiJob::begin_round(std::span<const std::byte> mine, const char* what) {
    if (round_ == nullptr) {
        round_ = new Round;
    }
    round_->mine.assign(mine.begin(), mine.end());
    round_->all.resize(mine.size() * static_cast<std::size_t>(size_));
    const int bytes = static_cast<int>(mine.size());
    check_exchange(MPI_Iallgather(round_->mine.data(), bytes, MPI_BYTE, round_->all.data(), bytes, MPI_BYTE,
                                  communicator_, &round_->request),
                   what);
}

std::optional<std::span<const std::byte>> MpiJob::end_round(const char* what) {
    int done = 0;
    check_exchange(MPI_Test(&round_->request, &done, MPI_STATUS_IGNORE), what);
    if (done == 0) {
        return std::nullopt;
    }
    return round_->all;
}

void MpiJob::send_block(int to, Block kind, std::span<const std::byte> bytes, const char* what) {
    LeftToMpi<std::vector<std::byte>> memory(bytes.begin(), bytes.end());
    MPI_Request request = MPI_REQUEST_NULL;
    check_exchange(MPI_Isend(memory->data(), static_cast<int>(memory->size()), MPI_BYTE, to, tag_of(kind),
                             communicator_, &request),
                   what);
    wait(request, exchange_limit(), what);
}

void MpiJob::receive_block(int from, Block kind, std::span<std::byte> bytes, core::Duration limit,
                           const char* what) {
    LeftToMpi<std::vector<std::byte>> memory(bytes.size());
    MPI_Request request = MPI_REQUEST_NULL;
    check_exchange(MPI_Irecv(memory->data(), static_cast<int>(memory->size()), MPI_BYTE, from, tag_of(kind),
                             communicator_, &request),
                   what);
    wait(request, limit, what);
    std::copy(memory->begin(), memory->end(), bytes.begin());
}

void MpiJob::end_others(int status) {
    if (before_abort_) {
        before_abort_(status);
    }
    MPI_Abort(MPI_COMM_WORLD, status);
}

// The part of MpiJob that finds out which ranks still answer after an exchange has failed. A rank whose
// exchange did not end in time notifies the leader. The leader, notified so or waiting itself, calls every
// rank; who is there, answers. Point to point, because a collective needs all ranks.

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
