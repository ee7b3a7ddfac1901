// Whether this process stood still: it was stopped, its host slept, or a virtual machine's host gave it no
// processor. Time in which it could not look is no time in which others were silent.
#pragma once

#include <cstdint>

namespace weir::host {

class Standstill {
  public:
    /// A loop that looks several times a second, and finds that so much time has passed, did not run.
    static constexpr std::int64_t shortest_ns = 1'000'000'000;

    explicit Standstill(std::int64_t now_ns) : looked_ns_(now_ns) {}

    /// Nanoseconds since the last look if the process stood still meanwhile, else 0.
    std::int64_t look(std::int64_t now_ns) {
        const std::int64_t passed_ns = now_ns - looked_ns_;
        looked_ns_ = now_ns;
        return passed_ns > shortest_ns ? passed_ns : 0;
    }

  private:
    std::int64_t looked_ns_;
};

}  // namespace weir::host
