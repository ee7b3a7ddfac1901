#include "participant/rank_account.hpp"

#include <cstring>
#include <type_traits>

namespace weir::participant {

namespace {

/// visit() of each part of fixed length, in the order in which they travel.
template <typename Account, typename Visit>
void each_fixed(Account& account, Visit&& visit) {
    visit(account.summary);
    visit(account.latencies);
    visit(account.clock_error_ns);
    visit(account.started_late);
    visit(account.fault_count);
    visit(account.broken_off.taken_back_events);
    visit(account.broken_off.doubtful_events);
    visit(account.broken_off.refused_bytes);
}

/// visit() of each list, in this order. Behind the fixed parts travel the lengths of all, then what is in
/// them.
template <typename Account, typename Visit>
void each_list(Account& account, Visit&& visit) {
    visit(account.faults);
    visit(account.lost);
    visit(account.traffic);
    visit(account.pair_times);
    visit(account.event_marks);
    visit(account.datagrams);
    visit(account.log_error);
    visit(account.host_counters);
    visit(account.ucx_paths);
    visit(account.broken_off.deliveries);
    visit(account.transfers);
    visit(account.phase_ends);
    visit(account.completions);
}

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

}  // namespace

std::vector<std::byte> encode_account(const RankAccount& account) {
    std::vector<std::byte> bytes;
    each_fixed(account, [&](const auto& part) { append(bytes, &part, 1); });
    each_list(account, [&](const auto& list) {
        const std::uint64_t length = list.size();
        append(bytes, &length, 1);
    });
    each_list(account, [&](const auto& list) { append(bytes, list.data(), list.size()); });
    return bytes;
}

std::optional<RankAccount> decode_account(std::span<const std::byte> bytes) {
    RankAccount account;
    bool whole = true;
    each_fixed(account, [&](auto& part) { whole = whole && take(bytes, &part, 1); });
    each_list(account, [&](auto& list) {
        std::uint64_t length = 0;
        whole = whole && take(bytes, &length, 1) && length <= bytes.size() / sizeof(list[0]);
        list.resize(whole ? length : 0);
    });
    each_list(account, [&](auto& list) { whole = whole && take(bytes, list.data(), list.size()); });
    if (!whole || !bytes.empty() || !account.latencies.adds_up() || !record::is_traffic(account.traffic) ||
        !record::is_pair_times(account.pair_times) || !record::is_datagrams(account.datagrams)) {
        return std::nullopt;
    }
    return account;
}

}  // namespace weir::participant
