#include "job/grouped_runs.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "files/json.hpp"
#include "host/process.hpp"
#include "host/signals.hpp"
#include "participant/exit_status.hpp"

namespace weir::job {

namespace {

// Kinds of mail between the leaders.
enum : std::uint8_t { ready_mail = 31, second_mail, result_mail, start_mail, over_mail };

/// How long the leader of the job waits at the start for groups that are not ready.
constexpr auto ready_limit = core::Duration::seconds(60);
/// After the planned end: a group may still write its record to a slow file system.
constexpr auto result_limit = core::Duration::seconds(150);
/// mpirun kills a second after its SIGTERM.
constexpr auto after_signal = core::Duration::milliseconds(400);
/// Other ranks leave later than the leader of the job, which still writes.
constexpr auto leave_after_signal = core::Duration::milliseconds(900);
/// A group whose leader has sent nothing for so long may have left its record in a file.
constexpr auto silent_for = core::Duration::seconds(3);
/// How often the deputy looks for the record of the job: it takes less to write it.
constexpr auto look_for_record_every = core::Duration::seconds(5);
/// The same after a signal.
constexpr auto look_after_signal = core::Duration::milliseconds(600);
/// All groups have ended in order: a leader that does not answer waits for its processor or its disk.
constexpr auto clock_limit = core::Duration::seconds(60);
constexpr auto look_pause = std::chrono::milliseconds(1);

template <typename T>
std::span<const std::byte> bytes_of(const T& value) {
    return std::as_bytes(std::span(&value, 1));
}

template <typename T>
std::optional<T> value_of(std::span<const std::byte> bytes) {
    if (bytes.size() != sizeof(T)) {
        return std::nullopt;
    }
    T value{};
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

/// What the leader of the job answers to a group that is ready.
struct StartOrder {
    bool too_late = false;
    host::Start start;  ///< on the clock of the leader of the job
};

}  // namespace

int publish(const show::GroupsRecord& record, show::LiveForm output, const char* command) {
    int status = show::exit_status_of(record);
    if (const auto error = record.write()) {
        fmt::print(stderr, "{}: {}\n", command, error->message());
        status = participant::exit_failed;
    }
    if (output == show::LiveForm::text) {
        fmt::print("{}", show::groups_summary_text(record, host::colours_wanted()));
    } else if (output == show::LiveForm::json) {
        fmt::print("{}\n", show::groups_summary_json(record));
    }
    std::fflush(stdout);
    return status;
}

GroupedRuns::GroupedRuns(Parts parts) : parts_(std::move(parts)) {
    const core::Plan& plan = parts_.plan;
    ends_by_ns_ = host::monotonic_ns() + (Job::start_limit + plan.warmup + plan.duration + plan.drain).ns;
    if (!leads_group()) {
        return;
    }
    mailbox_.emplace(parts_.leaders->communicator(), "messages between groups");
    clock_ = measure_clock_offset(*parts_.leaders, 0);
    if (leads_job()) {
        groups_.resize(groups());
        live_.emplace(plan, groups(), parts_.output, host::colours_wanted(), [](std::string_view line) {
            fmt::print("{}\n", line);
            std::fflush(stdout);
        });
    }
}

std::string GroupedRuns::begin_record(const show::RunRecord& run_of_group_0) {
    record_.describe(show::to_json(run_of_group_0));
    keeper_.keep_groups(record_.directory, record_.group_directories);
    record_.ended = false;
    const auto error = record_.write();
    record_.ended = true;
    return error ? error->message() : std::string{};
}

host::Start GroupedRuns::agree_on_start(core::Duration ahead, const std::function<void()>& waiting) {
    if (leads_job()) {
        return start_all(ahead, waiting);
    }
    mailbox_->send(0, ready_mail, bytes_of(ahead));
    const std::int64_t deadline_ns = host::monotonic_ns() + start_limit.ns;
    while (host::monotonic_ns() < deadline_ns) {
        waiting();
        const auto mail = mailbox_->take();
        if (!mail) {
            std::this_thread::sleep_for(look_pause);
            continue;
        }
        const auto order = value_of<StartOrder>(mail->bytes);
        if (mail->kind != start_mail || !order || order->too_late) {
            throw JobError(
                fmt::format("the other groups have started without this one, which was not ready "
                            "{} after them",
                            files::readable(ready_limit)));
        }
        host::Start start = order->start;
        start.second_zero_ns += clock_.offset_ns;
        ends_by_ns_ = start.second_zero_ns + (parts_.plan.duration + parts_.plan.drain).ns;
        return start;
    }
    throw JobError("the leader of the job (of group 0) has not answered");
}

host::Start GroupedRuns::start_all(core::Duration ahead, const std::function<void()>& waiting) {
    groups_[parts_.group].ahead = ahead;
    const auto answered = [](const Group& group) { return group.ahead || group.ended; };
    const std::int64_t deadline_ns = host::monotonic_ns() + ready_limit.ns;
    while (!std::all_of(groups_.begin(), groups_.end(), answered) && host::monotonic_ns() < deadline_ns) {
        waiting();
        look();
        std::this_thread::sleep_for(look_pause);
    }
    for (const Group& group : groups_) {
        ahead = std::max(ahead, group.ahead.value_or(ahead));
    }
    ahead = ahead + core::Duration::milliseconds(50);
    StartOrder order;
    order.start = {host::monotonic_ns() + ahead.ns, host::wall_clock_ns() + ahead.ns};
    for (std::uint32_t group = 1; group < groups(); ++group) {
        if (groups_[group].ahead) {
            mailbox_->send(static_cast<int>(group), start_mail, bytes_of(order));
        }
    }
    for (Group& group : groups_) {
        group.heard_ns = host::monotonic_ns();
    }
    ends_by_ns_ = order.start.second_zero_ns + (parts_.plan.duration + parts_.plan.drain).ns;
    started_ = true;
    return order.start;
}

void GroupedRuns::show(const record::ClusterSecond& second) {
    if (leads_job()) {
        live_->add(parts_.group, second);
    } else {
        // If too many are under way, this one is not shown; it is in the group's rows.
        static_cast<void>(mailbox_->send(0, second_mail, bytes_of(second)));
    }
}

void GroupedRuns::look() {
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

void GroupedRuns::receive(const Mail& mail) {
    Group& group = groups_.at(static_cast<std::size_t>(mail.from));
    group.heard_ns = host::monotonic_ns();
    const auto number = static_cast<std::uint32_t>(mail.from);
    if (mail.kind == second_mail) {
        if (const auto second = value_of<record::ClusterSecond>(mail.bytes)) {
            live_->add(number, *second);
        }
    } else if (mail.kind == result_mail) {
        const std::string_view text(reinterpret_cast<const char*>(mail.bytes.data()), mail.bytes.size());
        const auto message = files::parse_json_or_discard(text);
        if (message.is_object() && message.contains("entry")) {
            add_result(number, message["entry"], message.value("in_order", false));
        }
    } else if (started_) {
        mailbox_->send(mail.from, start_mail, bytes_of(StartOrder{.too_late = true, .start = {}}));
    } else if (const auto ahead = value_of<core::Duration>(mail.bytes)) {
        group.ahead = *ahead;
    }
}

void GroupedRuns::add_result(std::uint32_t number, nlohmann::ordered_json entry, bool in_order) {
    Group& group = groups_.at(number);
    group.ended = true;
    group.ended_in_order = in_order;
    live_->end(number);
    record_.groups.at(number) = std::move(entry);
}

void GroupedRuns::take_record(const show::RunRecord& record, int exit_status) {
    mine_ = record_.entry(parts_.group, show::to_json(record), exit_status);
}

/// From here on this rank waits for the other groups; its own has ended.
void GroupedRuns::begin_to_wait(bool in_order) {
    parts_.watchdog.set_explanation({});
    parts_.watchdog.enter("waiting for the other groups", result_limit);
    parts_.world.set_waiting_hook([this, in_order] {
        parts_.watchdog.alive();
        if (in_order && !leads_job() && host::caught_signal() != 0) {
            Job::leave(participant::exit_signal_base + host::caught_signal());
        }
        if (mailbox_) {
            mailbox_->progress();
        }
    });
    parts_.world.set_exchange_limit(
        core::Duration{std::max(ends_by_ns_ - host::monotonic_ns(), std::int64_t{0})} + result_limit +
        result_limit);
    if (leads_group()) {
        send_result(in_order);
    }
}

/// Leaders: reports to the leader of the job how the group has ended.
void GroupedRuns::send_result(bool in_order) {
    if (mine_.is_null()) {
        // This process stood still, and the deputy of the group has written how it ended.
        mine_ = record_.entry_from_file(parts_.group).value_or(record_.groups.at(parts_.group));
    }
    if (leads_job()) {
        add_result(parts_.group, mine_, in_order);
        return;
    }
    const std::string text = files::json_text({{"entry", mine_}, {"in_order", in_order}});
    mailbox_->send(0, result_mail, std::as_bytes(std::span(text)));
}

/// Leader of the job: until all groups have ended, or cannot be expected to.
void GroupedRuns::collect_results() {
    if (!started_ && host::caught_signal() == 0) {
        // Group 0 has failed before it was ready. The others need not.
        const core::Duration ahead = core::Duration::milliseconds(300) + parts_.plan.warmup;
        start_all(ahead, [this] { parts_.watchdog.alive(); });
    }
    std::int64_t deadline_ns = std::max(ends_by_ns_, host::monotonic_ns()) + result_limit.ns;
    std::int64_t next_reading_ns = 0;
    bool signalled = false;
    const auto has_ended = [](const Group& group) { return group.ended; };
    while (!std::all_of(groups_.begin(), groups_.end(), has_ended) && host::monotonic_ns() < deadline_ns) {
        parts_.watchdog.alive();
        look();
        if (host::caught_signal() != 0 && !signalled) {
            signalled = true;
            deadline_ns = host::monotonic_ns() + after_signal.ns;
        }
        if (host::monotonic_ns() > next_reading_ns) {
            read_results_of_silent_groups(silent_for);
            next_reading_ns = host::monotonic_ns() + core::Duration::milliseconds(500).ns;
        }
        std::this_thread::sleep_for(look_pause);
    }
    read_results_of_silent_groups({});
}

void GroupedRuns::read_results_of_silent_groups(core::Duration for_so_long) {
    for (std::uint32_t group = 0; group < groups(); ++group) {
        if (groups_[group].ended || host::monotonic_ns() - groups_[group].heard_ns < for_so_long.ns) {
            continue;
        }
        if (auto entry = record_.entry_from_file(group)) {
            add_result(group, std::move(*entry), false);
        }
    }
}

/// The leaders' clocks have drifted meanwhile: the drift is how far apart their seconds are.
void GroupedRuns::measure_clocks_again() {
    MpiJob& leaders = *parts_.leaders;
    try {
        const ClockOffset again = measure_clock_offset(leaders, 0);
        const std::int64_t error_ns =
            std::abs(again.offset_ns - clock_.offset_ns) + again.error_ns + clock_.error_ns;
        std::int64_t worst_ns = 0;
        leaders.set_exchange_limit(clock_limit);
        leaders.gather(bytes_of(error_ns), 0, "clock measurement",
                       [&](int /*group*/, std::span<const std::byte> bytes) {
                           worst_ns = std::max(worst_ns, value_of<std::int64_t>(bytes).value_or(INT64_MAX));
                       });
        record_.clock_error_us = 1e-3 * static_cast<double>(worst_ns);
    } catch (const ExchangeTimeout&) {
        // In the record it is null.
    }
}

/// Leader of the job: writes and prints what came of all groups. Returns the exit status of the job.
int GroupedRuns::finish_job(int exit_status) const {
    int status = show::exit_status_of(record_);
    if (!record_.is_written()) {  // else this process stood still, and the deputy has done it
        fmt::print("{}", parts_.output == show::LiveForm::text ? "\n" : "");
        status = publish(record_, parts_.output, "weir run");
    }
    return status == participant::exit_ok ? exit_status : status;
}

void GroupedRuns::give_up(int exit_status) {
    parts_.world.abort(exit_status == participant::exit_ok ? participant::exit_failed : exit_status);
}

/// Until the leader of the job reports that all groups have ended in order. Ends the job when that cannot be
/// expected any more, or after a signal.
void GroupedRuns::wait_for_others(int exit_status) {
    std::int64_t leaves_ns = host::monotonic_ns() + parts_.world.exchange_limit().ns;
    next_look_ns_ = host::monotonic_ns() + look_for_record_every.ns;
    bool signalled = false;
    while (host::monotonic_ns() < leaves_ns) {
        parts_.world.call_waiting_hook();
        look_for_record(exit_status);
        const auto mail = mailbox_ ? mailbox_->take() : std::nullopt;
        if (mail && mail->kind == over_mail) {
            return;
        }
        if (host::caught_signal() != 0 && !signalled) {
            signalled = true;
            next_look_ns_ = host::monotonic_ns() + look_after_signal.ns;
            leaves_ns = std::min(leaves_ns, host::monotonic_ns() + leave_after_signal.ns);
        }
        std::this_thread::sleep_for(look_pause);
    }
    give_up(exit_status);
}

/// Deputy: takes over if the record of the job was missing at the last look, too, or a signal has come.
void GroupedRuns::look_for_record(int exit_status) {
    if (!is_deputy() || host::monotonic_ns() < next_look_ns_) {
        return;
    }
    next_look_ns_ = host::monotonic_ns() + look_for_record_every.ns;
    const bool missing = !record_.is_written() && record_.groups_have_ended();
    if (missing && (record_was_missing_ || host::caught_signal() != 0)) {
        record_.read_groups();
        record_.groups.at(parts_.group) = mine_;
        parts_.world.abort(finish_job(exit_status));
    }
    record_was_missing_ = missing;
}

int GroupedRuns::end_job_as_its_leader(int exit_status) {
    collect_results();
    const bool in_order =
        std::all_of(groups_.begin(), groups_.end(), [](const Group& group) { return group.ended_in_order; });
    if (!in_order) {
        parts_.world.abort(finish_job(exit_status));
    }
    for (std::uint32_t group = 1; group < groups(); ++group) {
        mailbox_->send(static_cast<int>(group), over_mail, {});
    }
    measure_clocks_again();
    return finish_job(exit_status);
}

int GroupedRuns::end(int exit_status) {
    return end_with_the_others(exit_status, true);
}

void GroupedRuns::hold(int exit_status) {
    parts_.world.abort(end_with_the_others(exit_status, false));
}

/// Does not return unless all groups have ended in order.
int GroupedRuns::end_with_the_others(int exit_status, bool in_order) {
    try {
        begin_to_wait(in_order);
        int status = exit_status;
        if (leads_job()) {
            status = end_job_as_its_leader(exit_status);
        } else if (leads_group() || !in_order) {
            wait_for_others(exit_status);
            measure_clocks_again();
        }
        return std::stoi(parts_.world.broadcast(std::to_string(status), parts_.job_leader, "end of the job"));
    } catch (const std::exception& error) {
        fmt::print(stderr, "weir run: group {}: {}\n", parts_.group, error.what());
        give_up(exit_status);
    }
}

}  // namespace weir::job
