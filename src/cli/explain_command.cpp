// `weir explain DIR`: what held up a run that was made.
#include "cli/command_functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

#include "cli/explain_report.hpp"
#include "cli/explained_run.hpp"
#include "cli/explainer.hpp"
#include "cli/progress.hpp"
#include "config/input_file.hpp"
#include "config/usage_error.hpp"
#include "files/formatting.hpp"
#include "files/json.hpp"
#include "files/whole_file.hpp"
#include "host/process.hpp"
#include "host/signals.hpp"
#include "participant/exit_status.hpp"

namespace weir::cli {

namespace {

using config::UsageError;

constexpr std::size_t most_record_bytes = std::size_t{256} << 20U;
constexpr double most_s = 60;

nlohmann::ordered_json read_run(const std::string& directory) {
    const std::string name = directory + "/run.json";
    auto json = files::parse_json_or_discard(
        config::read_input_file(name, most_record_bytes, "the directory of a run, with its run.json"));
    if (json.is_discarded()) {
        throw UsageError(fmt::format("{}: this is not JSON", name));
    }
    return json;
}

ExplainReport explained(const std::string& directory, std::uint32_t jobs, bool shows) {
    ProgressLine progress(shows, "weir explain");
    const auto look = [&progress](double passed_s) {
        if (progress.due()) {
            progress.show(fmt::format("looking for the cause: {} of at most {}",
                                      files::seconds_text(std::floor(passed_s)),
                                      files::seconds_text(most_s)));
        }
    };
    const nlohmann::ordered_json record = read_run(directory);
    try {
        ExplainReport report{.directory = directory, .run = shown_run(record, directory), .found = {}};
        report.found = explain_run(report.run, observed_in(record),
                                   {.processor_s = most_s, .wall_s = most_s, .jobs = jobs, .progress = look});
        progress.clear();
        return report;
    } catch (const twin::Unreadable& error) {
        throw UsageError(fmt::format("{}: {}", directory, error.what()));
    }
}

config::OutputForm output_of(const CommandLine& line) {
    config::OutputForm form = config::OutputForm::text;
    for (const config::GivenOption& option : line.options) {
        form = option.value == "json" ? config::OutputForm::json : config::OutputForm::quiet;
    }
    return form;
}

/// weir-sweep goes on in this process. Returns the exit status if it cannot be started.
int confirm(const std::string& directory) {
    std::error_code ignored;
    const std::filesystem::path beside =
        std::filesystem::read_symlink("/proc/self/exe", ignored).replace_filename("weir-sweep");
    host::become(std::filesystem::exists(beside, ignored) ? beside.string() : "weir-sweep",
                 {"weir-sweep", "confirm", directory});
    fmt::print(stderr,
               "weir explain: --confirm: weir-sweep, which makes the runs, is neither beside weir nor in the "
               "PATH\n");
    return participant::exit_failed;
}

}  // namespace

int explain_command(const CommandLine& line) {
    if (line.name.empty()) {
        throw UsageError("the directory of a run is missing; write weir explain DIR");
    }
    const config::OutputForm form = output_of(line);
    if (line.confirm && form != config::OutputForm::text) {
        throw UsageError("--confirm: prints what comes of it; leave --json and --quiet out");
    }
    host::install_signal_handlers();
    const auto jobs =
        static_cast<std::uint32_t>(line.jobs.value_or(std::max(1U, std::thread::hardware_concurrency())));
    ExplainReport report;
    try {
        report = explained(line.name, jobs, form == config::OutputForm::text);
    } catch (const Interrupted& interrupted) {
        fmt::print(stderr, "weir explain: interrupted, nothing was written\n");
        return participant::exit_signal_base + interrupted.signal;
    }
    const std::string json = explain_json(report);
    if (form != config::OutputForm::quiet) {
        fmt::print("{}",
                   form == config::OutputForm::json ? json : explain_text(report, host::colours_wanted()));
        std::fflush(stdout);
    }
    files::WholeFile file(line.name + "/explain.json");
    file.put(json);
    if (const auto error = file.finish()) {
        fmt::print(stderr, "weir explain: {}\n", error->message());
        return participant::exit_failed;
    }
    if (line.confirm && !report.was_good()) {
        return confirm(line.name);
    }
    return report.is_told() ? participant::exit_ok : participant::exit_requirement;
}

}  // namespace weir::cli
