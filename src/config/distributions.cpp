#include "config/distributions.hpp"

#include <cmath>
#include <iterator>
#include <set>

#include "config/input_file.hpp"
#include "config/limits.hpp"
#include "config/words.hpp"
#include "core/distribution.hpp"

namespace weir::config {

namespace {

using core::Distribution;
using core::DistributionKind;

// Event sizes and busy times share everything but their unit, the kinds that make sense and the words of
// messages.
struct Flavour {
    std::int64_t (*parse)(std::string_view);
    std::string (*print)(std::int64_t);
    std::string_view what;
    std::string_view kinds;
    std::string_view example;
    bool is_size = true;      ///< a fixed one is what people write without a kind
    bool may_be_zero = true;  ///< a value of a trace
};

const Flavour sizes{[](std::string_view text) { return parse_bytes(text).count; },
                    [](std::int64_t value) { return to_text(core::Bytes{value}); },
                    "event sizes",
                    "fixed normal lognormal trace",
                    "16MiB",
                    true,
                    false};
const Flavour result_sizes{sizes.parse, sizes.print, "result sizes",
                           "none fixed normal lognormal mixture trace", "28B"};
const Flavour times{[](std::string_view text) { return parse_duration(text).ns; },
                    [](std::int64_t value) { return to_text(core::Duration{value}); },
                    "busy times",
                    "none fixed poisson exponential lognormal pareto trace",
                    "1.2s",
                    false};

struct KindRow {
    std::string_view name;
    DistributionKind kind;
    std::string_view parameters{};
};
constexpr KindRow kind_rows[] = {
    {"none", DistributionKind::none},
    {"fixed", DistributionKind::fixed},
    {"poisson", DistributionKind::poisson, "quantum max"},
    {"exponential", DistributionKind::exponential, "max"},
    {"normal", DistributionKind::normal, "deviation max"},
    {"lognormal", DistributionKind::lognormal, "deviation max"},
    {"pareto", DistributionKind::pareto, "shape max"},
    {"mixture", DistributionKind::mixture, "large every"},
    {"trace", DistributionKind::trace},
};

/// In the order in which they are printed.
struct Parameter {
    std::string_view name;
    double Distribution::* member;
    bool is_number = false;  ///< without a unit
};
constexpr Parameter parameter_rows[] = {
    {"quantum", &Distribution::quantum},   {"deviation", &Distribution::deviation},
    {"shape", &Distribution::shape, true}, {"large", &Distribution::large},
    {"every", &Distribution::every, true}, {"max", &Distribution::maximum},
};

const KindRow& row_of(DistributionKind kind) {
    return *std::find_if(std::begin(kind_rows), std::end(kind_rows),
                         [&](const KindRow& row) { return row.kind == kind; });
}

/// Whether the word is one of some with blanks between them.
bool is_one_of(std::string_view word, std::string_view words) {
    return fmt::format(" {} ", words).find(fmt::format(" {} ", word)) != std::string::npos;
}

/// The kind of that name, if the flavour has it.
DistributionKind parse_kind(std::string_view name, const Flavour& flavour) {
    for (const KindRow& row : kind_rows) {
        if (row.name == name && is_one_of(name, flavour.kinds)) {
            return row.kind;
        }
    }
    throw UsageError("'{}' is not a distribution of {}; there are: {}; or write for example {}", name,
                     flavour.what, flavour.kinds, flavour.example);
}

/// One value of a trace. A line that is no text at all, or an endless one, is not repeated in the message.
std::int64_t trace_value(std::string_view text, const Flavour& flavour) {
    constexpr std::size_t most_characters = 100;
    const bool plain = std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c != '\x7f'; });
    if (!plain || text.size() > most_characters) {
        throw UsageError("this line is none of the {}; write one per line, such as {}", flavour.what,
                         flavour.example);
    }
    const std::int64_t value = flavour.parse(text);
    if (value == 0 && !flavour.may_be_zero) {
        throw UsageError("'{}' is not above zero; write for example {}", text, flavour.example);
    }
    return value;
}

std::vector<std::int64_t> read_trace(const std::string& file, const Flavour& flavour) {
    constexpr auto here = UsageError::Reach::this_host;
    const std::string what = fmt::format("the name of a file with one of the {} per line, such as {}",
                                         flavour.what, flavour.example);
    std::string content;
    try {
        content = read_input_file(file, trace_bytes_limit, what);
    } catch (const UsageError& error) {
        throw UsageError(error.reach(), "trace file {}", error.what());
    }
    std::vector<std::int64_t> values;
    std::string_view rest = content;
    for (int number = 1; !rest.empty(); ++number) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        const std::string_view text = trimmed(line.substr(0, line.find('#')));
        if (text.empty()) {
            continue;
        }
        try {
            values.push_back(trace_value(text, flavour));
        } catch (const UsageError& error) {
            throw UsageError(here, "{}:{}: {}", file, number, error.what());
        }
        if (values.size() > trace_limit) {
            throw UsageError(here, "trace file '{}' has more than {} entries; write fewer", file,
                             trace_limit);
        }
    }
    if (values.empty()) {
        throw UsageError(here, "trace file '{}' has no entry; write one of the {} per line, such as {}", file,
                         flavour.what, flavour.example);
    }
    return values;
}

double above_zero(std::string_view text, const Flavour& flavour) {
    const std::int64_t value = flavour.parse(text);
    if (value == 0) {
        throw UsageError("'{}' is not above zero; write for example {}", text, flavour.example);
    }
    return static_cast<double>(value);
}

/// The same of a parameter NAME=VALUE. Without a deviation there is no distribution that takes one.
double parameter_above_zero(std::string_view name, std::string_view text, std::string_view kind,
                            const Flavour& flavour) {
    const std::int64_t value = flavour.parse(text);
    if (value == 0) {
        throw UsageError(
            "{}={} is not above zero; {}", name, text,
            name == "deviation"
                ? fmt::format("for values that are all alike write the mean alone, without {}: and deviation",
                              kind)
                : std::string("write a larger one"));
    }
    return static_cast<double>(value);
}

/// A comma is between parameters, and those begin with a letter: one between digits is meant to be a point.
void check_commas(std::string_view text) {
    for (std::size_t comma = text.find(','); comma != std::string_view::npos;
         comma = text.find(',', comma + 1)) {
        if (comma > 0 && comma + 1 < text.size() && is_digit(text[comma - 1]) && is_digit(text[comma + 1])) {
            std::string meant(text);
            meant[comma] = '.';
            throw UsageError("'{}' has a comma in a number; the decimal separator is a point: {}", text,
                             meant);
        }
    }
}

void set_parameter(Distribution& distribution, std::string_view assignment, const Flavour& flavour) {
    const KindRow& row = row_of(distribution.kind);
    const std::size_t equals = assignment.find('=');
    const std::string_view name = assignment.substr(0, equals);
    if (row.parameters.empty()) {
        throw UsageError("'{}' takes no parameter like '{}'", row.name, assignment);
    }
    if (equals == std::string_view::npos || !is_one_of(name, row.parameters)) {
        throw UsageError("'{}' takes no parameter like '{}'; it takes NAME=VALUE with: {}", row.name,
                         assignment, row.parameters);
    }
    const std::string_view value = assignment.substr(equals + 1);
    for (const Parameter& parameter : parameter_rows) {
        if (parameter.name == name) {
            distribution.*parameter.member = parameter.is_number
                                                 ? parse_positive_number(value, "2.5")
                                                 : parameter_above_zero(name, value, row.name, flavour);
        }
    }
    if (name == "shape" && distribution.shape <= 1) {
        throw UsageError("shape={} has no mean; write a shape above 1, such as shape=2.5", value);
    }
    if (name == "every" && distribution.every < 1) {
        throw UsageError("every={} is less than every value; write 1 or more, such as every=200", value);
    }
}

void check(Distribution& distribution) {
    if (distribution.kind == DistributionKind::poisson) {
        if (distribution.quantum == 0) {
            // Fine enough to look like a distribution, and never coarser than what the 2021 runs were read
            // with.
            constexpr double usual_quantum_ns = 50e6;
            distribution.quantum =
                std::max(1.0, std::min(usual_quantum_ns, std::floor(distribution.mean / 4)));
        }
        if (distribution.mean / distribution.quantum > core::maximum_poisson_mean) {
            throw UsageError("the quantum is too small for this mean; make it at least a billionth of it");
        }
    }
    if (is_drawn(distribution) && distribution.deviation == 0) {
        throw UsageError("'{0}' needs a deviation; write {0}:MEAN,deviation=...",
                         row_of(distribution.kind).name);
    }
    if (distribution.kind == DistributionKind::pareto && distribution.shape == 0) {
        throw UsageError("'pareto' needs a shape; write pareto:MEAN,shape=2.5");
    }
    if (distribution.kind == DistributionKind::mixture &&
        (distribution.large == 0 || distribution.every == 0)) {
        throw UsageError("'mixture' needs both values; write mixture:28B,large=64KiB,every=200");
    }
    if (distribution.maximum != 0 && distribution.maximum < distribution.mean) {
        throw UsageError("max is below the mean; make it larger");
    }
}

NamedDistribution parse(std::string_view text, const Flavour& flavour) {
    NamedDistribution named;
    Distribution& distribution = named.distribution;
    const bool bare_quantity =
        !text.empty() && (text.front() == '.' || text.front() == '-' || is_digit(text.front()));
    if (bare_quantity) {
        distribution.kind = DistributionKind::fixed;
        distribution.mean = above_zero(text, flavour);
        return named;
    }
    if (text.empty()) {
        throw UsageError("nothing is given; write for example {}", flavour.example);
    }
    const std::size_t colon = text.find(':');
    distribution.kind = parse_kind(text.substr(0, colon), flavour);
    if (distribution.kind == DistributionKind::none) {
        if (colon != std::string_view::npos) {
            throw UsageError("'none' takes no value");
        }
        return named;
    }
    std::string_view rest = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
    if (rest.empty()) {
        throw UsageError(distribution.kind == DistributionKind::trace
                             ? std::string("'trace' needs a file; write trace:FILE")
                             : fmt::format("'{0}' needs a mean; write for example {0}:{1}",
                                           row_of(distribution.kind).name, flavour.example));
    }
    if (distribution.kind == DistributionKind::trace) {
        named.trace_file = std::string(rest);
        distribution.trace = read_trace(named.trace_file, flavour);
        return named;
    }
    check_commas(text);
    distribution.mean = above_zero(rest.substr(0, rest.find(',')), flavour);
    while (rest.find(',') < rest.size() - 1) {
        rest.remove_prefix(rest.find(',') + 1);
        set_parameter(distribution, rest.substr(0, rest.find(',')), flavour);
    }
    check(distribution);
    return named;
}

std::string print(const NamedDistribution& named, const Flavour& flavour) {
    const Distribution& distribution = named.distribution;
    const auto quantity = [&](double value) { return flavour.print(static_cast<std::int64_t>(value)); };
    if (distribution.kind == DistributionKind::none) {
        return "none";
    }
    if (distribution.kind == DistributionKind::trace) {
        return fmt::format("trace:{}", named.trace_file);
    }
    if (distribution.kind == DistributionKind::fixed && flavour.is_size) {
        return quantity(distribution.mean);
    }
    std::string text = fmt::format("{}:{}", row_of(distribution.kind).name, quantity(distribution.mean));
    for (const auto& [name, member, is_number] : parameter_rows) {
        if (const double value = distribution.*member; value != 0) {
            text += fmt::format(",{}={}", name, is_number ? number_text(value) : quantity(value));
        }
    }
    return text;
}

}  // namespace

NamedDistribution parse_event_size(std::string_view text) {
    return parse(text, sizes);
}
NamedDistribution parse_result_size(std::string_view text) {
    return parse(text, result_sizes);
}
NamedDistribution parse_busy(std::string_view text) {
    return parse(text, times);
}

std::string event_size_text(const NamedDistribution& event_size) {
    return print(event_size, sizes);
}
std::string result_size_text(const NamedDistribution& result_size) {
    return print(result_size, result_sizes);
}
std::string busy_text(const NamedDistribution& busy) {
    return print(busy, times);
}

void scale_values(Distribution& distribution, const Ratio& factor) {
    const auto scaled = [&](std::int64_t size) { return scale_up(core::Bytes{size}, factor).count; };
    const auto scale_number = [&](double& size) {
        size = static_cast<double>(scaled(static_cast<std::int64_t>(size)));
    };
    scale_number(distribution.mean);
    for (const Parameter& parameter : parameter_rows) {
        if (!parameter.is_number) {
            scale_number(distribution.*parameter.member);
        }
    }
    for (std::int64_t& size : distribution.trace) {
        size = scaled(size);
    }
}

std::vector<std::uint32_t> parse_index_list(std::string_view text) {
    constexpr std::string_view advice = "write for example 0-3,7";
    std::set<std::uint32_t> indices;
    std::string_view rest = text;
    do {
        const std::size_t comma = rest.find(',');
        const std::string_view piece = rest.substr(0, comma);
        rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
        const std::size_t dash = piece.find('-');
        std::uint64_t first = 0;
        std::uint64_t last = 0;
        try {
            first = parse_count(piece.substr(0, dash), 0, nodes_limit);
            last =
                dash == std::string_view::npos ? first : parse_count(piece.substr(dash + 1), 0, nodes_limit);
        } catch (const UsageError&) {
            throw UsageError("'{}' in '{}' is not an index or a range; {}", piece, text, advice);
        }
        if (last < first) {
            throw UsageError("'{}' counts downwards; {}", piece, advice);
        }
        for (std::uint64_t index = first; index <= last; ++index) {
            indices.insert(static_cast<std::uint32_t>(index));
        }
        if (comma != std::string_view::npos && rest.empty()) {
            throw UsageError("'{}' ends with a comma; {}", text, advice);
        }
    } while (!rest.empty());
    return {indices.begin(), indices.end()};
}

std::string index_list_text(const std::vector<std::uint32_t>& indices) {
    std::string text;
    for (std::size_t i = 0; i < indices.size();) {
        std::size_t end = i + 1;
        while (end < indices.size() && indices[end] == indices[end - 1] + 1) {
            ++end;
        }
        if (!text.empty()) {
            text += ',';
        }
        text +=
            end - i == 1 ? fmt::format("{}", indices[i]) : fmt::format("{}-{}", indices[i], indices[end - 1]);
        i = end;
    }
    return text;
}

}  // namespace weir::config
