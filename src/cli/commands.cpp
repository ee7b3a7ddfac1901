#include "cli/commands.hpp"

#include <algorithm>
#include <array>

namespace weir::cli {

namespace {

constexpr std::string_view run_most_used[] = {"scenario", "scale",      "producers", "consumers",
                                              "rate",     "event-size", "policy",    "busy",
                                              "duration", "require",    "out",       "dry-run"};

constexpr std::string_view simulate_most_used[] = {
    "scenario",      "producers", "consumers", "rate", "producer-link",
    "consumer-link", "busy",      "duration",  "seed", "out"};

constexpr CommandOption run_options[] = {{.name = "explain",
                                          .syntax = "off|fast|full",
                                          .help = "simulate what held the run up: for a second, or a minute",
                                          .default_text = "fast"}};

constexpr CommandOption simulate_options[] = {{.name = "jobs",
                                               .syntax = "N",
                                               .help = "simulations of --groups and --explain at a time",
                                               .default_text = "all cores"},
                                              {.name = "explain",
                                               .syntax = "off|fast|full",
                                               .help = "simulate again to prove what held the run up",
                                               .default_text = "fast; off if quiet"}};

constexpr CommandOption check_options[] = {{.name = "probe",
                                            .syntax = "TIME",
                                            .help = "about how long to transfer data; 0s: not at all",
                                            .default_text = "5s"}};

constexpr CommandOption explain_options[] = {
    {.name = "jobs", .syntax = "N", .help = "simulations at a time", .default_text = "all cores"},
    {.name = "confirm", .help = "make the run again, with the remedy and without it, in turns"},
    {.name = "json", .help = "explain.json to standard output instead of the text"},
    {.name = "quiet", .short_name = "q", .help = "nothing to standard output"}};

constexpr CommandOption explain_arguments[] = {{.name = "DIR", .help = "the directory of a run"}};

constexpr CommandOption scenarios_arguments[] = {
    {.name = "NAME", .help = "a built-in scenario, or a file.toml"}};

constexpr CommandOption switches_arguments[] = {
    {.name = "NAME", .help = "a built-in switch, or a file.toml"}};

constexpr CommandOption help_arguments[] = {
    {.name = "WORD", .help = "a word of weir's output, such as slack, or a command"}};

constexpr CommandOption shorthand[] = {
    {.name = "json", .help = "the same as --output json"},
    {.name = "quiet", .short_name = "q", .help = "the same as --output quiet"}};

constexpr CommandOption program_options[] = {
    {.name = "help",
     .short_name = "h",
     .syntax = "[json]",
     .help = "the list of commands; json: all commands and options, for programs"},
    {.name = "version", .help = "version, commit, compiler, MPI and UCX"}};

constexpr Command weir_itself{
    .name = "weir",
    .summary = "a many-to-many benchmark for networks",
    .usage = "weir COMMAND [OPTIONS]",
    .description =
        R"(A benchmark for networks on which many senders feed many receivers. Producer ranks generate data at
a fixed rate, consumer ranks take it and are sometimes busy, and one scheduler rank grants every
transfer. Every run answers one question: was every set of data gone before the next one was
generated, and if not, what was the cause?
)",
    .examples = R"(  mpirun --oversubscribe -np 8 weir run --scenario quickstart
  weir run --scenario lhcb2021-2 --dry-run
  weir simulate --scenario lhcb2021-2
)",
    .options = program_options};

constexpr Command table[] = {
    {.name = "run",
     .summary = "measure, under mpirun or srun",
     .usage = "mpirun -np RANKS weir run [OPTIONS]",
     .description =
         R"(Producers generate data at a fixed rate, consumers take it, a scheduler pairs them. The run
answers: was every set of data gone before the next one was generated, and if not, what was the
cause?
)",
     .examples =
         R"(  mpirun -np 8 weir run                            1 scheduler, 3 producers at 1Gb/s, 4 consumers
  mpirun -np 8 weir run --scenario quickstart      a named set of options (`weir scenarios`)
  mpirun -np 87 --hostfile hosts weir run --scenario lhcb2021-2 --require sustained
)",
     .has_run_options = true,
     .most_used = run_most_used,
     .options = run_options,
     .exit_status =
         R"(0 ran and all checks held; 1 failed; 2 bad usage; 3 a --require check did not hold;
130, 143 interrupted (logs are complete).
)"},
    {.name = "simulate",
     .summary = "the same run in virtual time, without MPI",
     .usage = "weir simulate [OPTIONS]",
     .description =
         R"(The nodes of `weir run` over a model of the network, in one process. Takes the same options and
writes the same run directory; the same seed gives equal files. Default: 3 producers, 4 consumers.
)",
     .examples =
         R"(  weir simulate --scenario lhcb2021-5              row 5 of the paper, at 100 Gb/s, in a second
  weir simulate --producers 14 --consumers 72 --rate 80Gb/s --consumer-link 25Gb/s
)",
     .has_run_options = true,
     .most_used = simulate_most_used,
     .options = simulate_options,
     .exit_status =
         R"(as for weir run.
)"},
    {.name = "explain",
     .summary = "what held a run up, and what would help",
     .usage = "weir explain DIR [OPTIONS]",
     .description =
         R"(Says what held up a run that was made, from what was observed in it and from simulations with what
it showed (its twins: the same plan and code, with the links, times of processing, latency of control
messages, scheduler and stalls of the run). Named is what would have put every set on time, with how
much of it, what would do instead, and what the run does not tell apart from it. weir run does the
same at its end, in a second. Writes explain.json into the directory; weir-report shows it.

--confirm makes the run again, three times as it was and three times with the remedy, in turns, where the
remedy is options of weir; measured on the hosts where it was made, or simulated with other seeds. It says
before how long that takes at most. The runs, and a page that compares them, are in DIR/confirm.
)",
     .examples = R"(  weir explain runs/first
  weir explain runs/first --json
  weir explain runs/first --confirm
)",
     .options = explain_options,
     .arguments = explain_arguments,
     .exit_status =
         R"(0 the cause is known, or the run was on time; 1 failed; 2 no such run, or none that came to its
end; 3 cannot tell; 130, 143 interrupted. With --confirm 0 confirmed; 1 a run failed; 3 not confirmed,
cannot tell, or the remedy is none that weir can make.
)"},
    {.name = "check",
     .summary = "check hosts and network before a run",
     .usage = "mpirun -np RANKS weir check [OPTIONS]",
     .description =
         R"(Finds problems of hosts and network before a run. Start it like the run itself, with the same
options, on the same hosts. It reads the settings of each host's devices and the host's limits,
compares hosts, transfers a little data between the pairs of the plan, and finds which counters
counted it. Each finding has a remedy; the worst come first.

Checked are: network devices and the one that will be used, their speed, MTU and state; GIDs and
their types; traffic class and priority; PFC, pause frames and ECN; locked memory; memory that the
plan needs; NUMA distance; CPU governor; versions and variables of MPI and UCX; the transport that
MPI selected.
)",
     .examples = R"(  mpirun -np 87 --hostfile hosts weir check --scenario lhcb2021-2
  weir check                                       without mpirun: this host only
  weir check --join ctl01:7000 --ranks 87          no MPI: on ctl01; elsewhere without --ranks
)",
     .has_run_options = true,
     .options = check_options,
     .exit_status = R"(0 no serious finding; 1 the check failed; 2 bad usage; 3 a serious finding.
)"},
    {.name = "scenarios",
     .summary = "list the built-in scenarios, or print one",
     .usage = "weir scenarios [NAME]",
     .description =
         R"(Without NAME, lists the built-in scenarios. With NAME, prints that one as TOML, with its comments.
Use it as a template for your own scenario.

Keys are the names of options without the leading dashes; values are written as on the command
line, in quotes. `name`, `title`, `description`, `source` and `found` (the results of the source)
are text. Options on the command line override a scenario.
)",
     .examples = R"(  weir scenarios lhcb2021-2 > mine.toml
  mpirun -np 87 weir run --scenario ./mine.toml
)",
     .arguments = scenarios_arguments},
    {.name = "switches",
     .summary = "list the built-in switches of simulations, or print one",
     .usage = "weir switches [NAME]",
     .description =
         R"(Without NAME, lists the switches that `weir simulate --network packet` has built in. With NAME,
prints that one as TOML, with its comments. Use it as a template for your own switch, in full, or
begin with a line such as base = "shallow" and write only what differs.
)",
     .examples = R"(  weir switches shallow > mine.toml
  weir simulate --network packet --switch ./mine.toml --pfc on
)",
     .arguments = switches_arguments},
    {.name = "help",
     .summary = "what a word of the output means",
     .usage = "weir help [WORD]",
     .description =
         R"(Prints what the glossary has on a word of weir's output, or the help of a command. Without
WORD, lists all words.
)",
     .examples = R"(  weir help slack
  weir help longest delivery time
)",
     .arguments = help_arguments},
};

}  // namespace

const Command& program() {
    return weir_itself;
}

std::span<const Command> commands() {
    return table;
}

const Command* find_command(std::string_view name) {
    const auto* const found = std::find_if(std::begin(table), std::end(table),
                                           [&](const Command& command) { return command.name == name; });
    return found == std::end(table) ? nullptr : found;
}

bool accepts(const Command& command, const config::Option& option) {
    if (!command.has_run_options || option.group == config::OptionGroup::testing) {
        return false;
    }
    // A check says of each why it refuses it.
    constexpr std::array refused_by_check{"groups", "group-hosts"};
    if (command.name == "check" &&
        std::find(refused_by_check.begin(), refused_by_check.end(), option.name) != refused_by_check.end()) {
        return false;
    }
    const bool simulates = command.name == "simulate";
    return simulates ? option.name != "role" && !option.is(config::only_measured)
                     : !config::is_for_simulations(option.group);
}

std::span<const CommandOption> shorthand_options() {
    return shorthand;
}

std::string listed_commands() {
    std::string text;
    for (std::size_t i = 0; i < std::size(table); ++i) {
        text += i == 0 ? "" : i + 1 < std::size(table) ? ", " : " and ";
        text += table[i].name;
    }
    return text;
}

}  // namespace weir::cli
