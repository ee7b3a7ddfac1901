#include "record/pairs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <queue>
#include <utility>

namespace weir::record {

using core::Observation;

namespace {

using Json = nlohmann::ordered_json;

std::int64_t signed_of(std::uint64_t value) {
    return static_cast<std::int64_t>(value);
}

/// What the counters of one host explain.
DatagramLosses losses_on(const HostCounters& host) {
    DatagramLosses losses;
    std::int64_t receive_errors = 0;
    std::int64_t buffer_errors = 0;
    for (const CounterSum& counter : host.sums) {
        const std::string_view column = counter.column;
        const std::int64_t count = signed_of(counter.whole_run.value_or(0));
        if (column == "udp.receive_errors") {
            receive_errors = count;
        } else if (column == "udp.receive_buffer_errors") {
            buffer_errors = count;  // sockets' own counts show whose
        } else if (column == "ip.reassembly_failures") {
            losses.reassembly += count;
        } else if (column == "softnet.dropped") {
            losses.softnet += count;
        } else if (counter_of(column) == "qdisc_drops") {
            losses.qdisc += count;
        } else if (meaning_of(column) == CounterMeaning::dropped && !is_protocol(source_of(column))) {
            losses.interface += count;
        }
    }
    losses.udp = std::max<std::int64_t>(0, receive_errors - buffer_errors);
    return losses;
}

void add_hosts(std::span<const HostCounters> hosts, DatagramAccount& account) {
    for (const HostCounters& host : hosts) {
        if (!host.handed_in) {
            ++account.hosts_without_counters;
            continue;
        }
        core::combine_fields(account.explained, losses_on(host), std::plus{});
    }
}

template <typename Value>
Value least_known(Value so_far, Value value) {
    return so_far == 0 || (value != 0 && value < so_far) ? value : so_far;
}

void add_note_on_buffers(core::Bytes asked, DatagramAccount& account) {
    // The kernel doubles what it is asked for, for its own bookkeeping.
    const std::int64_t wanted = asked.count;
    const auto capped = [&](std::int64_t given) { return given != 0 && given / 2 < wanted; };
    const auto add = [&](const char* what, std::int64_t given, const char* setting) {
        account.notes.push_back(
            fmt::format("the kernel limited the {} buffer of sockets to {} of the requested {}: raise {} "
                        "to {} on all hosts",
                        what, files::readable(core::Bytes{given / 2}), files::exact(asked), setting, wanted));
    };
    if (capped(account.receive_buffer_bytes)) {
        add("receive", account.receive_buffer_bytes, "net.core.rmem_max");
    }
    if (capped(account.send_buffer_bytes)) {
        add("send", account.send_buffer_bytes, "net.core.wmem_max");
    }
}

void add_note_on_strays(DatagramAccount& account) {
    if (account.run.strays > 0) {
        account.notes.push_back(fmt::format(
            "{} more came into the run's sockets from elsewhere, and were thrown away", account.run.strays));
    }
}

double rate(std::uint64_t count, core::Duration time) {
    return time.ns > 0 ? static_cast<double>(count) / time.in_seconds() : 0;
}

core::BitRate bit_rate(std::uint64_t bytes, core::Duration time) {
    return rate_of(core::Bytes{signed_of(bytes)}, time);
}

}  // namespace

PeerDatagrams& PeerDatagrams::operator+=(const PeerDatagrams& other) {
    sent += other.sent;
    sent_again += other.sent_again;
    received += other.received;
    duplicate += other.duplicate;
    late += other.late;
    corrupt += other.corrupt;
    return *this;
}

std::int64_t PeerDatagrams::missing() const {
    const std::uint64_t arrived = received + late + corrupt + std::min(duplicate, sent_again);
    return static_cast<std::int64_t>(sent + sent_again) - static_cast<std::int64_t>(arrived);
}

bool is_datagrams(std::span<const PeerDatagrams> entries) {
    return std::adjacent_find(entries.begin(), entries.end(),
                              [](const PeerDatagrams& a, const PeerDatagrams& b) {
                                  return a.peer >= b.peer;
                              }) == entries.end();
}

void DatagramMatrix::add(core::NodeId node, std::span<const PeerDatagrams> entries) {
    for (const PeerDatagrams& entry : entries) {
        const auto pair = node.role == core::Role::producer ? std::pair(node.index, entry.peer)
                                                            : std::pair(entry.peer, node.index);
        pairs_[pair] += entry;
    }
}

PeerDatagrams DatagramMatrix::sum() const {
    PeerDatagrams sum;
    for (const auto& [pair, counted] : pairs_) {
        sum += counted;
    }
    return sum;
}

std::int64_t DatagramMatrix::missing() const {
    std::int64_t missing = 0;
    for (const auto& [pair, counted] : pairs_) {
        missing += std::max<std::int64_t>(0, counted.missing());
    }
    return missing;
}

files::MaybeIoError write_datagrams_csv(const std::string& path, const DatagramMatrix& matrix) {
    files::WholeFile file(path);
    file.put("producer,consumer,sent,sent_again,received,missing,duplicate,late,corrupt\n");
    for (const auto& [pair, counted] : matrix.pairs()) {
        file.put(fmt::format("{},{},{},{},{},{},{},{},{}\n", pair.first, pair.second, counted.sent,
                             counted.sent_again, counted.received, counted.missing(), counted.duplicate,
                             counted.late, counted.corrupt));
    }
    return file.finish();
}

DatagramRecorder::DatagramRecorder(const core::Plan& plan, std::uint32_t peers) {
    by_peer_.resize(plan.lossy() ? peers : 0);
    for (std::uint32_t peer = 0; peer < by_peer_.size(); ++peer) {
        by_peer_[peer].peer = peer;
    }
}

void DatagramRecorder::count(const Observation& observation, DatagramCounts& second) {
    if (observation.peer.index >= by_peer_.size()) {
        return;
    }
    PeerDatagrams& peer = by_peer_[observation.peer.index];
    switch (observation.kind) {
        case Observation::Kind::chunk_sent:
            peer.sent += observation.chunks;
            break;
        case Observation::Kind::chunk_sent_again:
            peer.sent_again += observation.chunks;
            break;
        case Observation::Kind::chunk_received:
            peer.received += observation.chunks;
            second.received += observation.chunks;
            break;
        case Observation::Kind::chunk_duplicate:
            peer.duplicate += observation.chunks;
            second.duplicate += observation.chunks;
            break;
        case Observation::Kind::chunk_late:
            peer.late += observation.chunks;
            second.late += observation.chunks;
            break;
        case Observation::Kind::chunk_corrupt:
            peer.corrupt += observation.chunks;
            second.corrupt += observation.chunks;
            break;
        default:
            break;
    }
}

void DatagramRecorder::socket(const core::SocketState& state, DatagramCounts& second) {
    second.sent += state.sent_datagrams - seen_.sent_datagrams;
    second.sent_bytes += state.sent_bytes - seen_.sent_bytes;
    second.sent_frames += state.sent_frames - seen_.sent_frames;
    second.wire_bytes += state.wire_bytes - seen_.wire_bytes;
    second.send_retries += state.send_retries - seen_.send_retries;
    second.strays += state.strays - seen_.strays;
    second.socket_drops += state.receive_drops - seen_.receive_drops;
    const std::int64_t most_bytes = std::max(seen_.occupancy_bytes, state.occupancy_bytes);
    seen_ = state;
    seen_.occupancy_bytes = most_bytes;
}

std::vector<PeerDatagrams> DatagramRecorder::entries() const {
    std::vector<PeerDatagrams> counted;
    std::copy_if(by_peer_.begin(), by_peer_.end(), std::back_inserter(counted),
                 [](const PeerDatagrams& peer) { return peer != PeerDatagrams{.peer = peer.peer}; });
    return counted;
}

DatagramAccount account_for_datagrams(std::span<const RankRecord> ranks, const DatagramMatrix& matrix,
                                      std::span<const HostCounters> hosts, core::Bytes socket_buffer_asked) {
    DatagramAccount account;
    account.totals = matrix.sum();
    account.missing = matrix.missing();
    account.pairs = matrix.pairs().size();
    account.lossy_pairs =
        static_cast<std::size_t>(std::count_if(matrix.pairs().begin(), matrix.pairs().end(),
                                               [](const auto& pair) { return pair.second.missing() > 0; }));
    std::int64_t refused_by_queue = 0;
    for (const RankRecord& rank : ranks) {
        const RankSummary& summary = rank.summary;
        account.run += summary.run.datagrams;
        account.measured += summary.measured.datagrams;
        account.time = std::max(account.time, summary.covered);
        refused_by_queue += signed_of(summary.socket.refused_by_queue);
        account.mtu_bytes = least_known(account.mtu_bytes, summary.socket.mtu_bytes);
        if (summary.node.role == core::Role::consumer) {
            account.receive_buffer_bytes =
                least_known(account.receive_buffer_bytes, summary.socket.receive_buffer_bytes);
            account.occupancy_max_bytes =
                std::max(account.occupancy_max_bytes, summary.socket.occupancy_bytes);
        } else if (summary.node.role == core::Role::producer) {
            account.send_buffer_bytes =
                least_known(account.send_buffer_bytes, summary.socket.send_buffer_bytes);
        }
    }
    account.explained.socket = signed_of(account.run.socket_drops);
    add_hosts(hosts, account);
    account.explained.qdisc = std::max<std::int64_t>(0, account.explained.qdisc - refused_by_queue);
    add_note_on_buffers(socket_buffer_asked, account);
    add_note_on_strays(account);
    return account;
}

Json to_json(const DatagramAccount& account) {
    const PeerDatagrams& totals = account.totals;
    const DatagramLosses& explained = account.explained;
    Json wire;
    Json buffers;
    if (account.mtu_bytes > 0) {  // not in a simulation
        wire = {
            {"mtu_bytes", account.mtu_bytes},
            {"payload_bits_per_second", bit_rate(account.measured.sent_bytes, account.time).bits_per_second},
            {"wire_bits_per_second", bit_rate(account.measured.wire_bytes, account.time).bits_per_second},
            {"datagrams_per_second", rate(account.measured.sent, account.time)},
            {"frames_per_second", rate(account.measured.sent_frames, account.time)}};
        buffers = {{"receive_bytes", account.receive_buffer_bytes / 2},
                   {"send_bytes", account.send_buffer_bytes / 2},
                   {"receive_occupancy_max_bytes", account.occupancy_max_bytes},
                   {"receive_occupancy_limit_bytes", account.receive_buffer_bytes}};
    }
    return {{"sent", totals.sent},
            {"sent_again", totals.sent_again},
            {"received", totals.received},
            {"missing", account.missing},
            {"duplicate", totals.duplicate},
            {"late", totals.late},
            {"corrupt", totals.corrupt},
            {"stray", account.run.strays},
            {"send_retries", account.run.send_retries},
            {"pairs", account.pairs},
            {"pairs_with_missing", account.lossy_pairs},
            {"explained",
             {{"socket", explained.socket},
              {"reassembly", explained.reassembly},
              {"udp", explained.udp},
              {"softnet", explained.softnet},
              {"interface", explained.interface},
              {"qdisc", explained.qdisc}}},
            {"unexplained", std::max<std::int64_t>(0, account.unexplained())},
            {"explained_beyond_missing", std::max<std::int64_t>(0, -account.unexplained())},
            {"hosts_without_counters", account.hosts_without_counters},
            {"wire", std::move(wire)},
            {"socket_buffers", std::move(buffers)},
            {"notes", account.notes}};
}

std::string losses_text(const DatagramAccount& account) {
    const PeerDatagrams& totals = account.totals;
    std::vector<std::string> places;
    const auto add = [&](std::int64_t count, const char* where) {
        if (count > 0) {
            places.push_back(fmt::format("{} {}", count, where));
        }
    };
    const DatagramLosses& explained = account.explained;
    add(explained.socket, "dropped at full sockets");
    add(explained.reassembly, "not reassembled");
    add(explained.udp, "with UDP errors");
    add(explained.softnet, "dropped in softnet queues");
    add(explained.interface, "dropped by interfaces");
    add(explained.qdisc, "dropped by queueing disciplines");
    add(account.unexplained(), "in no host's counters (lost between hosts)");
    if (account.unexplained() < 0) {
        places.push_back(fmt::format(
            "hosts counted {} more than are missing (other traffic, or several frames of a datagram)",
            -account.unexplained()));
    }
    const std::uint64_t sent = totals.sent + totals.sent_again;
    return fmt::format("sent {}{}, received {}; missing {}{}{}; duplicate {}, late {}, corrupt {}",
                       totals.sent,
                       totals.sent_again > 0 ? fmt::format(", sent again {}", totals.sent_again) : "",
                       totals.received, account.missing,
                       account.missing > 0
                           ? " (" + files::loss_share(static_cast<std::uint64_t>(account.missing), sent) + ")"
                           : "",
                       places.empty() ? std::string{} : fmt::format(": {}", fmt::join(places, ", ")),
                       totals.duplicate, totals.late, totals.corrupt);
}

std::string wire_text(const DatagramAccount& account) {
    const DatagramCounts& measured = account.measured;
    return fmt::format("{} of datagrams are {} on the wire in {} frames/s (MTU {} B)",
                       files::readable(bit_rate(measured.sent_bytes, account.time)),
                       files::readable(bit_rate(measured.wire_bytes, account.time)),
                       files::number(rate(measured.sent_frames, account.time)), account.mtu_bytes);
}

std::vector<ProducerTraffic> traffic_entries(std::span<const core::Traffic> by_producer) {
    std::vector<ProducerTraffic> entries;
    // Exactly as many as needed: there may be thousands of consumers in this process.
    entries.reserve(static_cast<std::size_t>(
        std::count_if(by_producer.begin(), by_producer.end(),
                      [](const core::Traffic& traffic) { return traffic.events > 0; })));
    for (std::uint32_t producer = 0; producer < by_producer.size(); ++producer) {
        if (by_producer[producer].events > 0) {
            entries.push_back({.producer = producer, .traffic = by_producer[producer]});
        }
    }
    return entries;
}

bool is_traffic(std::span<const ProducerTraffic> entries) {
    const bool each = std::all_of(entries.begin(), entries.end(), [](const ProducerTraffic& entry) {
        return entry.reserved == 0 && entry.traffic.events > 0 && entry.traffic.bytes > core::Bytes{0};
    });
    const auto not_ascending = [](const ProducerTraffic& a, const ProducerTraffic& b) {
        return a.producer >= b.producer;
    };
    return each && std::adjacent_find(entries.begin(), entries.end(), not_ascending) == entries.end();
}

void add_transfer(std::vector<PairTime>& times, std::uint32_t consumer, core::Duration under_way) {
    auto found = std::lower_bound(times.begin(), times.end(), consumer,
                                  [](const PairTime& time, std::uint32_t to) { return time.consumer < to; });
    if (found == times.end() || found->consumer != consumer) {
        found = times.insert(found, {.consumer = consumer, .transfers = 0, .under_way = {}});
    }
    ++found->transfers;
    found->under_way += under_way;
}

bool is_pair_times(std::span<const PairTime> times) {
    const auto not_ascending = [](const PairTime& a, const PairTime& b) { return a.consumer >= b.consumer; };
    return std::adjacent_find(times.begin(), times.end(), not_ascending) == times.end();
}

void TrafficMatrix::set(core::ConsumerId consumer, std::vector<ProducerTraffic> entries) {
    WEIR_ASSERT(is_traffic(entries));
    if (entries_.size() <= consumer.value) {
        entries_.resize(std::size_t{consumer.value} + 1);
    }
    entries_[consumer.value] = std::move(entries);
}

void TrafficMatrix::set_times(core::ProducerId producer, std::vector<PairTime> times) {
    WEIR_ASSERT(is_pair_times(times));
    if (times_.size() <= producer.value) {
        times_.resize(std::size_t{producer.value} + 1);
    }
    times_[producer.value] = std::move(times);
}

core::Duration TrafficMatrix::under_way(core::ProducerId producer, core::ConsumerId consumer) const {
    if (producer.value >= times_.size()) {
        return {};
    }
    const std::vector<PairTime>& times = times_[producer.value];
    const auto found =
        std::lower_bound(times.begin(), times.end(), consumer.value,
                         [](const PairTime& time, std::uint32_t to) { return time.consumer < to; });
    return found != times.end() && found->consumer == consumer.value ? found->under_way : core::Duration{};
}

std::span<const ProducerTraffic> TrafficMatrix::of(core::ConsumerId consumer) const {
    return consumer.value < entries_.size() ? std::span(entries_[consumer.value])
                                            : std::span<const ProducerTraffic>();
}

files::MaybeIoError write_traffic_csv(const std::string& path, const TrafficMatrix& matrix) {
    files::WholeFile file(path);
    file.put("producer,consumer,received_events,received_bytes,under_way_s\n");
    // Consumers have their entries sorted: the file needs no copy of the matrix in its own order.
    using Next = std::pair<std::uint32_t, std::uint32_t>;  // producer, consumer
    std::priority_queue<Next, std::vector<Next>, std::greater<>> waiting;
    std::vector<std::size_t> place(matrix.consumers());
    const auto wait = [&](std::uint32_t consumer) {
        const auto entries = matrix.of(core::ConsumerId{consumer});
        if (place[consumer] < entries.size()) {
            waiting.emplace(entries[place[consumer]].producer, consumer);
        }
    };
    for (std::uint32_t consumer = 0; consumer < matrix.consumers(); ++consumer) {
        wait(consumer);
    }
    while (!waiting.empty()) {
        const auto [producer, consumer] = waiting.top();
        waiting.pop();
        const core::Traffic& traffic = matrix.of(core::ConsumerId{consumer})[place[consumer]++].traffic;
        file.put(fmt::format("{},{},{},{},{:.6f}\n", producer, consumer, traffic.events, traffic.bytes.count,
                             matrix.under_way({producer}, {consumer}).in_seconds()));
        wait(consumer);
    }
    return file.finish();
}

}  // namespace weir::record
