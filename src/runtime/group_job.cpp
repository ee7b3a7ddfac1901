#include "runtime/group_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>
#include <thread>
#include <utility>

#include "participant/exit_status.hpp"
#include "runtime/clock_sync.hpp"
#include "runtime/common_clock.hpp"
#include "runtime/signals.hpp"
#include "telemetry/json_text.hpp"

namespace weir::runtime {

namespace {

using OrderedJson = nlohmann::ordered_json;

// Kinds of mail between the leaders.
enum : std::uint8_t { ready_mail = 31, second_mail, result_mail, clock_mail, start_mail, over_mail };

/// How long the leader of the job waits at the start for groups that are not ready.
constexpr auto ready_limit = core::Duration::seconds(60);
/// After the planned end: a group may still write its record to a slow file system.
constexpr auto result_limit = core::Duration::seconds(150);
/// mpirun kills a second after its SIGTERM.
constexpr auto after_signal = core::Duration::milliseconds(400);
/// Other ranks leave later than the leader of the job, which still writes.
constexpr auto leave_after_signal = core::Duration::milliseconds(900);
/// A group whose leader is not heard for so long may have left its record in a file.
constexpr auto silent_for = core::Duration::seconds(3);
/// How often the deputy looks for the record of the job: it takes less to write it.
constexpr auto look_for_record_every = core::Duration::seconds(5);
/// Likewise when a signal has come.
constexpr auto look_after_signal = core::Duration::milliseconds(600);
constexpr auto clock_limit = core::Duration::seconds(10);
constexpr auto look_pause = std::chrono::milliseconds(1);

template <typename T>
std::span<const std::byte> bytes_of(const T& value) {
    return std::as_bytes(std::span(&value, 1));
}

template <typename T>
std::optional<T> value_of(const Mail& mail) {
    if (mail.bytes.size() != sizeof(T)) {
        return std::nullopt;
    }
    T value{};
    std::memcpy(&value, mail.bytes.data(), sizeof value);
    return value;
}

/// What the leader of the job answers to a group that is ready.
struct StartOrder {
    bool too_late = false;
    Start start;  ///< on the clock of the leader of the job
};

}  // namespace

GroupJob::GroupJob(Parts parts) : parts_(std::move(parts)) {
    ends_by_ns_ = monotonic_ns() + rest_of_the_run().ns;
    if (!leads_group()) {
        return;
    }
    mailbox_.emplace(parts_.leaders->communicator(), "messages between groups");
    clock_ = measure_clock_offset(*parts_.leaders, 0);
    mine_ = telemetry::missing_group(parts_.group, parts_.group_directories.at(parts_.group));
    if (leads_job()) {
        groups_.resize(groups());
        live_.emplace(parts_.plan, groups(), parts_.output, parts_.colours, [](std::string_view line) {
            fmt::print("{}\n", line);
            std::fflush(stdout);
        });
    }
}

core::Duration GroupJob::rest_of_the_run() const {
    const core::Plan& plan = parts_.plan;
    return Job::start_limit + plan.warmup + plan.duration + plan.drain;
}

core::Duration GroupJob::start_limit() const {
    return ready_limit + core::Duration::seconds(10);
}

std::string GroupJob::begin_record(const telemetry::RunRecord& run_of_group_0) {
    record_.directory = parts_.directory;
    record_.describe(telemetry::to_json(run_of_group_0), groups());
    record_.ended = false;
    keeper_.keep_job(parts_.directory, parts_.group_directories);
    for (std::uint32_t group = 0; group < groups(); ++group) {
        record_.groups.push_back(telemetry::missing_group(group, parts_.group_directories[group]));
    }
    const auto error = telemetry::write_job_json(parts_.directory + "/run.json", record_);
    record_.ended = true;
    return error ? error->message() : std::string{};
}

Start GroupJob::agree_on_start(core::Duration ahead, const std::function<void()>& waiting) {
    if (leads_job()) {
        groups_[parts_.group].ready = true;
        return start_all(ahead, waiting);
    }
    mailbox_->send(0, ready_mail, bytes_of(ahead));
    const std::int64_t deadline_ns = monotonic_ns() + start_limit().ns;
    while (monotonic_ns() < deadline_ns) {
        waiting();
        const auto mail = mailbox_->take();
        if (!mail) {
            std::this_thread::sleep_for(look_pause);
            continue;
        }
        const auto order = value_of<StartOrder>(*mail);
        if (mail->kind != start_mail || !order || order->too_late) {
            throw JobError(
                fmt::format("the other groups have started without this one, which was not ready "
                            "{:.0f} s after them",
                            ready_limit.in_seconds()));
        }
        Start start = order->start;
        start.second_zero_ns += clock_.offset_ns;
        ends_by_ns_ = start.second_zero_ns + (parts_.plan.duration + parts_.plan.drain).ns;
        return start;
    }
    throw JobError("the leader of the job (of group 0) has not answered");
}

Start GroupJob::start_all(core::Duration ahead, const std::function<void()>& waiting) {
    groups_[parts_.group].answered = true;
    groups_[parts_.group].ahead = ahead;
    const auto answered = [](const Group& group) { return group.answered; };
    const std::int64_t deadline_ns = monotonic_ns() + ready_limit.ns;
    while (!std::all_of(groups_.begin(), groups_.end(), answered) && monotonic_ns() < deadline_ns) {
        waiting();
        look();
        std::this_thread::sleep_for(look_pause);
    }
    for (const Group& group : groups_) {
        ahead = std::max(ahead, group.ahead);
    }
    ahead = ahead + core::Duration::milliseconds(50);
    StartOrder order;
    order.start = {monotonic_ns() + ahead.ns, wall_clock_ns() + ahead.ns};
    for (std::uint32_t group = 1; group < groups(); ++group) {
        if (groups_[group].ready) {
            mailbox_->send(static_cast<int>(group), start_mail, bytes_of(order));
        }
    }
    for (Group& group : groups_) {
        group.answered = true;
        group.heard_ns = monotonic_ns();
    }
    ends_by_ns_ = order.start.second_zero_ns + (parts_.plan.duration + parts_.plan.drain).ns;
    started_ = true;
    return order.start;
}

void GroupJob::show(const telemetry::ClusterSecond& second) {
    if (leads_job()) {
        live_->add(parts_.group, second);
    } else {
        // If too many are under way, this one is not shown; it is in the group's rows.
        static_cast<void>(mailbox_->send(0, second_mail, bytes_of(second)));
    }
}

void GroupJob::look() {
    if (!leads_job()) {
        mailbox_->progress();
        return;
    }
    constexpr int most = 64;  // in one look: the leader has a loop to go on with
    for (int i = 0; i < most; ++i) {
        const auto mail = mailbox_->take();
        if (!mail) {
            break;
        }
        receive(*mail);
    }
}

void GroupJob::receive(const Mail& mail) {
    Group& group = groups_.at(static_cast<std::size_t>(mail.from));
    group.heard_ns = monotonic_ns();
    const auto number = static_cast<std::uint32_t>(mail.from);
    if (mail.kind == second_mail) {
        if (const auto second = value_of<telemetry::ClusterSecond>(mail)) {
            live_->add(number, *second);
        }
    } else if (mail.kind == clock_mail) {
        group.clock_error_us = value_of<double>(mail);
    } else if (mail.kind == result_mail) {
        const std::string_view text(reinterpret_cast<const char*>(mail.bytes.data()), mail.bytes.size());
        take_result(number, telemetry::parse_json_or_discard(text));
    } else if (group.answered) {
        mailbox_->send(mail.from, start_mail, bytes_of(StartOrder{.too_late = true, .start = {}}));
    } else if (const auto ahead = value_of<core::Duration>(mail)) {
        group.ready = group.answered = true;
        group.ahead = *ahead;
    }
}

void GroupJob::take_result(std::uint32_t group, const OrderedJson& message) {
    if (!message.is_object() || !message.contains("entry")) {
        return;
    }
    add_result({group, parts_.group_directories.at(group), message["entry"]},
               message.value("in_order", false));
}

void GroupJob::add_result(telemetry::GroupEntry entry, bool in_order) {
    Group& group = groups_.at(entry.group);
    group.answered = true;
    group.ended_in_order = in_order;
    live_->end(entry.group);
    group.entry = std::move(entry);
}

void GroupJob::take_record(const telemetry::RunRecord& record, int exit_status) {
    mine_ = telemetry::group_entry(parts_.group, parts_.group_directories.at(parts_.group),
                                   telemetry::to_json(record), exit_status);
    has_record_ = true;
}

/// Leaders: tells the leader of the job how the group has ended.
void GroupJob::send_result(bool in_order) {
    const std::string& directory = parts_.group_directories.at(parts_.group);
    if (!has_record_) {
        // This process stood still, and the deputy of the group has written how it ended.
        const std::string path = parts_.directory + "/" + directory + "/run.json";
        mine_ = telemetry::group_entry_from_file(parts_.group, directory, path).value_or(mine_);
    }
    if (leads_job()) {
        add_result(mine_, in_order);
        return;
    }
    const std::string text = telemetry::json_text({{"entry", mine_.json}, {"in_order", in_order}});
    mailbox_->send(0, result_mail, std::as_bytes(std::span(text)));
}

void GroupJob::collect_results() {
    if (!started_ && caught_signal() == 0) {
        // Group 0 has failed before it was ready. The others need not.
        const core::Duration ahead = core::Duration::milliseconds(300) + parts_.plan.warmup;
        start_all(ahead, [this] { parts_.watchdog.alive(); });
    }
    std::int64_t deadline_ns = std::max(ends_by_ns_, monotonic_ns()) + result_limit.ns;
    std::int64_t next_reading_ns = 0;
    bool signalled = false;
    const auto has_entry = [](const Group& group) { return group.entry.has_value(); };
    while (!std::all_of(groups_.begin(), groups_.end(), has_entry) && monotonic_ns() < deadline_ns) {
        parts_.watchdog.alive();
        look();
        if (caught_signal() != 0 && !signalled) {
            signalled = true;
            deadline_ns = monotonic_ns() + after_signal.ns;
        }
        if (monotonic_ns() > next_reading_ns) {
            read_results_of_silent_groups();
            next_reading_ns = monotonic_ns() + core::Duration::milliseconds(500).ns;
        }
        std::this_thread::sleep_for(look_pause);
    }
    for (std::uint32_t group = 0; group < groups(); ++group) {
        auto& entry = groups_[group].entry;
        record_.groups[group] =
            entry ? *entry
                  : telemetry::group_entry_or_missing(parts_.directory, parts_.group_directories, group);
    }
}

void GroupJob::read_results_of_silent_groups() {
    for (std::uint32_t group = 0; group < groups(); ++group) {
        if (groups_[group].entry || monotonic_ns() - groups_[group].heard_ns < silent_for.ns) {
            continue;
        }
        const std::string& directory = parts_.group_directories[group];
        if (auto entry = telemetry::group_entry_from_file(group, directory,
                                                          parts_.directory + "/" + directory + "/run.json")) {
            add_result(std::move(*entry), false);
        }
    }
}

/// The leaders' clocks have drifted meanwhile: by how much says how far apart their seconds are.
void GroupJob::measure_clocks_again() {
    const ClockOffset again = measure_clock_offset(*parts_.leaders, 0);
    const double error_us = 1e-3 * static_cast<double>(std::abs(again.offset_ns - clock_.offset_ns) +
                                                       again.error_ns + clock_.error_ns);
    if (!leads_job()) {
        mailbox_->send(0, clock_mail, bytes_of(error_us));
        return;
    }
    groups_[parts_.group].clock_error_us = 0;
    const auto known = [](const Group& group) { return group.clock_error_us.has_value(); };
    const std::int64_t deadline_ns = monotonic_ns() + clock_limit.ns;
    while (!std::all_of(groups_.begin(), groups_.end(), known) && monotonic_ns() < deadline_ns) {
        parts_.watchdog.alive();
        look();
        std::this_thread::sleep_for(look_pause);
    }
    if (std::all_of(groups_.begin(), groups_.end(), known)) {
        double worst_us = 0;
        for (const Group& group : groups_) {
            worst_us = std::max(worst_us, *group.clock_error_us);
        }
        record_.clock_error_us = worst_us;
    }
}

/// Leader of the job: writes and prints what came of all groups. Returns the exit status of the job.
int GroupJob::finish_job(int exit_status) {
    int status = telemetry::exit_status_of(record_);
    if (status == participant::exit_ok) {
        status = exit_status;
    }
    if (telemetry::is_whole_job_record(parts_.directory + "/run.json")) {
        return status;  // this process stood still, and the deputy has done it
    }
    if (const auto error = telemetry::write_job_json(parts_.directory + "/run.json", record_)) {
        fmt::print(stderr, "weir run: {}\n", error->message());
        status = participant::exit_failed;
    }
    if (parts_.output == telemetry::LiveForm::text) {
        fmt::print("\n{}", telemetry::job_summary_text(record_, parts_.colours));
    } else if (parts_.output == telemetry::LiveForm::json) {
        fmt::print("{}\n", telemetry::job_summary_json(record_));
    }
    std::fflush(stdout);
    return status;
}

void GroupJob::end_job(int exit_status) {
    parts_.world.abort(exit_status);
}

/// Leaders but that of the job, which says when all groups have ended.
void GroupJob::wait_for_others(int exit_status) {
    Job::Waiting over(parts_.world, parts_.world.exchange_limit(), "end of the other groups");
    next_look_ns_ = monotonic_ns() + look_for_record_every.ns;
    std::optional<Mail> mail;
    while (!mail || mail->kind != over_mail) {
        over.nap();
        look_for_record(exit_status);
        mail = mailbox_->take();
    }
}

bool GroupJob::record_is_missing() const {
    const auto has_ended = [this](const std::string& part) {
        return telemetry::how_it_ended(parts_.directory + part + "/run.json").has_value();
    };
    return !telemetry::is_whole_job_record(parts_.directory + "/run.json") &&
           std::all_of(parts_.group_directories.begin(), parts_.group_directories.end(),
                       [&](const std::string& group) { return has_ended("/" + group); });
}

void GroupJob::look_for_record(int exit_status) {
    if (!is_deputy() || monotonic_ns() < next_look_ns_) {
        return;
    }
    next_look_ns_ = monotonic_ns() + look_for_record_every.ns;
    const bool missing = record_is_missing();
    if (missing && (record_was_missing_ || caught_signal() != 0)) {
        take_over(exit_status);
    }
    record_was_missing_ = missing;
}

void GroupJob::take_over(int exit_status) {
    record_ = telemetry::job_record_from_files(parts_.directory, parts_.group_directories);
    record_.groups.at(parts_.group) = mine_;
    end_job(finish_job(exit_status));
}

int GroupJob::end(int exit_status) {
    parts_.watchdog.set_explanation({});
    parts_.watchdog.enter("waiting for the other groups", result_limit);
    const auto waiting = [this] {
        parts_.watchdog.alive();
        if (!leads_job() && caught_signal() != 0) {
            Job::leave(participant::exit_signal_base + caught_signal());
        }
        if (mailbox_) {
            mailbox_->progress();
        }
    };
    parts_.world.set_waiting_hook(waiting);
    parts_.world.set_exchange_limit(core::Duration{std::max(ends_by_ns_ - monotonic_ns(), std::int64_t{0})} +
                                    result_limit + clock_limit + clock_limit);
    int status = exit_status;
    if (leads_group()) {
        parts_.leaders->set_waiting_hook(waiting);
        send_result(true);
    }
    if (leads_job()) {
        collect_results();
        const bool in_order = std::all_of(groups_.begin(), groups_.end(),
                                          [](const Group& group) { return group.ended_in_order; });
        if (in_order) {
            for (std::uint32_t group = 1; group < groups(); ++group) {
                mailbox_->send(static_cast<int>(group), over_mail, {});
            }
            measure_clocks_again();
        }
        status = finish_job(exit_status);
        if (!in_order) {
            end_job(status);
        }
    } else if (leads_group()) {
        wait_for_others(exit_status);
        measure_clocks_again();
    }
    return std::stoi(parts_.world.broadcast(std::to_string(status), parts_.job_leader, "end of the job"));
}

void GroupJob::hold(int exit_status) {
    parts_.watchdog.set_explanation({});
    parts_.watchdog.enter("waiting for the other groups", result_limit);
    try {
        if (leads_group()) {
            send_result(false);
        }
        if (leads_job()) {
            collect_results();
            end_job(finish_job(exit_status));
        }
        const std::int64_t deadline_ns =
            std::max(ends_by_ns_, monotonic_ns()) + result_limit.ns + result_limit.ns;
        std::int64_t leaves_ns = deadline_ns;
        next_look_ns_ = monotonic_ns() + look_for_record_every.ns;
        while (monotonic_ns() < leaves_ns) {
            look_for_record(exit_status);
            parts_.watchdog.alive();
            if (mailbox_) {
                mailbox_->progress();
            }
            if (caught_signal() != 0 && leaves_ns == deadline_ns) {
                next_look_ns_ = monotonic_ns() + look_after_signal.ns;
                leaves_ns = std::min(leaves_ns, monotonic_ns() + leave_after_signal.ns);
            }
            std::this_thread::sleep_for(look_pause);
        }
    } catch (const std::exception& error) {
        fmt::print(stderr, "weir run: group {}: {}\n", parts_.group, error.what());
    }
    end_job(exit_status);
}

}  // namespace weir::runtime
