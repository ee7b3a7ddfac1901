#include "runtime/pair_probe.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "runtime/common_clock.hpp"

namespace weir::runtime {

namespace {

constexpr int message_bytes = 256 * 1024;
constexpr std::size_t window = 4;
constexpr int round_trips = 9;
constexpr auto answer_limit = core::Duration::seconds(3);
constexpr auto round_limit = core::Duration::seconds(10);

/// MPI promises tags up to 32767.
int tag_of(std::size_t round, int kind) {
    return static_cast<int>(round % 8000) * 4 + kind;
}
constexpr int tag_ping = 0;
constexpr int tag_pong = 1;
constexpr int tag_data = 2;
constexpr int tag_end = 3;

class PairProber {
  public:
    explicit PairProber(Job& job) : job_(job), buffers_(window, std::vector<char>(message_bytes, 'w')) {}

    /// False: the consumer did not answer in time.
    bool produce(int consumer, std::size_t round, core::Duration slice) {
        char nothing = 0;
        for (int i = 0; i < round_trips; ++i) {
            if (!receive(&nothing, 1, consumer, tag_of(round, tag_ping), answer_limit) ||
                !send(&nothing, 1, consumer, tag_of(round, tag_pong), answer_limit)) {
                return false;
            }
        }
        const std::int64_t until_ns = monotonic_ns() + slice.ns;
        std::array<MPI_Request, window> under_way;
        under_way.fill(MPI_REQUEST_NULL);
        std::uint64_t sent = 0;
        while (monotonic_ns() < until_ns) {
            const std::size_t place = sent % window;
            if (!finish(under_way[place], round_limit)) {
                return false;
            }
            check_mpi(MPI_Isend(buffers_[place].data(), message_bytes, MPI_CHAR, consumer,
                                tag_of(round, tag_data), job_.communicator(), &under_way[place]),
                      "probe");
            ++sent;
        }
        for (MPI_Request& request : under_way) {
            if (!finish(request, round_limit)) {
                return false;
            }
        }
        return send(&sent, sizeof sent, consumer, tag_of(round, tag_end), answer_limit);
    }

    /// Fills in what was measured; false: the producer did not answer in time.
    bool consume(int producer, std::size_t round, preflight::PairProbe& result) {
        char nothing = 0;
        std::vector<double> times_us;
        for (int i = 0; i < round_trips; ++i) {
            const std::int64_t begin_ns = monotonic_ns();
            if (!send(&nothing, 1, producer, tag_of(round, tag_ping), answer_limit) ||
                !receive(&nothing, 1, producer, tag_of(round, tag_pong), answer_limit)) {
                return false;
            }
            times_us.push_back(static_cast<double>(monotonic_ns() - begin_ns) * 1e-3);
        }
        // The first one makes the connection.
        times_us.erase(times_us.begin());
        std::nth_element(times_us.begin(), times_us.begin() + round_trips / 2, times_us.end());
        result.round_trip_us = times_us[round_trips / 2];
        return take_data(producer, round, result);
    }

    /// Whether a message was left behind that MPI still has.
    [[nodiscard]] bool left_something() const { return left_something_; }

  private:
    bool take_data(int producer, std::size_t round, preflight::PairProbe& result) {
        std::array<MPI_Request, window> posted;
        for (std::size_t place = 0; place < window; ++place) {
            post(posted[place], place, producer, round);
        }
        std::uint64_t expected = 0;
        bool all_sent = false;
        MPI_Request end = MPI_REQUEST_NULL;
        check_mpi(MPI_Irecv(&expected, sizeof expected, MPI_BYTE, producer, tag_of(round, tag_end),
                            job_.communicator(), &end),
                  "probe");
        std::uint64_t received = 0;
        std::int64_t first_ns = 0;
        std::int64_t last_ns = monotonic_ns();
        const std::int64_t begin_ns = last_ns;
        while (!all_sent || received < expected) {
            const std::size_t place = received % window;
            if (arrived(posted[place])) {
                last_ns = monotonic_ns();
                first_ns = received == 0 ? last_ns : first_ns;
                ++received;
                post(posted[place], place, producer, round);
                continue;
            }
            if (!all_sent && arrived(end)) {
                all_sent = true;
                continue;
            }
            if (monotonic_ns() - last_ns > round_limit.ns) {
                left_something_ = true;
                return false;
            }
            pause();
        }
        for (MPI_Request& request : posted) {
            MPI_Cancel(&request);
            if (!finish(request, answer_limit)) {
                return false;
            }
        }
        // From the first message to the last: what comes before belongs to the round's beginning.
        const bool several = received > 1 && last_ns > first_ns;
        const auto counted = static_cast<double>(several ? received - 1 : received) * message_bytes;
        const auto seconds =
            static_cast<double>(std::max<std::int64_t>(1, last_ns - (several ? first_ns : begin_ns))) * 1e-9;
        result.bytes = static_cast<std::int64_t>(received) * message_bytes;
        result.bits_per_second = counted * 8 / seconds;
        return true;
    }

    void post(MPI_Request& request, std::size_t place, int producer, std::size_t round) {
        check_mpi(MPI_Irecv(buffers_[place].data(), message_bytes, MPI_CHAR, producer,
                            tag_of(round, tag_data), job_.communicator(), &request),
                  "probe");
    }

    bool send(const void* data, int bytes, int rank, int tag, core::Duration limit) {
        MPI_Request request = MPI_REQUEST_NULL;
        check_mpi(MPI_Isend(data, bytes, MPI_BYTE, rank, tag, job_.communicator(), &request), "probe");
        return finish(request, limit);
    }

    bool receive(void* data, int bytes, int rank, int tag, core::Duration limit) {
        MPI_Request request = MPI_REQUEST_NULL;
        check_mpi(MPI_Irecv(data, bytes, MPI_BYTE, rank, tag, job_.communicator(), &request), "probe");
        return finish(request, limit);
    }

    static bool arrived(MPI_Request& request) {
        int done = 0;
        check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "probe");
        return done != 0;
    }

    bool finish(MPI_Request& request, core::Duration limit) {
        const std::int64_t deadline_ns = monotonic_ns() + limit.ns;
        while (!arrived(request)) {
            if (monotonic_ns() > deadline_ns) {
                left_something_ = true;
                return false;
            }
            pause();
        }
        return true;
    }

    /// Answers should come at once, but the other rank may share this core.
    void pause() {
        job_.waiting();
        sched_yield();
    }

    Job& job_;
    std::vector<std::vector<char>> buffers_;
    bool left_something_ = false;
};

}  // namespace

PairProbes probe_pairs(Job& job, const core::RoleMap& roles, const std::vector<Place>& places,
                       const preflight::ProbeRounds& rounds) {
    PairProbes probes;
    // A message that was left behind may still be read or written by MPI.
    static std::optional<PairProber> prober;
    prober.emplace(job);
    const core::NodeId self = roles.node(job.rank());
    const auto host_of = [&](int rank) { return places[static_cast<std::size_t>(rank)].host; };
    const core::Duration limit_before = job.exchange_limit();
    job.set_exchange_limit(round_limit + round_limit);
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
                    preflight::PairProbe result{.producer = *producer,
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

std::string encode_probes(const PairProbes& probes) {
    nlohmann::json pairs = nlohmann::json::array();
    for (const preflight::PairProbe& pair : probes.pairs) {
        pairs.push_back({pair.producer, pair.consumer, pair.producer_host, pair.consumer_host, pair.reached,
                         pair.round_trip_us, pair.bits_per_second, pair.bytes});
    }
    return nlohmann::json{
        {"pairs", std::move(pairs)}, {"stopped", probes.stopped}, {"clean", probes.mpi_is_clean}}
        .dump();
}

PairProbes decode_probes(const std::string& text) {
    const auto json = nlohmann::json::parse(text);
    PairProbes probes;
    json.at("stopped").get_to(probes.stopped);
    json.at("clean").get_to(probes.mpi_is_clean);
    for (const auto& entry : json.at("pairs")) {
        preflight::PairProbe pair;
        entry.at(0).get_to(pair.producer);
        entry.at(1).get_to(pair.consumer);
        entry.at(2).get_to(pair.producer_host);
        entry.at(3).get_to(pair.consumer_host);
        entry.at(4).get_to(pair.reached);
        entry.at(5).get_to(pair.round_trip_us);
        entry.at(6).get_to(pair.bits_per_second);
        entry.at(7).get_to(pair.bytes);
        probes.pairs.push_back(std::move(pair));
    }
    return probes;
}

}  // namespace weir::runtime
