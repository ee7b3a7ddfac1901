#include "config/derive_packets.hpp"

#include <fmt/format.h>

#include "config/quantities.hpp"
#include "config/usage_error.hpp"

namespace weir::config {

namespace {

/// A jumbo frame; longer ones are not in use on Ethernet.
constexpr core::Bytes longest_mtu{9216};

}  // namespace

void derive_packets(const RunRequest& request) {
    if (request.network.model != core::NetworkModel::packet) {
        for (const char* option : {"pfc", "ecn"}) {
            if (request.given(option) && request.origin(option) >= request.origin("network")) {
                throw UsageError(fmt::format("--{}: needs --network packet", option));
            }
        }
        return;
    }
    if (request.plan.lossy()) {
        throw UsageError(
            "--network: the model packet has no datagrams yet; use --network fluid or another --transport");
    }
    if (request.network.mtu > longest_mtu) {
        throw UsageError(
            fmt::format("--mtu: {} is more than the {} that a packet may carry with --network packet",
                        to_text(request.network.mtu), to_text(longest_mtu)));
    }
}

}  // namespace weir::config
