// A recorder of a small run, and what it hands out.
#pragma once

#include <cstdint>
#include <vector>

#include "core/actions.hpp"
#include "record/latencies.hpp"
#include "record/rank_summary.hpp"
#include "test_runs.hpp"

namespace weir::record::test {

constexpr core::Instant at(double seconds) {
    return {static_cast<std::int64_t>(seconds * 1e9)};
}

inline core::Observation seen(core::Observation::Kind kind, std::int64_t bytes, core::Duration elapsed = {}) {
    return {.kind = kind, .peer = {}, .event = {}, .bytes = {bytes}, .elapsed = elapsed};
}

template <typename Recorder, typename Row, typename Id, std::uint32_t index>
struct Recorded {
    core::Plan plan = small_plan();
    Latencies latencies;
    std::vector<Row> rows;
    std::vector<LiveSample> reports;

    Recorder recorder(core::Instant start) {
        return {plan, Id{index}, start, latencies, [this](const Row& row, const LiveSample& report) {
                    rows.push_back(row);
                    reports.push_back(report);
                }};
    }
};

}  // namespace weir::record::test
