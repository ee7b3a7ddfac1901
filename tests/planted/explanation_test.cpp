// Runs with a planted limit, written as options: simulating them again must name what was planted, before
// anything else.
#include "cli/explanation.hpp"

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "cli/simulation_setup.hpp"
#include "config/resolve.hpp"
#include "judge/cause_text.hpp"
#include "simulation/lateness.hpp"
#include "simulation/margin.hpp"
#include "simulation/relaxations.hpp"

using namespace weir;
using judge::CauseKind;
using judge::NamedCause;
using simulation::Explain;

namespace {

std::vector<config::GivenOption> options_of(const std::string& line) {
    std::vector<config::GivenOption> options;
    std::istringstream words(line);
    for (std::string name, value; words >> name >> value;) {
        options.push_back({name.substr(2), value});
    }
    return options;
}

simulation::SimulatedRun run_of(const std::string& line) {
    config::RunRequest request = config::resolve(options_of(line), true);
    return cli::simulated_run(request);
}

struct Explained {
    show::RunRecord record;
    std::vector<NamedCause> causes;
    std::size_t simulations = 0;
    bool cut_short = false;
};

Explained explain(const std::string& line, std::uint32_t jobs = 2, std::size_t simulations = 150,
                  const std::vector<simulation::RunChange>& conditions = {}) {
    INFO(line);
    const simulation::SimulatedRun run = run_of(line);
    Explained explained;
    explained.record = simulation::simulate(run).record;
    REQUIRE(simulation::needs_explanation(explained.record));
    simulation::ProvedCauses proved = simulation::prove_causes(
        run, explained.record, {.simulations = simulations, .refines_all = false}, jobs, {}, conditions);
    CHECK_FALSE(proved.interrupted);
    explained.causes = std::move(proved.causes);
    explained.simulations = proved.simulations;
    explained.cut_short = proved.was_cut_short;
    REQUIRE_FALSE(explained.causes.empty());
    return explained;
}

bool names(const std::vector<NamedCause>& causes, CauseKind what) {
    return std::any_of(causes.begin(), causes.end(), [&](const NamedCause& one) { return one.what == what; });
}

struct Planted {
    std::string options;
    std::vector<CauseKind> truths;  ///< one of them comes first
    std::optional<core::NodeId> where{};
};

constexpr core::NodeId consumer_0{core::Role::consumer, 0};
constexpr core::NodeId producer_2{core::Role::producer, 2};

const std::string four = "--producers 4 --consumers 4 --duration 4s --warmup 1s ";
const std::string wide = "--producer-link 10Gb/s --consumer-link 10Gb/s ";

/// Its uplinks carry 2.5 times the load.
const std::string fabric =
    "--network packet --producers 4 --consumers 4 --duration 1s --warmup 300ms --interval 100ms "
    "--producer-link 2.5Gb/s --consumer-link 2.5Gb/s --rate 1Gb/s --event-size 500kB --pfc on "
    "--switch-set topology.kind=leaf-spine --switch-set topology.leaves=2 --switch-set "
    "topology.uplink-rate=10Gb/s ";

const std::vector<Planted> planted{
    {four + "--rate 4Gb/s --consumer-link 3.5Gb/s --busy exponential:200us --slots 1",
     {CauseKind::consumer_links}},
    {four + "--rate 4Gb/s --producer-link 3.5Gb/s --consumer-link 10Gb/s", {CauseKind::producer_links}},
    {four + wide + "--rate 4Gb/s --fault degrade:consumer=0,factor=0.02",
     {CauseKind::consumer_links},
     consumer_0},
    {four + "--rate 4Gb/s --event-size 1MB --scheduler-time 700us --slots 1", {CauseKind::scheduler}},
    {four + "--rate 4Gb/s --event-size 1MB --pattern build --initiation pull --requests 1 --latency 1ms",
     {CauseKind::requests}},
    {four + "--rate 4Gb/s --busy exponential:33ms --slots 1", {CauseKind::slots, CauseKind::processing}},
    {four + "--rate 2Gb/s --fault pause:consumer=0,at=1s,for=1500ms", {CauseKind::stalled_rank}, consumer_0},
    {four + "--rate 2Gb/s --fault pause:scheduler,at=1s,for=1500ms",
     {CauseKind::stalled_rank},
     core::scheduler_node()},
    {"--producers 4 --consumers 4 --warmup 1s --rate 1Gb/s --generation steady --event-size 100MB "
     "--consumer-link 0.7Gb/s --duration 3s",
     {CauseKind::consumer_links}},
    {"--producers 1 --consumers 1 --rate 4Gb/s --event-size 1MB --latency 5ms --duration 4s",
     {CauseKind::control_latency, CauseKind::streams, CauseKind::slots}},
    {"--producers 4 --consumers 5 --duration 30s --rate 2Gb/s --on-failure continue " + wide +
         "--fault die:consumer=0,at=1s,back=2s --fault degrade:producer=2,at=20s,factor=0.1",
     {CauseKind::producer_links},
     producer_2},
    // As packets, at a quarter of the rates and sizes that were reported.
    {"--network packet --producers 6 --consumers 4 --duration 1s --warmup 300ms --interval 100ms "
     "--producer-link "
     "2.5Gb/s --consumer-link 2.5Gb/s --rate 1Gb/s --event-size 500kB --fault degrade:consumer=0,factor=0.05",
     {CauseKind::consumer_links},
     consumer_0},
    {"--network packet --destination addressed --producers 4 --consumers 4 --duration 200ms --warmup 60ms "
     "--interval 20ms --producer-link 2.5Gb/s --consumer-link 2.5Gb/s --rate 1.5Gb/s --event-size 100kB "
     "--switch-set topology.kind=leaf-spine --switch-set topology.uplink-rate=1.2Gb/s",
     {CauseKind::uplinks}},
    // Others go first and leave 0.5 of 2.5 Gb/s; without them the links suffice.
    {"--network packet --producers 4 --consumers 4 --duration 200ms --warmup 60ms --interval 20ms "
     "--producer-link 2.5Gb/s --consumer-link 2.5Gb/s --rate 1Gb/s --event-size 100kB "
     "--switch-set switch.strict=1 --switch-set nic.strict=1 --switch-set background.rate=2Gb/s",
     {CauseKind::other_traffic}},
    {fabric + "--fault degrade:link=leaf-0:spine-0,factor=0.05", {CauseKind::network_failure}},
    {fabric + "--fault cut:link=leaf-0:spine-0,at=200ms,for=300ms,disconnects", {CauseKind::network_failure}},
    {fabric + "--fault storm:host=consumer-0,at=200ms,for=300ms", {CauseKind::network_failure}},
    {fabric + "--switch-set topology.spines=2 --fault cut:switch=spine-0,at=300ms",
     {CauseKind::network_failure}},
};

}  // namespace

TEST_CASE("What was planted is named first") {
    for (const Planted& one : planted) {
        const Explained explained = explain(one.options);
        const NamedCause& first = explained.causes.front();
        INFO(one.options << "\nnamed: " << judge::name_of(first.what) << ": " << first.text);
        CHECK(std::find(one.truths.begin(), one.truths.end(), first.what) != one.truths.end());
        CHECK(first.where == one.where);
        CHECK(first.evidence == judge::CauseEvidence::proof);
        CHECK(first.share >= simulation::most_share);
        CHECK_FALSE(first.remedy.empty());
    }
}

TEST_CASE("Where receive rings of hosts drop datagrams, they are named, with their key") {
    const Explained explained = explain(
        "--transport datagram --duration 200ms --warmup 50ms --interval 10ms --event-size 50kB --producers 4 "
        "--consumers 2 --rate 500Mb/s --producer-link 10Gb/s --consumer-link 10Gb/s --port-buffer 4MiB "
        "--slots 8 --switch-set host.ring-packets=64 --switch-set host.receive-time=5us");
    const NamedCause& first = explained.causes.front();
    CHECK(first.what == CauseKind::host_loss);
    CHECK_THAT(first.remedy, containing("[host] ring-packets"));
    REQUIRE(explained.record.datagrams);
    CHECK(explained.record.datagrams->explained.interface > 0);
    CHECK(explained.record.datagrams->unexplained() == 0);
    REQUIRE(explained.record.network);
    CHECK(explained.record.network->dropping_host.starts_with("consumer-"));
    CHECK(judge::name_of(explained.record.verdict.causes.front().what) == "host-loss");
    CHECK_THAT(explained.record.verdict.advice, containing("ring-packets"));
}

TEST_CASE("Of cables between switches the slow one is named, with its key") {
    const Explained explained = explain(
        "--network packet --duration 100ms --warmup 20ms --interval 10ms --event-size 100kB --producers 4 "
        "--consumers 4 --rate 6Gb/s --producer-link 10Gb/s --consumer-link 10Gb/s --pfc on --switch-set "
        "topology.kind=leaf-spine --switch-set topology.leaves=2 --switch-set topology.spines=2 "
        "--switch-set topology.uplink-rate=40Gb/s --switch-set placement.kind=rows --switch-set "
        "topology.own-rates=leaf-0:spine-1=5Gb/s --switch-set balancing.kind=spray --switch-set "
        "nic.reorder=1MiB");
    const NamedCause& first = explained.causes.front();
    CHECK(first.what == CauseKind::uplinks);
    CHECK_THAT(first.text, containing("on the cable leaf-0:spine-1 instead of 5 Gb/s"));
    CHECK_THAT(first.remedy, containing("[topology] own-rates"));
    for (const NamedCause& cause : explained.causes) {
        CHECK(cause.remedy.find("uplink-rate") == std::string::npos);
    }
}

TEST_CASE(
    "Where the hashes of flows collide, spreading packets over all ways is named before faster cables") {
    const std::string collisions =
        "--network packet --duration 200ms --warmup 60ms --interval 20ms --event-size 100kB --producers 4 "
        "--consumers 4 --rate 1.2Gb/s --producer-link 2.5Gb/s --consumer-link 2.5Gb/s --pfc on --destination "
        "addressed --seed 1 --switch-set topology.kind=leaf-spine --switch-set topology.spines=4 "
        "--switch-set "
        "placement.kind=rows --switch-set ";
    const Explained explained = explain(collisions + "topology.uplink-rate=1.3Gb/s");
    const NamedCause& first = explained.causes.front();
    CHECK(first.what == CauseKind::uplinks);
    CHECK_THAT(first.remedy, containing("[balancing] kind"));
    CHECK_THAT(first.remedy, containing("[nic] reorder"));

    // All cables together are too slow: no spreading helps.
    const Explained narrow = explain(collisions + "topology.uplink-rate=0.5Gb/s");
    CHECK(narrow.causes.front().what == CauseKind::uplinks);
    CHECK_THAT(narrow.causes.front().remedy, containing("--switch-set topology.uplink-rate"));
}

TEST_CASE("What suffices is all named, the cheapest remedy first") {
    const Explained explained = explain(four + "--rate 4Gb/s --busy exponential:33ms --slots 1");
    CHECK(explained.causes.front().what == CauseKind::slots);
    CHECK(names(explained.causes, CauseKind::processing));
    CHECK_FALSE(names(explained.causes, CauseKind::producer_links));
}

TEST_CASE("A remedy is as small as a few more simulations can show") {
    // 4 Gb/s of payload are 4.08 Gb/s of packets, with headers a little more; an event more or less for a
    // consumer is 1 %.
    const Explained explained =
        explain(four + "--rate 4Gb/s --event-size 4MB --consumer-link 3.5Gb/s --producer-link 10Gb/s");
    const NamedCause& first = explained.causes.front();
    CHECK(first.text ==
          "with consumers' links of 4.2 Gb/s instead of 3.5 Gb/s, every set would have been on time.");
    CHECK(first.remedy == "use consumers' links of 4.2 Gb/s instead of 3.5 Gb/s (--consumer-link)");
}

TEST_CASE("Where the most of a count is too many, fewer are the remedy, and not faster links") {
    // Each consumer's link is shared by all streams towards it: 4 of 20 producers are too few, 64 make all
    // late.
    const std::string line =
        "--producers 20 --consumers 12 --pattern build --rate 40Gb/s --interval 100ms --event-size 5MB "
        "--producer-link 100Gb/s --consumer-link 100Gb/s --slots 8 --busy exponential:5ms --buffer 2GB "
        "--duration 2s --warmup 500ms --streams ";
    const Explained explained = explain(line + "4", 2, 150, simulation::margin_conditions());
    CHECK(explained.causes.front().what == CauseKind::streams);
    REQUIRE(explained.causes.front().options.size() == 1);
    CHECK(explained.causes.front().options.front().name == "streams");
    CHECK(simulation::is_good(simulation::simulate(run_of(line + "12")).record));
    CHECK_FALSE(simulation::is_good(simulation::simulate(run_of(line + "64")).record));
}

TEST_CASE("More slots and streams together are named beside a latency that nobody can change") {
    const Explained explained = explain(
        "--producers 6 --consumers 6 --rate 15Gb/s --interval 20ms --event-size 64KiB --producer-link 25Gb/s "
        "--consumer-link 25Gb/s --latency 50us --duration 100ms --warmup 20ms --buffer 1GB");
    REQUIRE(explained.causes.size() == 3);
    CHECK(explained.causes[0].what == CauseKind::control_latency);
    CHECK(explained.causes[1].what == CauseKind::slots);
    CHECK(explained.causes[1].together_with == CauseKind::streams);
    CHECK(judge::other_causes_text(explained.causes)
              .starts_with("Or too few slots, together with too few streams: "));
    CHECK(judge::other_causes_text(explained.causes).find("Or too few streams") == std::string::npos);
}

TEST_CASE("What loses more is no remedy for what is late") {
    // With more slots no set is late, and 836 fragments are lost instead of 608.
    const Explained explained = explain(
        "--transport datagram --pattern build --producers 4 --consumers 2 --rate 400Mb/s --event-size "
        "50kB --producer-link 10Gb/s --consumer-link 1Gb/s --port-buffer 256KiB --slots 4 --duration "
        "200ms --warmup 50ms --interval 10ms");
    CHECK(names(explained.causes, CauseKind::switch_loss));
    CHECK_FALSE(names(explained.causes, CauseKind::slots));
}

TEST_CASE("Two limits, one behind the other, are named together") {
    const Explained explained =
        explain(four + "--rate 4Gb/s --producer-link 3.5Gb/s --consumer-link 3.5Gb/s");
    REQUIRE(explained.causes.size() == 2);
    CHECK(explained.causes[0].what == CauseKind::producer_links);
    CHECK(explained.causes[0].together_with == CauseKind::consumer_links);
    CHECK(explained.causes[1].what == CauseKind::consumer_links);
    CHECK(explained.causes[1].together_with == CauseKind::producer_links);
    CHECK(explained.causes[0].remedy == explained.causes[1].remedy);
}

TEST_CASE("A second limit is looked for where the first takes away most and does not suffice") {
    struct Two {
        std::string options;
        CauseKind first;
        CauseKind second;
    };
    const std::string eight =
        "--producers 4 --consumers 4 --duration 8s --warmup 1s --rate 2Gb/s --event-size 1MB ";
    const std::vector<Two> unequal{
        {four + "--rate 2Gb/s --event-size 1MB --producer-link 1Gb/s --busy fixed:4.27ms --buffer 2GB",
         CauseKind::producer_links, CauseKind::processing},
        {eight + "--policy round-robin --producer-link 100Gb/s,0=1.8Gb/s --consumer-link 100Gb/s,1=1.5Gb/s",
         CauseKind::consumer_links, CauseKind::producer_links},
        {eight + "--fault slow:scheduler,at=2s,for=1s,factor=3000 --fault pause:consumer=2,at=5s,for=1100ms",
         CauseKind::stalled_rank, CauseKind::scheduler}};
    for (const Two& two : unequal) {
        const Explained explained = explain(two.options);
        INFO(explained.causes[0].text);
        REQUIRE(explained.causes.size() >= 2);
        CHECK(explained.causes[0].suffices);
        CHECK(explained.causes[0].what == two.first);
        CHECK(explained.causes[0].together_with == two.second);
        CHECK(explained.causes[1].what == two.second);
    }
}

TEST_CASE("Of two limits neither is relaxed more than it must be") {
    // 4.27 ms for an event are 107 % of the time; steps of links and of processing differ.
    const Explained explained = explain(
        four + "--rate 2Gb/s --event-size 1MB --producer-link 1Gb/s --busy fixed:4.27ms --buffer 2GB");
    CHECK(explained.causes.front().remedy ==
          "use producers' links of 2.3 Gb/s instead of 1 Gb/s (--producer-link) and shorten processing of an "
          "event "
          "from 4.27 ms to 3.84 ms on average "
          "(--busy)");
}

TEST_CASE("A run that is on time and not sustained is not said to be late") {
    const std::string line =
        "--duration 5s --warmup 1s --event-size 1MB --generation steady --buffer 10GB --producers 4 "
        "--consumers 4 "
        "--rate 9.9Gb/s --producer-link 10Gb/s --consumer-link 10Gb/s";
    const Explained short_of = explain(line, 2, 8);
    CHECK(short_of.cut_short);
    CHECK(short_of.causes.front().text ==
          "8 limits were relaxed, one at a time, and none made the run sustained; pairs were not tried.");
    const Explained explained = explain(line, 2, 24);
    CHECK_FALSE(explained.cut_short);
    CHECK(explained.causes.front().together_with == CauseKind::consumer_links);
}

TEST_CASE("Where three limits hold a run up, none is called the cause") {
    const Explained explained = explain(
        four +
        "--rate 4Gb/s --producer-link 3Gb/s --consumer-link 3Gb/s --event-size 1MB --scheduler-time 1ms");
    REQUIRE(explained.causes.size() == 1);
    CHECK(explained.causes.front().what == CauseKind::not_told);
    CHECK(explained.causes.front().remedy.empty());
    CHECK(explained.causes.front().text.find("one at a time, and none put the run on time; with all of ") !=
          std::string::npos);
    CHECK(
        explained.causes.front().text.find(" not without any of 3: the scheduler; links of producers; links "
                                           "of consumers.") != std::string::npos);
}

TEST_CASE("A fault is the cause also where links have no margin, and what helps only just has no remedy") {
    const std::string full =
        four + "--rate 9.7Gb/s --event-size 1MB --slots 16 --streams 16 --producer-link 10Gb/s ";
    const Explained fault =
        explain(full + "--consumer-link 10Gb/s --fault pause:consumer=2,at=1s,for=1500ms --buffer 10GB", 2,
                150, simulation::margin_conditions());
    INFO(fault.causes.front().text);
    CHECK(fault.causes.front().what == CauseKind::stalled_rank);
    CHECK(fault.causes.front().suffices);
    const auto links = [&](std::size_t simulations) {
        return explain(full + "--consumer-link 9Gb/s --buffer 10GB", 2, simulations,
                       simulation::margin_conditions())
            .causes.front();
    };
    CHECK(links(150).together_with == CauseKind::producer_links);
    const NamedCause alone = links(12);
    INFO(alone.text);
    CHECK(alone.what == CauseKind::consumer_links);
    CHECK(alone.text.ends_with(
        "every set would have been on time, but only just: not with links 5 % slower, times "
        "5 % longer and other seeds."));
    CHECK(alone.remedy.empty());
    CHECK_FALSE(alone.suffices);
}

TEST_CASE("What is not enough is called so") {
    const Explained explained = explain(
        "--producers 4 --consumers 4 --duration 10s --warmup 1s --rate 2Gb/s --event-size 1MB --fault "
        "degrade:producer=1,at=8s,for=1050ms,factor=0.001 --fault slow:scheduler,at=2s,for=1s,factor=3000 "
        "--fault "
        "pause:consumer=2,at=5s,for=1500ms");
    const NamedCause& first = explained.causes.front();
    CHECK(first.what == CauseKind::stalled_rank);
    CHECK_FALSE(first.suffices);
    CHECK(first.text.ends_with(
        "; that is not enough by itself, nor with any one of the other limits relaxed, too."));
    CHECK(judge::advice_text(explained.causes) == "Keep consumer 2 running (not enough by itself)");
}

TEST_CASE("A search that takes far longer than estimated ends with what it has found") {
    const simulation::SimulatedRun run =
        run_of(four + "--rate 4Gb/s --producer-link 3.5Gb/s --consumer-link 3.5Gb/s");
    const show::RunRecord record = simulation::simulate(run).record;
    double used_s = 100;
    std::size_t tried = 0;
    const simulation::ProvedCauses proved =
        simulation::prove_causes(run, record, {.simulations = 150, .refines_all = false, .processor_s = 3}, 1,
                                 {.progress =
                                      [&](std::size_t done, std::size_t) {
                                          tried = done;
                                          used_s += 1;
                                      },
                                  .interrupted = {},
                                  .processor_s = [&] { return used_s; }});
    CHECK(tried == 4);
    CHECK(proved.was_cut_short);
    CHECK_FALSE(proved.interrupted);
    CHECK_FALSE(proved.causes.empty());
}

TEST_CASE("What was not tried is not said to change nothing") {
    const Explained explained =
        explain(four + "--rate 4Gb/s --producer-link 3.5Gb/s --consumer-link 3.5Gb/s", 1, 2);
    REQUIRE(explained.causes.size() == 1);
    CHECK(explained.causes.front().what == CauseKind::not_told);
    CHECK(explained.causes.front().text.starts_with("only 2 of "));
    CHECK(explained.simulations == 2);
}

TEST_CASE("Causes do not depend on the number of cores") {
    const std::string line = four + "--rate 4Gb/s --busy exponential:33ms --slots 1 --consumer-link 6Gb/s";
    const Explained one = explain(line, 1);
    const Explained many = explain(line, 5);
    CHECK(one.simulations == many.simulations);
    REQUIRE(one.causes.size() == many.causes.size());
    for (std::size_t i = 0; i < one.causes.size(); ++i) {
        CHECK(one.causes[i].what == many.causes[i].what);
        CHECK(one.causes[i].text == many.causes[i].text);
        CHECK(one.causes[i].remedy == many.causes[i].remedy);
    }
}

TEST_CASE("The record and its sentences are made of what was proved") {
    const simulation::SimulatedRun run = run_of(planted[0].options);
    cli::Explanation explanation(run, Explain::fast, 2, false);
    const show::RunRecord record =
        simulation::simulate(run,
                             {.second = {},
                              .interruption = {},
                              .causes = [&](const show::RunRecord& one) { return explanation.causes(one); }})
            .record;
    REQUIRE_FALSE(record.verdict.causes.empty());
    CHECK(judge::cause_name(record.verdict) == "consumer-links");
    CHECK(record.verdict.text.find("Main cause: links of consumers. With consumers' links of ") !=
          std::string::npos);
    CHECK(record.verdict.advice.starts_with("Use consumers' links of "));
}

TEST_CASE("A run that is on time, or has nothing to be on time for, is not simulated again") {
    for (const std::string& line : {four + "--rate 1Gb/s", four + "--generation saturate"}) {
        const simulation::SimulatedRun run = run_of(line);
        const show::RunRecord record = simulation::simulate(run).record;
        CHECK_FALSE(simulation::needs_explanation(record));
        cli::Explanation explanation(run, Explain::full, 1, false);
        CHECK_FALSE(explanation.causes(record));
        CHECK(explanation.account().empty());
    }
}
