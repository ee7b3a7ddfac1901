#include "config/fabric.hpp"

#include "catch.hpp"
#include "config/resolve.hpp"
#include "config/usage_error.hpp"

using namespace weir::config;
using weir::core::BitRate;
using weir::core::OwnLinks;

namespace {

BitRate gbps(std::int64_t rate) {
    return {rate * 1'000'000'000};
}

RunRequest simulation(std::vector<GivenOption> options) {
    options.push_back({"producers", "4"});
    options.push_back({"consumers", "8"});
    return resolve(options, true);
}

std::string refusal(const std::vector<GivenOption>& options) {
    try {
        simulation(options);
    } catch (const UsageError& error) {
        return error.what();
    }
    return {};
}

}  // namespace

TEST_CASE("Some hosts have links of a speed of their own") {
    const RunRequest request =
        simulation({{"consumer-link", "100Gb/s,7=400Gb/s,0-3=25Gb/s"}, {"producer-link", "200Gb/s"}});
    CHECK(request.network.own_consumer_links == std::vector<OwnLinks>{{0, 3, gbps(25)}, {7, 7, gbps(400)}});
    CHECK(request.network.own_producer_links.empty());
    CHECK(weir::core::consumer_links(request.network, 8) ==
          std::vector<BitRate>{gbps(25), gbps(25), gbps(25), gbps(25), gbps(100), gbps(100), gbps(100),
                               gbps(400)});
    CHECK(link_speeds_text(request.network.consumer_link, request.network.own_consumer_links) ==
          "100Gb/s,0-3=25Gb/s,7=400Gb/s");
}

TEST_CASE("A scale scales all links") {
    const RunRequest request = simulation({{"consumer-link", "100Gb/s,2=20Gb/s"}, {"scale", "1/10"}});
    CHECK(request.network.producer_link == gbps(10));
    CHECK(request.network.consumer_link == gbps(10));
    CHECK(request.network.own_consumer_links == std::vector<OwnLinks>{{2, 2, gbps(2)}});
}

TEST_CASE("Links that mean nothing are refused") {
    CHECK(refusal({{"producer-link", "100Gb/s,4=10Gb/s"}}) ==
          "--producer-link: there is no producer 4; write indices from 0 to 3");
    CHECK(refusal({{"consumer-link", "100Gb/s,0-3=10Gb/s,3=1Gb/s"}}) ==
          "--consumer-link: host 3 has two speeds; write it once");
    CHECK(refusal({{"consumer-link", "100Gb/s,25Gb/s"}}) ==
          "--consumer-link: '25Gb/s' does not say whose speed it is; write for example "
          "100Gb/s,0-3=25Gb/s,7=400Gb/s");
    CHECK(refusal({{"consumer-link", "100Gb/s,1=25"}}).find("--consumer-link: ") == 0);
}

TEST_CASE("What is added to a packet is a number where there are packets") {
    CHECK(simulation({{"packet-overhead", "48B"}}).network.packet_overhead == weir::core::Bytes{48});
    CHECK(refusal({{"packet-overhead", "48B"}, {"framing", "none"}})
              .find("--packet-overhead: --framing none has no packets") == 0);
    CHECK(refusal({{"packet-overhead", "48B"}, {"transport", "datagram"}})
              .find("--packet-overhead: --transport datagram") == 0);
    CHECK(refusal({{"queue-pairs", "event"}}) == "--queue-pairs: needs --network packet");
}
