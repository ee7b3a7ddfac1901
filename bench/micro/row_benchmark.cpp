// What the rows cost a rank: closing a second of a recorder and writing the row into a file. There is one per
// second, so the time of an iteration in seconds is the share of a core.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/units.hpp"
#include "record/consumer_recorder.hpp"
#include "record/csv_log.hpp"
#include "record/producer_recorder.hpp"

namespace {

using namespace weir::core;
using namespace weir::record;

Plan plan_of_a_long_run() {
    Plan plan;
    plan.producers = 14;
    plan.consumers = 72;
    plan.streams = 4;
    plan.slots = 4;
    plan.buffer = Bytes{1} * (std::int64_t{1} << 30);
    plan.slot_size = plan.chunk_size = Bytes{1 << 20};
    plan.interval = Duration::seconds(1);
    plan.duration = Duration::seconds(1000000000);
    return plan;
}

class TemporaryFile {
  public:
    explicit TemporaryFile(Role role)
        : path_((std::filesystem::temp_directory_path() / "weir-row-benchmark.csv").string()) {
        if (log_.open(path_, role, 0)) {
            std::abort();
        }
    }
    ~TemporaryFile() { std::filesystem::remove(path_); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    template <typename Row>
    void write(const Row& row) {
        if (log_.write(row)) {
            std::abort();
        }
    }

  private:
    std::string path_;
    CsvLog log_;
};

void row_of_a_producer(benchmark::State& state) {
    const Plan plan = plan_of_a_long_run();
    Latencies latencies;
    TemporaryFile file(Role::producer);
    ProducerRecorder recorder(plan, {0}, Instant{0}, latencies,
                              [&](const ProducerRow& row, const LiveSample&) { file.write(row); });
    std::int64_t second = 0;
    for (auto _ : state) {
        recorder.advance(Instant{} + Duration::seconds(++second));
    }
}
BENCHMARK(row_of_a_producer);

void row_of_a_consumer(benchmark::State& state) {
    const Plan plan = plan_of_a_long_run();
    Latencies latencies;
    TemporaryFile file(Role::consumer);
    ConsumerRecorder recorder(plan, {0}, Instant{0}, latencies,
                              [&](const ConsumerRow& row, const LiveSample&) { file.write(row); });
    std::int64_t second = 0;
    for (auto _ : state) {
        recorder.advance(Instant{} + Duration::seconds(++second));
    }
}
BENCHMARK(row_of_a_consumer);

}  // namespace
