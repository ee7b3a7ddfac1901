// What the packet model costs: transmissions (a packet over one link) per second of CPU time, for networks
// that are kept full with messages of 1 MB. A plain program, because one run is long enough to be timed.
//
//   packet_benchmark [SIMULATED-MILLISECONDS [CASE]]     100 ms of all cases by default
//
// Output: CSV. allocations: in the second half of the run; memory: the largest of the process so far.
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "allocation_count.hpp"
#include "packet_load.hpp"

namespace {

using weir::bench::PacketLoad;
using weir::bench::PacketLoadCase;
using weir::packet::Picoseconds;

// 14 x 72 is the layout of the LHCb paper of 2021, row 1: 1.4 Tb/s.
constexpr PacketLoadCase cases[] = {
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

void run(const PacketLoadCase& chosen, double simulated_ms) {
    const double simulated_s = simulated_ms * chosen.scale / 1000;
    const auto half = Picoseconds{static_cast<std::int64_t>(simulated_s * 0.5e12)};
    PacketLoad load(chosen);
    load.run_to(half);
    const std::uint64_t allocations = allocation_count();
    const std::uint64_t before = load.network().transmissions();
    const double started_s = usage().cpu_s;
    load.run_to(half * 2);
    const Usage used = usage();
    const double cpu_s = used.cpu_s - started_s;
    const auto transmissions = static_cast<double>(load.network().transmissions() - before);
    fmt::print("{},{},{:.3f},{:.2f},{:.2f},{},{:.0f}\n", chosen.name, transmissions, cpu_s,
               transmissions / cpu_s / 1e6, cpu_s / (simulated_s / 2), allocation_count() - allocations,
               used.memory_mb);
}

}  // namespace

int main(int argc, char** argv) {
    const std::optional<double> simulated_ms = weir::bench::simulated_ms_of(argc, argv, 0.001);
    if (!simulated_ms) {
        fmt::print(stderr, "usage: packet_benchmark [SIMULATED-MILLISECONDS [CASE]]; at least 0.001\n");
        return 2;
    }
    fmt::print("case,transmissions,cpu_s,million_per_cpu_s,cpu_s_per_simulated_s,allocations,memory_mb\n");
    for (const PacketLoadCase& chosen : cases) {
        if (argc < 3 || chosen.name == argv[2]) {
            run(chosen, *simulated_ms);
        }
    }
    return 0;
}
