#include "transport/ucx/ucx_words.hpp"

#include "catch.hpp"

using weir::transport::ucx_lanes;

TEST_CASE("the lanes of an endpoint are read out of what UCX prints") {
    // In the form of UCX 1.13; the devices are made up.
    constexpr const char* printed = R"(#
# UCP endpoint
#
#               peer: <no debug data>
#                 lane[0]:  0:posix/memory.0 md[0]     -> md[0]/posix/sysdev[255] rma_bw#0 am am_bw#0
#                 lane[1]:  5:tcp/eth0.0 md[2]     -> md[2]/tcp/sysdev[255] wireup keepalive
#                 lane[2]: 12:rc_mlx5/mlx5_0:1.0 md[5]      -> md[5]/ib/sysdev[0] rma_bw#1 am_bw#1 wireup
#
#                tag_send: 0..<egr/short>..227..<egr/zcopy>..262144..<rndv>..(inf)
)";
    CHECK(ucx_lanes(printed) ==
          std::vector<std::string>{"posix/memory for rma_bw am am_bw", "rc_mlx5/mlx5_0:1 for rma_bw am_bw"});
}

TEST_CASE("what is no list of lanes has none") {
    for (const char* printed :
         {"", "lane[", "lane[0]: ->", "# lane[0]: 1 -> x", "->lane[0]:", "lane[0]: 5:tcp/eth0.0 am"}) {
        CAPTURE(printed);
        CHECK(ucx_lanes(printed).empty());
    }
}
