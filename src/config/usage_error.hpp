// The one way in which bad input is refused: an exception whose text is one line that names the option, what
// was found and what would be right. It ends the program with exit status 2. Nothing else in weir throws it.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

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
    /// The same of a text with arguments, as fmt::format() takes them.
    template <typename First, typename... Others>
    explicit UsageError(fmt::format_string<First, Others...> text, First&& first, Others&&... others)
        : UsageError(fmt::format(text, std::forward<First>(first), std::forward<Others>(others)...)) {}
    template <typename... Arguments>
    UsageError(Reach reach, fmt::format_string<Arguments...> text, Arguments&&... arguments)
        : UsageError(fmt::format(text, std::forward<Arguments>(arguments)...), reach) {}

    [[nodiscard]] Reach reach() const { return reach_; }

  private:
    static std::string presentable(const std::string& line);

    Reach reach_;
};

/// Does `action`; what it refuses is refused with `place`, the option or the line of a file, before it.
template <typename Action>
auto at_place(std::string_view place, const Action& action) {
    try {
        return action();
    } catch (const UsageError& error) {
        throw UsageError(error.reach(), "{}: {}", place, error.what());
    }
}

}  // namespace weir::config
