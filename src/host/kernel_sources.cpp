#include "host/kernel_sources.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "record/counter_meaning.hpp"

namespace weir::host {

namespace {

/// Most columns that one interface's driver can add.
constexpr std::size_t driver_counters_max = 192;

bool is_digit(char letter) {
    return letter >= '0' && letter <= '9';
}

/// "rx0_...", "rx-0.packets", "rx_queue_0_drops", "ch3_...", "[7]: rx_discards": a number in the first two
/// words that is not a priority's or a port's.
bool of_one_queue(std::string_view name) {
    if (name.find('[') != std::string_view::npos) {
        return true;
    }
    const auto digit = std::find_if(name.begin(), name.end(), is_digit);
    std::string_view before(name.data(), static_cast<std::size_t>(digit - name.begin()));
    if (digit == name.end()) {
        return false;
    }
    while (before.ends_with('_') || before.ends_with('-') || before.ends_with('.') || before.ends_with('#')) {
        before.remove_suffix(1);
    }
    constexpr std::array<std::string_view, 8> indexed = {"rx",   "tx",  "ch",  "queue",
                                                         "ring", "rxq", "txq", "xdp"};
    return std::any_of(indexed.begin(), indexed.end(),
                       [&](std::string_view word) { return before.ends_with(word); });
}

/// The kinds of names that are recorded though their meaning is not known, besides those that sound like
/// trouble.
bool may_matter(std::string_view lower) {
    constexpr std::array<std::string_view, 8> kinds = {"_ppp",   "_pri", "flow_control", "xon",
                                                       "buffer", "_buf", "cong",         "stall"};
    return lower.find("xdp") == std::string::npos && !of_one_queue(lower) &&
           (record::sounds_like_trouble(lower) ||
            std::any_of(kinds.begin(), kinds.end(),
                        [&](std::string_view kind) { return lower.find(kind) != std::string::npos; }));
}

/// What a driver counts, a column for each name. Several places of one name are added up: those of queues,
/// and of drivers that list the same names for one queue after the other.
class DriverSource final : public CounterSource {
  public:
    DriverSource(KernelCalls& calls, std::string interface, std::string_view driver)
        : calls_(calls), interface_(std::move(interface)) {
        const std::vector<std::string> names = calls_.driver_counter_names(interface_);
        names_ = names.size();
        // Known ones first: others may be any number.
        for (const bool known : {true, false}) {
            for (std::size_t i = 0; i < names.size(); ++i) {
                add(names[i], i, driver, known);
            }
        }
    }

    void read(std::vector<CounterValue>& values) override {
        const std::vector<std::uint64_t> all = calls_.driver_counters(interface_);
        for (std::size_t column = 0; column < places_.size(); ++column) {
            std::uint64_t sum = 0;
            for (const std::size_t place : places_[column]) {
                sum += all.size() == names_ ? all[place] : 0;
            }
            if (places_[column].size() > 1 && counters_[column].range == CounterRange::wraps_at_32_bits) {
                sum &= 0xffffffffU;  // as each of them does, so that differences stay right
            }
            values.push_back(all.size() == names_ ? CounterValue(sum) : std::nullopt);
        }
    }

  private:
    void add(const std::string& name, std::size_t place, std::string_view driver, bool known) {
        const record::KnownCounter counter = record::known_counter(clean_name(name), driver);
        if ((counter.count != nullptr) != known || !driver_counter_wanted(name)) {
            return;
        }
        const std::string column =
            counter.of_queue ? record::without_number(clean_name(name)) : clean_name(name);
        // What drivers call differently keeps a column each; what they call the same is one.
        const std::string original = counter.of_queue ? column : name;
        const auto [found, fresh] = columns_.try_emplace(original, places_.size());
        if (!fresh) {
            places_[found->second].push_back(place);
        } else if (places_.size() < driver_counters_max) {
            counters_.push_back(
                {.source = interface_, .name = column, .range = range_of(counter), .original = original});
            places_.push_back({place});
        } else {
            columns_.erase(found);
        }
    }

    KernelCalls& calls_;
    std::string interface_;
    std::size_t names_ = 0;
    std::vector<std::vector<std::size_t>> places_;  ///< by column
    std::map<std::string, std::size_t> columns_;
};

class QueueSource final : public CounterSource {
  public:
    QueueSource(KernelCalls& calls, const std::vector<std::string>& interfaces) : calls_(calls) {
        for (const QueueStatistics& queue : calls_.root_queues()) {
            const bool wanted =
                std::find(interfaces.begin(), interfaces.end(), queue.interface) != interfaces.end() &&
                std::find(queues_.begin(), queues_.end(), queue.interface) == queues_.end();
            if (wanted) {
                queues_.push_back(queue.interface);
                for (const char* name : {"qdisc_drops", "qdisc_overlimits", "qdisc_requeues"}) {
                    counters_.push_back({.source = queue.interface,
                                         .name = name,
                                         .range = range_of(record::known_counter(name))});
                }
            }
        }
    }

    void read(std::vector<CounterValue>& values) override {
        const std::vector<QueueStatistics> all = calls_.root_queues();
        for (const std::string& interface : queues_) {
            const auto queue = std::find_if(all.begin(), all.end(), [&](const QueueStatistics& candidate) {
                return candidate.interface == interface;
            });
            const bool there = queue != all.end();
            values.push_back(there ? CounterValue(queue->drops) : std::nullopt);
            values.push_back(there ? CounterValue(queue->overlimits) : std::nullopt);
            values.push_back(there ? CounterValue(queue->requeues) : std::nullopt);
        }
    }

  private:
    KernelCalls& calls_;
    std::vector<std::string> queues_;
};

}  // namespace

bool driver_counter_wanted(std::string_view name) {
    const record::KnownCounter known = record::known_counter(clean_name(name));
    if (known.count != nullptr) {
        return !known.is_level() &&
               (known.meaning() == record::CounterMeaning::none || record::shows_trouble(known.meaning()));
    }
    std::string lower(name);
    std::transform(lower.begin(), lower.end(), lower.begin(), [](char letter) {
        return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    });
    return may_matter(lower);
}

Sources driver_counters(const std::string& root, KernelCalls& calls,
                        const std::vector<std::string>& interfaces) {
    Sources sources;
    for (const std::string& interface : interfaces) {
        auto source =
            std::make_unique<DriverSource>(calls, interface, driver_of(root + "/sys/class/net/" + interface));
        if (!source->counters().empty()) {
            sources.push_back(std::move(source));
        }
    }
    return sources;
}

Sources queue_counters(KernelCalls& calls, const std::vector<std::string>& interfaces) {
    Sources sources;
    auto source = std::make_unique<QueueSource>(calls, interfaces);
    if (!source->counters().empty()) {
        sources.push_back(std::move(source));
    }
    return sources;
}

namespace {

struct Field {
    std::string_view table;  ///< first word of the line in the kernel's file
    std::string_view field;
    std::string_view source;
    std::string_view name;
};

constexpr Field snmp_fields[] = {
    {"Ip", "InDiscards", "ip", "receive_discards"},
    {"Ip", "OutDiscards", "ip", "send_discards"},
    {"Ip", "ReasmFails", "ip", "reassembly_failures"},
    {"Tcp", "InSegs", "tcp", "received_segments"},
    {"Tcp", "OutSegs", "tcp", "sent_segments"},
    {"Tcp", "RetransSegs", "tcp", "retransmitted_segments"},
    {"Tcp", "InErrs", "tcp", "receive_errors"},
    {"Tcp", "OutRsts", "tcp", "sent_resets"},
    {"Udp", "InDatagrams", "udp", "received_datagrams"},
    {"Udp", "OutDatagrams", "udp", "sent_datagrams"},
    {"Udp", "InErrors", "udp", "receive_errors"},
    {"Udp", "RcvbufErrors", "udp", "receive_buffer_errors"},
    {"Udp", "SndbufErrors", "udp", "send_buffer_errors"},
    {"Udp", "InCsumErrors", "udp", "checksum_errors"},
    {"Udp", "MemErrors", "udp", "memory_errors"},
};
constexpr Field netstat_fields[] = {
    {"IpExt", "InOctets", "ip", "received_bytes"},
    {"IpExt", "InCEPkts", "ip", "received_ce_packets"},
    {"TcpExt", "TCPFastRetrans", "tcp", "fast_retransmits"},
    {"TcpExt", "TCPSlowStartRetrans", "tcp", "slow_start_retransmits"},
    {"TcpExt", "TCPLostRetransmit", "tcp", "lost_retransmits"},
    {"TcpExt", "TCPSackRecovery", "tcp", "sack_recoveries"},
    {"TcpExt", "TCPTimeouts", "tcp", "timeouts"},
    {"TcpExt", "TCPSpuriousRTOs", "tcp", "spurious_timeouts"},
    {"TcpExt", "TCPLossProbes", "tcp", "loss_probes"},
    {"TcpExt", "TCPDSACKRecv", "tcp", "duplicate_sacks_received"},
    {"TcpExt", "TCPOFOQueue", "tcp", "out_of_order_segments"},
    {"TcpExt", "TCPDeliveredCE", "tcp", "delivered_ce_segments"},
    {"TcpExt", "TCPRcvQDrop", "tcp", "receive_queue_drops"},
    {"TcpExt", "TCPBacklogDrop", "tcp", "backlog_drops"},
    {"TcpExt", "RcvPruned", "tcp", "receive_buffer_drops"},
    {"TcpExt", "TCPZeroWindowDrop", "tcp", "zero_window_drops"},
    {"TcpExt", "TCPToZeroWindowAdv", "tcp", "zero_windows_sent"},
    {"TcpExt", "TCPAbortOnTimeout", "tcp", "aborts_on_timeout"},
};

/// Takes the next line off the front of `text`.
std::string_view take_line(std::string_view& text) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
}

/// Takes the next word off the front of `line`; empty at its end.
std::string_view take_word(std::string_view& line) {
    const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(end);
    return word;
}

CounterValue number_in(std::string_view word, int base) {
    std::uint64_t number = 0;
    const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), number, base);
    const bool whole = error == std::errc{} && rest == word.data() + word.size();
    return whole ? CounterValue(number) : std::nullopt;
}

/// Pairs of lines: "Tcp: RtoAlgorithm RtoMin ..." and "Tcp: 1 200 ...".
class ProtocolSource final : public CounterSource {
  public:
    ProtocolSource(std::string path, const Field* begin, const Field* end) : path_(std::move(path)) {
        const std::vector<CounterValue> found = values_of(std::vector<Field>(begin, end));
        for (std::size_t i = 0; i < found.size(); ++i) {
            if (found[i]) {
                fields_.push_back(begin[i]);
                counters_.push_back(
                    {.source = std::string(begin[i].source), .name = std::string(begin[i].name)});
            }
        }
    }

    void read(std::vector<CounterValue>& values) override {
        const std::vector<CounterValue> found = values_of(fields_);
        values.insert(values.end(), found.begin(), found.end());
    }

  private:
    [[nodiscard]] std::vector<CounterValue> values_of(const std::vector<Field>& fields) const {
        std::vector<CounterValue> values(fields.size());
        const std::string text = file_text(path_);
        std::string_view rest = text;
        while (!rest.empty()) {
            std::string_view names = take_line(rest);
            std::string_view numbers = take_line(rest);
            const std::string_view table = take_word(names);
            if (table.empty() || take_word(numbers) != table) {
                continue;
            }
            while (true) {
                const std::string_view name = take_word(names);
                const std::string_view number = take_word(numbers);
                if (name.empty() || number.empty()) {
                    break;
                }
                const auto field = std::find_if(fields.begin(), fields.end(), [&](const Field& wanted) {
                    return wanted.field == name && wanted.table == table.substr(0, table.size() - 1);
                });
                if (field != fields.end()) {
                    values[static_cast<std::size_t>(field - fields.begin())] = number_in(number, 10);
                }
            }
        }
        return values;
    }

    std::string path_;
    std::vector<Field> fields_;
};

/// A line per processor; hexadecimal numbers of 32 bits: processed, dropped, out of time, ...
class SoftnetSource final : public CounterSource {
  public:
    explicit SoftnetSource(std::string path) : path_(std::move(path)) {
        if (!file_text(path_).empty()) {
            for (const char* name : {"processed", "dropped", "time_squeezed"}) {
                counters_.push_back(
                    {.source = "softnet", .name = name, .range = CounterRange::wraps_at_32_bits});
            }
        }
    }

    void read(std::vector<CounterValue>& values) override {
        const std::string text = file_text(path_);
        std::vector<CounterValue> sums(counters_.size(), text.empty() ? std::nullopt : CounterValue(0));
        std::string_view rest = text;
        while (!rest.empty()) {
            std::string_view line = take_line(rest);
            for (CounterValue& sum : sums) {
                const CounterValue number = number_in(take_word(line), 16);
                // Each processor's count wraps; so does the sum of all, and differences stay right.
                sum = sum && number ? CounterValue((*sum + *number) & 0xffffffffU) : std::nullopt;
            }
        }
        values.insert(values.end(), sums.begin(), sums.end());
    }

  private:
    std::string path_;
};

}  // namespace

Sources protocol_tables(const std::string& root) {
    Sources sources;
    const auto add = [&](std::unique_ptr<CounterSource> source) {
        if (!source->counters().empty()) {
            sources.push_back(std::move(source));
        }
    };
    add(std::make_unique<ProtocolSource>(root + "/proc/net/snmp", std::begin(snmp_fields),
                                         std::end(snmp_fields)));
    add(std::make_unique<ProtocolSource>(root + "/proc/net/netstat", std::begin(netstat_fields),
                                         std::end(netstat_fields)));
    add(std::make_unique<SoftnetSource>(root + "/proc/net/softnet_stat"));
    return sources;
}

}  // namespace weir::host
