// Which transports and devices an endpoint of UCX uses, and what for, out of what UCX prints of it.
// (Rejected: ucp_ep_query, which has no transports before UCX 1.14.)
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weir::transport {

/// `printed` by ucp_ep_print_info. "tcp/eth0 for am am_bw": one text for each lane that is used for more than
/// to connect; none if UCX prints something else.
std::vector<std::string> ucx_lanes(std::string_view printed);

}  // namespace weir::transport
