#include "loop/counter_sampler.hpp"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>

#include "host/counter_table.hpp"
#include "host/path_choice.hpp"
#include "job/mpi_choice.hpp"
#include "record/csv_log.hpp"

namespace weir::loop {

namespace {

/// A first reading later than this misses a noticeable part of its second.
constexpr auto late_reading = core::Duration::milliseconds(100);

}  // namespace

bool records_its_host(int rank, const std::vector<host::RankLocation>& locations) {
    const std::string& host = locations.at(static_cast<std::size_t>(rank)).host;
    return std::none_of(locations.begin(), locations.begin() + rank,
                        [&](const host::RankLocation& location) { return location.host == host; });
}

class CounterSampler::Work {
  public:
    explicit Work(Task task) : task_(std::move(task)) {
        result_.host = task_.host;
        result_.file = record::host_file(task_.host);
        result_.handed_in = true;
    }

    void run() {
        try {
            sample();
        } catch (const std::exception& error) {
            report(fmt::format("reading the counters failed: {}", error.what()));
        }
        const std::lock_guard lock(mutex_);
        done_ = true;
        changed_.notify_all();
    }

    void begin(const FirstRow& start) {
        const std::lock_guard lock(mutex_);
        start_ = start;
        begun_ = true;
        changed_.notify_all();
    }

    void follow(const host::CommonClock& clock) {
        const std::lock_guard lock(mutex_);
        start_.clock = clock;
    }

    record::HostCounters end(core::Instant end, core::Duration patience) {
        std::unique_lock lock(mutex_);
        end_ = std::min(end_.value_or(end), end);
        changed_.notify_all();
        if (!changed_.wait_for(lock, std::chrono::nanoseconds(patience.ns), [this] { return done_; }) &&
            result_.problem.empty()) {
            result_.problem = "the last reading did not return within " + files::readable(patience);
        }
        return result_;
    }

  private:
    void sample() {
        auto table = host::CounterTable::of_host(task_.root, *task_.calls);
        columns_ = table.columns().size();
        {
            const std::lock_guard lock(mutex_);
            result_.made_of_others = table.made_of_others();
            for (const std::string& column : table.columns()) {
                result_.sums.push_back({.column = column});
            }
        }
        keep_settings();
        if (!wait_for_start()) {
            return;
        }
        open(record::host_csv_header(table.columns()));
        std::int64_t second = first_reading(table);
        while (true) {
            const bool ends = !wait_until({(second + 1) * record::ns_per_second});
            const core::Instant before = now();
            const auto values = table.read();
            const core::Duration took = now() - before;
            std::int64_t last = record::second_of(before) - (ends ? 0 : 1);
            const auto end = ending();
            if (end) {
                last = std::min(last, record::second_of(*end));
            }
            for (; second < last; ++second) {
                put(second, {});
            }
            if (second == last) {
                put(second, values);
                keep(second, values, table.absences(), took);
                ++second;
            }
            if (ends || (end && second > record::second_of(*end))) {
                break;
            }
        }
        if (const auto error = log_.close()) {
            report(error->message());
        }
    }

    /// The second with which counting begins; those before it have empty rows.
    std::int64_t first_reading(host::CounterTable& table) {
        wait_until(start_.begin);
        const core::Instant read_at = now();
        table.read();
        std::int64_t second = record::second_of(start_.begin);
        if (read_at - start_.begin <= late_reading || ending()) {
            return second;
        }
        const std::int64_t first_whole = record::second_of(read_at) + 1;
        if (first_whole > 0) {
            report(fmt::format("the first reading was {} late; counting begins with second {}",
                               files::readable(read_at - start_.begin), first_whole));
        }
        for (; second < first_whole; ++second) {
            put(second, {});
        }
        wait_until({first_whole * record::ns_per_second});
        table.read();
        return second;
    }

    void keep_settings() {
        const host::HostSettings settings = job::host_snapshot(task_.root);
        const std::string text = host::encode_settings(settings, host::choose_paths(settings, task_.by_ucx));
        const std::lock_guard lock(mutex_);
        result_.settings = text;
    }

    void open(const std::string& header) {
        const std::string path = task_.run_directory + "/" + result_.file;
        const std::string directory = std::filesystem::path(path).parent_path().string();
        std::error_code error;
        std::filesystem::create_directories(directory, error);
        if (error) {
            report(fmt::format("cannot create {}: {}", directory, error.message()));
        } else if (const auto cannot_open = log_.open(path, header)) {
            report(cannot_open->message());
        }
    }

    void put(std::int64_t second, const std::vector<host::CounterValue>& values) {
        if (!log_.is_open()) {
            return;
        }
        const auto error = log_.append(record::host_csv_line(second, record::phase_of(second, task_.duration),
                                                             start_.second_zero_unix_ns, values, columns_));
        if (error) {
            report(error->message());
        }
    }

    void keep(std::int64_t second, const std::vector<host::CounterValue>& values,
              const std::vector<record::Absence>& absences, core::Duration took) {
        const std::lock_guard lock(mutex_);
        result_.reading_max = std::max(result_.reading_max, took);
        result_.add(values, record::phase_of(second, task_.duration));
        result_.note(absences, second, record::phase_of(second, task_.duration));
    }

    /// False: the run ended before it began.
    bool wait_for_start() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return begun_ || end_; });
        return begun_;
    }

    /// False: the run ended before `when`.
    bool wait_until(core::Instant when) {
        std::unique_lock lock(mutex_);
        while (true) {
            const core::Duration left = when - start_.clock.now();
            if (left.ns <= 0) {
                return true;
            }
            if (end_) {
                return false;
            }
            changed_.wait_for(lock, std::chrono::nanoseconds(left.ns));
        }
    }

    core::Instant now() {
        const std::lock_guard lock(mutex_);
        return start_.clock.now();
    }

    std::optional<core::Instant> ending() {
        const std::lock_guard lock(mutex_);
        return end_;
    }

    void report(const std::string& problem) {
        const std::lock_guard lock(mutex_);
        if (result_.problem.empty()) {
            result_.problem = problem;
        }
    }

    Task task_;
    std::size_t columns_ = 0;
    record::CsvLog log_;

    std::mutex mutex_;
    std::condition_variable changed_;
    FirstRow start_{.clock = host::CommonClock(0),
                    .begin = {}};  ///< but for the clock it does not change once it is there
    bool begun_ = false;
    std::optional<core::Instant> end_;
    bool done_ = false;
    record::HostCounters result_;  ///< `file` and `host` do not change
};

CounterSampler::CounterSampler(Task task) : work_(std::make_shared<Work>(std::move(task))) {
    std::thread([work = work_] { work->run(); }).detach();
}

CounterSampler::~CounterSampler() {
    static_cast<void>(stop({std::numeric_limits<std::int64_t>::min()}));
}

void CounterSampler::begin(const FirstRow& start) {
    work_->begin(start);
}

void CounterSampler::follow(const host::CommonClock& clock) {
    work_->follow(clock);
}

record::HostCounters CounterSampler::stop(core::Instant end, core::Duration patience) {
    return work_->end(end, patience);
}

}  // namespace weir::loop
