#include "config/shaping.hpp"

#include <fmt/format.h>

#include "config/limits.hpp"
#include "config/quantities.hpp"
#include "config/usage_error.hpp"

namespace weir::config {

namespace {

using core::Duration;
using core::Shaping;
using core::ShapingKind;

constexpr core::Bytes usual_burst{64 * 1024};
/// Ticks are this many grid points apart unless it is said otherwise (LHCb 2005: 2.5 ms at 25 us).
constexpr std::int64_t usual_points = 100;
/// A turn of a rank's loop takes about as long; no sender keeps a finer grid.
constexpr Duration least_grid = Duration::microseconds(1);

struct ShapingParts {
    std::string_view kind;
    std::string_view value;
    std::string_view parameter;  ///< its value
};

ShapingParts shaping_parts(std::string_view text, std::string_view parameter) {
    const std::size_t colon = text.find(':');
    ShapingParts parts{text.substr(0, colon), {}, {}};
    if (colon == std::string_view::npos) {
        return parts;
    }
    const std::string_view rest = text.substr(colon + 1);
    const std::size_t comma = rest.find(',');
    parts.value = rest.substr(0, comma);
    if (comma == std::string_view::npos) {
        return parts;
    }
    const std::string_view named = rest.substr(comma + 1);
    if (named.substr(0, named.find('=')) != parameter || named.find('=') == std::string_view::npos) {
        throw UsageError(
            fmt::format("'{}' takes no parameter like '{}'; it takes {}=...", parts.kind, named, parameter));
    }
    parts.parameter = named.substr(named.find('=') + 1);
    return parts;
}

Shaping parse_bucket(std::string_view text) {
    const ShapingParts parts = shaping_parts(text, "burst");
    if (parts.value.empty()) {
        throw UsageError("'bucket' needs a rate; write for example bucket:20Mb/s");
    }
    Shaping shaping;
    shaping.kind = ShapingKind::bucket;
    shaping.rate = parse_rate(parts.value);
    shaping.burst = parts.parameter.empty() ? usual_burst : parse_bytes(parts.parameter);
    if (shaping.rate.bits_per_second < 1 || shaping.rate > fastest_rate) {
        throw UsageError(fmt::format("a bucket of {} is not possible; write a rate from 1b/s to {}",
                                     parts.value, to_text(fastest_rate)));
    }
    if (shaping.burst.count < 1) {
        throw UsageError("burst=0 lets nothing through; write for example burst=64KiB");
    }
    return shaping;
}

Shaping parse_in_step(std::string_view text) {
    const ShapingParts parts = shaping_parts(text, "tick");
    if (parts.value.empty()) {
        throw UsageError("'in-step' needs the time from chunk to chunk; write for example in-step:25us");
    }
    Shaping shaping;
    shaping.kind = ShapingKind::in_step;
    shaping.grid = parse_duration(parts.value);
    if (shaping.grid < least_grid || shaping.grid > Duration::seconds(1)) {
        throw UsageError(fmt::format("a chunk per {} is out of range; write a time from {} to 1s",
                                     parts.value, to_text(least_grid)));
    }
    shaping.tick = parts.parameter.empty() ? shaping.grid * usual_points : parse_duration(parts.parameter);
    if (shaping.tick < Duration::microseconds(100) || shaping.tick > Duration::seconds(10) ||
        shaping.tick.ns % shaping.grid.ns != 0) {
        throw UsageError(fmt::format("ticks {} apart do not fit; write a multiple of {} from 100us to 10s",
                                     to_text(shaping.tick), to_text(shaping.grid)));
    }
    return shaping;
}

}  // namespace

Shaping parse_shaping(std::string_view text) {
    const std::string_view kind = text.substr(0, text.find(':'));
    if (text == "none") {
        return {};
    }
    if (kind == "bucket") {
        return parse_bucket(text);
    }
    if (kind == "in-step") {
        return parse_in_step(text);
    }
    throw UsageError(fmt::format("'{}' is no shaping; write none, bucket:RATE or in-step:TIME", text));
}

std::string shaping_text(const Shaping& shaping) {
    switch (shaping.kind) {
        case ShapingKind::none:
            break;
        case ShapingKind::bucket:
            return fmt::format("bucket:{},burst={}", to_text(shaping.rate), to_text(shaping.burst));
        case ShapingKind::in_step:
            return fmt::format("in-step:{},tick={}", to_text(shaping.grid), to_text(shaping.tick));
    }
    return "none";
}

}  // namespace weir::config
