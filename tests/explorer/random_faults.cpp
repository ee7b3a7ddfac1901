// The faults of random scenarios.
#include <algorithm>
#include <string>

#include "explorer/random_draw.hpp"

namespace weir::explorer {

namespace {

class FaultDraw {
  public:
    FaultDraw(RandomDraw& draw, const FaultRange& range) : draw_(draw), range_(range) {}

    void add_one() {
        const std::string consumer = fmt::format("consumer={}", draw_.number(0, range_.consumers - 1));
        const std::string producer = fmt::format("producer={}", draw_.number(0, range_.producers - 1));
        const std::string either = draw_.one_in(2) ? consumer : producer;
        const std::string anybody = draw_.one_in(3) ? "scheduler" : either;
        switch (draw_.number(0, 12)) {
            case 0:
            case 1:
            case 2:
                draw_.add("fault", "pause:{}{},for={}", anybody, at(), length(2));
                return;
            case 3:
            case 4:
                draw_.add("fault", "slow:{}{}{},factor={}", consumer, at(), for_some_time(),
                          draw_.number(2, 20));
                return;
            case 5:
            case 6:
                draw_.add("fault", "slow:scheduler{},for={},factor={}", at(), length(2),
                          draw_.number(2, slowest_scheduler()));
                return;
            case 7:
            case 8:
            case 9:
                draw_.add("fault", "degrade:{}{},for={},factor={}", either, at(), length(3),
                          draw_.one_in(4) ? "0" : fmt::format("0.{}", draw_.number(1, 9)));
                return;
            case 10:
            case 11:
                draw_.add("fault", "delay:extra={}us{},for={}", draw_.number(1, range_.interval_us), at(),
                          length(2));
                return;
            default:
                draw_.add("fault", "die:{}{}", either, at());
        }
    }

    /// A consumer may be lost, and may come back.
    void add_absence() {
        const std::string consumer = fmt::format("consumer={}", draw_.number(0, range_.consumers - 1));
        const std::int64_t begin_us = draw_.number(0, range_.duration_us);
        const std::string from = fmt::format("{},at={}us", consumer, begin_us);
        const std::int64_t longest_us = range_.duration_us + 2 * range_.interval_us;
        switch (draw_.number(0, 5)) {
            case 0:
                draw_.add("fault", "die:{}", from);
                return;
            case 1:
                draw_.add("fault", "cut:{},for={}us", from, draw_.number(1, longest_us));
                return;
            case 2:
                draw_.add("fault", "pause:{},for={}us", from, draw_.number(1, longest_us));
                return;
            case 3:
                if (draw_.one_in(3)) {
                    draw_.add("fault", "cut:{}", from);
                    return;
                }
                [[fallthrough]];
            default:
                draw_.add("fault", "die:{},back={}us", from,
                          begin_us + draw_.number(1, draw_.one_in(3) ? 1000 : longest_us));
        }
    }

    /// Of the cables around the only switch.
    void add_failure(bool flow_control) {
        const std::string host = draw_.one_in(2)
                                     ? fmt::format("consumer-{}", draw_.number(0, range_.consumers - 1))
                                     : fmt::format("producer-{}", draw_.number(0, range_.producers - 1));
        switch (draw_.number(0, flow_control ? 3 : 2)) {
            case 0:
                draw_.add("fault", "cut:link={}:switch-0{},for={},disconnects", host, at(), length(1));
                return;
            case 1:
                draw_.add("fault", "errors:link=switch-0:{}{},share={}", host, at(),
                          draw_.one_of({"0.1", "0.01", "0.0001"}));
                return;
            case 2:
                draw_.add("fault", "degrade:link={}:leaf-0{},for={},factor=0.{}", host, at(), length(3),
                          draw_.number(1, 9));
                return;
            default:
                draw_.add("fault", "storm:host={}{},for={}", host, at(), length(2));
        }
    }

  private:
    /// From the beginning, or from an instant on; of these some are whole milliseconds, at which other things
    /// happen as well.
    std::string at() {
        if (draw_.one_in(10)) {
            return "";
        }
        return draw_.one_in(4) ? fmt::format(",at={}ms", draw_.number(0, range_.duration_us / 1000))
                               : fmt::format(",at={}us", draw_.number(0, range_.duration_us));
    }
    std::string length(std::int64_t intervals) {
        return draw_.one_in(4) ? fmt::format("{}ns", draw_.number(1, 1000 * range_.interval_us))
                               : fmt::format("{}us", draw_.number(1, intervals * range_.interval_us));
    }
    std::string for_some_time() { return draw_.one_in(2) ? "" : ",for=" + length(3); }

    /// A message takes no more than milliseconds then, or the run's end is out of sight.
    std::int64_t slowest_scheduler() {
        constexpr std::int64_t most_ns = 5000000;
        constexpr std::int64_t most_factor = 1000000;
        const std::int64_t most =
            std::min(most_factor, most_ns / std::max<std::int64_t>(1, range_.scheduler_time_ns));
        return draw_.one_in(2) ? std::min<std::int64_t>(100, most) : most;
    }

    RandomDraw& draw_;
    const FaultRange& range_;
};

}  // namespace

void draw_on_failure(RandomDraw& draw, const FaultRange& range) {
    if (!draw.one_in(3)) {
        return;
    }
    if (draw.one_in(8)) {
        draw.add("on-failure", "end");
        return;
    }
    if (draw.value("pattern") == "build" || draw.value("initiation") == "pull" ||
        draw.value("policy") == "none" || draw.value("transport") == "datagram") {
        return;
    }
    for (const char* option :
         {"shaping", "result-size", "network", "pfc", "ecn", "switch", "switch-set", "port-buffer",
          "loss-recovery", "control-priority", "control-network", "switch-rows", "silence-timeout"}) {
        draw.remove(option);
    }
    draw.add("on-failure", "continue");
    // Long before the end, about at the end, and as long as in a measured run.
    if (!draw.one_in(4)) {
        const std::int64_t most_us = (draw.one_in(2) ? 4 : 1) * range.interval_us;
        draw.add("silence-timeout", "{}us", 1000 + draw.number(0, most_us));
    }
    FaultDraw faults(draw, range);
    for (std::int64_t left = draw.number(1, 5); left > 0; --left) {
        faults.add_absence();
    }
}

void draw_faults(RandomDraw& draw, const FaultRange& range) {
    if (draw.one_in(2)) {
        return;
    }
    FaultDraw faults(draw, range);
    for (std::int64_t left = draw.number(1, 3); left > 0; --left) {
        faults.add_one();
    }
}

void draw_network_faults(RandomDraw& draw, const FaultRange& range) {
    const bool from_file = draw.value("switch").find('/') != std::string::npos;
    if (draw.value("network") != "packet" || from_file || !draw.one_in(3)) {
        return;
    }
    FaultDraw faults(draw, range);
    for (std::int64_t left = draw.number(1, 2); left > 0; --left) {
        faults.add_failure(draw.value("pfc") == "on");
    }
}

}  // namespace weir::explorer
