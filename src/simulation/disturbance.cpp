#include "simulation/disturbance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <stdexcept>

#include "files/formatting.hpp"

namespace weir::simulation {

namespace {

constexpr core::Instant from_the_beginning{std::numeric_limits<std::int64_t>::min()};

using Kind = Disturbance::Kind;

struct DisturbanceName {
    const char* name;
    Kind kind;
};
constexpr std::array kinds{DisturbanceName{"pause", Kind::pause},   DisturbanceName{"die", Kind::die},
                           DisturbanceName{"slow", Kind::slow},     DisturbanceName{"degrade", Kind::degrade},
                           DisturbanceName{"delay", Kind::delay},   DisturbanceName{"drift", Kind::drift},
                           DisturbanceName{"flood", Kind::flood},   DisturbanceName{"cut", Kind::cut},
                           DisturbanceName{"errors", Kind::errors}, DisturbanceName{"storm", Kind::storm}};

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
    throw std::invalid_argument(
        fmt::format("'{}': {}; write for example pause:consumer=3,at=10s,for=2s", text, why));
}

/// False also for a NaN.
bool within(double value, double least, double most) {
    return value >= least && value <= most;
}

template <typename Number>
Number number_of(std::string_view text, std::string_view value) {
    const std::optional<Number> number = files::number_in<Number>(value);
    if (!number) {
        refuse(text, fmt::format("'{}' is not a number", value));
    }
    return *number;
}

class DisturbanceReader {
  public:
    DisturbanceReader(std::string_view text, TimeParser parse_time, RateParser parse_rate)
        : text_(text), parse_time_(parse_time), parse_rate_(parse_rate) {}

    Disturbance read() {
        const std::size_t colon = text_.find(':');
        disturbance_.kind = read_kind(text_.substr(0, colon));
        disturbance_.at = from_the_beginning;
        std::string_view rest =
            colon == std::string_view::npos ? std::string_view{} : text_.substr(colon + 1);
        while (!rest.empty()) {
            const std::string_view part = rest.substr(0, rest.find(','));
            rest.remove_prefix(std::min(rest.size(), part.size() + 1));
            const std::size_t equals = std::min(part.find('='), part.size());
            read_part(part.substr(0, equals), part.substr(std::min(part.size(), equals + 1)),
                      equals < part.size());
        }
        settle_place();
        check();
        check_return();
        return disturbance_;
    }

  private:
    [[nodiscard]] Kind read_kind(std::string_view name) const {
        for (const DisturbanceName& kind : kinds) {
            if (name == kind.name) {
                return kind.kind;
            }
        }
        refuse(text_, fmt::format("there is no disturbance '{}'; there are pause, die, cut, slow, degrade, "
                                  "delay, drift, flood, errors and storm",
                                  name));
    }

    void read_part(std::string_view key, std::string_view value, bool has_value) {
        const bool names_place = key == "link" || key == "switch" || key == "host";
        if ((names_place || key == "producer" || key == "consumer" || key == "scheduler") && named_) {
            refuse(text_, "it names two nodes; write one disturbance for each");
        }
        if (names_place) {
            kind_of_place_ = key;
            disturbance_.place = value;
            named_ = true;
            return;
        }
        if (key == "producer" || key == "consumer") {
            disturbance_.node = {key == "producer" ? core::Role::producer : core::Role::consumer,
                                 number_of<std::uint32_t>(text_, value)};
            named_ = true;
        } else if (key == "scheduler" && value.empty() && !has_value) {
            disturbance_.node = core::scheduler_node();
            named_ = true;
        } else if (key == "at") {
            disturbance_.at = core::Instant{} + parse_time_(value);
        } else if (key == "for") {
            disturbance_.length = parse_time_(value);
        } else if (key == "back") {
            back_ = core::Instant{} + parse_time_(value);
        } else if (key == "factor" || key == "share") {
            disturbance_.factor = number_of<double>(text_, value);
            (key == "factor" ? has_factor_ : has_share_) = true;
        } else if (key == "to") {
            disturbance_.to = parse_rate_(value);
            has_to_ = true;
        } else if (key == "disconnects" && value.empty() && !has_value) {
            disturbance_.disconnects = true;
        } else if (key == "extra") {
            disturbance_.extra = parse_time_(value);
        } else if (key == "ppm") {
            disturbance_.ppm = number_of<double>(text_, value);
            has_ppm_ = true;
        } else {
            refuse(text_,
                   fmt::format("'{}' is not known here; there are producer=N, consumer=N, scheduler, link=, "
                               "switch=, host=, at=, for=, back=, factor=, share=, to=, extra=, ppm= and "
                               "disconnects",
                               key));
        }
    }

    /// What has a name in the network, instead of a node.
    void settle_place() {
        struct Placed {
            Kind kind;
            std::string_view place;
            Kind becomes;
        };
        constexpr std::array placed{
            Placed{Kind::cut, "link", Kind::cut_link}, Placed{Kind::cut, "switch", Kind::cut_switch},
            Placed{Kind::degrade, "link", Kind::degrade_link}, Placed{Kind::errors, "link", Kind::errors},
            Placed{Kind::storm, "host", Kind::storm}};
        const bool needs_place = is_of_network(disturbance_.kind);
        if (kind_of_place_.empty()) {
            if (needs_place) {
                refuse(text_, disturbance_.kind == Kind::storm ? "it names no host; write host=NAME"
                                                               : "it names no link; write link=NAME:NAME");
            }
            return;
        }
        const auto* const found = std::find_if(placed.begin(), placed.end(), [&](const Placed& one) {
            return one.kind == disturbance_.kind && one.place == kind_of_place_;
        });
        if (found == placed.end()) {
            refuse(text_, fmt::format("{}= is for {}", kind_of_place_,
                                      kind_of_place_ == "link"     ? "cut, degrade and errors"
                                      : kind_of_place_ == "switch" ? "cut"
                                                                   : "storm"));
        }
        disturbance_.kind = found->becomes;
        disturbance_.text =
            fmt::format("{}:{}={}", text_.substr(0, text_.find(':')), kind_of_place_, disturbance_.place);
    }

    void refuse_if(bool wrong, const char* why) const {
        if (wrong) {
            refuse(text_, why);
        }
    }

    void check_network() const {
        const Kind kind = disturbance_.kind;
        refuse_if(
            has_to_ && (kind != Kind::degrade_link || has_factor_ || disturbance_.to.bits_per_second <= 0),
            "to= is for degrade with link=, instead of factor=, and above 0");
        refuse_if(has_share_ != (kind == Kind::errors),
                  has_share_ ? "share= is for errors" : "errors need share=, of the packets");
        refuse_if(has_share_ && !within(disturbance_.factor, 1e-12, 1), "share= must be from 1e-12 to 1");
        refuse_if(disturbance_.disconnects && kind != Kind::cut_link && kind != Kind::cut_switch,
                  "disconnects is for cut with link= or switch=");
        refuse_if(kind == Kind::degrade_link && !has_to_ && !within(disturbance_.factor, 0, 1),
                  "degrade needs factor= from 0 to 1");
        refuse_if((kind == Kind::degrade || kind == Kind::degrade_link) && has_factor_ &&
                      disturbance_.factor == 0 && disturbance_.length == core::Duration::max(),
                  "factor=0 without for= lets nothing through for ever, and the run would not end; "
                  "write a factor above 0, or for=TIME");
    }

    void check() const {
        check_network();
        const bool takes_factor = disturbance_.kind == Kind::slow || disturbance_.kind == Kind::degrade ||
                                  (disturbance_.kind == Kind::degrade_link && !has_to_);
        refuse_if(takes_factor != has_factor_,
                  takes_factor ? "factor= is missing" : "factor= is for slow and degrade");
        refuse_if(disturbance_.length <= core::Duration{}, "for= must be more than 0");
        const bool takes_extra = disturbance_.kind == Kind::delay;
        refuse_if(!takes_extra && disturbance_.extra != core::Duration{}, "extra= is for delay");
        refuse_if(takes_extra && (disturbance_.extra <= core::Duration{} ||
                                  disturbance_.extra > core::Duration::seconds(60)),
                  "a delay needs extra=TIME, at most 60s");
        const bool has_end = disturbance_.length != core::Duration::max();
        refuse_if(disturbance_.kind == Kind::die && has_end, "die has no end; write pause with for=TIME");
        refuse_if(!takes_extra && !named_, "it names no node: producer=N, consumer=N or scheduler");
        refuse_if(disturbance_.kind == Kind::pause && !has_end,
                  "a pause needs for=TIME; one without an end is die");
        check_factor();
        check_drift_and_flood();
    }

    /// `back` is for a consumer that dies or is cut off: the disturbance lasts until then.
    void check_return() {
        refuse_if(disturbance_.kind == Kind::cut && disturbance_.node.role != core::Role::consumer,
                  "cut is for a consumer");
        if (!back_) {
            return;
        }
        refuse_if(disturbance_.kind != Kind::die || disturbance_.node.role != core::Role::consumer,
                  "back= is for a consumer that dies");
        refuse_if(disturbance_.at == from_the_beginning || *back_ <= disturbance_.at,
                  "back= needs at=, and must be later");
        disturbance_.length = *back_ - disturbance_.at;
    }

    void check_drift_and_flood() const {
        const core::Role role = disturbance_.node.role;
        const bool drifts = disturbance_.kind == Kind::drift;
        refuse_if(has_ppm_ && !drifts, "ppm= is for drift");
        refuse_if(
            drifts && (role != core::Role::producer || !has_ppm_ || !within(disturbance_.ppm, -10000, 10000)),
            "drift is for a producer, with ppm= from -10000 to 10000");
        refuse_if(disturbance_.kind == Kind::flood && role != core::Role::consumer,
                  "flood is for a consumer");
    }

    void check_factor() const {
        const core::Role role = disturbance_.node.role;
        refuse_if(disturbance_.kind == Kind::slow &&
                      (role == core::Role::producer || !within(disturbance_.factor, 1, 1e6)),
                  "slow is for a consumer or the scheduler, with factor= from 1 to 1000000");
        refuse_if(disturbance_.kind == Kind::degrade &&
                      (role == core::Role::scheduler || !within(disturbance_.factor, 0, 1)),
                  "degrade is for a producer or a consumer, with factor= from 0 to 1");
    }

    std::string_view text_;
    TimeParser parse_time_;
    RateParser parse_rate_;
    Disturbance disturbance_;
    std::string_view kind_of_place_;  ///< link, switch or host
    std::optional<core::Instant> back_;
    bool named_ = false;
    bool has_factor_ = false;
    bool has_share_ = false;
    bool has_to_ = false;
    bool has_ppm_ = false;
};

}  // namespace

Disturbance parse_disturbance(std::string_view text, TimeParser parse_time, RateParser parse_rate) {
    return DisturbanceReader(text, parse_time, parse_rate).read();
}

}  // namespace weir::simulation
