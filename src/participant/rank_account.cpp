#include "participant/rank_account.hpp"

#include <cstring>
#include <type_traits>

namespace weir::participant {

namespace {

struct FixedPart {
    telemetry::RankSummary summary;
    telemetry::Latencies latencies;
    std::int64_t clock_error_ns = 0;
    core::Duration started_late;
    std::uint64_t fault_count = 0;
    std::uint64_t taken_back_events = 0;
    std::uint64_t doubtful_events = 0;
    core::Bytes refused_bytes;
    std::uint64_t faults = 0;
    std::uint64_t lost = 0;
    std::uint64_t traffic = 0;
    std::uint64_t event_marks = 0;
    std::uint64_t datagrams = 0;
    std::uint64_t log_error = 0;
    std::uint64_t host_counters = 0;
    std::uint64_t ucx_paths = 0;
    std::uint64_t broken_deliveries = 0;
    std::uint64_t transfers = 0;
    std::uint64_t phase_ends = 0;
    std::uint64_t completions = 0;
};
static_assert(std::is_trivially_copyable_v<FixedPart>);

template <typename T>
void append(std::vector<std::byte>& bytes, const T* items, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::size_t place = bytes.size();
    bytes.resize(place + count * sizeof(T));
    if (count > 0) {
        std::memcpy(bytes.data() + place, items, count * sizeof(T));
    }
}

template <typename T>
bool take(std::span<const std::byte>& bytes, T* items, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (bytes.size() / sizeof(T) < count) {
        return false;
    }
    if (count > 0) {
        std::memcpy(items, bytes.data(), count * sizeof(T));
    }
    bytes = bytes.subspan(count * sizeof(T));
    return true;
}

template <typename Container>
bool take_all(std::span<const std::byte>& bytes, Container& items, std::uint64_t count) {
    if (count > bytes.size()) {
        return false;
    }
    items.resize(count);
    return take(bytes, items.data(), items.size());
}

}  // namespace

std::vector<std::byte> encode_account(const RankAccount& account) {
    const BrokenOff& broken_off = account.broken_off;
    const FixedPart fixed{account.summary,
                          account.latencies,
                          account.clock_error_ns,
                          account.started_late,
                          account.fault_count,
                          broken_off.taken_back_events,
                          broken_off.doubtful_events,
                          broken_off.refused_bytes,
                          account.faults.size(),
                          account.lost.size(),
                          account.traffic.size(),
                          account.event_marks.size(),
                          account.datagrams.size(),
                          account.log_error.size(),
                          account.host_counters.size(),
                          account.ucx_paths.size(),
                          broken_off.deliveries.size(),
                          account.transfers.size(),
                          account.phase_ends.size(),
                          account.completions.size()};
    std::vector<std::byte> bytes;
    append(bytes, &fixed, 1);
    append(bytes, account.faults.data(), account.faults.size());
    append(bytes, account.lost.data(), account.lost.size());
    append(bytes, account.traffic.data(), account.traffic.size());
    append(bytes, account.event_marks.data(), account.event_marks.size());
    append(bytes, account.datagrams.data(), account.datagrams.size());
    append(bytes, account.log_error.data(), account.log_error.size());
    append(bytes, account.host_counters.data(), account.host_counters.size());
    append(bytes, account.ucx_paths.data(), account.ucx_paths.size());
    append(bytes, account.broken_off.deliveries.data(), account.broken_off.deliveries.size());
    append(bytes, account.transfers.data(), account.transfers.size());
    append(bytes, account.phase_ends.data(), account.phase_ends.size());
    append(bytes, account.completions.data(), account.completions.size());
    return bytes;
}

std::optional<RankAccount> decode_account(std::span<const std::byte> bytes) {
    FixedPart fixed;
    if (!take(bytes, &fixed, 1)) {
        return std::nullopt;
    }
    RankAccount account;
    account.summary = fixed.summary;
    account.latencies = fixed.latencies;
    account.clock_error_ns = fixed.clock_error_ns;
    account.started_late = fixed.started_late;
    account.fault_count = fixed.fault_count;
    account.broken_off.taken_back_events = fixed.taken_back_events;
    account.broken_off.doubtful_events = fixed.doubtful_events;
    account.broken_off.refused_bytes = fixed.refused_bytes;
    if (!take_all(bytes, account.faults, fixed.faults) || !take_all(bytes, account.lost, fixed.lost) ||
        !take_all(bytes, account.traffic, fixed.traffic) ||
        !take_all(bytes, account.event_marks, fixed.event_marks) ||
        !take_all(bytes, account.datagrams, fixed.datagrams) ||
        !take_all(bytes, account.log_error, fixed.log_error) ||
        !take_all(bytes, account.host_counters, fixed.host_counters) ||
        !take_all(bytes, account.ucx_paths, fixed.ucx_paths) ||
        !take_all(bytes, account.broken_off.deliveries, fixed.broken_deliveries) ||
        !take_all(bytes, account.transfers, fixed.transfers) ||
        !take_all(bytes, account.phase_ends, fixed.phase_ends) ||
        !take_all(bytes, account.completions, fixed.completions) || !bytes.empty() ||
        !account.latencies.adds_up() || !telemetry::is_traffic(account.traffic) ||
        !telemetry::is_datagrams(account.datagrams)) {
        return std::nullopt;
    }
    return account;
}

}  // namespace weir::participant
