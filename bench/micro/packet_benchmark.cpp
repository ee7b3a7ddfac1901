// What the packet model costs: transmissions (a packet over one link) per second of CPU time, for networks
// that are kept full. Every sender has as many messages of 1 MB under way as it has streams, each to a
// receiver drawn at random; when one has arrived, the next follows. A plain program, because one run is long
// enough to be timed.
//
//   packet_benchmark [SIMULATED-MILLISECONDS [CASE]]     100 ms of all cases by default
//
// Output: CSV. allocations: in the second half of the run; memory: the largest of the process so far.
#include <fmt/format.h>
#include <sys/resource.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "allocation_count.hpp"
#include "core/random.hpp"
#include "packet/packet_network.hpp"

namespace {

using namespace weir;
using packet::FlowIndex;
using packet::NodeIndex;
using packet::PacketNetwork;
using packet::Picoseconds;

constexpr std::int64_t gigabit = 1'000'000'000;
constexpr core::Bytes message{1'000'000};
constexpr core::Priority data = 3;

struct Case {
    std::string_view name;
    std::uint32_t senders = 1;
    std::uint32_t receivers = 1;
    std::int64_t sender_gigabit = 100;
    std::int64_t receiver_gigabit = 100;
    std::uint32_t streams = 4;
    bool pfc = true;
    bool ecn = true;
    double scale = 1;  ///< of the time simulated
};

// 14 x 72 is the layout of the LHCb paper of 2021, row 1: 1.4 Tb/s.
constexpr Case cases[] = {
    {.name = "14x72", .senders = 14, .receivers = 72, .receiver_gigabit = 25},
    {.name = "14x72 lossy",
     .senders = 14,
     .receivers = 72,
     .receiver_gigabit = 25,
     .pfc = false,
     .ecn = false},
    {.name = "18x14", .senders = 18, .receivers = 14},
    {.name = "one link", .streams = 1, .scale = 10},
    {.name = "64 to 1", .senders = 64, .streams = 1, .scale = 10},
    {.name = "500x500", .senders = 500, .receivers = 500, .scale = 0.1},
};

PacketNetwork::Setup setup_of(const Case& chosen, const packet::Topology& topology) {
    PacketNetwork::Setup setup{.topology = topology, .switches = {}, .nics = {}};
    if (chosen.pfc) {
        setup.switches.lossless = core::mask_of(data);
        // The headroom of a thousand ports is more than the pool of one real switch.
        setup.switches.pool = {std::max<std::int64_t>(
            16'000'000, 110'000 * static_cast<std::int64_t>(chosen.senders + chosen.receivers))};
    }
    setup.switches.ecn.on = chosen.ecn;
    setup.nics.dcqcn.on = chosen.ecn;
    setup.nics.ack_timeout = core::Duration::milliseconds(1);
    setup.nics.ack_priority = setup.nics.cnp_priority = data;
    return setup;
}

packet::Topology topology_of(const Case& chosen) {
    std::vector<core::BitRate> rates(chosen.senders, {chosen.sender_gigabit * gigabit});
    rates.insert(rates.end(), chosen.receivers, {chosen.receiver_gigabit * gigabit});
    return packet::star(rates, core::Duration::nanoseconds(1000));
}

/// Keeps the streams of all senders busy.
class Load {
  public:
    explicit Load(const Case& chosen)
        : chosen_(chosen),
          topology_(topology_of(chosen)),
          network_(setup_of(chosen, topology_)),
          random_(1, 0) {
        for (std::uint32_t from = 0; from < chosen.senders; ++from) {
            for (std::uint32_t to = 0; to < chosen.receivers; ++to) {
                flows_.push_back(network_.connect({from}, {chosen.senders + to}, data));
            }
        }
        for (std::uint32_t stream = 0; stream < chosen.streams; ++stream) {
            for (std::uint32_t from = 0; from < chosen.senders; ++from) {
                post(from);
            }
        }
    }

    void run_to(Picoseconds until) {
        while (network_.next_time() <= until) {
            for (const PacketNetwork::Report& report : network_.advance(until)) {
                if (report.kind == PacketNetwork::Report::Kind::arrived) {
                    post(static_cast<std::uint32_t>(report.message));
                }
            }
        }
    }
    [[nodiscard]] std::uint64_t transmissions() const { return network_.transmissions(); }

  private:
    void post(std::uint32_t from) {
        const auto to = static_cast<std::uint32_t>(random_.below(chosen_.receivers));
        network_.post(network_.now(), flows_[from * chosen_.receivers + to], from, message);
    }

    const Case& chosen_;
    packet::Topology topology_;
    PacketNetwork network_;
    core::Random random_;
    std::vector<FlowIndex> flows_;
};

struct Usage {
    double cpu_s = 0;
    double memory_mb = 0;
};

Usage usage() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return {static_cast<double>(used.ru_utime.tv_sec) + static_cast<double>(used.ru_utime.tv_usec) * 1e-6,
            static_cast<double>(used.ru_maxrss) / 1000};
}

void run(const Case& chosen, double simulated_ms) {
    const double simulated_s = simulated_ms * chosen.scale / 1000;
    const auto half = Picoseconds{static_cast<std::int64_t>(simulated_s * 0.5e12)};
    Load load(chosen);
    load.run_to(half);
    const std::uint64_t allocations = allocation_count();
    const std::uint64_t before = load.transmissions();
    const double started_s = usage().cpu_s;
    load.run_to(half * 2);
    const Usage used = usage();
    const double cpu_s = used.cpu_s - started_s;
    const auto transmissions = static_cast<double>(load.transmissions() - before);
    fmt::print("{},{},{:.3f},{:.2f},{:.2f},{},{:.0f}\n", chosen.name, transmissions, cpu_s,
               transmissions / cpu_s / 1e6, cpu_s / (simulated_s / 2), allocation_count() - allocations,
               used.memory_mb);
}

}  // namespace

int main(int argc, char** argv) {
    double simulated_ms = 100;
    if (argc > 1) {
        const std::string_view text = argv[1];
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), simulated_ms);
        if (error != std::errc{} || end != text.data() + text.size() || simulated_ms <= 0) {
            fmt::print(stderr, "usage: packet_benchmark [SIMULATED-MILLISECONDS [CASE]]\n");
            return 2;
        }
    }
    fmt::print("case,transmissions,cpu_s,million_per_cpu_s,cpu_s_per_simulated_s,allocations,memory_mb\n");
    for (const Case& chosen : cases) {
        if (argc < 3 || chosen.name == argv[2]) {
            run(chosen, simulated_ms);
        }
    }
    return 0;
}
