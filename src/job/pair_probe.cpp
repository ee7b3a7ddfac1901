#include "job/pair_probe.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <array>

#include "host/common_clock.hpp"
#include "record/quantiles.hpp"

namespace weir::job {

namespace {

constexpr int message_bytes = 256 * 1024;
constexpr std::size_t window = 4;
constexpr int round_trips = 9;
/// A receive that is withdrawn completes by itself, unless a message has reached it just now.
constexpr auto withdrawal_limit = core::Duration::milliseconds(100);

/// MPI promises tags up to 32767.
int tag_of(std::size_t round, int kind) {
    return static_cast<int>(round % 8000) * 4 + kind;
}
constexpr int tag_ping = 0;
constexpr int tag_pong = 1;
constexpr int tag_data = 2;
constexpr int tag_end = 3;

/// All that MPI reads or writes in one round, with the requests that it does so for.
struct RoundMemory {
    std::array<std::vector<char>, window> data;
    std::array<MPI_Request, window> data_requests;
    char sent_token = 0;
    char received_token = 0;
    std::uint64_t count = 0;  ///< messages of the producer
    MPI_Request sending = MPI_REQUEST_NULL;
    MPI_Request receiving = MPI_REQUEST_NULL;

    RoundMemory() {
        data.fill(std::vector<char>(message_bytes, 'w'));
        data_requests.fill(MPI_REQUEST_NULL);
    }
};

class PairProber {
  public:
    PairProber(MpiJob& job, const ProbeLimits& limits)
        : job_(job), limits_(limits), memory_(std::make_unique<RoundMemory>()) {}

    /// False: the consumer did not answer in time.
    bool produce(int consumer, std::size_t round, core::Duration slice) {
        const bool answered = send_all(consumer, round, slice);
        end_round(false);
        return answered;
    }

    /// Fills in what was measured; false: the producer did not answer in time.
    bool consume(int producer, std::size_t round, host::PairProbe& result) {
        const bool answered =
            measure_round_trip(producer, round, result) && take_data(producer, round, result);
        end_round(true);
        return answered;
    }

    /// Whether a message was left behind that MPI still has.
    [[nodiscard]] bool left_something() const { return left_something_; }

  private:
    bool send_all(int consumer, std::size_t round, core::Duration slice) {
        for (int i = 0; i < round_trips; ++i) {
            if (!receive_token(consumer, tag_of(round, tag_ping)) ||
                !send_token(consumer, tag_of(round, tag_pong))) {
                return false;
            }
        }
        const std::int64_t until_ns = host::monotonic_ns() + slice.ns;
        memory_->count = 0;
        while (host::monotonic_ns() < until_ns) {
            const std::size_t place = memory_->count % window;
            if (!finish(memory_->data_requests[place], limits_.round)) {
                return false;
            }
            check_exchange(
                MPI_Isend(memory_->data[place].data(), message_bytes, MPI_CHAR, consumer,
                          tag_of(round, tag_data), job_.communicator(), &memory_->data_requests[place]),
                "probe");
            ++memory_->count;
        }
        for (MPI_Request& request : memory_->data_requests) {
            if (!finish(request, limits_.round)) {
                return false;
            }
        }
        return send(&memory_->count, sizeof memory_->count, consumer, tag_of(round, tag_end));
    }

    bool measure_round_trip(int producer, std::size_t round, host::PairProbe& result) {
        std::vector<double> times_us;
        for (int i = 0; i < round_trips; ++i) {
            const std::int64_t begin_ns = host::monotonic_ns();
            last_ping_ns_ = begin_ns;
            if (!send_token(producer, tag_of(round, tag_ping)) ||
                !receive_token(producer, tag_of(round, tag_pong))) {
                return false;
            }
            times_us.push_back(static_cast<double>(host::monotonic_ns() - begin_ns) * 1e-3);
        }
        // The first one makes the connection.
        times_us.erase(times_us.begin());
        result.round_trip_us = record::median_of(std::move(times_us));
        return true;
    }

    bool take_data(int producer, std::size_t round, host::PairProbe& result) {
        for (std::size_t place = 0; place < window; ++place) {
            post(place, producer, round);
        }
        bool all_sent = false;
        check_exchange(MPI_Irecv(&memory_->count, sizeof memory_->count, MPI_BYTE, producer,
                                 tag_of(round, tag_end), job_.communicator(), &memory_->receiving),
                       "probe");
        std::uint64_t received = 0;
        std::int64_t last_ns = host::monotonic_ns();
        while (!all_sent || received < memory_->count) {
            const std::size_t place = received % window;
            if (arrived(memory_->data_requests[place])) {
                last_ns = host::monotonic_ns();
                ++received;
                post(place, producer, round);
                continue;
            }
            if (!all_sent && arrived(memory_->receiving)) {
                all_sent = true;
                continue;
            }
            if (host::monotonic_ns() - last_ns > limits_.round.ns) {
                left_something_ = true;
                return false;
            }
            pause();
        }
        // From before the producer may have begun, because it waits for the last ping: the rate is never more
        // than the link carried. The first message is no beginning: when it is seen, more may lie in buffers
        // already.
        const auto seconds = static_cast<double>(std::max<std::int64_t>(1, last_ns - last_ping_ns_)) * 1e-9;
        result.bytes = static_cast<std::int64_t>(received) * message_bytes;
        result.bits_per_second = static_cast<double>(result.bytes) * 8 / seconds;
        return true;
    }

    void post(std::size_t place, int producer, std::size_t round) {
        check_exchange(
            MPI_Irecv(memory_->data[place].data(), message_bytes, MPI_CHAR, producer, tag_of(round, tag_data),
                      job_.communicator(), &memory_->data_requests[place]),
            "probe");
    }

    /// Withdraws the receives. Memory that MPI may still use is kept for good, and the next round has other.
    void end_round(bool consumed) {
        if (consumed) {
            for (MPI_Request& request : memory_->data_requests) {
                withdraw(request);
            }
        }
        withdraw(memory_->receiving);
        const auto& of_data = memory_->data_requests;
        const bool free = memory_->sending == MPI_REQUEST_NULL && memory_->receiving == MPI_REQUEST_NULL &&
                          std::all_of(of_data.begin(), of_data.end(),
                                      [](MPI_Request request) { return request == MPI_REQUEST_NULL; });
        if (!free) {
            left_something_ = true;
            left_.push_back(std::exchange(memory_, std::make_unique<RoundMemory>()));
        }
    }

    void withdraw(MPI_Request& request) {
        if (request != MPI_REQUEST_NULL) {
            check_exchange(MPI_Cancel(&request), "probe");
            static_cast<void>(finish(request, withdrawal_limit));
        }
    }

    bool send_token(int rank, int tag) { return send(&memory_->sent_token, 1, rank, tag); }

    bool send(const void* data, int bytes, int rank, int tag) {
        check_exchange(MPI_Isend(data, bytes, MPI_BYTE, rank, tag, job_.communicator(), &memory_->sending),
                       "probe");
        return finish(memory_->sending, limits_.answer);
    }

    bool receive_token(int rank, int tag) {
        check_exchange(MPI_Irecv(&memory_->received_token, 1, MPI_BYTE, rank, tag, job_.communicator(),
                                 &memory_->receiving),
                       "probe");
        return finish(memory_->receiving, limits_.answer);
    }

    static bool arrived(MPI_Request& request) {
        int done = 0;
        check_exchange(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "probe");
        return done != 0;
    }

    bool finish(MPI_Request& request, core::Duration limit) {
        const std::int64_t deadline_ns = host::monotonic_ns() + limit.ns;
        while (!arrived(request)) {
            if (host::monotonic_ns() > deadline_ns) {
                left_something_ = true;
                return false;
            }
            pause();
        }
        return true;
    }

    /// Answers should come at once, but the other rank may share this core.
    void pause() {
        job_.call_waiting_hook();
        sched_yield();
    }

    MpiJob& job_;
    ProbeLimits limits_;
    std::unique_ptr<RoundMemory> memory_;
    std::vector<std::unique_ptr<RoundMemory>> left_;
    std::int64_t last_ping_ns_ = 0;  ///< when the last ping of this round was sent
    bool left_something_ = false;
};

}  // namespace

PairProbes probe_pairs(MpiJob& job, const core::RoleMap& roles,
                       const std::vector<host::RankLocation>& locations, const host::ProbeRounds& rounds,
                       const ProbeLimits& limits) {
    PairProbes probes;
    // What a round has left behind, MPI may still read or write until it is finalized.
    static std::list<PairProber> probers;
    PairProber* const prober = &probers.emplace_back(job, limits);
    const core::NodeId self = roles.node(job.rank());
    const auto host_of = [&](int rank) { return locations[static_cast<std::size_t>(rank)].host; };
    const core::Duration limit_before = job.exchange_limit();
    job.set_exchange_limit(limits.round * 2);
    try {
        for (std::size_t round = 0; round < rounds.count(); ++round) {
            job.barrier("a round of the probe");
            if (self.role == core::Role::producer) {
                if (const auto consumer = rounds.consumer_of(round, self.index)) {
                    prober->produce(roles.rank(core::node_of(core::ConsumerId{*consumer})), round,
                                    rounds.slice());
                }
            } else if (self.role == core::Role::consumer) {
                if (const auto producer = rounds.producer_of(round, self.index)) {
                    const int rank = roles.rank(core::node_of(core::ProducerId{*producer}));
                    host::PairProbe result{.producer = *producer,
                                           .consumer = self.index,
                                           .producer_host = host_of(rank),
                                           .consumer_host = host_of(job.rank())};
                    result.reached = prober->consume(rank, round, result);
                    probes.pairs.push_back(result);
                }
            }
        }
        job.barrier("the end of the probe");
    } catch (const JobError& error) {
        probes.stopped = fmt::format("rank {} {}", job.rank(), error.what());
    }
    job.set_exchange_limit(limit_before);
    probes.mpi_is_clean = probes.stopped.empty() && !prober->left_something();
    return probes;
}

static void each_field(files::MaybeConst<PairProbes> auto& probes, auto&& visit) {
    visit("pairs", probes.pairs);
    visit("stopped", probes.stopped);
    visit("clean", probes.mpi_is_clean);
}

std::string encode_probes(const PairProbes& probes) {
    return files::json_text(files::json_of<nlohmann::ordered_json>(probes));
}

PairProbes decode_probes(const std::string& text) {
    return files::checked<PairProbes>(files::parse_json(text));
}

}  // namespace weir::job
