#include "simulation/disturbance.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

namespace weir::simulation {

namespace {

constexpr core::Instant from_the_beginning{std::numeric_limits<std::int64_t>::min()};

using Kind = Disturbance::Kind;

struct DisturbanceName {
    const char* name;
    Kind kind;
};
constexpr std::array kinds{DisturbanceName{"pause", Kind::pause}, DisturbanceName{"die", Kind::die},
                           DisturbanceName{"slow", Kind::slow},   DisturbanceName{"degrade", Kind::degrade},
                           DisturbanceName{"delay", Kind::delay}, DisturbanceName{"drift", Kind::drift},
                           DisturbanceName{"flood", Kind::flood}, DisturbanceName{"cut", Kind::cut}};

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
    Number number{};
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc{} || end != value.data() + value.size()) {
        refuse(text, fmt::format("'{}' is not a number", value));
    }
    return number;
}

class DisturbanceReader {
  public:
    DisturbanceReader(std::string_view text, TimeParser parse_time) : text_(text), parse_time_(parse_time) {}

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
                                  "delay, drift and flood",
                                  name));
    }

    void read_part(std::string_view key, std::string_view value, bool has_value) {
        if ((key == "producer" || key == "consumer" || key == "scheduler") && named_) {
            refuse(text_, "it names two nodes; write one disturbance for each");
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
        } else if (key == "factor") {
            disturbance_.factor = number_of<double>(text_, value);
            has_factor_ = true;
        } else if (key == "extra") {
            disturbance_.extra = parse_time_(value);
        } else if (key == "ppm") {
            disturbance_.ppm = number_of<double>(text_, value);
            has_ppm_ = true;
        } else {
            refuse(text_,
                   fmt::format("'{}' is not known here; there are producer=N, consumer=N, scheduler, at=, "
                               "for=, back=, factor=, extra= and ppm=",
                               key));
        }
    }

    void check() const {
        const bool takes_factor = disturbance_.kind == Kind::slow || disturbance_.kind == Kind::degrade;
        if (takes_factor != has_factor_) {
            refuse(text_, takes_factor ? "factor= is missing" : "factor= is for slow and degrade");
        }
        if (disturbance_.length <= core::Duration{}) {
            refuse(text_, "for= must be more than 0");
        }
        const bool takes_extra = disturbance_.kind == Kind::delay;
        if (!takes_extra && disturbance_.extra != core::Duration{}) {
            refuse(text_, "extra= is for delay");
        }
        if (takes_extra &&
            (disturbance_.extra <= core::Duration{} || disturbance_.extra > core::Duration::seconds(60))) {
            refuse(text_, "a delay needs extra=TIME, at most 60s");
        }
        const bool has_end = disturbance_.length != core::Duration::max();
        if (disturbance_.kind == Kind::die && has_end) {
            refuse(text_, "die has no end; write pause with for=TIME");
        }
        if (!takes_extra && !named_) {
            refuse(text_, "it names no node: producer=N, consumer=N or scheduler");
        }
        if (disturbance_.kind == Kind::pause && !has_end) {
            refuse(text_, "a pause needs for=TIME; one without an end is die");
        }
        check_factor();
        check_drift_and_flood();
    }

    /// `back` is for a consumer that dies or is cut off: the disturbance lasts until then.
    void check_return() {
        if (disturbance_.kind == Kind::cut && disturbance_.node.role != core::Role::consumer) {
            refuse(text_, "cut is for a consumer");
        }
        if (!back_) {
            return;
        }
        if (disturbance_.kind != Kind::die || disturbance_.node.role != core::Role::consumer) {
            refuse(text_, "back= is for a consumer that dies");
        }
        if (disturbance_.at == from_the_beginning || *back_ <= disturbance_.at) {
            refuse(text_, "back= needs at=, and must be later");
        }
        disturbance_.length = *back_ - disturbance_.at;
    }

    void check_drift_and_flood() const {
        const core::Role role = disturbance_.node.role;
        const bool drifts = disturbance_.kind == Kind::drift;
        if (has_ppm_ && !drifts) {
            refuse(text_, "ppm= is for drift");
        }
        if (drifts &&
            (role != core::Role::producer || !has_ppm_ || !within(disturbance_.ppm, -10000, 10000))) {
            refuse(text_, "drift is for a producer, with ppm= from -10000 to 10000");
        }
        if (disturbance_.kind == Kind::flood && role != core::Role::consumer) {
            refuse(text_, "flood is for a consumer");
        }
    }

    void check_factor() const {
        const core::Role role = disturbance_.node.role;
        if (disturbance_.kind == Kind::slow &&
            (role == core::Role::producer || !within(disturbance_.factor, 1, 1e6))) {
            refuse(text_, "slow is for a consumer or the scheduler, with factor= from 1 to 1000000");
        }
        if (disturbance_.kind == Kind::degrade &&
            (role == core::Role::scheduler || !within(disturbance_.factor, 0, 1))) {
            refuse(text_, "degrade is for a producer or a consumer, with factor= from 0 to 1");
        }
    }

    std::string_view text_;
    TimeParser parse_time_;
    Disturbance disturbance_;
    std::optional<core::Instant> back_;
    bool named_ = false;
    bool has_factor_ = false;
    bool has_ppm_ = false;
};

}  // namespace

Disturbance parse_disturbance(std::string_view text, TimeParser parse_time) {
    return DisturbanceReader(text, parse_time).read();
}

}  // namespace weir::simulation
