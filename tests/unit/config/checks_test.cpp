#include "config/checks.hpp"

#include "catch.hpp"
#include "config/resolve.hpp"
#include "config/role_assignment.hpp"
#include "core/plan.hpp"
#include "refusal.hpp"

using namespace weir::config;
using weir::core::Bytes;

TEST_CASE("more memory than a host has is refused with the numbers") {
    const RunRequest request = resolve(std::vector<GivenOption>{{"rate", "8Gb/s"}});  // a buffer of 1 GB
    const std::vector<std::string> hosts{"a", "a", "b", "b"};
    const auto roles = assign_roles(request.roles, hosts);  // S P | C C
    const auto refusal = [&](std::int64_t a, std::int64_t b) {
        const std::vector<MemoryRoom> available{{{a}}, {{a}, ", by a limit"}, {{b}}, {{b}}};
        return refusal_of([&] { check_memory(request, roles, hosts, available); });
    };
    const std::int64_t gigabyte = 1000000000;
    CHECK(refusal(2 * gigabyte, gigabyte) == "accepted");
    CHECK(refusal(0, 0) == "accepted");  // unknown
    CHECK(contains(refusal(gigabyte, gigabyte), "--buffer: 1 producers of 1.0"));
    CHECK(contains(refusal(gigabyte, gigabyte), "on a, which has 1 GB available, by a limit; use"));
    CHECK(contains(refusal(2 * gigabyte, gigabyte / 10), "--slots: 0 producers"));
    CHECK(contains(refusal(2 * gigabyte, gigabyte / 10), "on b, which has 100 MB available"));
}
