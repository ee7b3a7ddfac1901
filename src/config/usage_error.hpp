// The one way in which bad input is refused: an exception whose text is one line that names the option, what
// was found and what would be right. It ends the program with exit status 2. Nothing else in weir throws it.
#pragma once

#include <stdexcept>
#include <string>

namespace weir::config {

class UsageError : public std::runtime_error {
  public:
    /// Whether other ranks, given the same command line, meet the same error.
    enum class Reach {
        every_rank,  ///< the command line alone shows it
        this_host,   ///< it depends on files, so another host may not see it
    };

    /// What the line repeats of a value comes from outside: control characters are made visible, and what is
    /// longer than anybody reads is cut.
    explicit UsageError(const std::string& line, Reach reach = Reach::every_rank)
        : std::runtime_error(presentable(line)), reach_(reach) {}

    [[nodiscard]] Reach reach() const { return reach_; }

  private:
    static std::string presentable(const std::string& line);

    Reach reach_;
};

}  // namespace weir::config
