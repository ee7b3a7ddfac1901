// The one table of options. Command line, scenario files, `plan` in run.json, help and manual are all made
// from it, so that an option exists everywhere or nowhere, with one name and one syntax.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/run_request.hpp"

namespace weir::config {

enum class OptionGroup : std::uint8_t {
    layout,
    data,
    transfer,
    building,
    busy,
    run,
    output,
    network,
    switches,
    testing,  ///< shown in no help
};
inline constexpr OptionGroup shown_groups[] = {
    OptionGroup::layout, OptionGroup::data,   OptionGroup::transfer, OptionGroup::building, OptionGroup::busy,
    OptionGroup::run,    OptionGroup::output, OptionGroup::network,  OptionGroup::switches};

/// Options of these groups are for `weir simulate` only; a scenario may hold them for both.
constexpr bool is_for_simulations(OptionGroup group) {
    return group == OptionGroup::network || group == OptionGroup::switches;
}

/// How an option's value is read and printed.
struct OptionValue {
    /// Reads a value into the request. Throws UsageError without the option's name.
    void (*set)(RunRequest&, std::string_view) = nullptr;
    /// The value in force, canonical; reading it back gives the same. Empty: not set.
    std::string (*get)(const RunRequest&) = nullptr;
};

/// What an option is when nobody gives it.
struct OptionDefault {
    std::string_view value;  ///< set before all else; empty: derived by resolve(), or none
    std::string_view text;   ///< shown instead of it; empty: that one
};
inline constexpr OptionDefault unset{};
constexpr OptionDefault preset(std::string_view value, std::string_view text = {}) {
    return {value, text};
}
/// By resolve(), from the others.
constexpr OptionDefault derived(std::string_view text) {
    return {{}, text};
}

/// What an option is besides, as bits.
using OptionTraits = std::uint32_t;
inline constexpr OptionTraits repeatable = 1U << 0U;
inline constexpr OptionTraits not_in_scenario = 1U << 1U;  ///< must not stand in a scenario file
inline constexpr OptionTraits not_in_plan = 1U
                                            << 2U;  ///< no part of what a run measures (`plan` in run.json)
inline constexpr OptionTraits command_line_only = not_in_scenario | not_in_plan;
inline constexpr OptionTraits only_measured =
    1U << 3U;  ///< means nothing in a simulation; a scenario may hold it for both
/// Without it a simulation could be larger, or quite another one: tests/explorer does not leave it out where
/// it makes a scenario that fails smaller.
inline constexpr OptionTraits kept_when_shrunk = 1U << 4U;

struct Option {
    std::string_view name;    ///< on the command line after "--", in scenario files as key
    std::string_view syntax;  ///< "RATE", "first|last|N"; empty: a flag
    std::string_view help;    ///< one line
    OptionDefault usual;
    OptionValue value;
    OptionTraits traits = 0;
    std::string_view completions = {};     ///< values that the syntax does not list: "a|b"
    OptionGroup group = OptionGroup::run;  ///< set by option_table(), from the file in which the row stands

    void set(RunRequest& request, std::string_view text) const { value.set(request, text); }
    [[nodiscard]] std::string get(const RunRequest& request) const { return value.get(request); }
    [[nodiscard]] constexpr bool is(OptionTraits trait) const { return (traits & trait) != 0; }
    /// The default as help shows it; empty: none.
    [[nodiscard]] constexpr std::string_view shown_default() const {
        const std::string_view shown = usual.text.empty() ? usual.value : usual.text;
        return shown == "none" ? std::string_view{} : shown;
    }
};

// An option stands in the file of its group in the help: `weir run --help GROUP` is GROUP_options.cpp.
extern const std::span<const Option> layout_options;
extern const std::span<const Option> data_options;
extern const std::span<const Option> transfer_options;
extern const std::span<const Option> building_options;
extern const std::span<const Option> busy_options;
extern const std::span<const Option> run_options;
extern const std::span<const Option> output_options;
extern const std::span<const Option> network_options;
extern const std::span<const Option> switch_options;

struct OptionGroupRow {
    std::string_view name;   ///< what `--help GROUP` takes
    std::string_view title;  ///< "which rank has which role"
    const std::span<const Option>* options;
    /// How distributions and faults are written, which options go together: paragraphs, lines as they are to
    /// be shown; examples are indented by two spaces. Begins with an empty line; empty: none.
    std::string_view note;
};
const OptionGroupRow& row_of(OptionGroup group);

/// By group, in the order of OptionGroup.
std::span<const Option> option_table();
/// nullptr: there is none of that name.
const Option* find_option(std::string_view name);
/// The option's name most like `text`, with dashes; empty: none is.
std::string near_option(std::string_view text);

/// Option name and value in force of everything that belongs to the plan, in table order; unset ones and, in
/// a measured run, those of the simulated network are left out. These go to run.json as `plan`. `scale` is
/// among them and already applied to the others.
std::vector<GivenOption> plan_values(const RunRequest& request);

}  // namespace weir::config
