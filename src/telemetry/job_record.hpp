// The record of a job of several groups: what came of each, and of all together. Schema "weir-groups/1". It
// is made from the groups' own run.json, so that both say the same, and so that it can be made when a group's
// leader could not send anything.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "telemetry/io_error.hpp"

namespace weir::telemetry {

/// What the job's record says of one group.
struct GroupEntry {
    std::uint32_t group = 0;
    std::string directory;  ///< relative to that of the job
    nlohmann::ordered_json json;
};

/// Of a group's run.json (to_json(RunRecord), or read from the file).
GroupEntry group_entry(std::uint32_t group, std::string directory, const nlohmann::ordered_json& run,
                       int exit_status);
/// Of a group from which nothing came.
GroupEntry missing_group(std::uint32_t group, std::string directory);
/// From the run.json at `path`, if it is there and says how the run ended.
std::optional<GroupEntry> group_entry_from_file(std::uint32_t group, std::string directory,
                                                const std::string& path);

/// Of group `group` of the job in `directory`: from its file, or else missing_group().
GroupEntry group_entry_or_missing(const std::string& directory, const std::vector<std::string>& groups,
                                  std::uint32_t group);

/// Whether the record of the job at `path` says how every group ended.
bool is_whole_job_record(const std::string& path);

struct JobRecord {
    std::string directory;               ///< for people
    nlohmann::ordered_json plan;         ///< of group 0, as in its run.json
    nlohmann::ordered_json labels;       ///< likewise
    nlohmann::ordered_json environment;  ///< likewise
    std::string started_at;              ///< empty: a simulation
    bool ended = true;                   ///< false: this is written before the groups begin
    std::vector<GroupEntry> groups;      ///< by number
    /// How far apart second 0 of two groups may be; nothing: not measured.
    std::optional<double> clock_error_us;

    /// Takes over plan, labels and environment from the run.json of group 0.
    void describe(const nlohmann::ordered_json& run, std::uint32_t group_count);
};

/// From the groups' run.json; `groups`: their directories, relative to that of the job.
JobRecord job_record_from_files(const std::string& directory, const std::vector<std::string>& groups);

nlohmann::ordered_json to_json(const JobRecord& record);
MaybeIoError write_job_json(const std::string& path, const JobRecord& record);

/// The worst of the groups' exit statuses: failed, then ended by a signal, then a requirement that does not
/// hold.
int exit_status_of(const JobRecord& record);

/// Numbers of the groups, the worst first: failed, not judged, not sustained, late, then by occupancy.
std::vector<std::uint32_t> worst_first(const JobRecord& record);

/// What is printed at the end: the verdict, and a table of groups, at most 110 columns wide.
std::string job_summary_text(const JobRecord& record, bool terminal);
/// The same as one JSON object on one line, without line end; "type" is "summary".
std::string job_summary_json(const JobRecord& record);

}  // namespace weir::telemetry
