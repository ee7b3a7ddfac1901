#include "cli/forecast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/packet_forecast.hpp"
#include "config/distributions.hpp"
#include "config/fabric.hpp"
#include "config/quantities.hpp"
#include "core/datagram_frames.hpp"
#include "core/distribution.hpp"
#include "core/ledger.hpp"
#include "core/plan.hpp"
#include "files/formatting.hpp"
#include "host/control_group.hpp"
#include "record/burst_rows.hpp"
#include "record/pairs.hpp"

namespace weir::cli {

namespace {

using files::bytes_text;
using files::exact;
using files::rate_text;
using files::seconds_text;

/// Mean of the squared values over the square of the mean; only where the dry run can compute it.
double spread_of(const core::Distribution& sizes, double mean) {
    if (sizes.kind == core::DistributionKind::trace) {
        double squares = 0;
        for (const std::int64_t size : sizes.trace) {
            squares += static_cast<double>(size) * static_cast<double>(size);
        }
        return squares / static_cast<double>(sizes.trace.size()) / (mean * mean);
    }
    return 1 + sizes.deviation * sizes.deviation / (mean * mean);
}

/// The mean of all producers.
SetOfEvents set_of_addressed(const core::Plan& plan, double mean_event_bytes) {
    double events = 0;
    for (std::uint32_t producer = 0; producer < plan.producers; ++producer) {
        for (const core::AddressedTransfer& transfer : plan.traffic->of({producer})) {
            events += std::ceil(static_cast<double>(transfer.bytes.count) / mean_event_bytes);
        }
    }
    return {.events = events / plan.producers};
}

SetOfEvents set_of_events(const core::Plan& plan, double mean_event_bytes) {
    if (plan.addressed()) {
        return set_of_addressed(plan, mean_event_bytes);
    }
    SetOfEvents set;
    const core::Bytes bytes = plan.set_bytes();
    if (plan.event_size.kind == core::DistributionKind::fixed) {
        const auto size = static_cast<std::int64_t>(plan.event_size.mean);
        const std::int64_t events = (bytes.count - 1) / size + 1;
        set.events = static_cast<double>(events);
        set.last = {bytes.count - (events - 1) * size};
        set.exact = true;
        return set;
    }
    // Renewal theory: so many draws until their sum is a set; the last one is cut to what is left.
    const double mean_events = static_cast<double>(bytes.count) / mean_event_bytes;
    set.events = std::max(1.0, mean_events + spread_of(plan.event_size, mean_event_bytes) / 2);
    return set;
}

void warn_of_busy_consumers(const core::Plan& plan, Forecast& f) {
    const auto load = f.busy_load();
    if (!load || *load < 1) {
        return;
    }
    const double limit = f.mean_busy_seconds / *load;
    if (plan.busy_consumers.empty() || plan.busy_consumers.size() >= plan.consumers) {
        f.warnings.push_back(
            fmt::format("consumers cannot keep up: busy for {} per event, which is a load of {}, and it "
                        "must be below {} "
                        "for a load below 1",
                        seconds_text(f.mean_busy_seconds), files::number(*load), seconds_text(limit)));
        return;
    }
    const auto busy = static_cast<double>(plan.busy_consumers.size());
    const double left = f.events_per_second() - busy / f.mean_busy_seconds;
    f.warnings.push_back(fmt::format(
        "the {} busy consumers cannot keep up with an equal share: busy for {} per event, and {} "
        "would be the limit. The other {} must take {} events per second each",
        plan.busy_consumers.size(), seconds_text(f.mean_busy_seconds), seconds_text(limit),
        plan.consumers - plan.busy_consumers.size(), files::number(left / (plan.consumers - busy))));
}

/// The part of the bits on the wire that is payload.
double payload_share(const config::RunRequest& request) {
    const core::Plan& plan = request.plan;
    const auto chunk = static_cast<double>(core::chunk_capacity_bytes(plan));
    if (plan.lossy()) {
        return chunk /
               static_cast<double>(core::wire_cost(plan.chunk_size.count, request.network.mtu.count).bytes);
    }
    const core::PacketShape packet = core::packet_shape(request.network);
    const double of_packets =
        static_cast<double>(packet.payload) / static_cast<double>(packet.payload + packet.overhead);
    return of_packets * chunk / (chunk + core::chunk_header_bytes);
}

void warn_of_links(const config::RunRequest& request, Forecast& f) {
    if (!f.rate_known()) {
        return;
    }
    const auto check = [&](const char* option, const char* who, core::BitRate link, double bytes_per_second) {
        const double carried = static_cast<double>(link.bits_per_second) * payload_share(request);
        const double needed = bytes_per_second * 8;
        if ((request.simulated || request.given(option)) && needed > carried) {
            f.warnings.push_back(fmt::format(
                "{}s' links cannot carry the rate: {} of payload for each {}, and --{} {} carries at "
                "most {}",
                who, rate_text(needed), who, option, config::to_text(link), rate_text(carried)));
        }
    };
    const core::NetworkPlan& network = request.network;
    const std::vector<core::BitRate> producers = core::producer_links(network, f.producers);
    const std::vector<core::BitRate> consumers = core::consumer_links(network, f.consumers);
    if (const core::TrafficPlan* const traffic = request.plan.traffic.get()) {
        const double interval_s = request.plan.interval.in_seconds();
        const auto check_fullest = [&](const char* option, const char* who,
                                       const std::vector<core::BitRate>& links, const auto& bytes) {
            const auto load = [&](std::uint32_t host) {
                return static_cast<double>(bytes(host).count) /
                       static_cast<double>(links[host].bits_per_second);
            };
            std::uint32_t fullest = 0;
            for (std::uint32_t host = 1; host < links.size(); ++host) {
                fullest = load(host) > load(fullest) ? host : fullest;
            }
            check(option, who, links[fullest], static_cast<double>(bytes(fullest).count) / interval_s);
        };
        check_fullest("producer-link", "producer", producers,
                      [&](std::uint32_t host) { return traffic->set_bytes({host}); });
        check_fullest("consumer-link", "consumer", consumers,
                      [&](std::uint32_t host) { return traffic->received_by({host}); });
        return;
    }
    const auto slowest = std::min_element(producers.begin(), producers.end());
    check("producer-link", "producer", slowest == producers.end() ? network.producer_link : *slowest,
          f.producer_bytes_per_second);
    if (f.layout_known()) {
        // Who has a slower link takes fewer events.
        core::WideInteger together = 0;
        for (const core::BitRate link : consumers) {
            together += link.bits_per_second;
        }
        check("consumer-link", "consumer", {static_cast<std::int64_t>(together / f.consumers)},
              f.producer_bytes_per_second * f.consumer_share());
    }
    if (const core::Shaping& shaping = request.plan.shaping;
        shaping.kind == core::ShapingKind::bucket &&
        static_cast<double>(shaping.rate.bits_per_second) < f.producer_bytes_per_second * 8) {
        f.warnings.push_back(
            fmt::format("--shaping lets a producer send {}, which is less than the {} that it generates",
                        exact(shaping.rate), rate_text(f.producer_bytes_per_second * 8)));
    }
}

/// A measured run will use other hosts: this one stands for them.
void warn_of_memory(const config::RunRequest& request, Forecast& f) {
    const host::AvailableMemory memory = host::available_memory();
    const auto available = static_cast<double>(memory.bytes.count);
    if (available <= 0) {
        return;
    }
    if (request.simulated) {
        if (const double need = simulation_memory_bytes(request.plan); need > available) {
            f.warnings.push_back(
                fmt::format("memory does not suffice: the simulation needs about {}, and {} are available{}",
                            bytes_text(need), bytes_text(available), host::limit_hint(memory.by_group)));
        }
        return;
    }
    for (const auto& [who, need] :
         {std::pair{"producer", f.producer_memory_bytes}, std::pair{"consumer", f.consumer_memory_bytes}}) {
        if (need > available) {
            f.warnings.push_back(
                fmt::format("memory does not suffice on a host like this one: one {} needs {} for data, and "
                            "{} are available{}",
                            who, bytes_text(need), bytes_text(available), host::limit_hint(memory.by_group)));
        }
    }
}

void warn_of_buffers(const core::Plan& plan, Forecast& f) {
    if (plan.generation == core::Generation::sets && plan.buffer < plan.set_bytes()) {
        f.warnings.push_back(fmt::format("every set ({}) overflows the buffer ({}) at once",
                                         files::readable(plan.set_bytes()), exact(plan.buffer)));
    }
}

/// What the network cards of a measured run hold is not known before it.
void warn_of_queue_pairs(const config::RunRequest& request, Forecast& f) {
    constexpr std::uint64_t common = core::NicPlan{}.most_queue_pairs;
    const std::uint64_t each = request.engine.queue_pairs;
    const std::uint64_t producers = request.roles.producers_per_host;
    const std::uint64_t consumers = request.roles.consumers_per_host;
    const std::uint64_t peers = producers + consumers > 0 ? producers * f.consumers + consumers * f.producers
                                                          : std::max(f.producers, f.consumers);
    if (!request.simulated && each > 1 && peers * each > common) {
        f.warnings.push_back(fmt::format(
            "--queue-pairs: {} to each peer are {} on a host, and a ConnectX-5 holds {}; see what yours do "
            "(ibv_devinfo -v: max_qp)",
            each, peers * each, common));
    }
}

/// Where chunks take long, short rows show when they ended, and not how fast they came.
void warn_of_short_rows(const config::RunRequest& request, Forecast& f) {
    const core::Plan& plan = request.plan;
    const core::BitRate link = std::min(request.network.producer_link, request.network.consumer_link);
    const bool known = request.simulated || request.given("producer-link") || request.given("consumer-link");
    const core::Bytes fitting = core::bytes_in(link, plan.row_interval);
    const bool asked_for = plan.row_interval_asked_for && plan.row_interval.ns > 0;
    if (known && asked_for && plan.chunk_size * 2 > fitting) {
        f.warnings.push_back(fmt::format(
            "--row-interval: bytes count when their chunk is whole, and a chunk of {} takes {} on a link of "
            "{}: intervals of {} show when chunks ended, not how fast they came; make --chunk-size smaller",
            exact(plan.chunk_size), files::readable(core::time_for(link, plan.chunk_size)), exact(link),
            exact(plan.row_interval)));
    }
}

}  // namespace

double simulation_memory_bytes(const core::Plan& plan) {
    // Per node its state, a block of its log and its rows' sums; measured: 34 kB with 4501 nodes. Per pair
    // the consumer's count, and the copy that the record is made of.
    constexpr double node_bytes = 40000;
    constexpr double slot_bytes = 150;
    // With --row-interval another block of a log, and sums and rows of a second's intervals.
    const double burst_bytes =
        plan.row_interval.ns > 0
            ? 20000 + 2.0 * sizeof(record::ProducerBurst) * 1e9 / static_cast<double>(plan.row_interval.ns)
            : 0;
    constexpr double pair_bytes = sizeof(core::Traffic) + sizeof(record::ProducerTraffic);
    const double slots = static_cast<double>(plan.consumers) * plan.slots;
    // The traffic plan, and what scheduler, producers and the checker count by pair.
    constexpr double transfer_bytes = 250;
    const double traffic =
        plan.addressed() ? transfer_bytes * static_cast<double>(plan.traffic->transfers()) : 0;
    return traffic + (node_bytes + burst_bytes) * (1.0 + plan.producers + plan.consumers) +
           pair_bytes * plan.producers * plan.consumers +
           slots * (slot_bytes + static_cast<double>(plan.chunks_per_fragment()) / 8);
}

std::optional<double> Forecast::busy_load() const {
    if (!rate_known() || !layout_known() || mean_busy_seconds == 0) {
        return std::nullopt;
    }
    return mean_busy_seconds * events_per_second() / consumers;
}

std::optional<double> Forecast::control_messages_per_second() const {
    if (!rate_known() || producers == 0) {
        return std::nullopt;
    }
    const double per_event = builds ? 2.0 * producers + 1 : 3;
    return events_per_second() * (per_event + (pulls ? 1 : 0));
}

Forecast forecast(const config::RunRequest& request) {
    const core::Plan& plan = request.plan;
    Forecast f;
    f.producers = plan.producers;
    f.consumers = plan.consumers;
    f.simulated = request.simulated;
    f.builds = plan.builds();
    f.pulls = plan.pulls();
    f.mean_event_bytes = core::expected_mean(plan.event_size);
    if (plan.generation == core::Generation::sets) {
        f.set = set_of_events(plan, f.mean_event_bytes);
        const double set_bytes = plan.addressed()
                                     ? static_cast<double>(plan.traffic->total().count) / plan.producers
                                     : static_cast<double>(plan.set_bytes().count);
        f.producer_bytes_per_second = set_bytes / plan.interval.in_seconds();
        f.producer_events_per_second = f.set->events / plan.interval.in_seconds();
    } else if (plan.generation == core::Generation::steady) {
        f.producer_bytes_per_second = static_cast<double>(plan.rate.bits_per_second) / 8;
        f.producer_events_per_second = f.producer_bytes_per_second / f.mean_event_bytes;
    }
    f.producer_memory_bytes = static_cast<double>(core::producer_memory_bytes(plan));
    f.consumer_memory_bytes = static_cast<double>(core::consumer_memory_bytes(plan));
    if (plan.busy.kind != core::DistributionKind::none) {
        f.mean_busy_seconds = core::expected_mean(plan.busy) * 1e-9;
    }
    warn_of_busy_consumers(plan, f);
    warn_of_links(request, f);
    warn_of_buffers(plan, f);
    warn_of_memory(request, f);
    warn_of_short_rows(request, f);
    warn_of_queue_pairs(request, f);
    if (const std::string inside = config::inside_hosts_text(request); !inside.empty()) {
        f.warnings.push_back(inside);
    }
    if (request.simulated && request.network.model == core::NetworkModel::packet) {
        warn_of_headroom(request, f.warnings);
        warn_of_watchdog(request, f.warnings);
        warn_of_round_trip(request, f.warnings);
    }
    return f;
}

}  // namespace weir::cli
