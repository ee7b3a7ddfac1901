#include "simulation/network_recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "files/formatting.hpp"
#include "record/second_clock.hpp"

namespace weir::simulation {

using core::Duration;
using core::Instant;
using record::Phase;

bool NetworkRecorder::start(SwitchedCounters* counters, Instant now) {
    counters_ = counters;
    if (counters_ == nullptr) {
        return false;
    }
    second_begin_ = row_begin_ = now;
    const std::vector<std::string> columns = counters_->host_columns();
    for (const std::string& name : counters_->hosts()) {
        record::HostCounters host;
        host.host = name;
        host.file = record::host_file(name);
        host.handed_in = true;
        for (const std::string& column : columns) {
            host.sums.push_back({.column = column});
        }
        hosts_.push_back(std::move(host));
    }
    last_.assign(hosts_.size(), std::vector<std::uint64_t>(columns.size()));
    descriptions_ = counters_->switches();
    totals_.row_length = setup_.row_length;
    totals_.classes = counters_->classes();
    for (const record::SwitchHardware& description : descriptions_) {
        totals_.files.push_back(record::switch_file(description.name));
        totals_.pool = description.pool;
    }
    if (auto parallel = counters_->parallel_links(); !parallel.empty()) {
        parallel_links_.emplace(std::move(parallel));
    }
    if (!setup_.directory.empty()) {
        open_files();
    }
    return true;
}

void NetworkRecorder::open_files() {
    for (const char* part : {"hosts", "switch"}) {
        std::error_code failed;
        std::filesystem::create_directories(setup_.directory + "/" + part, failed);
        if (failed) {
            note(files::IoError{setup_.directory + "/" + part, "create", failed.value()});
            return;
        }
    }
    const std::string header = record::host_csv_header(counters_->host_columns());
    for (const record::HostCounters& host : hosts_) {
        note(host_logs_.emplace_back().open(setup_.directory + "/" + host.file, header,
                                            record::CsvLog::Writing::in_blocks));
    }
    for (const std::string& file : totals_.files) {
        note(switch_logs_.emplace_back().open(setup_.directory + "/" + file,
                                              record::switch_csv_header(descriptions_.front()),
                                              record::CsvLog::Writing::in_blocks));
    }
    if (parallel_links_) {
        note(parallel_links_log_.open(setup_.directory + "/" + record::parallel_links_file(),
                                      record::parallel_links_csv_header(),
                                      record::CsvLog::Writing::in_blocks));
    }
}

void NetworkRecorder::note(const files::MaybeIoError& error) {
    if (error && !error_) {
        error_ = error;
    }
}

Phase NetworkRecorder::phase_at(Instant begin) const {
    return record::phase_of(record::second_of(begin), setup_.duration);
}

void NetworkRecorder::close_second(Instant now) {
    if (counters_ == nullptr || now <= second_begin_) {
        return;
    }
    const std::int64_t second = record::second_of(second_begin_);
    const Phase phase = phase_at(second_begin_);
    record::CounterValues values;
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
        counters_->read_host(now, host, fresh_);
        values.clear();
        for (std::size_t column = 0; column < fresh_.size(); ++column) {
            values.emplace_back(fresh_[column] - last_[host][column]);
        }
        last_[host] = fresh_;
        hosts_[host].add(values, phase);
        if (host < host_logs_.size() && host_logs_[host].is_open()) {
            note(host_logs_[host].append(record::host_csv_line(second, phase, {}, values, values.size())));
        }
    }
    const record::LossReactions reactions = counters_->loss_reactions();
    if (phase == Phase::measure) {
        totals_.reactions.packets_sent_again +=
            reactions.packets_sent_again - last_reactions_.packets_sent_again;
        totals_.reactions.timeouts += reactions.timeouts - last_reactions_.timeouts;
    }
    last_reactions_ = reactions;
    second_begin_ = now;
}

void NetworkRecorder::close_switch_rows(Instant now) {
    if (counters_ == nullptr || now <= row_begin_) {
        return;
    }
    const Phase phase = phase_at(row_begin_);
    const Duration length = now - row_begin_;
    for (std::size_t index = 0; index < descriptions_.size(); ++index) {
        counters_->read_switch(now, index, reading_);
        if (phase == Phase::measure) {
            totals_.add(descriptions_[index], reading_, length);
        }
        write_rows(index, length, phase);
        for (const record::SwitchRow& row : reading_.rows) {
            if (parallel_links_) {
                parallel_links_->add(index, row.port, row.sent_bytes);
            }
        }
    }
    if (parallel_links_) {
        if (phase != Phase::drain) {
            counters_->failures().close_row(row_begin_, now, *parallel_links_);
        }
        write_parallel_links(length, phase);
    }
    totals_.measured += phase == Phase::measure ? length : Duration{};
    row_begin_ = now;
}

void NetworkRecorder::write_rows(std::size_t index, Duration length, Phase phase) {
    if (index >= switch_logs_.size() || !switch_logs_[index].is_open() || reading_.rows.empty()) {
        return;
    }
    if (may_write(reading_.rows.size())) {
        note(switch_logs_[index].append(
            record::switch_csv_lines(descriptions_[index], reading_, row_begin_, length, phase)));
    }
}

void NetworkRecorder::write_parallel_links(Duration length, Phase phase) {
    const std::string lines = parallel_links_->end_row(row_begin_, length, phase);
    if (parallel_links_log_.is_open() && !lines.empty() &&
        may_write(static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '\n')))) {
        note(parallel_links_log_.append(lines));
    }
}

bool NetworkRecorder::may_write(std::size_t lines) {
    lines_ += lines;
    if (lines_ > most_lines && totals_.problem.empty()) {
        totals_.problem = fmt::format("rows from {} on are left out: there are more than {}; use longer ones",
                                      files::instant((row_begin_ - Instant{}).in_seconds(), 6), most_lines);
    }
    return lines_ <= most_lines;
}

void NetworkRecorder::finish(Instant now) {
    close_second(now);
    close_switch_rows(now);
    if (counters_ != nullptr) {
        totals_.failures = counters_->failures().report(now);
    }
    for (record::CsvLog& log : host_logs_) {
        note(log.close());
    }
    for (record::CsvLog& log : switch_logs_) {
        note(log.close());
    }
    note(parallel_links_log_.close());
    if (parallel_links_) {
        totals_.parallel_links = parallel_links_->totals();
    }
}

std::optional<record::SwitchTotals> NetworkRecorder::switches() const {
    return counters_ == nullptr ? std::nullopt : std::optional(totals_);
}

}  // namespace weir::simulation
