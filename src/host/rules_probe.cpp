#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "files/formatting.hpp"
#include "host/check.hpp"
#include "judge/network_verdict.hpp"

namespace weir::host {

namespace {

class ProbeRules {
  public:
    ProbeRules(const ProbeResult& probe, const std::vector<HostView>& hosts) : probe_(probe), hosts_(hosts) {}

    std::vector<Finding> all() {
        if (!probe_.stopped.empty()) {
            add(Severity::serious, "probe", {}, fmt::format("the probe did not finish: {}", probe_.stopped),
                "MPI cannot transfer data between these hosts: check the messages of MPI and UCX, and the "
                "hosts that did not answer");
        }
        check_reach();
        for (const HostProbe& host : probe_.hosts) {
            check_transport(host);
            for (const char* direction : {"tx", "rx"}) {
                check_counters(host, direction);
            }
        }
        check_slow_hosts();
        check_planned_rates();
        check_losses();
        return std::move(findings_);
    }

  private:
    void add(Severity severity, const char* topic, std::vector<std::string> hosts, std::string what,
             std::string advice = {}) {
        findings_.push_back({severity, topic, std::move(hosts), std::move(what), std::move(advice)});
    }

    [[nodiscard]] const HostView* view_of(const std::string& host) const {
        const auto found = std::find_if(hosts_.begin(), hosts_.end(),
                                        [&](const HostView& view) { return view.settings.host == host; });
        return found == hosts_.end() ? nullptr : &*found;
    }

    /// Bytes of the probe that a host sent to others (tx) or got from others (rx).
    [[nodiscard]] double crossed(const std::string& host, std::string_view direction) const {
        double bytes = 0;
        for (const PairProbe& pair : probe_.pairs) {
            const std::string& here = direction == "tx" ? pair.producer_host : pair.consumer_host;
            if (here == host && pair.producer_host != pair.consumer_host) {
                bytes += static_cast<double>(pair.bytes);
            }
        }
        return bytes;
    }

    void check_reach() {
        std::map<std::string, int> missing;
        std::map<std::string, int> tried;
        std::uint64_t pairs = 0;
        for (const PairProbe& pair : probe_.pairs) {
            for (const std::string& host : {pair.producer_host, pair.consumer_host}) {
                ++tried[host];
                missing[host] += pair.reached ? 0 : 1;
            }
            pairs += pair.reached ? 0 : 1;
        }
        if (pairs == 0) {
            return;
        }
        // The hosts with the largest share of failures are the ones to look at.
        double worst = 0;
        for (const auto& [host, count] : missing) {
            worst = std::max(worst, static_cast<double>(count) / tried[host]);
        }
        std::vector<std::string> suspects;
        for (const auto& [host, count] : missing) {
            if (count > 0 && static_cast<double>(count) / tried[host] >= worst) {
                suspects.push_back(host);
            }
        }
        add(Severity::serious, "reach", suspects,
            fmt::format("no answer in {} of {} pairs; these hosts are part of most of them", pairs,
                        probe_.pairs.size()),
            "check links, firewalls, routes between subnets, and the GID type (RoCE v1 is not routed)");
    }

    void check_transport(const HostProbe& host) {
        const HostView* view = view_of(host.host);
        if (view == nullptr) {
            return;
        }
        if (!host.message_layer.empty() && host.message_layer != "ucx" && view->settings.any_active_port()) {
            add(Severity::serious, "transport", {host.host},
                fmt::format(
                    "Open MPI selected its message layer '{}' and not UCX, although an RDMA port is active",
                    host.message_layer),
                "mpirun --mca pml ucx");
            return;
        }
        const auto& lanes = host.lanes.between;
        const bool any_rdma = std::any_of(lanes.begin(), lanes.end(), is_rdma_lane);
        if (view->uses_rdma() && !lanes.empty() && !any_rdma) {
            add(Severity::serious, "transport", {host.host},
                fmt::format("UCX transfers data between hosts over {}, but RDMA was expected ({})",
                            fmt::join(lanes, ", "), view->choice.why),
                "exclude tcp, so that a missing device is an error: -x UCX_TLS=rc,sm,self");
        }
    }

    /// Whether the expected ports and priorities counted the data.
    void check_counters(const HostProbe& host, std::string_view direction) {
        const HostView* view = view_of(host.host);
        const double bytes = crossed(host.host, direction);
        // Less than this cannot be distinguished from other traffic.
        constexpr double enough = 1e6;
        if (view == nullptr || bytes < enough) {
            return;
        }
        const char* verb = direction == "tx" ? "sent" : "received";
        std::optional<double> by_ports;
        std::map<int, double> by_priority;
        for (const CounterRise& counter : host.counters) {
            const auto rise = static_cast<double>(counter.rise);
            const std::string_view name = record::counter_of(counter.column);
            if (name == (direction == "tx" ? "port_xmit_bytes" : "port_rcv_bytes")) {
                by_ports = by_ports.value_or(0) + rise;
            }
            if (const auto priority = counted_priority(name, direction)) {
                by_priority[*priority] += rise;
            }
        }
        if (view->uses_rdma() && by_ports && *by_ports < 0.5 * bytes) {
            add(Severity::serious, "transport", {host.host},
                fmt::format("{} {}, of which the RDMA ports counted {}", verb, files::bytes_text(bytes),
                            files::bytes_text(*by_ports)),
                "the data took another path: check UCX_TLS and UCX_NET_DEVICES");
        }
        check_priorities(host, *view, verb, bytes, by_priority);
    }

    void check_priorities(const HostProbe& host, const HostView& view, const char* verb, double bytes,
                          const std::map<int, double>& by_priority) {
        std::set<int> intended;
        for (const NetworkPath& path : view.choice.paths) {
            if (path.priority) {
                intended.insert(*path.priority);
            }
        }
        if (intended.size() != 1 || by_priority.empty()) {
            return;
        }
        const int priority = *intended.begin();
        const auto found = by_priority.find(priority);
        const double there = found == by_priority.end() ? 0 : found->second;
        const auto most = std::max_element(by_priority.begin(), by_priority.end(),
                                           [](const auto& a, const auto& b) { return a.second < b.second; });
        if (there >= 0.9 * bytes) {
            return;
        }
        add(Severity::serious, "priority", {host.host},
            fmt::format(
                "{} {}, of which {} were counted in the expected priority {}; most ({}) in priority {}", verb,
                files::bytes_text(bytes), files::bytes_text(there), priority, files::bytes_text(most->second),
                most->first),
            "PFC and ECN of that priority do not apply to this data: check UCX_IB_TRAFFIC_CLASS, trust and "
            "DSCP map of the host, and whether the switch changes the DSCP");
    }

    /// What each host reached with its best partner; 0: nothing.
    [[nodiscard]] std::map<std::string, double> best_rates(bool producers) const {
        std::map<std::string, double> best;
        for (const PairProbe& pair : probe_.pairs) {
            double& rate = best[producers ? pair.producer_host : pair.consumer_host];
            rate = std::max(rate, pair.reached ? pair.bits_per_second : 0);
        }
        return best;
    }

    void check_slow_hosts() {
        for (const bool producers : {true, false}) {
            const std::map<std::string, double> best = best_rates(producers);
            if (best.size() < 3) {
                continue;
            }
            std::vector<double> rates;
            rates.reserve(best.size());
            for (const auto& [host, rate] : best) {
                rates.push_back(rate);
            }
            std::sort(rates.begin(), rates.end());
            const double median = rates[rates.size() / 2];
            for (const auto& [host, rate] : best) {
                if (rate > 0 && rate < 0.5 * median) {
                    add(Severity::warning, "rate", {host},
                        fmt::format("at most {} {} any {}, but the median of {} hosts is {}",
                                    files::rate_text(rate), producers ? "to" : "from",
                                    producers ? "consumer" : "producer", best.size(),
                                    files::rate_text(median)),
                        "check this host's link, cable, PCIe width and other load");
                }
            }
        }
    }

    /// What the plan needs of one rank, against what it reached with its best partner.
    void check_planned_rates() {
        for (const bool producers : {true, false}) {
            for (const auto& [host, rate] : best_rates(producers)) {
                const HostView* view = view_of(host);
                if (view == nullptr || rate <= 0) {
                    continue;
                }
                const int ranks = producers ? view->part.producers : view->part.consumers;
                const double all =
                    producers ? view->part.sends_bits_per_second : view->part.receives_bits_per_second;
                const double needed = ranks > 0 ? all / ranks : 0;
                if (rate < needed) {
                    add(Severity::warning, "rate", {host},
                        fmt::format("a {} {} at most {} with one partner, but the plan needs {}",
                                    producers ? "producer" : "consumer", producers ? "sent" : "received",
                                    files::rate_text(rate), files::rate_text(needed)),
                        "one stream of one pair is not the limit of a host: measure that with --scenario "
                        "ceiling");
                }
            }
        }
    }

    void check_losses() {
        std::vector<record::HostCounters> counters;
        std::int64_t payload = 0;
        for (const HostProbe& host : probe_.hosts) {
            record::HostCounters sums;
            sums.host = host.host;
            sums.handed_in = true;
            sums.seconds = 1;
            for (const CounterRise& counter : host.counters) {
                sums.sums.push_back({counter.column, counter.rise});
            }
            counters.push_back(std::move(sums));
        }
        for (const PairProbe& pair : probe_.pairs) {
            payload += pair.bytes;
        }
        if (counters.empty() || payload == 0) {
            return;
        }
        const judge::NetworkVerdict verdict = judge::judge_network(counters, core::Bytes{payload});
        if (verdict.mechanisms.front() == judge::NetworkMechanism::lossy) {
            add(Severity::warning, "loss", {},
                fmt::format("during the probe the network was {}", verdict.evidence),
                "single pairs should lose nothing: check PFC, buffers, and cables (rx_crc_errors, "
                "symbol_error)");
        } else if (verdict.mechanisms.front() != judge::NetworkMechanism::unknown) {
            add(Severity::note, "mechanism", {}, fmt::format("during the probe: {}", verdict.evidence));
        }
    }

    const ProbeResult& probe_;
    const std::vector<HostView>& hosts_;
    std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> judge_probe(const ProbeResult& probe, const std::vector<HostView>& hosts) {
    return ProbeRules(probe, hosts).all();
}

}  // namespace weir::host
