#include "config/option_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

#include "config/distributions.hpp"
#include "config/host_list.hpp"
#include "config/limits.hpp"
#include "config/option_setters.hpp"
#include "config/quantities.hpp"
#include "config/usage_error.hpp"

namespace weir::config {

namespace {

using Text = std::string_view;

// --- Values that are one of a few words.

template <typename Value>
struct Choice {
    Text name;
    Value value;
};

template <typename Value, std::size_t size>
Value choose(Text text, const Choice<Value> (&choices)[size]) {
    std::string known;
    for (const auto& choice : choices) {
        if (choice.name == text) {
            return choice.value;
        }
        known += fmt::format("{}{}", known.empty() ? "" : ", ", choice.name);
    }
    throw UsageError(fmt::format("'{}' is not one of: {}", text, known));
}

template <typename Value, std::size_t size>
std::string chosen(Value value, const Choice<Value> (&choices)[size]) {
    for (const auto& choice : choices) {
        if (choice.value == value) {
            return std::string(choice.name);
        }
    }
    return {};
}

std::string event_size_in_force(const RunRequest& request) {
    return event_size_text({request.plan.event_size, request.event_size_trace});
}

std::string busy_in_force(const RunRequest& request) {
    return busy_text({request.plan.busy, request.busy_trace});
}

constexpr Choice<core::Generation> generations[] = {{"sets", core::Generation::sets},
                                                    {"steady", core::Generation::steady},
                                                    {"saturate", core::Generation::saturate}};
constexpr Choice<core::Overflow> overflows[] = {{"count", core::Overflow::count},
                                                {"drop", core::Overflow::drop}};
constexpr Choice<core::PolicyKind> policies[] = {{"balanced", core::PolicyKind::balanced},
                                                 {"token", core::PolicyKind::token},
                                                 {"round-robin", core::PolicyKind::round_robin},
                                                 {"random", core::PolicyKind::random},
                                                 {"none", core::PolicyKind::none}};
constexpr Choice<core::Verify> verifies[] = {
    {"none", core::Verify::none}, {"header", core::Verify::header}, {"full", core::Verify::full}};
constexpr Choice<core::Role> role_choices[] = {{"scheduler", core::Role::scheduler},
                                               {"producer", core::Role::producer},
                                               {"consumer", core::Role::consumer}};
constexpr Choice<bool> busy_cpus[] = {{"idle", false}, {"burn", true}};
constexpr Choice<Idle> idles[] = {
    {"auto", Idle::automatic}, {"spin", Idle::spin}, {"yield", Idle::yield}, {"nap", Idle::nap}};
constexpr Choice<OutputForm> outputs[] = {
    {"text", OutputForm::text}, {"json", OutputForm::json}, {"quiet", OutputForm::quiet}};

// --- Quantities with bounds.

template <typename Quantity>
Quantity bounded(Quantity value, Quantity least, Quantity most) {
    if (value < least || value > most) {
        throw UsageError(fmt::format("{} is out of range; write a value from {} to {}", to_text(value),
                                     to_text(least), to_text(most)));
    }
    return value;
}

constexpr core::Bytes largest_bytes{std::int64_t{1} << 60};

core::Bytes some_bytes(Text text) {
    return bounded(parse_bytes(text), core::Bytes{1}, largest_bytes);
}

core::Duration some_time(Text text, core::Duration least, core::Duration most = longest_duration) {
    return bounded(parse_duration(text), least, most);
}

std::uint32_t count(Text text, std::uint64_t least, std::uint64_t most) {
    return static_cast<std::uint32_t>(parse_count(text, least, most));
}

std::string count_text(std::uint64_t value) {
    return value == 0 ? std::string{} : fmt::format("{}", value);
}

// --- The rows.

const Option rows[] = {
    // Which measurement.
    {.name = "scenario",
     .group = OptionGroup::run,
     .syntax = "NAME|FILE",
     .help = "a named set of options (see `weir scenarios`) or a file.toml",
     .fallback = "none",
     .set = [](RunRequest& r, Text text) { r.scenario = std::string(text); },
     .get = [](const RunRequest& r) { return r.scenario; },
     .in_scenario = false},
    {.name = "scale",
     .group = OptionGroup::run,
     .syntax = "FACTOR",
     .help = "multiply rate, event, slot and buffer size by 0.01 or 1/200",
     .fallback = "1",
     .initial = "1",
     .set = [](RunRequest& r, Text text) { r.scale = parse_ratio(text); },
     .get = [](const RunRequest& r) { return to_text(r.scale); }},
    {.name = "duration",
     .group = OptionGroup::run,
     .syntax = "TIME",
     .help = "how long to measure after the warm-up",
     .fallback = "10s",
     .initial = "10s",
     .set = [](RunRequest& r, Text text) { r.plan.duration = some_time(text, core::Duration{1000000}); },
     .get = [](const RunRequest& r) { return to_text(r.plan.duration); }},
    {.name = "warmup",
     .group = OptionGroup::run,
     .syntax = "TIME",
     .help = "how long to run before that; logged, marked, not judged",
     .fallback = "2s",
     .initial = "2s",
     .set = [](RunRequest& r, Text text) { r.plan.warmup = some_time(text, core::Duration{0}); },
     .get = [](const RunRequest& r) { return to_text(r.plan.warmup); }},
    {.name = "drain",
     .group = OptionGroup::run,
     .syntax = "TIME",
     .help = "how long buffers may take to empty at the end",
     .fallback = "10s",
     .initial = "10s",
     .set = [](RunRequest& r, Text text) { r.plan.drain = some_time(text, core::Duration{0}); },
     .get = [](const RunRequest& r) { return to_text(r.plan.drain); }},
    {.name = "require",
     .group = OptionGroup::run,
     .syntax = "CHECK,...",
     .help = "exit with 3 unless it holds: sustained, lossless; none",
     .fallback = "none",
     .set = set_require,
     .get = require_text,
     .repeatable = true},
    {.name = "verify",
     .group = OptionGroup::run,
     .syntax = "none|header|full",
     .help = "check of what arrives: headers only, or payload as well",
     .fallback = "header",
     .initial = "header",
     .set = [](RunRequest& r, Text text) { r.plan.verify = choose(text, verifies); },
     .get = [](const RunRequest& r) { return chosen(r.plan.verify, verifies); }},
    {.name = "seed",
     .group = OptionGroup::run,
     .syntax = "N",
     .help = "seed of everything random",
     .fallback = "1",
     .initial = "1",
     .set = [](RunRequest& r, Text text) { r.plan.seed = parse_count(text, 0, ~std::uint64_t{0}); },
     .get = [](const RunRequest& r) { return fmt::format("{}", r.plan.seed); }},
    {.name = "idle",
     .group = OptionGroup::run,
     .syntax = "auto|spin|yield|nap",
     .help = "how a rank waits; auto spins when there is a core per rank",
     .fallback = "auto",
     .initial = "auto",
     .set = [](RunRequest& r, Text text) { r.idle = choose(text, idles); },
     .get = [](const RunRequest& r) { return chosen(r.idle, idles); }},
    {.name = "silence-timeout",
     .group = OptionGroup::run,
     .syntax = "TIME",
     .help = "a rank not heard for this long ends the run",
     .fallback = "5s",
     .initial = "5s",
     .set =
         [](RunRequest& r, Text text) {
             r.silence_timeout =
                 some_time(text, core::Duration::milliseconds(500), core::Duration::seconds(3600));
         },
     .get = [](const RunRequest& r) { return to_text(r.silence_timeout); }},
    {.name = "dry-run",
     .group = OptionGroup::run,
     .help = "print what would be run, and what it needs; run nothing",
     .set = [](RunRequest& r, Text) { r.dry_run = true; },
     .get = [](const RunRequest&) { return std::string{}; },
     .in_scenario = false,
     .in_plan = false},

    // Which rank plays which part.
    {.name = "producers",
     .group = OptionGroup::layout,
     .syntax = "N",
     .help = "number of producer ranks",
     .fallback = "half of the ranks",
     .set = [](RunRequest& r, Text text) { r.roles.producers = count(text, 1, nodes_limit); },
     .get = [](const RunRequest& r) { return count_text(r.plan.producers); }},
    {.name = "consumers",
     .group = OptionGroup::layout,
     .syntax = "N",
     .help = "number of consumer ranks",
     .fallback = "the other half",
     .set = [](RunRequest& r, Text text) { r.roles.consumers = count(text, 1, nodes_limit); },
     .get = [](const RunRequest& r) { return count_text(r.plan.consumers); }},
    {.name = "scheduler-rank",
     .group = OptionGroup::layout,
     .syntax = "first|last|N",
     .help = "rank of the scheduler; producers, then consumers in order",
     .fallback = "first",
     .set = set_scheduler_rank,
     .get = [](const RunRequest& r) { return r.roles.scheduler_rank; }},
    {.name = "producer-hosts",
     .group = OptionGroup::layout,
     .syntax = "HOSTS",
     .help = "hosts whose ranks are producers: 'eb[01-14],fn3'",
     .fallback = "by rank order",
     .set = [](RunRequest& r, Text text) { r.roles.producer_hosts = expand_hosts(text); },
     .get = [](const RunRequest& r) { return compress_hosts(r.roles.producer_hosts); }},
    {.name = "consumer-hosts",
     .group = OptionGroup::layout,
     .syntax = "HOSTS",
     .help = "hosts whose ranks are consumers",
     .fallback = "by rank order",
     .set = [](RunRequest& r, Text text) { r.roles.consumer_hosts = expand_hosts(text); },
     .get = [](const RunRequest& r) { return compress_hosts(r.roles.consumer_hosts); }},
    {.name = "scheduler-host",
     .group = OptionGroup::layout,
     .syntax = "HOST",
     .help = "host whose first rank is the scheduler",
     .fallback = "any",
     .set = set_scheduler_host,
     .get = [](const RunRequest& r) { return r.roles.scheduler_host; }},
    {.name = "producers-per-host",
     .group = OptionGroup::layout,
     .syntax = "N",
     .help = "producer ranks on each of --producer-hosts",
     .fallback = "all there",
     .set = [](RunRequest& r, Text text) { r.roles.producers_per_host = count(text, 1, nodes_limit); },
     .get = [](const RunRequest& r) { return count_text(r.roles.producers_per_host); }},
    {.name = "consumers-per-host",
     .group = OptionGroup::layout,
     .syntax = "N",
     .help = "consumer ranks on each of --consumer-hosts",
     .fallback = "all there",
     .set = [](RunRequest& r, Text text) { r.roles.consumers_per_host = count(text, 1, nodes_limit); },
     .get = [](const RunRequest& r) { return count_text(r.roles.consumers_per_host); }},
    {.name = "role",
     .group = OptionGroup::layout,
     .syntax = "scheduler|producer|consumer",
     .help = "role of this part of an mpirun line with ':' between parts",
     .fallback = "by rank",
     .set = [](RunRequest& r, Text text) { r.roles.role = choose(text, role_choices); },
     .get =
         [](const RunRequest& r) {
             return r.roles.role ? chosen(*r.roles.role, role_choices) : std::string{};
         },
     .in_scenario = false,
     .in_plan = false},

    // What producers generate.
    {.name = "rate",
     .group = OptionGroup::data,
     .syntax = "RATE",
     .help = "payload that each producer generates per second",
     .fallback = "1Gb/s",
     .initial = "1Gb/s",
     .set = [](RunRequest& r,
               Text text) { r.plan.rate = bounded(parse_rate(text), core::BitRate{1}, fastest_rate); },
     .get = [](const RunRequest& r) { return to_text(r.plan.rate); }},
    {.name = "interval",
     .group = OptionGroup::data,
     .syntax = "TIME",
     .help = "a producer generates one set per interval",
     .fallback = "1s",
     .initial = "1s",
     .set =
         [](RunRequest& r, Text text) {
             r.plan.interval = some_time(text, core::Duration::microseconds(1), longest_interval);
         },
     .get = [](const RunRequest& r) { return to_text(r.plan.interval); }},
    {.name = "generation",
     .group = OptionGroup::data,
     .syntax = "sets|steady|saturate",
     .help = "whole sets at once, events at the rate, or always more",
     .fallback = "sets",
     .initial = "sets",
     .set = [](RunRequest& r, Text text) { r.plan.generation = choose(text, generations); },
     .get = [](const RunRequest& r) { return chosen(r.plan.generation, generations); }},
    {.name = "event-size",
     .group = OptionGroup::data,
     .syntax = "SIZE|DISTRIBUTION",
     .help = "bytes of an event, fixed or drawn",
     .fallback = "16MiB, at most a set",
     .initial = "16MiB",
     .set = set_event_size,
     .get = event_size_in_force},
    {.name = "buffer",
     .group = OptionGroup::data,
     .syntax = "SIZE",
     .help = "a producer's buffer; more than that waiting is an overflow",
     .fallback = "one set",
     .set = [](RunRequest& r, Text text) { r.plan.buffer = some_bytes(text); },
     .get = [](const RunRequest& r) { return to_text(r.plan.buffer); }},
    {.name = "overflow",
     .group = OptionGroup::data,
     .syntax = "count|drop",
     .help = "what does not fit: keep and count it, or drop the event",
     .fallback = "count",
     .initial = "count",
     .set = [](RunRequest& r, Text text) { r.plan.overflow = choose(text, overflows); },
     .get = [](const RunRequest& r) { return chosen(r.plan.overflow, overflows); }},

    // How it travels.
    {.name = "policy",
     .group = OptionGroup::transfer,
     .syntax = "balanced|token|round-robin|random|none",
     .help = "who is paired with whom; none: no scheduler, the ceiling",
     .fallback = "balanced",
     .initial = "balanced",
     .set = [](RunRequest& r, Text text) { r.plan.policy = choose(text, policies); },
     .get = [](const RunRequest& r) { return chosen(r.plan.policy, policies); }},
    {.name = "chunk-size",
     .group = OptionGroup::transfer,
     .syntax = "SIZE",
     .help = "largest MPI message of data",
     .fallback = "a 128th of a slot, at least 1MiB",
     .initial = "1MiB",
     .set = [](RunRequest& r,
               Text text) { r.plan.chunk_size = bounded(parse_bytes(text), core::Bytes{1}, chunk_limit); },
     .get = [](const RunRequest& r) { return to_text(r.plan.chunk_size); }},
    {.name = "window",
     .group = OptionGroup::transfer,
     .syntax = "N",
     .help = "chunks under way per stream",
     .fallback = "4",
     .initial = "4",
     .set = [](RunRequest& r, Text text) { r.plan.window = count(text, 1, window_limit); },
     .get = [](const RunRequest& r) { return count_text(r.plan.window); }},
    {.name = "streams",
     .group = OptionGroup::transfer,
     .syntax = "N",
     .help = "events that a producer sends at a time",
     .fallback = "4",
     .initial = "4",
     .set = [](RunRequest& r, Text text) { r.plan.streams = count(text, 1, streams_limit); },
     .get = [](const RunRequest& r) { return count_text(r.plan.streams); }},
    {.name = "slots",
     .group = OptionGroup::transfer,
     .syntax = "N",
     .help = "events that a consumer has room for, the one in work included",
     .fallback = "4",
     .initial = "4",
     .set = [](RunRequest& r, Text text) { r.plan.slots = count(text, 1, slots_limit); },
     .get = [](const RunRequest& r) { return count_text(r.plan.slots); }},
    {.name = "slot-size",
     .group = OptionGroup::transfer,
     .syntax = "SIZE",
     .help = "largest event; drawn sizes are cut to it",
     .fallback = "mean + 4 deviations",
     .set = [](RunRequest& r, Text text) { r.plan.slot_size = some_bytes(text); },
     .get = [](const RunRequest& r) { return to_text(r.plan.slot_size); }},

    // What consumers do with it.
    {.name = "busy",
     .group = OptionGroup::busy,
     .syntax = "none|DISTRIBUTION",
     .help = "time for which a consumer works on each event",
     .fallback = "none",
     .initial = "none",
     .set = set_busy,
     .get = busy_in_force},
    {.name = "busy-consumers",
     .group = OptionGroup::busy,
     .syntax = "INDICES",
     .help = "only these consumers, counted from 0: 0-3,7",
     .fallback = "all",
     .set = [](RunRequest& r, Text text) { r.plan.busy_consumers = parse_index_list(text); },
     .get = [](const RunRequest& r) { return index_list_text(r.plan.busy_consumers); }},
    {.name = "busy-cpu",
     .group = OptionGroup::busy,
     .syntax = "idle|burn",
     .help = "whether working means a timer or a core in use",
     .fallback = "idle",
     .initial = "idle",
     .set = [](RunRequest& r, Text text) { r.plan.busy_burns_cpu = choose(text, busy_cpus); },
     .get = [](const RunRequest& r) { return chosen(r.plan.busy_burns_cpu, busy_cpus); }},

    // What is written where.
    {.name = "out",
     .group = OptionGroup::output,
     .syntax = "DIRECTORY",
     .help = "run directory; must not exist",
     .fallback = "weir-run-<UTC time>",
     .set = set_out,
     .get = [](const RunRequest& r) { return r.out; },
     .in_plan = false},
    {.name = "output",
     .group = OptionGroup::output,
     .syntax = "text|json|quiet",
     .help = "live lines for people, for programs, or none",
     .fallback = "text",
     .initial = "text",
     .set = [](RunRequest& r, Text text) { r.output = choose(text, outputs); },
     .get = [](const RunRequest& r) { return chosen(r.output, outputs); },
     .in_plan = false},
    {.name = "label",
     .group = OptionGroup::output,
     .syntax = "TEXT",
     .help = "a name for this run, kept in run.json",
     .fallback = "none",
     .set = set_label,
     .get = [](const RunRequest& r) { return r.label; },
     .in_plan = false},
    {.name = "tag",
     .group = OptionGroup::output,
     .syntax = "KEY=VALUE",
     .help = "a fact about this run, kept in run.json; repeatable",
     .fallback = "none",
     .set = set_tag,
     .get = tags_text,
     .repeatable = true,
     .in_plan = false},

    // For weir's own tests.
    {.name = "inject",
     .group = OptionGroup::testing,
     .syntax = "FAULT",
     .help = "make the transport damage a chunk; repeatable",
     .fallback = "none",
     .set = [](RunRequest& r, Text text) { r.injections.emplace_back(text); },
     .get = [](const RunRequest& r) { return fmt::format("{}", fmt::join(r.injections, " ")); },
     .repeatable = true},
};

}  // namespace

std::span<const Option> option_rows() {
    return rows;
}

}  // namespace weir::config
