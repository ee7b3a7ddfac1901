#include "simulation/fault.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>
#include <stdexcept>
#include <string>

namespace weir::simulation {

namespace {

constexpr core::Instant from_the_beginning{std::numeric_limits<std::int64_t>::min()};

struct KindName {
    const char* name;
    InjectedFault::Kind kind;
};
constexpr std::array kinds{
    KindName{"pause", InjectedFault::Kind::pause}, KindName{"die", InjectedFault::Kind::die},
    KindName{"slow", InjectedFault::Kind::slow}, KindName{"degrade", InjectedFault::Kind::degrade},
    KindName{"delay", InjectedFault::Kind::delay}};

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
    throw std::invalid_argument(
        fmt::format("'{}': {}; write for example pause:consumer=3,at=10s,for=2s", text, why));
}

/// False also for what is no number.
bool within(double value, double least, double most) {
    return value >= least && value <= most;
}

template <typename Number>
Number number_of(std::string_view text, std::string_view value) {
    Number number{};
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc{} || end != value.data() + value.size()) {
        refuse(text, fmt::format("'{}' is no number", value));
    }
    return number;
}

class Reader {
  public:
    Reader(std::string_view text, TimeParser parse_time) : text_(text), parse_time_(parse_time) {}

    InjectedFault read() {
        const std::size_t colon = text_.find(':');
        const std::string_view name = text_.substr(0, colon);
        bool known = false;
        for (const KindName& kind : kinds) {
            if (name == kind.name) {
                fault_.kind = kind.kind;
                known = true;
            }
        }
        if (!known) {
            refuse(text_, fmt::format("there is no fault '{}'; there are pause, die, slow, degrade and delay",
                                      name));
        }
        fault_.at = from_the_beginning;
        std::string_view rest =
            colon == std::string_view::npos ? std::string_view{} : text_.substr(colon + 1);
        while (!rest.empty()) {
            const std::string_view part = rest.substr(0, rest.find(','));
            rest.remove_prefix(std::min(rest.size(), part.size() + 1));
            const std::size_t equals = std::min(part.find('='), part.size());
            take(part.substr(0, equals), part.substr(std::min(part.size(), equals + 1)),
                 equals < part.size());
        }
        check();
        return fault_;
    }

  private:
    void take(std::string_view key, std::string_view value, bool has_value) {
        if ((key == "producer" || key == "consumer" || key == "scheduler") && named_) {
            refuse(text_, "it names two nodes; write one fault for each");
        }
        if (key == "producer" || key == "consumer") {
            fault_.node = {key == "producer" ? core::Role::producer : core::Role::consumer,
                           number_of<std::uint32_t>(text_, value)};
            named_ = true;
        } else if (key == "scheduler" && value.empty() && !has_value) {
            fault_.node = core::scheduler_node();
            named_ = true;
        } else if (key == "at") {
            fault_.at = core::Instant{} + parse_time_(value);
        } else if (key == "for") {
            fault_.length = parse_time_(value);
        } else if (key == "factor") {
            fault_.factor = number_of<double>(text_, value);
            has_factor_ = true;
        } else if (key == "extra") {
            fault_.extra = parse_time_(value);
        } else {
            refuse(text_,
                   fmt::format("'{}' is not known here; there are producer=N, consumer=N, scheduler, at=, "
                               "for=, factor= and extra=",
                               key));
        }
    }

    void check() const {
        using Kind = InjectedFault::Kind;
        const bool scheduler = fault_.node.role == core::Role::scheduler;
        const bool takes_factor = fault_.kind == Kind::slow || fault_.kind == Kind::degrade;
        if (takes_factor != has_factor_) {
            refuse(text_, takes_factor ? "factor= is missing" : "factor= is for slow and degrade");
        }
        if (fault_.kind != Kind::delay && fault_.extra != core::Duration{}) {
            refuse(text_, "extra= is for delay");
        }
        if (fault_.length <= core::Duration{}) {
            refuse(text_, "for= must be more than 0");
        }
        if (fault_.kind == Kind::die && fault_.length != core::Duration::max()) {
            refuse(text_, "what dies does not come back; write pause with for=TIME");
        }
        if (fault_.kind == Kind::delay) {
            if (fault_.extra <= core::Duration{} || fault_.extra > core::Duration::seconds(60)) {
                refuse(text_, "a delay needs extra=TIME, at most 60s");
            }
            return;
        }
        if (!named_) {
            refuse(text_, "it does not say who: producer=N, consumer=N or scheduler");
        }
        if (fault_.kind == Kind::slow &&
            (fault_.node.role == core::Role::producer || !within(fault_.factor, 1, 1e6))) {
            refuse(text_, "slow is for a consumer or the scheduler, with factor= from 1 to 1000000");
        }
        if (fault_.kind == Kind::degrade && (scheduler || !within(fault_.factor, 0, 1))) {
            refuse(text_, "degrade is for a producer or a consumer, with factor= from 0 to 1");
        }
        if (fault_.kind == Kind::pause && fault_.length == core::Duration::max()) {
            refuse(text_, "a pause needs for=TIME; what never comes back is die");
        }
    }

    std::string_view text_;
    TimeParser parse_time_;
    InjectedFault fault_;
    bool named_ = false;
    bool has_factor_ = false;
};

}  // namespace

InjectedFault parse_injected_fault(std::string_view text, TimeParser parse_time) {
    return Reader(text, parse_time).read();
}

std::string injected_fault_text(const InjectedFault& fault) {
    std::string text;
    for (const KindName& kind : kinds) {
        if (kind.kind == fault.kind) {
            text = kind.name;
        }
    }
    text += ':';
    std::string separator;
    const auto add = [&](const std::string& part) {
        text += separator + part;
        separator = ",";
    };
    if (fault.kind != InjectedFault::Kind::delay) {
        add(fault.node.role == core::Role::scheduler
                ? "scheduler"
                : fmt::format("{}={}", core::role_name(fault.node.role), fault.node.index));
    }
    if (fault.at != from_the_beginning) {
        add(fmt::format("at={}ns", fault.at.ns));
    }
    if (fault.length != core::Duration::max()) {
        add(fmt::format("for={}ns", fault.length.ns));
    }
    if (fault.kind == InjectedFault::Kind::slow || fault.kind == InjectedFault::Kind::degrade) {
        add(fmt::format("factor={}", fault.factor));
    }
    if (fault.kind == InjectedFault::Kind::delay) {
        add(fmt::format("extra={}ns", fault.extra.ns));
    }
    return text;
}

}  // namespace weir::simulation
