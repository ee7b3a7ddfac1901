#include "host/counter_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>

namespace weir::host {

CounterRange range_of(const record::KnownCounter& known) {
    return known.bits == 32 ? CounterRange::wraps_at_32_bits : CounterRange::wide;
}

namespace {

/// What an RDMA port counts by the standard of InfiniBand. Those of fewer bits stop at their largest value;
/// data and packets have 64 bits wherever the kernel shows them.
struct PortCounter {
    std::string_view file;
    std::string_view name;
    std::uint64_t factor = 1;
};
constexpr PortCounter port_counters[] = {
    {"port_rcv_data", "port_rcv_bytes", 4},  // counted in words of four bytes
    {"port_xmit_data", "port_xmit_bytes", 4},
    {"port_rcv_packets", "port_rcv_packets"},
    {"port_xmit_packets", "port_xmit_packets"},
    {"port_xmit_wait", "port_xmit_wait"},
    {"port_xmit_discards", "port_xmit_discards"},
    {"port_rcv_errors", "port_rcv_errors"},
    {"symbol_error", "symbol_error"},
    {"link_error_recovery", "link_error_recovery"},
    {"link_downed", "link_downed"},
};

constexpr std::string_view interface_counters[] = {
    "rx_bytes",  "tx_bytes",      "rx_packets",       "tx_packets",     "rx_dropped",     "tx_dropped",
    "rx_errors", "rx_crc_errors", "rx_missed_errors", "rx_fifo_errors", "rx_over_errors", "tx_errors"};

class FileSource final : public CounterSource {
  public:
    /// Only what can be read now becomes a counter.
    void add(const std::string& path, Counter counter, std::uint64_t factor = 1) {
        if (number_in_file(path)) {
            counters_.push_back(std::move(counter));
            files_.push_back({path, factor});
        }
    }

    void read(std::vector<CounterValue>& values) override {
        for (const File& file : files_) {
            const CounterValue number = number_in_file(file.path);
            values.push_back(number ? CounterValue(*number * file.factor) : std::nullopt);
        }
    }

  private:
    struct File {
        std::string path;
        std::uint64_t factor = 1;
    };
    std::vector<File> files_;
};

/// No kernel's file is longer; one of a tree given with --root may be anything.
constexpr std::size_t file_text_limit = std::size_t{16} << 20;

/// Never waits for whoever might write into it.
int open_for_reading(const std::string& path) {
    return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

void add_port(FileSource& source, const std::string& port_directory, const std::string& name) {
    for (const PortCounter& counter : port_counters) {
        const int bits = record::known_counter(counter.name).bits;
        source.add(port_directory + "/counters/" + std::string(counter.file),
                   {.source = name,
                    .name = std::string(counter.name),
                    .range = bits < 64 ? CounterRange::stops_at_largest : CounterRange::wide,
                    .largest = bits < 64 ? (std::uint64_t{1} << static_cast<unsigned>(bits)) - 1 : 0},
                   counter.factor);
    }
}

/// Not again what `source` has: a device repeats what its ports count.
void add_hardware_counters(FileSource& source, const std::string& directory, const std::string& name,
                           std::string_view driver) {
    for (const std::string& file : names_in(directory)) {
        const record::KnownCounter known = record::known_counter(file, driver);
        const bool there = std::any_of(source.counters().begin(), source.counters().end(),
                                       [&](const Counter& other) { return other.original == file; });
        if (!known.is_level() && !there) {
            source.add(
                directory + "/" + file,
                {.source = name, .name = clean_name(file), .range = range_of(known), .original = file});
        }
    }
}

}  // namespace

std::string driver_of(const std::string& device_directory) {
    std::error_code error;
    return std::filesystem::read_symlink(device_directory + "/device/driver", error).filename().string();
}

std::vector<std::string> names_in(const std::string& directory) {
    std::vector<std::string> names;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
        names.push_back(entry->path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::string clean_source(std::string_view source) {
    std::string clean;
    for (const char letter : source) {
        const bool plain = letter > ' ' && letter < 0x7f && letter != ',' && letter != '"';
        clean += plain ? letter : '_';
    }
    return clean;
}

std::string clean_name(std::string_view name) {
    std::string clean = clean_source(name);
    std::replace(clean.begin(), clean.end(), '.', '_');
    const auto first = clean.find_first_not_of('_');
    return first == std::string::npos ? "_" : clean.substr(first, clean.find_last_not_of('_') + 1 - first);
}

std::string file_text(const std::string& path) {
    const int descriptor = open_for_reading(path);
    if (descriptor < 0) {
        return {};
    }
    std::string text;
    std::array<char, 8192> block;
    ssize_t got = 0;
    while (text.size() <= file_text_limit && (got = ::read(descriptor, block.data(), block.size())) > 0) {
        text.append(block.data(), static_cast<std::size_t>(got));
    }
    ::close(descriptor);
    return got < 0 || text.size() > file_text_limit ? std::string{} : text;
}

CounterValue number_in_file(const std::string& path) {
    const int descriptor = open_for_reading(path);
    if (descriptor < 0) {
        return std::nullopt;
    }
    std::array<char, 64> text;
    const ssize_t got = ::read(descriptor, text.data(), text.size());
    ::close(descriptor);
    if (got <= 0) {
        return std::nullopt;
    }
    const char* end = text.data() + got;
    std::uint64_t number = 0;
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    const bool whole = std::all_of(rest, end, [](char letter) { return letter == '\n' || letter == ' '; });
    return error == std::errc{} && whole ? CounterValue(number) : std::nullopt;
}

Sources rdma_ports(const std::string& root) {
    Sources sources;
    const std::string devices = root + "/sys/class/infiniband/";
    for (const std::string& device : names_in(devices)) {
        const std::string ports = devices + device + "/ports/";
        const std::vector<std::string> numbers = names_in(ports);
        // Where it is not known, as in a tree that stands for a host, devices are called after their driver.
        std::string driver = driver_of(devices + device);
        if (driver.empty()) {
            driver = device.starts_with("mlx5") ? "mlx5_core" : device.substr(0, device.find('_'));
        }
        for (const std::string& number : numbers) {
            // "4: ACTIVE"
            if (!file_text(ports + number + "/state").starts_with("4")) {
                continue;
            }
            auto source = std::make_unique<FileSource>();
            const std::string name = numbers.size() == 1 ? device : device + ":" + number;
            add_port(*source, ports + number, name);
            add_hardware_counters(*source, ports + number + "/hw_counters", name, driver);
            if (numbers.size() == 1) {
                add_hardware_counters(*source, devices + device + "/hw_counters", name, driver);
            }
            if (!source->counters().empty()) {
                sources.push_back(std::move(source));
            }
        }
    }
    return sources;
}

namespace {

/// Sorted.
std::vector<std::string> interfaces_up(const std::string& root) {
    constexpr std::uint64_t type_loopback = 772;
    std::vector<std::string> up;
    const std::string interfaces = root + "/sys/class/net/";
    for (const std::string& name : names_in(interfaces)) {
        const std::string state = file_text(interfaces + name + "/operstate");
        // Tunnels and some virtual interfaces do not report whether they are up: then they count.
        const bool is_up = state.starts_with("up") || state.starts_with("unknown");
        if (is_up && number_in_file(interfaces + name + "/type") != type_loopback) {
            up.push_back(name);
        }
    }
    return up;
}

/// Interfaces behind which the kernel has a network: an address of one's own brings such a route with it. A
/// route to a single address, which container networks have for each container, is none.
std::set<std::string> interfaces_with_network(const std::string& root) {
    std::set<std::string> found;
    std::istringstream routes(file_text(root + "/proc/net/route"));
    std::string line;
    std::getline(routes, line);  // the names of the columns
    while (std::getline(routes, line)) {
        std::istringstream words(line);
        std::string interface;
        std::string mask;
        words >> interface;
        for (int word = 0; word < 7; ++word) {  // destination, gateway, flags, references, uses, metric, mask
            words >> mask;
        }
        if (words && mask != "FFFFFFFF") {
            found.insert(interface);
        }
    }
    // Address, number of the interface, length of the prefix, scope, flags, name.
    std::istringstream addresses(file_text(root + "/proc/net/if_inet6"));
    std::string address;
    std::string number;
    std::string prefix;
    std::string scope;
    std::string flags;
    std::string interface;
    while (addresses >> address >> number >> prefix >> scope >> flags >> interface) {
        if (scope == "00" || scope == "40") {  // global, or of a site
            found.insert(interface);
        }
    }
    return found;
}

}  // namespace

InterfacesInUse interfaces_in_use(const std::string& root) {
    InterfacesInUse use{.names = interfaces_up(root)};
    const std::size_t all = use.names.size();
    if (all > InterfacesInUse::all_up_to) {
        const std::set<std::string> networks = interfaces_with_network(root);
        std::erase_if(use.names, [&](const std::string& name) {
            std::error_code error;
            return !networks.contains(name) &&
                   !std::filesystem::exists(root + "/sys/class/net/" + name + "/device", error);
        });
    }
    use.left_out = all - use.names.size();
    return use;
}

bool is_made_of(const std::string& root, const std::string& interface,
                const std::vector<std::string>& others) {
    constexpr std::string_view link = "lower_";
    const std::vector<std::string> files = names_in(root + "/sys/class/net/" + interface);
    return std::any_of(files.begin(), files.end(), [&](const std::string& file) {
        return file.starts_with(link) &&
               std::find(others.begin(), others.end(), file.substr(link.size())) != others.end();
    });
}

Sources interface_statistics(const std::string& root, const std::vector<std::string>& interfaces) {
    Sources sources;
    for (const std::string& interface : interfaces) {
        auto source = std::make_unique<FileSource>();
        for (const std::string_view name : interface_counters) {
            source->add(root + "/sys/class/net/" + interface + "/statistics/" + std::string(name),
                        {.source = interface, .name = std::string(name)});
        }
        if (!source->counters().empty()) {
            sources.push_back(std::move(source));
        }
    }
    return sources;
}

}  // namespace weir::host
