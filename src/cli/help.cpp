#include "cli/help.hpp"

#include <fmt/format.h>

#include <array>

#include "config/option_table.hpp"
#include "config/usage_error.hpp"
#include "weir_version.hpp"

namespace weir::cli {

namespace {

using config::Option;
using config::OptionGroup;

constexpr std::size_t help_column = 32;

/// "  --rate RATE       payload that each producer generates per second [1Gb/s]"
std::string option_line(const Option& option) {
    std::string line =
        fmt::format("  --{}{}{}", option.name, option.syntax.empty() ? "" : " ", option.syntax);
    // A syntax that is too long for its column gets a line of its own.
    if (line.size() + 1 > help_column) {
        line += fmt::format("\n{:{}}", "", help_column);
    } else {
        line += std::string(help_column - line.size(), ' ');
    }
    line += option.help;
    if (!option.fallback.empty() && option.fallback != "none") {
        line += fmt::format(" [{}]", option.fallback);
    }
    return line + '\n';
}

std::string group_lines(OptionGroup group) {
    std::string lines;
    for (const Option& option : config::option_table()) {
        if (option.group == group) {
            lines += option_line(option);
        }
    }
    return lines;
}

/// What the lines of a group cannot say.
std::string_view group_note(OptionGroup group) {
    switch (group) {
        case OptionGroup::layout:
            return R"(
Without any of these, the first rank is the scheduler, half of the others are producers. Or:
  mpirun -np 8 weir run --producers 3 --consumers 4
  mpirun ... weir run --producer-hosts 'eb[01-14]' --consumer-hosts 'fn[01-72]'
  mpirun -np 1 weir run --role scheduler : -np 3 weir run --role producer : ...
What cannot be met exactly is refused.
)";
        case OptionGroup::data:
            return R"(
Sizes of events:
  16MiB  normal:MEAN,deviation=SIZE  lognormal:MEAN,deviation=SIZE  trace:FILE
normal and lognormal also ,max=SIZE. A trace file has one size per line; # begins a comment.

The unit is never left out. Sizes: B kB MB GB TB (1000), KiB MiB GiB TiB (1024);
rates: b/s kb/s Mb/s Gb/s Tb/s; times: ns us ms s min h.
)";
        case OptionGroup::busy:
            return R"(
Times per event, MEAN being a time such as 1.2s:
  none  fixed:MEAN  exponential:MEAN  lognormal:MEAN,deviation=TIME  pareto:MEAN,shape=2.5
  poisson:MEAN,quantum=TIME   a Poisson-distributed number of quanta;
                              without quantum: a quarter of MEAN, at most 50ms
  trace:FILE                  one time per line; # begins a comment
All but none, fixed and trace also ,max=TIME. A consumer works on one event at a time and goes on
receiving into its free slots; without a free slot it is blocked.
)";
        case OptionGroup::run:
            return R"(
Precedence: defaults, then the scenario, then options; --scale applies to the result.
)";
        case OptionGroup::output:
            return R"(
Also: --json for --output json, -q or --quiet for --output quiet. The verdict is always in run.json.
)";
        case OptionGroup::network:
            return R"(
Every node has a link of this speed to a switch without limits, and transfers share links fairly.
Faults, times counted from second 0; without at= from the beginning, without for= to the end:
  pause:consumer=3,at=10s,for=2s          does nothing for 2 s (also producer=N, scheduler)
  die:consumer=3,at=10s                   does nothing any more
  slow:consumer=3,at=10s,factor=2         works twice as long on each event
  slow:scheduler,factor=100               takes 100 times as long for each message
  degrade:producer=0,at=5s,for=1s,factor=0.1   its links carry a tenth
  delay:extra=1ms                         control messages take up to 1 ms longer, in order
)";
        default:
            return "";
    }
}

std::string group_page(OptionGroup group) {
    return fmt::format("{}: {}\n{}{}", config::group_name(group), config::group_title(group),
                       group_lines(group), group_note(group));
}

std::string run_overview() {
    constexpr std::array<std::string_view, 12> most_used{"scenario", "scale",      "producers", "consumers",
                                                         "rate",     "event-size", "policy",    "busy",
                                                         "duration", "require",    "out",       "dry-run"};
    std::string text = R"(Usage: mpirun -np RANKS weir run [OPTIONS]

Producers generate data at a fixed rate, consumers take it, a scheduler pairs them. The run answers:
was every set of data gone before the next one was generated, and if not, who or what held it up?

  mpirun -np 8 weir run                            1 scheduler, 3 producers at 1Gb/s, 4 consumers
  mpirun -np 8 weir run --scenario quickstart      a named set of options (`weir scenarios`)
  mpirun -np 87 --hostfile hosts weir run --scenario lhcb2021-2 --require sustained

Used most:
)";
    for (const std::string_view name : most_used) {
        text += option_line(*config::find_option(name));
    }
    text += "\nMore, by group: weir run --help GROUP, or --help all\n";
    for (const OptionGroup group : config::shown_groups) {
        text += fmt::format("  {:10}{}\n", config::group_name(group), config::group_title(group));
    }
    text += R"(
Exit status: 0 ran and all checks held; 1 failed; 2 bad usage; 3 a --require check did not hold;
130, 143 interrupted (logs are complete).
)";
    return text;
}

}  // namespace

std::string overview_help() {
    return fmt::format(R"(weir {}: a many-to-many benchmark for networks

Usage: weir COMMAND [OPTIONS]

  run          measure, under mpirun or srun: weir run --help
  simulate     the same run in virtual time, without MPI: weir simulate --help
  check        look at hosts and network before a run: weir check --help
  scenarios    list the built-in scenarios, or print one: weir scenarios --help

  weir --help       this page
  weir --version    version, commit and compiler

First steps:
  mpirun --oversubscribe -np 8 weir run --scenario quickstart
  weir run --scenario lhcb2021-2 --dry-run
  weir simulate --scenario lhcb2021-2
)",
                       build_info::version);
}

namespace {

/// The page of a group, or of all; an empty topic is the overview.
std::string help_page(std::string_view topic, const std::string& overview) {
    if (topic.empty()) {
        return overview;
    }
    std::string names;
    std::string all;
    for (const OptionGroup group : config::shown_groups) {
        if (topic == config::group_name(group)) {
            return group_page(group);
        }
        names += fmt::format("{} ", config::group_name(group));
        all += fmt::format("{}{}", all.empty() ? "" : "\n", group_page(group));
    }
    if (topic == "all") {
        return all;
    }
    throw config::UsageError(fmt::format("--help: there is no group '{}'; there are: {}all", topic, names));
}

std::string simulate_overview() {
    constexpr std::array<std::string_view, 11> most_used{
        "scenario", "producers", "consumers", "rate", "producer-link", "consumer-link", "busy",
        "slots",    "duration",  "seed",      "out"};
    std::string text = R"(Usage: weir simulate [OPTIONS]

A run in virtual time: the producers, consumers and scheduler of `weir run` over a model of the
network, in one process, without MPI. Takes the same options and writes the same run directory; the
same options and seed give the same files. 3 producers and 4 consumers, if nothing is said.

  weir simulate --scenario lhcb2021-5              row 5 of the paper, at 100 Gb/s, in a second
  weir simulate --scenario lhcb2021-farm           500 producers, 4000 consumers
  weir simulate --producers 14 --consumers 72 --rate 80Gb/s --consumer-link 25Gb/s

Used most:
)";
    for (const std::string_view name : most_used) {
        text += option_line(*config::find_option(name));
    }
    text += "\nMore, by group: weir simulate --help GROUP, or --help all\n";
    for (const OptionGroup group : config::shown_groups) {
        text += fmt::format("  {:10}{}\n", config::group_name(group), config::group_title(group));
    }
    return text + R"(
  --find rate|busy|slots|streams|consumers [--seeds N]
      the limit up to which the run is sustained, by bisection, with N seeds each [5]
  --explore N [--seed S] [--jobs J]
      N random scenarios from seed S on [1], with faults, under the checkers; J jobs [all cores]

Exit status: as of `weir run`; --find: 3 if there is no limit; --explore: 1 if a rule was broken.
)";
}

std::string check_overview() {
    std::string text = R"(Usage: mpirun -np RANKS weir check [OPTIONS]

What is wrong with the hosts and the network, before a run finds out? Start it as the run itself,
with the same options, on the same hosts. It reads what each host says of its devices and limits,
finds what differs between hosts, moves a little data between the pairs of the plan, and looks where
that was counted. Each finding says what to do; the worst come first.

  mpirun -np 87 --hostfile hosts weir check --scenario lhcb2021-2
  weir check                                       without mpirun: this host by itself

  --probe TIME                  about how long to move data; 0s: not at all [5s]
  --json                        the same as JSON

Looked at: network devices and the one that will be used, their speed, MTU and state; GIDs and
their types; traffic class and priority; PFC, pause frames and ECN; locked memory; memory against
the plan; NUMA distance; CPU governor; versions and variables of MPI and UCX; the transport that
MPI took.

Options of the plan are those of `weir run`. By group: weir check --help GROUP, or --help all
)";
    for (const OptionGroup group : config::shown_groups) {
        if (group != config::simulation_group) {
            text += fmt::format("  {:10}{}\n", config::group_name(group), config::group_title(group));
        }
    }
    return text + R"(
Exit status: 0 nothing serious; 1 could not look; 2 bad usage; 3 a finding is serious.
)";
}

}  // namespace

std::string check_help(std::string_view topic) {
    return help_page(topic, check_overview());
}

std::string run_help(std::string_view topic) {
    return help_page(topic, run_overview());
}

std::string simulate_help(std::string_view topic) {
    return help_page(topic, simulate_overview());
}

std::string scenarios_help() {
    return R"(Usage: weir scenarios [NAME]

Without NAME, lists the built-in scenarios. With NAME, prints that one as TOML, comments included:
the start of a scenario of your own.

  weir scenarios lhcb2021-2 > mine.toml
  mpirun -np 87 weir run --scenario ./mine.toml

Keys are the names of options without the dashes in front, values are written as on the command
line, in quotes; `name`, `title`, `description` and `source` are text. Options on the command line
override a scenario.
)";
}

std::string version_text() {
    std::string text = fmt::format("weir {}", build_info::version);
    if (!build_info::git_commit.empty()) {
        text += fmt::format(" ({})", build_info::git_commit);
    }
    return text + fmt::format("\n{}, {}\n", build_info::compiler, build_info::build_type);
}

}  // namespace weir::cli
