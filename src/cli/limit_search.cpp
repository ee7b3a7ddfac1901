#include "cli/limit_search.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace weir::cli {

namespace {

enum class Trial : std::uint8_t { holds, fails, refused };

class Bisection {
  public:
    Bisection(const SearchSpace& space, const std::function<FindPoint(double)>& measure)
        : space_(space), measure_(measure) {}

    FindResult carry_out() {
        const double start =
            std::clamp(space_.whole ? std::round(space_.start) : space_.start, space_.least, space_.most);
        if (outcome(start) == Trial::holds) {
            good_ = start;
            go_harder();
        } else {
            bad_ = start;
            go_easier();
        }
        if (good_ && bad_) {
            narrow(*good_, *bad_);
        }
        return result();
    }

  private:
    Trial outcome(double value) {
        auto found = seen_.find(value);
        if (found == seen_.end()) {
            found = seen_.emplace(value, measure_(value)).first;
        }
        return !found->second.refused.empty() ? Trial::refused
               : found->second.holds()        ? Trial::holds
                                              : Trial::fails;
    }

    /// Twice or half of it, within bounds: the value itself at the bound.
    [[nodiscard]] double next(double value, bool upwards) const {
        const double far = upwards ? value * 2 : space_.whole ? std::floor(value / 2) : value / 2;
        return std::clamp(far, space_.least, space_.most);
    }

    /// From a value that holds, until one does not.
    void go_harder() {
        for (int step = 0; step < most_steps; ++step) {
            const double here = next(*good_, true);
            if (here == *good_) {
                return;
            }
            if (outcome(here) != Trial::holds) {
                bad_ = here;
                return;
            }
            good_ = here;
        }
    }

    /// From a value that does not hold, until one does. Where one is refused before, the most that is
    /// possible is looked for between the two.
    void go_easier() {
        std::optional<double> refused;
        for (int step = 0; step < most_steps && !good_; ++step) {
            const double here = refused ? middle(*bad_, *refused) : next(*bad_, false);
            if (here == *bad_ || (refused && close(*bad_, *refused))) {
                return;
            }
            switch (outcome(here)) {
                case Trial::holds:
                    good_ = here;
                    break;
                case Trial::fails:
                    bad_ = here;
                    break;
                case Trial::refused:
                    refused = here;
                    break;
            }
        }
    }

    void narrow(double good, double bad) {
        while (!close(good, bad)) {
            const double here = middle(good, bad);
            (outcome(here) == Trial::holds ? good : bad) = here;
        }
        good_ = good;
        bad_ = bad;
    }

    [[nodiscard]] double middle(double a, double b) const {
        return space_.whole ? std::floor((a + b) / 2) : std::sqrt(a * b);
    }
    [[nodiscard]] bool close(double a, double b) const {
        return space_.whole ? std::abs(a - b) <= 1 : std::abs(a - b) <= space_.precision * std::min(a, b);
    }

    FindResult result() {
        FindResult result;
        for (auto& [value, point] : seen_) {
            if (good_ && value == *good_) {
                result.best = result.curve.size();
            } else if (good_ && bad_ && value == *bad_) {
                result.beyond = result.curve.size();
            }
            result.curve.push_back(std::move(point));
        }
        return result;
    }

    static constexpr int most_steps = 20;

    const SearchSpace& space_;
    const std::function<FindPoint(double)>& measure_;
    std::map<double, FindPoint> seen_;
    std::optional<double> good_;
    std::optional<double> bad_;
};

}  // namespace

FindResult find_limit(const SearchSpace& space, const std::function<FindPoint(double)>& measure) {
    return Bisection(space, measure).carry_out();
}

}  // namespace weir::cli
