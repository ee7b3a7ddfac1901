// What a search varies: its quantity, and what follows from it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/limit_search.hpp"
#include "config/run_request.hpp"

namespace weir::cli {

/// What becomes of event sizes when the rate changes.
enum class EventSizes : std::uint8_t {
    as_asked,  ///< the rate is not what is looked for
    scaled,    ///< as many events per set (or second) at every rate
    held,      ///< the size as asked, at any rate
    whole,     ///< the size as asked, and only rates with whole events per set
};

class FindValues {
  public:
    /// `base`: the run as asked for, resolved and laid out; must outlive this. Throws UsageError.
    FindValues(const std::string& what, const std::string& events, const config::RunRequest& base);

    [[nodiscard]] std::string_view name() const;
    /// "largest rate per producer"
    [[nodiscard]] std::string_view meaning() const;
    [[nodiscard]] EventSizes event_sizes() const { return event_sizes_; }
    [[nodiscard]] SearchSpace space() const;

    /// The options that differ from the run as asked for; fills in the point's texts.
    std::vector<config::GivenOption> options_of(double value, FindPoint& point) const;

    /// What was held and what was not, one sentence each.
    [[nodiscard]] std::vector<std::string> statements() const;

  private:
    struct Quantity;
    static const Quantity& quantity_of(const std::string& what);
    [[nodiscard]] EventSizes choose_event_sizes(const std::string& events) const;
    [[nodiscard]] double start() const;
    [[nodiscard]] core::BitRate rate_of(double value) const;
    [[nodiscard]] std::string busy_of(double value) const;
    void scale_events(core::BitRate rate, std::vector<config::GivenOption>& options, FindPoint& point) const;

    const config::RunRequest& base_;
    const Quantity& quantity_;
    EventSizes event_sizes_;
};

}  // namespace weir::cli
