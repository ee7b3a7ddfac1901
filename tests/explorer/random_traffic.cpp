// Addressed events in random scenarios: all-to-all by option, or a file with a matrix, a sequence or a trace.
#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/policies/policy_table.hpp"
#include "explorer/random_draw.hpp"

namespace weir::explorer {

namespace {

class TrafficDraw {
  public:
    TrafficDraw(RandomDraw& draw, const FaultRange& range, std::int64_t set, std::string file)
        : draw_(draw), range_(range), set_(set), file_(std::move(file)) {}

    void matrix() {
        write_matrix(file_ + ".csv");
        draw_.add("pattern", "matrix:{}.csv", file_);
    }
    void trace() {
        std::ofstream out(file_ + ".csv");
        out << "# times of the interval\ntime_us,producer,consumer,bytes\n";
        std::int64_t time = 0;
        for (std::int64_t left = transfers(); left > 0; --left) {
            time += draw_.number(0, (range_.interval_us - 1 - time) / 3);
            out << time << ',' << line() << '\n';
        }
        check(out);
        draw_.add("pattern", "trace:{}.csv", file_);
    }
    /// Transfers that wait for what their worker receives.
    void steps() {
        std::ofstream out(file_ + ".csv");
        out << "time_ns,producer,consumer,bytes,after,compute_ns\n";
        std::vector<std::int64_t> receivers;
        for (std::int64_t left = transfers(); left > 0; --left) {
            const std::int64_t from = draw_.number(0, range_.producers - 1);
            const std::int64_t to = draw_.number(0, range_.consumers - 1);
            std::string after;
            for (std::size_t input = 0; input < receivers.size(); ++input) {
                if (receivers[input] == from && draw_.one_in(2)) {
                    after += fmt::format("{}{}", after.empty() ? "" : " ", input);
                }
            }
            const std::int64_t compute = after.empty() ? 0 : draw_.number(0, range_.interval_us);
            out << fmt::format("{},{},{},{},{},{}\n", receivers.size(), from, to,
                               draw_.number(1, std::max<std::int64_t>(1, set_ / 3)), after, compute);
            receivers.push_back(to);
        }
        check(out);
        draw_.add("pattern", "trace:{}.csv", file_);
    }
    void sequence() {
        std::ofstream out(file_ + ".toml");
        for (const std::string name : {"a", "b"}) {
            const std::int64_t repeat = draw_.number(1, 2);
            write_matrix(fmt::format("{}-{}.csv", file_, name));
            out << fmt::format(
                "[[phase]]\nname = \"{}\"\nmatrix = \"{}-{}.csv\"\nperiod = \"{}us\"\nrepeat = {}\n", name,
                file_.substr(file_.rfind('/') + 1), name,
                std::max<std::int64_t>(1, range_.interval_us / 2 / repeat), repeat);
        }
        check(out);
        draw_.add("pattern", "sequence:{}.toml", file_);
    }

  private:
    [[nodiscard]] std::int64_t transfers() { return draw_.number(1, draw_.one_in(6) ? 40 : 8); }
    /// At most a third of a set in each, so that the links carry some of these scenarios and not all.
    std::string line() {
        return fmt::format("{},{},{}", draw_.number(0, range_.producers - 1),
                           draw_.number(0, range_.consumers - 1),
                           draw_.number(1, std::max<std::int64_t>(1, set_ / 3)));
    }
    void write_matrix(const std::string& name) {
        std::ofstream out(name);
        out << "producer,consumer,bytes\n";
        std::string known = " ";
        for (std::int64_t left = transfers(); left > 0; --left) {
            const std::string entry = line();
            const std::string pair = entry.substr(0, entry.rfind(','));
            if (known.find(" " + pair + " ") == std::string::npos) {
                out << entry << '\n';
                known += pair + " ";
            }
        }
        check(out);
    }
    void check(std::ofstream& out) const {
        if (!out.flush()) {
            throw std::runtime_error(fmt::format("cannot write {}", file_));
        }
    }

    RandomDraw& draw_;
    const FaultRange& range_;
    std::int64_t set_;
    std::string file_;
};

}  // namespace

bool draw_traffic(RandomDraw& draw, const FaultRange& range, std::int64_t set, const std::string& file) {
    const bool possible = draw.value("generation") == "sets" && draw.value("pattern").empty() &&
                          range.duration_us % range.interval_us == 0 && !draw.value("producers").empty() &&
                          !draw.value("consumers").empty() && range.producers * range.consumers <= 600;
    if (!possible || !draw.one_in(2)) {
        if (draw.one_in(8)) {
            draw.add("destination", "any");
        }
        return false;
    }
    draw.remove("set-phase");
    draw.remove("require");
    draw.remove("policy");
    const bool files = !draw.one_in(4);
    if (!files || draw.one_in(3)) {
        draw.add("destination", "addressed");
    }
    if (files) {
        draw.remove("rate");
        TrafficDraw traffic(draw, range, set, file);
        switch (draw.number(0, 3)) {
            case 0:
                traffic.matrix();
                break;
            case 1:
                traffic.trace();
                break;
            case 2:
                draw.value("transport") == "datagram" ? traffic.trace() : traffic.steps();
                break;
            default:
                traffic.sequence();
        }
    }
    const std::string_view policy = draw.name_of(core::matching_table);
    const bool pulls = draw.value("initiation") == "pull";
    const bool none = policy == "none" && !pulls && draw.value("result-size").empty();
    draw.add("policy", "{}", none ? "none" : policy == "none" ? "oldest" : policy);
    if (!none && draw.one_in(3)) {
        // Many events for each stream, or waits are too short to show who comes first.
        draw.remove("event-size");
        draw.add("event-size", "fixed:{}B", std::max<std::int64_t>(64, set / draw.number(30, 200)));
        draw.remove("streams");
        draw.add("streams", "{}", draw.number(1, 3));
    }
    if (none && draw.value("high-water").empty()) {
        draw.remove("slots");
        draw.add("slots", "{}", range.producers + draw.number(0, 3));
    } else if (none) {
        draw.remove("policy");
        draw.add("policy", "longest-queue");
    }
    return true;
}

}  // namespace weir::explorer
