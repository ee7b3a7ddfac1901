// The rows of one rank, as far as a twin needs them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "files/formatting.hpp"
#include "record/rows.hpp"
#include "twin/shown_run.hpp"

namespace weir::twin {

namespace {

std::vector<std::string_view> cells_of(std::string_view line) {
    std::vector<std::string_view> cells;
    for (;;) {
        const std::size_t comma = line.find(',');
        cells.push_back(line.substr(0, comma));
        if (comma == std::string_view::npos) {
            return cells;
        }
        line.remove_prefix(comma + 1);
    }
}

/// Lines of a file, and what stands in a column.
class Rows {
  public:
    Rows(const std::string& file, std::string_view csv) : file_(file), rest_(csv) {
        if (!next()) {
            throw Unreadable(
                fmt::format("{}: it is empty; it should begin with the names of columns", file_));
        }
        names_ = cells_;
    }

    bool next() {
        if (rest_.empty()) {
            return false;
        }
        const std::size_t end = std::min(rest_.find('\n'), rest_.size());
        cells_ = cells_of(rest_.substr(0, end));
        rest_.remove_prefix(std::min(end + 1, rest_.size()));
        ++line_;
        if (!names_.empty() && cells_.size() != names_.size()) {
            throw Unreadable(fmt::format("{}: line {} has {} cells; right would be {}", file_, line_,
                                         cells_.size(), names_.size()));
        }
        return true;
    }

    [[nodiscard]] std::string_view text(std::string_view column) const {
        const auto found = std::find(names_.begin(), names_.end(), column);
        return found == names_.end() ? std::string_view{}
                                     : cells_[static_cast<std::size_t>(found - names_.begin())];
    }

    /// Nothing: there is no such column, or the cell is empty.
    [[nodiscard]] std::optional<double> number(std::string_view column) const {
        const std::string_view cell = text(column);
        if (cell.empty()) {
            return std::nullopt;
        }
        const std::optional<double> value = files::number_in<double>(cell);
        if (!value || !std::isfinite(*value) || std::abs(*value) > 1e18) {
            throw Unreadable(
                fmt::format("{}: line {}: '{}' is not a number for {}", file_, line_, cell, column));
        }
        return *value;
    }
    [[nodiscard]] double number_or_0(std::string_view column) const { return number(column).value_or(0); }

  private:
    const std::string& file_;
    std::string_view rest_;
    std::vector<std::string_view> names_;
    std::vector<std::string_view> cells_;
    std::size_t line_ = 0;
};

/// The rows have the longest stall of each second, the record their sum: if that is more, the others were
/// alike.
void spread_stalls(const ShownRank& rank, std::vector<ShownStall> longest, ShownRun& run) {
    double sum = 0;
    for (const ShownStall& stall : longest) {
        sum += stall.length_s;
    }
    const double most = 64;
    const auto each =
        static_cast<int>(std::clamp(std::round(rank.stalled_s / std::max(sum, 1e-9)), 1.0, most));
    for (const ShownStall& stall : longest) {
        for (int i = 0; i < each; ++i) {
            ShownStall one = stall;
            if (each > 1) {
                one.end_s = std::floor(stall.end_s) + (i + 1.0) / each;
                one.length_s = std::min(one.length_s, 0.98 / each);
            }
            run.stalls.push_back(one);
        }
    }
}

}  // namespace

void read_rows(ShownRun& run, std::size_t index, std::string_view csv) {
    ShownRank& rank = run.ranks.at(index);
    rank.processed_events = rank.processing_s = rank.handling_s = rank.messages = 0;
    rank.seconds.clear();
    const bool sends = rank.node.role == core::Role::producer;
    std::vector<ShownStall> longest;
    Rows rows(rank.file, csv);
    while (rows.next()) {
        const double second = rows.number_or_0("second");
        const double gap_s = rows.number_or_0("poll_gap_max_us") * 1e-6;
        const double end_s = second + std::clamp(rows.number("poll_gap_end_s").value_or(0.5), 0.0, 1.0);
        // One that ends in the drain matters if it began before.
        if (gap_s >= record::PollGaps::stall.in_seconds() && end_s - gap_s < run.duration_s) {
            longest.push_back({rank.node, end_s, gap_s});
        }
        rank.processed_events += rows.number_or_0("processed_events");
        rank.processing_s += rows.number_or_0("processing_s");
        const std::string_view phase = rows.text("phase");
        const double covered_s = rows.number_or_0("covered_s");
        rank.seconds.push_back({.begin_s = phase == "warmup" ? second + 1 - covered_s : second,
                                .covered_s = covered_s,
                                .bits = 8 * rows.number_or_0(sends ? "sent_bytes" : "received_bytes"),
                                .moving_s = rows.number_or_0(sends ? "sending_s" : "receiving_s"),
                                .measured = phase == "measure"});
        if (!rank.seconds.back().measured) {
            continue;
        }
        rank.handling_s += rows.number_or_0("handling_s");
        rank.messages += rows.number_or_0("ready_messages") + rows.number_or_0("offer_messages") +
                         rows.number_or_0("done_messages");
    }
    spread_stalls(rank, std::move(longest), run);
}

}  // namespace weir::twin
