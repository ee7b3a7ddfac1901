// Whether a producer's sets were gone in time. A set is what is generated in one interval; its deadline is
// the instant at which the next one is generated. An event is late if something of it was still there one
// interval after it was generated, and a set is late if one of its events is: with generation `sets`, whose
// events all come at the beginning of the interval, that is to say that something of the set was left when
// the next one was generated.
//
// The buffer has no part in it: occupancy shows whether data would have been lost, lateness whether the next
// set had to share the network with this one.
//
// Counted are sets that were generated in [0, duration). Chosen: the few youngest sets are remembered,
// because the fate of an older one is known; memory does not grow with the backlog. Nothing is allocated.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/plan.hpp"
#include "core/units.hpp"
#include "record/rows.hpp"

namespace weir::record {

/// How a producer's sets kept their deadlines.
struct SetsInTime {
    std::uint64_t sets = 0;  ///< whose fate is known
    std::uint64_t late = 0;  ///< of those
    /// In which the first late one missed its deadline. With generation `steady` it may be noticed up to an
    /// interval later, when the event is gone.
    std::int64_t first_late_second = no_second;
    core::Instant first_late_at = core::Instant::never();  ///< that deadline
    /// The least time that an event of these sets was gone before its deadline; negative: so late. Of an
    /// event that was never gone, when it was given up. Nothing before the first event was gone.
    std::optional<core::Duration> least_slack;
    constexpr bool operator==(const SetsInTime&) const = default;
};

class SetDeadlines {
  public:
    /// With generation `saturate` there are no deadlines, and everything is ignored.
    /// `phase`: of the producer's sets (core/plan.hpp).
    explicit SetDeadlines(const core::Plan& plan, core::Duration phase = {});

    /// Time has come to `now`. Deadlines before it have passed; one at `now` is met by what is gone at `now`.
    void advance(core::Instant now) {
        if (now > next_closing_) {
            close_until(now);
        }
    }
    void generated(core::Instant generated_at);
    /// No byte of an event is there any more.
    void gone(core::Instant now, core::Duration since_generated);
    /// An event was given up: its set was never gone.
    void left_over(core::Instant now, core::Duration since_generated);
    /// An event was dropped as it was generated: that is a loss, but nothing was left.
    void dropped(core::Instant now, core::Duration since_generated);
    /// There will be no more. Sets of which nothing is left were in time; the fate of others whose deadline
    /// is still to come stays unknown.
    void end();

    [[nodiscard]] const SetsInTime& account() const { return account_; }
    /// Sets that were found late since the last report_newly_late().
    [[nodiscard]] std::uint64_t newly_late() const { return newly_late_; }
    std::uint64_t report_newly_late();

  private:
    struct OpenSet {
        bool used = false;
        bool known = false;  ///< counted in account_.sets
        bool late = false;
        std::int64_t number = 0;
        std::uint64_t outstanding = 0;  ///< events generated and not gone
    };
    [[nodiscard]] bool counts(core::Instant generated_at) const;
    [[nodiscard]] std::int64_t number_of(core::Instant generated_at) const;
    /// When the last event of a set must be gone.
    [[nodiscard]] core::Instant closing(std::int64_t number) const;
    OpenSet* find(std::int64_t number);
    void close_until(core::Instant now);
    void know(OpenSet& set);
    void find_late(OpenSet& set, core::Instant deadline);
    void count_end(core::Instant now, core::Duration since_generated, bool never_gone);

    /// The youngest sets that have events are remembered. At most two of them have their deadlines still to
    /// come.
    static constexpr std::size_t remembered = 4;

    core::Duration interval_;
    core::Instant duration_;
    /// From the interval's beginning to when the last event of its set can be generated.
    core::Duration last_event_after_;
    bool judges_;
    std::array<OpenSet, remembered> open_{};
    std::size_t youngest_ = 0;
    core::Instant next_closing_ = core::Instant::never();  ///< not after that of any set that is not closed
    SetsInTime account_;
    std::uint64_t newly_late_ = 0;
};

}  // namespace weir::record
