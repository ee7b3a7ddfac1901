#include "host/host_probe.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "files/checked_json.hpp"
#include "files/json_text.hpp"
#include "host/priority_counter.hpp"

namespace weir::host {

CounterRises::CounterRises(std::string root, std::unique_ptr<KernelCalls> calls)
    : root_(std::move(root)),
      calls_(std::move(calls)),
      table_(CounterTable::of_host(root_, *calls_)),
      before_(priorities()) {
    table_.read();
}

std::vector<CounterRises::ByPriority> CounterRises::priorities() const {
    std::vector<ByPriority> all;
    for (const std::string& interface : interfaces_in_use(root_).names) {
        ByPriority one{.interface = interface, .names = {}, .values = {}};
        const auto names = calls_->driver_counter_names(interface);
        const auto values = calls_->driver_counters(interface);
        for (std::size_t i = 0; i < names.size() && i < values.size(); ++i) {
            if (counted_priority(names[i], "tx") || counted_priority(names[i], "rx")) {
                one.names.push_back(names[i]);
                one.values.push_back(values[i]);
            }
        }
        all.push_back(std::move(one));
    }
    return all;
}

std::vector<CounterRise> CounterRises::since() {
    std::vector<CounterRise> rises;
    const auto values = table_.read();
    for (std::size_t i = 0; i < values.size() && i < table_.columns().size(); ++i) {
        if (values[i]) {
            rises.push_back({table_.columns()[i], *values[i]});
        }
    }
    const auto now = priorities();
    for (std::size_t i = 0; i < now.size() && i < before_.size(); ++i) {
        if (now[i].interface != before_[i].interface || now[i].names != before_[i].names) {
            continue;
        }
        for (std::size_t j = 0; j < now[i].names.size(); ++j) {
            if (now[i].values[j] >= before_[i].values[j]) {
                rises.push_back(
                    {now[i].interface + "." + now[i].names[j], now[i].values[j] - before_[i].values[j]});
            }
        }
    }
    return rises;
}

std::string encode_host_probe(const HostProbe& host) {
    auto counters = nlohmann::ordered_json::array();
    for (const CounterRise& counter : host.counters) {
        counters.push_back({counter.column, counter.rise});
    }
    return files::json_text({{"host", host.host},
                             {"layer", host.message_layer},
                             {"within", host.lanes.within},
                             {"between", host.lanes.between},
                             {"counters", std::move(counters)}});
}

HostProbe decode_host_probe(const std::string& text) {
    const auto json = files::parse_json(text);
    HostProbe host;
    json.at("host").get_to(host.host);
    json.at("layer").get_to(host.message_layer);
    json.at("within").get_to(host.lanes.within);
    json.at("between").get_to(host.lanes.between);
    for (const auto& counter : json.at("counters")) {
        host.counters.push_back({counter.at(0), files::whole_number<std::uint64_t>(counter.at(1))});
    }
    return host;
}

}  // namespace weir::host
