#include "config/option_table.hpp"

#include <iterator>

#include "config/option_rows.hpp"
#include "config/words.hpp"

namespace weir::config {

namespace {

constexpr Option testing_rows[] = {
    {"inject", "FAULT", "make the transport damage a chunk; repeatable", unset,
     as::texts<&RunRequest::injections>, repeatable},
};
constexpr std::span<const Option> testing_options = testing_rows;

/// In the order of OptionGroup.
constexpr OptionGroupRow group_rows[] = {
    {"layout", "which rank has which role", &layout_options,
     R"(
By default the first rank is the scheduler and half of the others are producers. Examples:
  mpirun -np 8 weir run --producers 3 --consumers 4
  mpirun ... weir run --producer-hosts 'eb[01-14]' --consumer-hosts 'fn[01-72]'
  mpirun -np 1 weir run --role scheduler : -np 3 weir run --role producer : ...
A layout that does not match the ranks exactly is refused.
)"},
    {"data", "what producers generate", &data_options,
     R"(
Sizes of events:
  16MiB  normal:MEAN,deviation=SIZE  lognormal:MEAN,deviation=SIZE  trace:FILE
normal and lognormal also ,max=SIZE. A trace file has one size per line; # begins a comment.

Units are required. Sizes: B kB MB GB TB (1000), KiB MiB GiB TiB (1024);
rates: b/s kb/s Mb/s Gb/s Tb/s; times: ns us ms s min h.
)"},
    {"transfer", "how data is transferred", &transfer_options,
     R"(
Shaping of each producer:
  bucket:20Mb/s,burst=64KiB   a token bucket for payload; burst is 64KiB unless given
  in-step:25us,tick=2.5ms     a chunk per 25us; every tick of the scheduler restarts the grid, so
                              that producers stay in step; a tick every 100 chunks unless given
)"},
    {"building", "event building, pull, and limits on credits", &building_options,
     R"(
With --pattern build, a slot has room for a fragment of every producer. Events that lose a fragment
(datagram) are given up and reported.
)"},
    {"busy", "how long consumers work on an event", &busy_options,
     R"(
Times per event, MEAN being a time such as 1.2s:
  none  fixed:MEAN  exponential:MEAN  lognormal:MEAN,deviation=TIME  pareto:MEAN,shape=2.5
  poisson:MEAN,quantum=TIME   a Poisson-distributed number of quanta;
                              without quantum: a quarter of MEAN, at most 50ms
  trace:FILE                  one time per line; # begins a comment
All but none, fixed and trace also ,max=TIME. A consumer works on one event at a time and continues
to receive into its free slots; without a free slot it is blocked.
Results: as sizes of events, and mixture:28B,large=64KiB,every=200 (about every 200th is large).
)"},
    {"run", "what to measure, how long, and what must hold", &run_options,
     R"(
Precedence: defaults, then the scenario, then options; --scale and --time-scale apply to the result.
--time-scale keeps rates, and scales the interval, duration, warm-up, a given drain, busy times, and
sizes of events, slots, buffers and results: the same with fewer bytes, for the packet network.
)"},
    {"output", "what is written, and where", &output_options,
     R"(
Also: --json for --output json, -q or --quiet for --output quiet. The verdict is always in run.json.
)"},
    {"network", "what a simulation assumes (only weir simulate)", &network_options,
     R"(
fluid: links of this speed to a switch without limits, or to the cables of a --switch; transfers
share links fairly.
packet: see group switch.
Some links of another speed: --consumer-link 100Gb/s,0-3=25Gb/s,7=400Gb/s
Disturbances (--fault); times count from second 0; default: from the beginning, to the end:
  pause:consumer=3,at=10s,for=2s          stops for 2 s (also producer=N, scheduler)
  die:consumer=3,at=10s                   stops and does not continue
  die:consumer=3,at=10s,back=14s          is started again at 14 s (--on-failure continue)
  cut:consumer=3,at=10s,for=8s            nothing gets to or from it (--on-failure continue)
  slow:consumer=3,at=10s,factor=2         works twice as long on each event
  slow:scheduler,factor=100               takes 100 times as long for each message
  degrade:producer=0,at=5s,for=1s,factor=0.1   its links have a tenth of their speed
  delay:extra=1ms                         control messages take up to 1 ms longer, in order
  drift:producer=3,ppm=-50                its clock is slow by 50 ppm; shaping in-step
  flood:consumer=3,at=1s,for=20ms         datagrams for it also go to all other hosts: no MAC entry
Of the network (--network packet; cut and degrade also fluid with --switch); names of devices as in
switch/NAME.csv, or leaf-N, spine-N:
  cut:link=leaf-0:spine-1,at=1s,for=2s    it loses all; routes follow after [failures] convergence
  cut:switch=spine-1,at=1s                the same of all its links (,disconnects: even hosts)
  degrade:link=leaf-0:spine-1,to=10Gb/s   the link is slower (or factor=0.1)
  errors:link=leaf-0:spine-1,share=1e-6   the link loses this share of packets
  storm:host=consumer-3,at=1s,for=1s      its NIC pauses the switch for ever (--pfc on)
)"},
    {"switch", "switch and NICs with --network packet (only weir simulate)", &switch_options,
     R"(
Packets have a model of their own: buffers of a switch, pauses, marks, losses. Built in:
  shallow  16 MB for all ports, like a QFX5200-32C
  deep     4 GB, at most 125 MB for a queue, like a switch with a Jericho
  plain    each queue of a port holds --port-buffer; the rest is lost
  dcqcn-tuned  shallow with settings of ECN and DCQCN that a vendor tuned
  gigabit      256 KiB for a port of 1 Gb/s, plain flow control (802.3x)
All numbers of a switch can be set in a file: `weir switches shallow` prints one to begin with.
With --framing tcp, connections take the place of queue pairs.
)"},
    {"testing", "for weir's own tests", &testing_options, ""},
};
static_assert(std::size(group_rows) == static_cast<std::size_t>(OptionGroup::testing) + 1);

}  // namespace

const OptionGroupRow& row_of(OptionGroup group) {
    return group_rows[static_cast<std::size_t>(group)];
}

std::span<const Option> option_table() {
    static const std::vector<Option> table = [] {
        std::vector<Option> all;
        for (std::size_t group = 0; group <= static_cast<std::size_t>(OptionGroup::testing); ++group) {
            for (Option option : *row_of(static_cast<OptionGroup>(group)).options) {
                option.group = static_cast<OptionGroup>(group);
                all.push_back(option);
            }
        }
        return all;
    }();
    return table;
}

const Option* find_option(std::string_view name) {
    for (const Option& option : option_table()) {
        if (option.name == name) {
            return &option;
        }
    }
    return nullptr;
}

std::string near_option(std::string_view text) {
    while (text.starts_with('-')) {
        text.remove_prefix(1);
    }
    text = text.substr(0, text.find('='));
    std::vector<std::string_view> names;
    for (const Option& option : option_table()) {
        if (option.group != OptionGroup::testing) {
            names.push_back(option.name);
        }
    }
    const auto near = near_names(text, names, 1);
    return near.empty() ? std::string{} : "--" + near.front();
}

std::vector<GivenOption> plan_values(const RunRequest& request) {
    std::vector<GivenOption> values;
    for (const Option& option : option_table()) {
        if (option.is(not_in_plan) || (is_for_simulations(option.group) && !request.simulated) ||
            (option.is(only_measured) && request.simulated)) {
            continue;
        }
        if (std::string value = option.get(request); !value.empty()) {
            values.push_back({std::string(option.name), std::move(value)});
        }
    }
    return values;
}

}  // namespace weir::config
