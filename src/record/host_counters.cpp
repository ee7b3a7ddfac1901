#include "record/host_counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <nlohmann/json.hpp>
#include <set>

#include "files/formatting.hpp"
#include "files/json.hpp"
#include "record/counter_meaning.hpp"
#include "record/json_values.hpp"
#include "record/second_clock.hpp"

namespace weir::record {

namespace {

using Json = nlohmann::ordered_json;

/// One count of a device under all its names: that of all priorities together can have a name of its own.
struct CountOfDevice {
    std::uint64_t whole = 0;
    std::uint64_t of_priorities = 0;
};

bool is_traffic(CounterMeaning meaning) {
    return meaning == CounterMeaning::received_packets || meaning == CounterMeaning::sent_packets;
}

}  // namespace

std::string host_file(std::string_view host) {
    std::string name(host.empty() ? "unknown" : host);
    // What a host calls itself comes from outside: it must not leave the directory.
    std::replace(name.begin(), name.end(), '/', '_');
    if (name.front() == '.') {
        name.front() = '_';
    }
    return "hosts/" + name + ".csv";
}

std::string host_csv_header(const std::vector<std::string>& columns) {
    std::string line = "second,phase,wall_time";
    for (const std::string& column : columns) {
        line += ',';
        line += column;
    }
    return line + '\n';
}

std::string host_csv_line(std::int64_t second, Phase phase, std::optional<std::int64_t> unix_ns_at_second_0,
                          const CounterValues& values, std::size_t columns) {
    std::string line = fmt::format(
        "{},{},{}", second, phase_name(phase),
        unix_ns_at_second_0 ? files::utc_text(*unix_ns_at_second_0 + second * ns_per_second) : "");
    for (std::size_t i = 0; i < columns; ++i) {
        line += ',';
        if (i < values.size() && values[i]) {
            line += fmt::format("{}", *values[i]);
        }
    }
    return line + '\n';
}

void HostCounters::add(const CounterValues& values, Phase phase) {
    seconds += phase == Phase::measure ? 1 : 0;
    for (std::size_t i = 0; i < std::min(values.size(), sums.size()); ++i) {
        if (!values[i]) {
            continue;
        }
        sums[i].whole_run = sums[i].whole_run.value_or(0) + *values[i];
        if (phase == Phase::measure) {
            sums[i].sum = sums[i].sum.value_or(0) + *values[i];
        }
    }
}

void HostCounters::note(const std::vector<Absence>& absences, std::int64_t second, Phase phase) {
    for (std::size_t i = 0; i < std::min(absences.size(), sums.size()); ++i) {
        if (absences[i] == Absence::gone && phase != Phase::drain && !sums[i].gone_from) {
            sums[i].gone_from = second;
        } else if (absences[i] == Absence::reset && phase == Phase::measure && !sums[i].reset_in) {
            sums[i].reset_in = second;
        }
    }
}

namespace {

/// Sources that are known to have received less than a hundredth of what another one did.
std::set<std::string_view> idle_sources(const HostCounters& host) {
    std::map<std::string_view, std::uint64_t> bytes;
    for (const CounterSum& counter : host.sums) {
        if (meaning_of(counter.column) == CounterMeaning::received_bytes && counter.whole_run) {
            std::uint64_t& most = bytes[source_of(counter.column)];
            most = std::max(most, *counter.whole_run);
        }
    }
    std::set<std::string_view> idle;
    for (const auto& [source, received] : bytes) {
        const bool less = std::any_of(bytes.begin(), bytes.end(),
                                      [&](const auto& other) { return received < other.second / 100; });
        if (less && !is_protocol(source)) {
            idle.insert(source);
        }
    }
    return idle;
}

}  // namespace

std::vector<CounterGap> gaps_of(const HostCounters& host) {
    const std::set<std::string_view> idle = idle_sources(host);
    std::map<std::pair<std::string_view, Absence>, CounterGap> gaps;
    std::map<std::string_view, std::size_t> counters;
    const auto add = [&](const CounterSum& counter, Absence what, std::optional<std::int64_t> second) {
        if (second) {
            CounterGap& gap = gaps[{source_of(counter.column), what}];
            gap.second = gap.counters.empty() ? *second : std::min(gap.second, *second);
            gap.counters.emplace_back(counter_of(counter.column));
        }
    };
    for (const CounterSum& counter : host.sums) {
        if (shows_trouble(meaning_of(counter.column)) && !idle.contains(source_of(counter.column))) {
            ++counters[source_of(counter.column)];
            add(counter, Absence::gone, counter.gone_from);
            add(counter, Absence::reset, counter.reset_in);
        }
    }
    std::vector<CounterGap> all;
    for (auto& [key, gap] : gaps) {
        gap.source = key.first;
        gap.what = key.second;
        gap.all = gap.counters.size() == counters[key.first];
        all.push_back(std::move(gap));
    }
    return all;
}

bool HostCounters::counts_again(std::string_view column) const {
    return std::find(made_of_others.begin(), made_of_others.end(), source_of(column)) !=
               made_of_others.end() &&
           !counter_of(column).starts_with("qdisc_");
}

std::string_view source_of(std::string_view column) {
    return column.substr(0, std::min(column.rfind('.'), column.size()));
}

std::string_view counter_of(std::string_view column) {
    const std::size_t dot = column.rfind('.');
    return dot == std::string_view::npos ? column : column.substr(dot + 1);
}

std::string kind_name(std::string_view column) {
    return std::string(is_protocol(source_of(column)) ? column : counter_of(column));
}

std::map<std::string_view, FamilySums> families_by_source(const HostCounters& host) {
    std::map<std::string_view, std::map<const CounterCount*, CountOfDevice>> counts;
    for (const CounterSum& counter : host.sums) {
        const KnownCounter known = known_column(counter.column);
        if (known.family().empty() || !counter.sum) {
            continue;
        }
        CountOfDevice& count = counts[source_of(counter.column)][known.count];
        if (known.of_priority) {
            count.of_priorities += *counter.sum;
        } else {
            count.whole = std::max(count.whole, *counter.sum);
        }
    }
    std::map<std::string_view, FamilySums> families;
    for (const auto& [source, of_source] : counts) {
        for (const auto& [kind, count] : of_source) {
            families[source][kind->family] += std::max(count.whole, count.of_priorities);
        }
    }
    return families;
}

namespace {

/// What an RDMA port counts becomes its interface's: both can count the same packet.
void join_ports_and_interfaces(HostCounters& host) {
    std::map<std::string, std::string> interfaces;
    const auto settings = files::parse_json_or_discard(host.settings);
    for (const Json& port : files::field(settings, "rdma_ports")) {
        const std::string device = files::text_in(port, "device");
        const std::string interface = files::text_in(port, "interface");
        const bool is_source =
            !interface.empty() &&
            std::any_of(host.sums.begin(), host.sums.end(),
                        [&](const CounterSum& counter) { return source_of(counter.column) == interface; });
        if (is_source) {
            interfaces[device] = interface;
            interfaces[fmt::format("{}:{}", device,
                                   files::value_in<std::int64_t>(port, "port").value_or(1))] = interface;
        }
    }
    for (CounterSum& counter : host.sums) {
        if (const auto found = interfaces.find(std::string(source_of(counter.column)));
            found != interfaces.end()) {
            counter.column = fmt::format("{}.{}", found->second, counter_of(counter.column));
        }
    }
}

}  // namespace

FamilySums families_of(const HostCounters& whole_host) {
    HostCounters host = whole_host;
    std::erase_if(host.sums,
                  [&](const CounterSum& counter) { return whole_host.counts_again(counter.column); });
    join_ports_and_interfaces(host);
    FamilySums sums;
    for (const auto& [source, families] : families_by_source(host)) {
        for (const auto& [family, sum] : families) {
            sums[family] += sum;
        }
    }
    std::map<std::string, std::uint64_t> kinds;
    FamilySums traffic;
    for (const CounterSum& counter : host.sums) {
        const KnownCounter known = known_column(counter.column);
        if (is_traffic(known.meaning()) && !known.family().empty() && counter.sum) {
            const std::uint64_t of_kind = kinds[kind_name(counter.column)] += *counter.sum;
            traffic[known.family()] = std::max(traffic[known.family()], of_kind);
        }
    }
    for (const auto& [family, sum] : traffic) {
        sums[family] = sum;
    }
    return sums;
}

static void each_field(files::MaybeConst<CounterSum> auto& counter, auto&& visit) {
    visit("column", counter.column);
    visit("sum", counter.sum);
    visit("whole_run", counter.whole_run);
    visit("gone_from", counter.gone_from);
    visit("reset_in", counter.reset_in);
}

static void each_field(files::MaybeConst<HostCounters> auto& host, auto&& visit) {
    visit("host", host.host);
    visit("file", host.file);
    visit("seconds", host.seconds);
    visit("sums", host.sums);
    visit("made_of_others", host.made_of_others);
    visit("problem", host.problem);
    visit("reading_max_ns", host.reading_max.ns);
    visit("settings", host.settings);
}

std::string encode_host(const HostCounters& host) {
    return files::json_text(files::json_of<Json>(host));
}

std::optional<HostCounters> decode_host(std::string_view text) {
    try {
        auto host = files::checked<HostCounters>(files::parse_json(text));
        host.handed_in = true;
        const bool readable =
            host.settings.empty() || !files::parse_json_or_discard(host.settings).is_discarded();
        return readable ? std::optional(std::move(host)) : std::nullopt;
    } catch (const Json::exception&) {
        return std::nullopt;
    }
}

/// Settings come from other ranks: what is not as it should be is not known.
std::map<std::string, NominalSpeed> nominal_speeds(const Json& settings) {
    std::map<std::string, NominalSpeed> speeds;
    const auto add = [&](const Json& device, const std::string& name) {
        const auto bits = files::value_in<std::int64_t>(device, "speed_bits_per_second").value_or(0);
        if (bits > 0) {
            speeds[name] = {{bits}, !files::text_in(device, "driver").empty()};
        }
    };
    for (const Json& device : files::field(settings, "interfaces")) {
        add(device, files::text_in(device, "name"));
    }
    for (const Json& device : files::field(settings, "rdma_ports")) {
        // A device with several ports has its counters by port.
        const std::string name = files::text_in(device, "device");
        add(device, name);
        add(device, fmt::format("{}:{}", name, files::value_in<std::int64_t>(device, "port").value_or(1)));
    }
    return speeds;
}

core::BitRate interface_rate(const HostCounters& host) {
    std::string_view device;
    std::uint64_t most = 0;
    for (const CounterSum& counter : host.sums) {
        const std::string_view source = source_of(counter.column);
        if (meaning_of(counter.column) == CounterMeaning::received_bytes && !is_protocol(source) &&
            counter.sum.value_or(0) > most) {
            most = *counter.sum;
            device = source;
        }
    }
    const auto speeds = nominal_speeds(files::parse_json_or_discard(host.settings));
    const auto found = speeds.find(std::string(device));
    return found == speeds.end() ? core::BitRate{} : found->second.rate;
}

nlohmann::ordered_json host_json(const HostCounters& host) {
    Json sources = Json::array();
    Json totals = Json::object();
    for (const CounterSum& counter : host.sums) {
        const std::string source(source_of(counter.column));
        if (std::find(sources.begin(), sources.end(), source) == sources.end()) {
            sources.push_back(source);
        }
        if (counter.sum.value_or(0) > 0) {
            totals[counter.column] = *counter.sum;
        }
    }
    Json gaps = Json::array();
    for (const CounterGap& gap : gaps_of(host)) {
        gaps.push_back({{"source", gap.source},
                        {"what", gap.what == Absence::gone ? "gone" : "reset"},
                        {"second", gap.second},
                        {"counters", gap.counters}});
    }
    Json by_source = Json::object();
    for (const auto& [source, families] : families_by_source(host)) {
        by_source[std::string(source)] = families;
    }
    const auto known = [&](Json value) { return host.handed_in ? std::move(value) : Json(); };
    Json json = Json::object();  // of an initializer list everything would be copied
    json["name"] = host.host;
    json["file"] = host.file;
    json["sources"] = known(std::move(sources));
    json["counters"] = known(host.sums.size());
    json["seconds"] = known(host.seconds);
    json["totals"] = known(std::move(totals));
    json["families"] = known(families_of(host));
    json["families_by_source"] = known(std::move(by_source));
    json["gaps"] = known(std::move(gaps));
    json["reading_max_us"] = known(host.reading_max.in_microseconds());
    json["settings"] = host.settings.empty() ? Json() : files::parse_json(host.settings);
    json["problem"] = text_or_null(host.problem);
    return json;
}

}  // namespace weir::record
