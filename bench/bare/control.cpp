// What three messages per event cost by themselves: rank 0 sends a grant to a producer, the producer an event
// to a consumer, the consumer a done message to rank 0, which gives the next grant. As many events are under
// way as weir has slots. No account, no decision, no batches. Prints one JSON object.
#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "bare_job.hpp"

namespace {

using Clock = std::chrono::steady_clock;

struct Options {
    int producers = 1;
    int consumers = 1;
    int slots = 4;
    int event_bytes = 1024;
    double warmup_s = 0.5;
    double seconds = 3;
    int nap_us = 20;
};

/// As long as weir's control messages.
constexpr int control_bytes = 48;
constexpr int stop = -1;
enum Tag : int { control_tag, event_tag };

/// Receives from anybody that are posted again as they end, and sends in buffers of their own. `bytes`: the
/// longest message, either way.
class Post {
  public:
    Post(int tag, int bytes, std::size_t depth)
        : tag_(tag),
          bytes_(bytes),
          memory_(2 * depth * static_cast<std::size_t>(bytes), std::byte{0}),
          receives_(depth),
          sends_(depth, MPI_REQUEST_NULL),
          finished_(depth) {
        for (std::size_t entry = 0; entry < depth; ++entry) {
            receive(entry);
        }
    }
    Post(const Post&) = delete;
    Post& operator=(const Post&) = delete;
    ~Post() {
        MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE);
        for (MPI_Request& request : receives_) {
            MPI_Cancel(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }

    /// Sends `value` in front of a message of the usual length; waits if all sends are under way.
    void send(int to, int tag, int bytes, int value) {
        const std::size_t entry = next_++ % sends_.size();
        MPI_Wait(&sends_[entry], MPI_STATUS_IGNORE);
        std::byte* const memory = buffer(receives_.size() + entry);
        std::memcpy(memory, &value, sizeof value);
        MPI_Isend(memory, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &sends_[entry]);
    }

    /// Calls `take(value)` for each message that is there; true if there were any.
    template <typename Take>
    bool poll(Take take) {
        int count = 0;
        MPI_Testsome(static_cast<int>(receives_.size()), receives_.data(), &count, finished_.data(),
                     MPI_STATUSES_IGNORE);
        for (int i = 0; i < count; ++i) {
            const auto entry = static_cast<std::size_t>(finished_[static_cast<std::size_t>(i)]);
            int value = 0;
            std::memcpy(&value, buffer(entry), sizeof value);
            receive(entry);
            take(value);
        }
        return count > 0;
    }

  private:
    std::byte* buffer(std::size_t entry) { return memory_.data() + entry * static_cast<std::size_t>(bytes_); }
    void receive(std::size_t entry) {
        MPI_Irecv(buffer(entry), bytes_, MPI_BYTE, MPI_ANY_SOURCE, tag_, MPI_COMM_WORLD, &receives_[entry]);
    }

    int tag_;
    int bytes_;
    std::vector<std::byte> memory_;
    std::vector<MPI_Request> receives_;
    std::vector<MPI_Request> sends_;
    std::vector<int> finished_;
    std::size_t next_ = 0;
};

/// Grants by turns until the time is over, then waits for what is under way. Returns events in the measured
/// time.
std::int64_t schedule(const Options& options) {
    const int most = options.slots * options.consumers;
    Post post(control_tag, control_bytes, static_cast<std::size_t>(std::max(most, 64)));
    weir::bare::Waiting waiting(options.nap_us);
    const auto begin = Clock::now() + std::chrono::duration<double>(options.warmup_s);
    const auto end = begin + std::chrono::duration<double>(options.seconds);
    std::int64_t events = 0;
    int producer = 0;
    int under_way = 0;
    const auto grant = [&](int consumer) {
        post.send(1 + producer, control_tag, control_bytes, consumer);
        producer = (producer + 1) % options.producers;
        ++under_way;
    };
    for (int event = 0; event < most; ++event) {
        grant(event % options.consumers);
    }
    while (under_way > 0) {
        const auto now = Clock::now();
        waiting.after(post.poll([&](int consumer) {
            events += now >= begin && now < end ? 1 : 0;
            --under_way;
            if (now < end) {
                grant(consumer);
            }
        }));
    }
    for (int rank = 1; rank <= options.producers + options.consumers; ++rank) {
        const bool produces = rank <= options.producers;
        post.send(rank, produces ? control_tag : event_tag, control_bytes, stop);
    }
    return events;
}

void answer(const Options& options, int rank) {
    const bool produces = rank <= options.producers;
    const int consumer = rank - options.producers - 1;
    const auto depth = static_cast<std::size_t>(std::max(options.slots * options.consumers, 64));
    Post post(produces ? control_tag : event_tag, std::max(options.event_bytes, control_bytes), depth);
    weir::bare::Waiting waiting(options.nap_us);
    for (bool goes_on = true; goes_on;) {
        waiting.after(post.poll([&](int value) {
            if (value == stop) {
                goes_on = false;
            } else if (produces) {
                post.send(1 + options.producers + value, event_tag, options.event_bytes, value);
            } else {
                post.send(0, control_tag, control_bytes, consumer);
            }
        }));
    }
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("Grant, event, done: the messages of a scheduler without the scheduler");
    app.add_option("--producers", options.producers)->check(CLI::PositiveNumber);
    app.add_option("--consumers", options.consumers)->check(CLI::PositiveNumber);
    app.add_option("--slots", options.slots, "of a consumer")->check(CLI::Range(1, 1024));
    app.add_option("--event-bytes", options.event_bytes)->check(CLI::Range(control_bytes, 1 << 20));
    app.add_option("--warmup", options.warmup_s, "seconds")->check(CLI::NonNegativeNumber);
    app.add_option("--seconds", options.seconds)->check(CLI::PositiveNumber);
    app.add_option("--nap-us", options.nap_us, "0: yield")->check(CLI::NonNegativeNumber);
    CLI11_PARSE(app, argc, argv);

    const weir::bare::Job job(&argc, &argv);
    if (!job.is_of("control", options.producers, options.consumers)) {
        return 2;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    std::int64_t events = 0;
    if (job.rank() == 0) {
        events = schedule(options);
    } else {
        answer(options, job.rank());
    }
    const double cpu_s = weir::bare::sum(weir::bare::cpu_seconds());
    if (job.rank() == 0) {
        fmt::print("{{\"events_per_s\": {:.6g}, \"cpu_s\": {:.6g}}}\n",
                   static_cast<double>(events) / options.seconds, cpu_s);
    }
    return 0;
}
