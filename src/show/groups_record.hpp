// The record of a job of several groups: what came of each, and of all together. Schema "weir-groups/1". It
// is made from the groups' own run.json, so that both agree, and so that it can be made when a group's
// leader could not send anything.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "files/whole_file.hpp"

namespace weir::show {

struct GroupsRecord {
    using Json = nlohmann::ordered_json;

    /// Nothing has come from any group. `group_directories` are relative to `run_directory`.
    GroupsRecord(std::string run_directory, std::vector<std::string> group_directories);

    std::string directory;
    std::vector<std::string> group_directories;
    Json plan;                 ///< of group 0, as in its run.json
    Json labels;               ///< of group 0, too
    Json environment;          ///< of group 0, too
    std::string started_at;    ///< empty: a simulation
    bool ended = true;         ///< false: this is written before the groups begin
    std::vector<Json> groups;  ///< the entry of each group
    /// How far apart second 0 of two groups may be; nothing: not measured.
    std::optional<double> clock_error_us;

    /// Takes over plan, labels and environment from the run.json of group 0.
    void describe(const Json& run);

    /// What the record has of a group with this run.json (to_json(RunRecord), or read from the file).
    [[nodiscard]] Json entry(std::uint32_t group, const Json& run, int exit_status) const;
    /// The same from the group's file, if that has how the run ended.
    [[nodiscard]] std::optional<Json> entry_from_file(std::uint32_t group) const;
    /// Whether the files of all groups do.
    [[nodiscard]] bool groups_have_ended() const;
    /// Makes this the record that follows from the groups' files.
    void read_groups();

    /// Writes run.json of the job.
    [[nodiscard]] files::MaybeIoError write() const;
    /// Whether there is one with how the job ended; and every group, unless `whole` is false.
    [[nodiscard]] bool is_written(bool whole = true) const;

  private:
    [[nodiscard]] std::string path_of(std::uint32_t group) const;
};

nlohmann::ordered_json to_json(const GroupsRecord& record);

/// The worst of the groups' exit statuses: failed, then ended by a signal, then a requirement that does not
/// hold.
int exit_status_of(const GroupsRecord& record);

/// Numbers of the groups, the worst first: failed, not sustained, late, not judged; then by occupancy
/// and late sets.
std::vector<std::uint32_t> worst_first(const GroupsRecord& record);

/// What is printed at the end: the verdict, and a table of groups, at most 110 columns wide.
std::string groups_summary_text(const GroupsRecord& record, bool terminal);
/// The same as one JSON object on one line, without line end; "type" is "summary".
std::string groups_summary_json(const GroupsRecord& record);

}  // namespace weir::show
