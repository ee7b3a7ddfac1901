#include "loop/run_transport.hpp"

#include "host/common_clock.hpp"

namespace weir::loop {

namespace {

constexpr const char* warming_up = "warm-up of the transport";
/// Between two rounds in which ranks exchange their progress.
core::Duration round_period(int ranks) {
    return std::min(core::Duration::milliseconds(100),
                    core::Duration::milliseconds(5) + core::Duration::milliseconds(1) * ranks);
}
/// More than in the measurement: connections are made here, and their first packets may be lost.
constexpr auto extra_limit = core::Duration::seconds(10);

/// What one rank sends the others in a round.
struct WarmupPart {
    std::int64_t messages_done = 0;
    std::int64_t messages_total = 0;
    /// How long no rank's messages have increased, by this rank's clock.
    std::int64_t standstill_ns = 0;

    [[nodiscard]] bool complete() const { return messages_done == messages_total; }
};

/// How long no message may arrive: at least as long as a few messages take through a link that carries the
/// plan's rate, with the messages of all other ranks.
core::Duration standstill_limit(const job::RunSettings& settings) {
    const core::Plan& plan = settings.plan;
    core::Duration limit = settings.silence_timeout + extra_limit;
    if (plan.rate.bits_per_second > 0) {
        const double bits = 4.0 * 8.0 * static_cast<double>(core::chunk_capacity_bytes(plan)) *
                            std::max(plan.producers, plan.consumers);
        limit = limit + core::Duration{static_cast<std::int64_t>(
                            1e9 * std::min(3600.0, bits / static_cast<double>(plan.rate.bits_per_second)))};
    }
    return limit;
}

[[noreturn]] void throw_standstill(const job::RunSettings& settings, const std::vector<WarmupPart>& all,
                                   core::Duration limit) {
    constexpr std::size_t most_named = 4;
    std::vector<int> behind;
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        if (!all[rank].complete()) {
            behind.push_back(static_cast<int>(rank));
        }
    }
    const auto share = [&](int rank) {
        const WarmupPart& part = all[static_cast<std::size_t>(rank)];
        return static_cast<double>(part.messages_done) / static_cast<double>(part.messages_total);
    };
    std::stable_sort(behind.begin(), behind.end(), [&](int a, int b) { return share(a) < share(b); });
    std::vector<std::string> names;
    for (const int rank : behind) {
        const WarmupPart& part = all[static_cast<std::size_t>(rank)];
        names.push_back(fmt::format("{} with {} of {} messages", rank_text(settings, rank),
                                    part.messages_done, part.messages_total));
    }
    throw job::RankFailed(
        behind.front(),
        fmt::format("{}: no message has arrived for {}, although all ranks answer; not complete: {} "
                    "(`weir check` tries every pair, and compares MTUs)",
                    warming_up, files::readable(limit), files::listed(names, most_named)));
}

/// Every rank's progress on every rank, again and again. All ranks see the same rounds with the same
/// contents, so what follows from them alone is the same on all.
class ProgressRounds {
  public:
    explicit ProgressRounds(job::Job& job)
        : job_(job), next_ns_(host::monotonic_ns()), all_(static_cast<std::size_t>(job.size())) {}

    /// Starts a round if it is time, with this rank's `progress()`, or looks whether one has ended: then
    /// true.
    bool advance(const std::function<transport::WarmupProgress()>& progress) {
        const std::int64_t now_ns = host::monotonic_ns();
        if (!under_way_ && now_ns >= next_ns_) {
            const transport::WarmupProgress now = progress();
            const WarmupPart mine{.messages_done = static_cast<std::int64_t>(now.messages_done),
                                  .messages_total = static_cast<std::int64_t>(now.messages_total),
                                  .standstill_ns = now_ns - moved_ns_};
            job_.begin_round(std::as_bytes(std::span(&mine, 1)), warming_up);
            under_way_ = true;
        }
        if (!under_way_) {
            return false;
        }
        const auto blocks = job_.end_round(warming_up);
        under_way_ = !blocks;
        next_ns_ = now_ns + round_period(job_.size()).ns;
        if (blocks) {
            WEIR_ASSERT(blocks->size() == all_.size() * sizeof(WarmupPart));
            std::memcpy(all_.data(), blocks->data(), blocks->size());
            look_for_movement(now_ns);
        }
        return !under_way_;
    }

    /// By rank, as of the last round.
    [[nodiscard]] const std::vector<WarmupPart>& all() const { return all_; }

    /// As of the last round: how long no message has arrived anywhere, by the clock of rank 0. One clock
    /// counts: a round ends at different times on ranks, and a rank that gave up one round before the
    /// others would leave them waiting for it.
    [[nodiscard]] core::Duration standstill() const { return core::Duration{all_.front().standstill_ns}; }

  private:
    void look_for_movement(std::int64_t now_ns) {
        const std::int64_t messages = std::accumulate(
            all_.begin(), all_.end(), std::int64_t{0},
            [](std::int64_t before, const WarmupPart& part) { return before + part.messages_done; });
        if (messages != std::exchange(messages_before_, messages)) {
            moved_ns_ = now_ns;
        }
    }

    job::Job& job_;
    bool under_way_ = false;
    std::int64_t next_ns_;
    std::vector<WarmupPart> all_;
    std::int64_t moved_ns_ = host::monotonic_ns();
    std::int64_t messages_before_ = -1;
};

/// Lines on how far all ranks are, now and then.
class ProgressLines {
  public:
    /// Empty: no line is due.
    std::string due(const std::vector<WarmupPart>& all) {
        const double seconds = static_cast<double>(host::monotonic_ns() - began_ns_) * 1e-9;
        if (seconds < next_s_) {
            return {};
        }
        next_s_ = seconds + period_s;
        double done = 0.0;
        double total = 0.0;
        for (const WarmupPart& part : all) {
            done += static_cast<double>(part.messages_done);
            total += static_cast<double>(part.messages_total);
        }
        const double share = done / total;
        const std::string left =
            share > 0.0 ? fmt::format(", about {} left", files::rough_time(seconds / share * (1.0 - share)))
                        : std::string{};
        return fmt::format("{}: {} of its messages after {}{} (every buffer is used once)", warming_up,
                           files::percent(share), files::rough_time(seconds), left);
    }

  private:
    static constexpr double first_s = 3.0;
    static constexpr double period_s = 10.0;
    std::int64_t began_ns_ = host::monotonic_ns();
    double next_s_ = first_s;
};

}  // namespace

void warm_up_together(job::Job& job, const job::RunSettings& settings, host::IdleStrategy& idle,
                      const std::function<bool()>& step,
                      const std::function<transport::WarmupProgress()>& progress,
                      const std::function<void(const std::string& line)>& report) {
    const core::Duration limit = standstill_limit(settings);
    job::Job::Waiting waiting(job, limit, warming_up);
    ProgressRounds rounds(job);
    ProgressLines lines;
    while (true) {
        const std::int64_t before = progress().messages_done;
        static_cast<void>(step());
        if (progress().messages_done != before) {
            idle.worked();
        }
        if (rounds.advance(progress)) {
            waiting.restart();
            const std::vector<WarmupPart>& all = rounds.all();
            if (std::all_of(all.begin(), all.end(), [](const WarmupPart& part) { return part.complete(); })) {
                return;
            }
            if (rounds.standstill() > limit) {
                throw_standstill(settings, all, limit);
            }
            if (const std::string line = lines.due(all); !line.empty()) {
                report(line);
            }
        }
        waiting.check();
        idle.wait(core::Duration::milliseconds(1));
    }
}

}  // namespace weir::loop
