// When a run ends before its time, and how: two tables. The first gives what a rank does with what it has
// found out (FailureDetector applies it), the second what a rank does at the end of the run (RunEnding does
// it). Start, loop and end share both.
//
// In short: every rank reports to the leader. The leader names the cause, writes run.json and orders all
// ranks to leave. If the leader cannot be reached, the deputy does this in its place.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/assertion.hpp"
#include "core/units.hpp"
#include "show/run_record.hpp"

namespace weir::ending {

/// The loop measures. Exchanges are what ranks do together before and after it.
enum class Stage : std::uint8_t { exchange, loop };

/// What a rank has found out.
struct Evidence {
    enum class Kind : std::uint8_t {
        process_gone,      ///< the process of `rank`, on this host, does not exist any more
        silence,           ///< `rank` has not responded for the silence time-out
        signal,            ///< this process has received `signal`
        signal_reported,   ///< another rank has received `signal`
        failure_reported,  ///< a rank reports that the run cannot go on because of `rank`
        transfer_failed,   ///< this rank cannot send data to `rank`; messages between ranks still work
        network_failed,    ///< a call of the network library failed: no message can be sent any more
        cannot_continue,   ///< this rank has found that the run cannot go on because of `rank`
        exchange_timeout,  ///< an exchange did not end; the roll call shows that `missing` do not answer
        no_answer,         ///< the leader has not answered a report in time
    };
    Kind kind = Kind::cannot_continue;
    int rank = -1;  ///< -1: none, or not known
    int signal = 0;
    std::string text = {};          ///< why, where the evidence came with a text
    std::vector<int> missing = {};  ///< not this rank
    std::string hint = {};          ///< process_gone: what else is known about why
};

/// What a rank does about it.
enum class Step : std::uint8_t {
    ignore,           ///< nothing
    fail,             ///< end the run as `failed`
    interrupt,        ///< end the run as `interrupted`
    wait_for_cause,   ///< look for a while whether another rank's failure is behind the signal, then end
    report,           ///< report it to the leader and wait for its order
    lose_leader,      ///< end the run as `leader_lost`
    report_and_lose,  ///< report, then lose_leader
    report_in_vain,   ///< end the run as `report_in_vain`
};

/// Evidence from a rank whose own loop has just been stalled (stopped, or without processor) may be stale.
enum class AfterStall : std::uint8_t { counts, ignored, leaves };

struct FailureRule {
    Evidence::Kind evidence;
    Stage stage;
    Step leader;        ///< on the leader
    Step about_leader;  ///< on another rank, if the evidence is about the leader
    Step about_other;   ///< on another rank, if it is about any other rank, or none
    AfterStall after_stall;
};

// clang-format off
inline constexpr std::array failure_rules = [] {
    using enum Evidence::Kind;
    using enum Step;
    using enum AfterStall;
    constexpr Stage loop = Stage::loop;
    constexpr Stage exchange = Stage::exchange;
    return std::to_array<FailureRule>({
    //                         on the leader   on another rank:                      after a stall
    // evidence        stage                     about the leader   about another
    {process_gone,     loop,     fail,           lose_leader,       report,            ignored},
    {process_gone,     exchange, fail,           lose_leader,       fail,              counts},
    {silence,          loop,     fail,           lose_leader,       ignore,            ignored},
    {signal,           loop,     wait_for_cause, report,            report,            leaves},
    {signal,           exchange, interrupt,      interrupt,         interrupt,         counts},
    {signal_reported,  loop,     wait_for_cause, ignore,            ignore,            ignored},
    {failure_reported, loop,     fail,           ignore,            ignore,            ignored},
    {transfer_failed,  loop,     fail,           report,            report,            counts},
    {network_failed,   loop,     fail,           report_and_lose,   report_and_lose,   counts},
    {network_failed,   exchange, fail,           report,            report,            counts},
    {cannot_continue,  loop,     fail,           report,            report,            counts},
    {cannot_continue,  exchange, fail,           report,            report,            counts},
    {exchange_timeout, exchange, fail,           lose_leader,       fail,              counts},
    {no_answer,        loop,     ignore,         lose_leader,       lose_leader,       ignored},
    {no_answer,        exchange, ignore,         report_in_vain,    report_in_vain,    counts},
    });
}();
// clang-format on

constexpr const FailureRule& failure_rule(Evidence::Kind evidence, Stage stage) {
    const auto* const rule =
        std::find_if(failure_rules.begin(), failure_rules.end(),
                     [&](const FailureRule& one) { return one.evidence == evidence && one.stage == stage; });
    WEIR_ASSERT(rule != failure_rules.end());
    return *rule;
}

/// How a run came to its end on this rank.
struct RunEnd {
    enum class Kind : std::uint8_t {
        complete,        ///< the protocol is complete, on all ranks
        leave,           ///< another rank has ended the run; this one leaves with `status`
        failed,          ///< on the leader: `failure` is the cause; on others: the leader finds the same
        interrupted,     ///< by `signal`
        leader_lost,     ///< not on the leader: it cannot be reached; `failure` is why
        report_in_vain,  ///< not on the leader: it did not act on this rank's report, which is `failure`
        taken_out,       ///< this rank was given up: the process begins again, if it can
    };
    Kind kind = Kind::complete;
    int status = 0;  ///< exit status
    int signal = 0;  ///< that was received before; 0: none
    show::Failure failure = {};
};

/// The deputy is one of the others.
enum class Part : std::uint8_t { leader, deputy, others, any };

struct EndRule {
    enum class Record : std::uint8_t {
        no,
        yes,                ///< writes run.json and prints the summary
        if_leader_did_not,  ///< writes run.json, unless the leader has: then its cause is printed
    };
    RunEnd::Kind end;
    Part part;          ///< the first rule that fits counts
    bool prints_cause;  ///< on stderr
    Record record;
    bool orders_others;    ///< sends all ranks of the loop the order to leave
    core::Duration waits;  ///< before it ends: mpirun ends the job, and who still writes, with the first rank
    bool aborts;           ///< ends all processes of the job: a rank that hangs does not leave by itself
};

// clang-format off
inline constexpr std::array end_rules = [] {
    using enum RunEnd::Kind;
    using enum Part;
    using enum EndRule::Record;
    constexpr auto ms = [](std::int64_t count) { return core::Duration::milliseconds(count); };
    return std::to_array<EndRule>({
    // end             part    prints cause  record             orders others  waits     aborts
    {leave,          any,    false,        no,                false,         ms(0),    false},
    {failed,         leader, true,         yes,               true,          ms(0),    true},
    {failed,         others, false,        no,                false,         ms(6000), true},
    {interrupted,    leader, false,        yes,               true,          ms(0),    false},
    {interrupted,    others, false,        no,                false,         ms(500),  false},
    {leader_lost,    deputy, true,         if_leader_did_not, false,         ms(0),    true},
    {leader_lost,    others, false,        no,                false,         ms(1500), true},
    {report_in_vain, others, true,         no,                false,         ms(0),    true},
    {taken_out,      others, false,        no,                false,         ms(0),    false},
    });
}();
// clang-format on

/// `part` is leader, deputy or others.
constexpr const EndRule& end_rule(RunEnd::Kind end, Part part) {
    const auto* const rule = std::find_if(end_rules.begin(), end_rules.end(), [&](const EndRule& one) {
        return one.end == end && (one.part == part || one.part == Part::any ||
                                  (one.part == Part::others && part == Part::deputy));
    });
    WEIR_ASSERT(rule != end_rules.end());
    return *rule;
}

}  // namespace weir::ending
