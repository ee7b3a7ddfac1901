// The report of a check.
#include "host/check_report.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "catch.hpp"
#include "fake_cluster.hpp"

using namespace weir::host;
using namespace weir::host::test;

namespace {

std::string text_of(const CheckResult& result) {
    return check_text(
        result,
        [](std::span<const std::string> hosts) {
            std::string list;
            for (const std::string& host : hosts) {
                list += (list.empty() ? "" : ",") + host;
            }
            return list;
        },
        false);
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

CheckResult with_another_mtu() {
    std::vector<HostSettings> hosts{roce_host("eb01", 1), roce_host("fn01", 2), roce_host("fn02", 3)};
    hosts[2].interfaces.front().mtu_bytes = 1500;
    return judged(hosts);
}

}  // namespace

TEST_CASE("The text names the common value, the exception, and what to do") {
    const std::string text = text_of(with_another_mtu());
    CHECK(has(text, "MTU                               9000 B; 1500 B on fn02\n"));
    CHECK(has(text, "SERIOUS  fn02: MTU is 1500 B, but 9000 B on 2 hosts\n         -> "));
    CHECK(has(text, "1 serious finding and 0 warnings."));
    CHECK(has(text, "GID index                         3\n"));
    CHECK(has(text_of(judged({roce_host("eb01")})), "No serious findings, 0 warnings."));
}

TEST_CASE("No line is too long for a terminal") {
    CheckResult result = with_another_mtu();
    result.hosts.front().choice.why = std::string("a reason with many words ") + std::string(60, 'x');
    std::istringstream lines(text_of(result));
    std::string line;
    while (std::getline(lines, line)) {
        CAPTURE(line);
        CHECK(line.size() <= 110);
    }
}

TEST_CASE("JSON has the same findings, and all settings") {
    const auto json = check_json(with_another_mtu());
    CHECK(json.at("schema") == "weir-check/1");
    CHECK(json.at("serious") == 1);
    CHECK(json.at("findings").at(0).at("topic") == "mtu");
    CHECK(json.at("findings").at(0).at("hosts") == nlohmann::ordered_json{"fn02"});
    CHECK(json.at("hosts").size() == 3);
    CHECK(json.at("hosts").at(0).at("expected_paths").at(0).at("rdma_port") == "mlx5_0:1");
    CHECK(json.at("probe").is_null());
    const auto& facts = json.at("facts");
    const auto mtu =
        std::find_if(facts.begin(), facts.end(), [](const auto& fact) { return fact.at("name") == "MTU"; });
    REQUIRE(mtu != facts.end());
    CHECK(mtu->at("values").size() == 2);
}
