// How near a twin comes to its run: figure by figure, each with its deviation and a fixed tolerance, the same
// for every run. A twin is near if every figure is within its tolerance.
#pragma once

#include <string>
#include <vector>

#include "twin/assumptions.hpp"
#include "twin/shown_run.hpp"

namespace weir::twin {

struct Figure {
    std::string name;
    std::string unit;  ///< "b/s", "s", "%" or "B"
    double run = 0;
    double twin = 0;
    double deviation = 0;  ///< of the twin, in `unit`; as a share of the run's value if `relative`
    double tolerance = 0;  ///< as `deviation`
    bool relative = false;

    [[nodiscard]] bool near() const { return deviation >= -tolerance && deviation <= tolerance; }
    /// How many times the tolerance.
    [[nodiscard]] double excess() const;
    [[nodiscard]] bool is_of_links() const;  ///< what links need, against their interfaces
};

/// A misfit below this says nothing.
inline constexpr double like_equal_runs = 0.004;

struct TwinComparison {
    std::vector<Figure> figures;
    [[nodiscard]] bool near() const;
    /// How far off it is in all figures at once: the squares of their excesses, of interfaces left out.
    [[nodiscard]] double misfit() const;
    /// Links are assumed to be slower than their interfaces.
    [[nodiscard]] bool has_slow_links() const;
    /// What differs most for its tolerance.
    [[nodiscard]] const Figure& worst() const;
};

/// The figure that shows whether others used the processors.
inline constexpr const char* stalls_name = "half of the ranks stood still";

/// The figures that show whether links that are assumed can be, by role.
inline constexpr const char* producer_links_name = "links of producers";
inline constexpr const char* consumer_links_name = "links of consumers";

TwinComparison compare(const ShownRun& run, const ShownRun& twin);

/// Adds a role whose links are assumed to hold data up although most of them carry far less than their
/// interfaces have: then something else did. One that is slower than the others can be a bad port.
/// `figure.run`: the speed of the middle interface.
void add_slow_links(TwinComparison& comparison, const ShownRun& run, const Assumptions& assumptions);

}  // namespace weir::twin
