// How far a long simulation is, on stderr: one line that is written over on a terminal, or a line now and
// then where there is none.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace weir::cli {

class ProgressLine {
  public:
    /// Not `wanted`: nothing is shown. `command`: how lines begin.
    explicit ProgressLine(bool wanted, const char* command = "weir simulate");

    [[nodiscard]] bool on_terminal() const { return terminal_; }
    /// Seconds since the beginning, if it is time for a line.
    std::optional<double> due();
    void show(const std::string& text);
    void clear();

  private:
    using Clock = std::chrono::steady_clock;

    bool wanted_;
    const char* command_;
    bool terminal_;
    Clock::time_point start_ = Clock::now();
    Clock::time_point shown_ = start_;
    bool written_ = false;  ///< there is a line to be written over
};

}  // namespace weir::cli
