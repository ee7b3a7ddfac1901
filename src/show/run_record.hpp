// run.json: what a run was, what came out and under which circumstances. Schema "weir-run/1"; the names are
// stable.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/actions.hpp"
#include "core/plan.hpp"
#include "core/pressure.hpp"
#include "core/producer.hpp"
#include "core/units.hpp"
#include "files/whole_file.hpp"
#include "judge/answer.hpp"
#include "judge/causes.hpp"
#include "judge/network_verdict.hpp"
#include "judge/verdict.hpp"
#include "record/event_series.hpp"
#include "record/host_counters.hpp"
#include "record/latencies.hpp"
#include "record/pairs.hpp"
#include "record/phase_times.hpp"
#include "record/rank_summary.hpp"
#include "record/recovery.hpp"
#include "record/switch_counters.hpp"
#include "record/traffic_times.hpp"

namespace weir::show {

enum class RunStatus : std::uint8_t { complete, interrupted, failed };
const char* status_name(RunStatus status);

/// A core::Fault that can travel between ranks as bytes.
struct FaultRecord {
    core::Fault::Kind kind = core::Fault::Kind::protocol_violation;
    core::NodeId source;
    core::NodeId destination;
    core::EventId event;
    core::Bytes offset;
    std::uint32_t sequence = 0;
    char detail[92] = {};  ///< zero-terminated, cut if longer
};
static_assert(std::is_trivially_copyable_v<FaultRecord>);
FaultRecord fault_record(const core::Fault& fault);
/// "corrupt_payload", ...
const char* fault_name(core::Fault::Kind kind);
/// "corrupt_payload: producer 3 -> consumer 7, event 12 of producer 3, chunk 4 at byte 65536"
std::string fault_text(const FaultRecord& fault);

/// Why a run failed or was interrupted.
struct Failure {
    std::string what;
    std::optional<int> rank{};
    std::string role{};  ///< "producer 3"; empty: not known
    std::string host{};  ///< empty: not known
};

/// What is known of a run before it starts, for run.json.
struct RunAsPlanned {
    std::string directory;  ///< of the run, for people; not in run.json, which may be moved
    std::vector<std::pair<std::string, std::string>> labels;
    core::Plan plan;
    std::vector<std::pair<std::string, std::string>>
        plan_options;                        ///< option name without "--", canonical text
    std::optional<core::Pressure> pressure;  ///< of the plan; nothing: not worked out
    std::string environment = "{}";          ///< a JSON object
};

struct RunRecord : RunAsPlanned {
    /// At most so many faults and lost ranges are listed; the counts are always whole.
    static constexpr std::size_t listed_max = 100;

    RunStatus status = RunStatus::failed;
    std::optional<Failure> failure;
    std::string started_at;  ///< utc_text
    /// In `environment`; nothing before the end of the run.
    std::optional<std::vector<std::string>> late_starts;
    /// In `environment`, engine ucx: what UCX has chosen on any rank, for "control" and "data", and how many
    /// connections all ranks together have made so.
    std::map<std::string, std::map<std::string, std::int64_t>> ucx_paths;

    judge::Verdict verdict;
    record::BlockedAtOnce blocked_at_once;
    std::vector<record::RankRecord> ranks;
    std::vector<record::HostCounters> hosts;       ///< whose counters are recorded
    std::optional<record::SwitchTotals> switches;  ///< of a simulation packet by packet
    std::optional<judge::NetworkVerdict> network;  ///< nothing: without hosts, or before the end
    std::vector<record::EventMark> event_marks;    ///< from the scheduler after a regular end
    std::optional<record::DatagramAccount>
        datagrams;  ///< nothing: chunks are not datagrams, or before the end
    record::LatencyDigests latencies;
    std::optional<double> clock_error_us;  ///< no common clock was needed or known: nothing

    bool ledger_checked = false;
    std::vector<std::string> ledger_differences;
    std::vector<FaultRecord> faults;  ///< the first ones
    std::uint64_t fault_count = 0;
    std::vector<core::LostRange> lost;  ///< the first ones
    std::uint64_t lost_range_count = 0;
    std::vector<record::PhaseSummary> phases;            ///< addressed events, after a regular end
    std::vector<record::SizeClass> size_classes;         ///< of a trace's transfers, after a regular end
    std::vector<record::CollectiveSummary> collectives;  ///< after a regular end
    std::optional<record::Recovery> recovery;            ///< --on-failure continue, after a regular end
};

/// The sums in `totals`: from the ledgers where all ranks have one, else from the rows that were reported.
record::Counts totals_of(const RunRecord& record);

/// What the integrity check looked at: that both sides agree holds for what is missing as well.
std::string checked_text(const RunRecord& record);

/// Judged seconds that every rank has on record; consumers do not count where the run goes on without them.
std::int64_t seconds_of(const RunRecord& record);

nlohmann::ordered_json to_json(const RunRecord& record);

nlohmann::ordered_json json_of(const Failure& failure);
/// What is missing, or not of its type, is left empty.
Failure failure_from(const nlohmann::ordered_json& json);

/// `failure` of a run that has not written how it ended.
inline constexpr std::string_view has_not_ended = "the run has not ended";

/// A record to be written before anything happens: status failed, "the run has not ended". A run that is
/// killed without a chance to write leaves this.
RunRecord unfinished(RunRecord record);

/// How the run ended according to its run.json, as json_of_file() reads it; `what` is empty if nothing
/// failed. Nothing if there is none that can be read, or it is still that of unfinished().
std::optional<Failure> how_it_ended(const nlohmann::ordered_json& run);
std::optional<Failure> how_it_ended(const std::string& path);

/// Writes into the run.json at `path`, if it is still that of unfinished(), how the run ended. Else this does
/// nothing.
files::MaybeIoError end_unfinished(const std::string& path, RunStatus status, const Failure& failure);

/// The window over which the rates of the run's ranks are compared; with `saturate` by what producers sent.
std::optional<std::int64_t> rate_window_s(const RunRecord& record);

/// What run.json holds.
std::string run_json_text(const RunRecord& record);

/// Writes the record to `path` as a whole or not at all.
files::MaybeIoError write_run_json(const std::string& path, const RunRecord& record,
                                   files::OnDisk on_disk = files::OnDisk::synced);

// The larger parts of run.json.

/// An entry of "ranks".
nlohmann::ordered_json rank_json(const record::RankRecord& rank);

/// The plan in plain numbers, for programs: the options beside it are text with units.
nlohmann::ordered_json resolved_json(const core::Plan& plan, const std::optional<core::Pressure>& pressure);

judge::ShortAnswer answer_of(const RunRecord& record);
/// As verdicts and explanations have it; what is not said is null.
nlohmann::ordered_json answer_json(const judge::ShortAnswer& answer);
/// `verdict` of the record, with `causes`.
nlohmann::ordered_json verdict_json(const RunRecord& record);
/// The causes of such a verdict, which may come from elsewhere. `list`: "causes", or "observed".
std::vector<judge::NamedCause> causes_from(const nlohmann::ordered_json& verdict,
                                           const char* list = "causes");

/// The record of a run or of a job on one line, without line end; "type" is "summary", as "second" is in live
/// lines.
std::string summary_line(const nlohmann::ordered_json& json, const std::string& directory);

// What is printed when a run has ended: the verdict first, then the numbers behind it, on one screen.

/// Columns for what a line of an answer or of the summary is about.
inline constexpr std::size_t summary_subject_width = 21;
/// Lines with line ends, at most 110 columns and 33 lines. `terminal`: colours may be used.
std::string final_summary_text(const RunRecord& record, bool terminal);

/// The same as JSON: summary_line().
std::string final_summary_json(const RunRecord& record);

}  // namespace weir::show
