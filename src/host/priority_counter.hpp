// Counters of bytes by priority, as drivers name them: "tx_prio3_bytes" (mlx5), "tx_bytes_pri3" (bnxt).
#pragma once

#include <optional>
#include <string_view>

namespace weir::host {

/// The priority that a driver's counter is of; nothing if it counts something else. `direction`: "tx" or
/// "rx".
constexpr std::optional<int> counted_priority(std::string_view name, std::string_view direction) {
    const auto digit = [](char letter) -> std::optional<int> {
        return letter >= '0' && letter <= '7' ? std::optional(letter - '0') : std::nullopt;
    };
    constexpr std::string_view mlx5 = "_prio";
    constexpr std::string_view mlx5_end = "_bytes";
    constexpr std::string_view bnxt = "_bytes_pri";
    if (!name.starts_with(direction)) {
        return std::nullopt;
    }
    const std::string_view rest = name.substr(direction.size());
    if (rest.starts_with(mlx5) && rest.ends_with(mlx5_end) &&
        rest.size() == mlx5.size() + 1 + mlx5_end.size()) {
        return digit(rest[mlx5.size()]);
    }
    if (rest.starts_with(bnxt) && rest.size() == bnxt.size() + 1) {
        return digit(rest.back());
    }
    return std::nullopt;
}

}  // namespace weir::host
