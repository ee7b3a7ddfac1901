// The least code that moves the same bytes between the same ranks: producers stream messages to all consumers
// in turn, consumers have receives posted, nothing is accounted for, and there is no scheduler. Ranks as weir
// has them: rank 0 only waits, then producers, then consumers. Prints one JSON object.
//
// The buffers of a producer are used in turn, and as many bytes of them as --buffer has, because a benchmark
// that sends the same buffer again and again measures a cache. So are those of a consumer.
#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "bare_job.hpp"

namespace {

using weir::bare::Waiting;
using Clock = std::chrono::steady_clock;

struct Options {
    int producers = 1;
    int consumers = 1;
    std::int64_t message_bytes = 1 << 20;
    std::int64_t messages_per_event = 1;  ///< as many go to one consumer before the next one's turn
    std::int64_t buffer_bytes = 256 << 20;
    std::int64_t receive_buffer_bytes = 64 << 20;
    int window = 16;  ///< messages under way: of a producer, and posted per producer by a consumer
    double warmup_s = 0.5;
    double seconds = 3;
    int nap_us = 20;
    int bystander_nap_us = 1000;  ///< of rank 0, which has nothing to do
};

/// Messages under way between this rank and others, in buffers that are used in turn. With fewer buffers than
/// messages some share one, as in IMB; what arrives is not read.
class Ring {
  public:
    Ring(std::int64_t bytes, std::int64_t message_bytes, std::size_t window)
        : message_bytes_(static_cast<std::size_t>(message_bytes)),
          buffers_(std::max(static_cast<std::size_t>(bytes) / message_bytes_, std::size_t{1})),
          memory_(buffers_ * message_bytes_, std::byte{1}),
          requests_(window, MPI_REQUEST_NULL),
          finished_(window) {}

    std::byte* next_buffer() { return memory_.data() + (next_++ % buffers_) * message_bytes_; }
    MPI_Request& request(std::size_t entry) { return requests_[entry]; }
    [[nodiscard]] std::size_t window() const { return requests_.size(); }

    /// The entries that have ended since the last call.
    std::size_t ended(const std::vector<int>*& entries) {
        int count = 0;
        MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, finished_.data(),
                     MPI_STATUSES_IGNORE);
        entries = &finished_;
        return count > 0 ? static_cast<std::size_t>(count) : 0;
    }

  private:
    std::size_t message_bytes_;
    std::size_t buffers_;
    std::vector<std::byte> memory_;
    std::vector<MPI_Request> requests_;
    std::vector<int> finished_;
    std::size_t next_ = 0;
};

class Rank {
  public:
    /// Touches all buffers.
    Rank(const Options& options, int rank)
        : options_(options), rank_(rank), waiting_(rank == 0 ? options.bystander_nap_us : options.nap_us) {
        const auto window = static_cast<std::size_t>(options.window);
        if (produces()) {
            ring_.emplace(options.buffer_bytes, options.message_bytes, window);
        } else if (consumes()) {
            const auto producers = static_cast<std::size_t>(options.producers);
            ring_.emplace(options.receive_buffer_bytes, options.message_bytes, window * producers);
        }
    }

    /// Bytes that this rank received in the measured time.
    std::int64_t run() {
        begin_ = Clock::now() + seconds(options_.warmup_s);
        end_ = begin_ + seconds(options_.seconds);
        if (produces()) {
            produce(*ring_);
        } else if (consumes()) {
            consume(*ring_);
        }
        wait_for_all([] { return false; });
        return received_bytes_;
    }

  private:
    static Clock::duration seconds(double count) {
        return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(count));
    }

    [[nodiscard]] bool produces() const { return rank_ >= 1 && rank_ <= options_.producers; }
    [[nodiscard]] bool consumes() const { return rank_ > options_.producers; }

    void produce(Ring& ring) {
        // Producers begin at different consumers.
        std::int64_t sent = rank_ * options_.messages_per_event;
        const auto send = [&](std::size_t entry) {
            const auto consumer = static_cast<int>(sent++ / options_.messages_per_event % options_.consumers);
            MPI_Isend(ring.next_buffer(), static_cast<int>(options_.message_bytes), MPI_BYTE,
                      1 + options_.producers + consumer, 0, MPI_COMM_WORLD, &ring.request(entry));
        };
        for (std::size_t entry = 0; entry < ring.window(); ++entry) {
            send(entry);
        }
        std::size_t under_way = ring.window();
        while (under_way > 0) {
            const std::vector<int>* entries = nullptr;
            const std::size_t ended = ring.ended(entries);
            const bool goes_on = Clock::now() < end_;
            for (std::size_t i = 0; i < ended; ++i) {
                if (goes_on) {
                    send(static_cast<std::size_t>((*entries)[i]));
                } else {
                    --under_way;
                }
            }
            waiting_.after(ended > 0);
        }
    }

    void consume(Ring& ring) {
        const auto receive = [&](std::size_t entry) {
            const int producer = 1 + static_cast<int>(entry) % options_.producers;
            MPI_Irecv(ring.next_buffer(), static_cast<int>(options_.message_bytes), MPI_BYTE, producer, 0,
                      MPI_COMM_WORLD, &ring.request(entry));
        };
        for (std::size_t entry = 0; entry < ring.window(); ++entry) {
            receive(entry);
        }
        const auto poll = [&] {
            const std::vector<int>* entries = nullptr;
            const std::size_t ended = ring.ended(entries);
            const Clock::time_point now = Clock::now();
            for (std::size_t i = 0; i < ended; ++i) {
                received_bytes_ += now >= begin_ && now < end_ ? options_.message_bytes : 0;
                receive(static_cast<std::size_t>((*entries)[i]));
            }
            return ended > 0;
        };
        while (Clock::now() < end_) {
            waiting_.after(poll());
        }
        // Until all have sent their last.
        wait_for_all(poll);
        for (std::size_t entry = 0; entry < ring.window(); ++entry) {
            MPI_Cancel(&ring.request(entry));
            MPI_Wait(&ring.request(entry), MPI_STATUS_IGNORE);
        }
    }

    template <typename Poll>
    void wait_for_all(Poll poll) {
        if (waited_) {
            return;
        }
        waited_ = true;
        MPI_Request barrier = MPI_REQUEST_NULL;
        MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
        for (int done = 0; done == 0;) {
            const bool worked = poll();
            MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
            waiting_.after(worked);
        }
    }

    const Options& options_;
    int rank_;
    Waiting waiting_;
    std::optional<Ring> ring_;
    Clock::time_point begin_;
    Clock::time_point end_;
    std::int64_t received_bytes_ = 0;
    bool waited_ = false;
};

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("Streams from many ranks to many, without a scheduler or an account");
    app.add_option("--producers", options.producers)->check(CLI::PositiveNumber);
    app.add_option("--consumers", options.consumers)->check(CLI::PositiveNumber);
    app.add_option("--message-bytes", options.message_bytes)->check(CLI::Range(1, 1 << 30));
    app.add_option("--messages-per-event", options.messages_per_event)->check(CLI::PositiveNumber);
    app.add_option("--buffer-bytes", options.buffer_bytes, "of a producer")->check(CLI::PositiveNumber);
    app.add_option("--receive-buffer-bytes", options.receive_buffer_bytes, "of a consumer")
        ->check(CLI::PositiveNumber);
    app.add_option("--window", options.window, "messages under way of a producer")
        ->check(CLI::Range(1, 4096));
    app.add_option("--warmup", options.warmup_s, "seconds")->check(CLI::NonNegativeNumber);
    app.add_option("--seconds", options.seconds)->check(CLI::PositiveNumber);
    app.add_option("--bystander-nap-us", options.bystander_nap_us, "of rank 0")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--nap-us", options.nap_us, "0: yield")->check(CLI::NonNegativeNumber);
    CLI11_PARSE(app, argc, argv);

    const weir::bare::Job job(&argc, &argv);
    if (!job.is_of("stream", options.producers, options.consumers)) {
        return 2;
    }
    Rank rank(options, job.rank());
    MPI_Barrier(MPI_COMM_WORLD);
    const double bytes = weir::bare::sum(static_cast<double>(rank.run()));
    const double cpu_s = weir::bare::sum(weir::bare::cpu_seconds());
    if (job.rank() == 0) {
        fmt::print("{{\"bytes_per_s\": {:.6g}, \"cpu_s\": {:.6g}}}\n", bytes / options.seconds, cpu_s);
    }
    return 0;
}
