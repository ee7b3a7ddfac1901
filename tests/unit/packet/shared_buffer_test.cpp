#include "packet/shared_buffer.hpp"

#include "catch.hpp"

using namespace weir;
using namespace weir::packet;

namespace {

constexpr core::BitRate fast{100'000'000'000};
constexpr core::BitRate slow{25'000'000'000};
constexpr std::int64_t packet_bytes = 1000;

/// A pool of 1 MB. Priority 3 is lossless, with 100 kB of headroom at a port of 100 Gb/s.
core::SwitchPlan small_switch() {
    core::SwitchPlan plan;
    plan.pool = {1'000'000};
    plan.lossless = core::mask_of(3);
    plan.headroom_at_100g = {100'000};
    return plan;
}

/// Stores packets that come and go by the same port until one is refused; returns how many bytes of them are
/// stored.
std::int64_t fill(SharedBuffer& buffer, std::uint32_t port, Priority priority) {
    std::int64_t stored = 0;
    while (buffer.admit(port, priority, packet_bytes, port)) {
        stored += packet_bytes;
    }
    return stored;
}

}  // namespace

TEST_CASE("Headroom is by the speed of a port and is not shared") {
    const SharedBuffer buffer(small_switch(), {fast, slow});
    CHECK(buffer.sharable() == 1'000'000 - 100'000 - 25'000);
    // A port of 1 Gb/s has one lane as well.
    CHECK(SharedBuffer(small_switch(), {{1'000'000'000}}).sharable() == 1'000'000 - 25'000);
    core::SwitchPlan lossy = small_switch();
    lossy.lossless = 0;
    CHECK(SharedBuffer(lossy, {fast, slow}).sharable() == 1'000'000);
}

TEST_CASE("A lossless port is paused at alpha times what is free, then fills its headroom, then drops") {
    core::SwitchPlan plan = small_switch();
    plan.ingress_alpha = GENERATE(0.125, 0.5, 1.0, 8.0);
    SharedBuffer buffer(plan, {fast, fast});
    std::int64_t stored = 0;
    while (!buffer.must_pause(0, 3)) {
        REQUIRE(buffer.admit(0, 3, packet_bytes, 1));
        stored += packet_bytes;
    }
    // s = alpha (S - s)
    const double threshold = plan.ingress_alpha / (1 + plan.ingress_alpha) * 800'000;
    CHECK(static_cast<double>(stored) >= threshold);
    CHECK(static_cast<double>(stored) <= threshold + 2 * packet_bytes);
    buffer.set_paused(0, 3, true);
    CHECK_FALSE(buffer.must_pause(0, 3));
    const std::int64_t more = fill(buffer, 0, 3);
    CHECK(more >= 100'000);
    CHECK(more <= 100'000 + packet_bytes);
    CHECK(buffer.used() == stored + more);
    // The other port has its own threshold and headroom.
    CHECK(fill(buffer, 1, 3) >= 100'000);
    CHECK(buffer.used() <= 1'000'000);
}

TEST_CASE("A pause ends with empty headroom and 3 KB below the threshold, not before") {
    core::SwitchPlan plan = small_switch();
    plan.ingress_threshold = {40'000};
    SharedBuffer buffer(plan, {fast, fast});
    for (int packet = 0; packet < 50; ++packet) {
        REQUIRE(buffer.admit(0, 3, packet_bytes, 0));
        REQUIRE(buffer.must_pause(0, 3) == (packet >= 39));
    }
    buffer.set_paused(0, 3, true);
    // 40 kB shared and 10 kB of headroom, which is freed first.
    for (int packet = 0; packet < 13; ++packet) {
        REQUIRE_FALSE(buffer.may_resume(0, 3));
        buffer.release(0, 3, packet_bytes, 0);
    }
    CHECK(buffer.may_resume(0, 3));
    CHECK_FALSE(buffer.may_resume(1, 3));  // is not paused
}

TEST_CASE("A fixed ingress threshold does not move with what others hold") {
    core::SwitchPlan plan = small_switch();
    plan.ingress_threshold = {40'000};
    SharedBuffer buffer(plan, {fast, fast});
    CHECK(fill(buffer, 0, 0) == 400'000);
    for (int packet = 0; packet < 39; ++packet) {
        REQUIRE(buffer.admit(1, 3, packet_bytes, 0));
    }
    CHECK_FALSE(buffer.must_pause(1, 3));
    REQUIRE(buffer.admit(1, 3, packet_bytes, 0));
    CHECK(buffer.must_pause(1, 3));
}

TEST_CASE("A queue of a lossy priority may hold alpha times what is free, or the fixed limit") {
    core::SwitchPlan plan = small_switch();
    plan.egress_alpha = GENERATE(0.25, 1.0, 4.0);
    SharedBuffer dynamic(plan, {fast, fast});
    const double share = plan.egress_alpha / (1 + plan.egress_alpha) * 800'000;
    CHECK(static_cast<double>(fill(dynamic, 0, 0)) == Approx(share).margin(2 * packet_bytes));
    // A second queue gets the same share of what is left.
    CHECK(static_cast<double>(fill(dynamic, 0, 1)) ==
          Approx(plan.egress_alpha / (1 + plan.egress_alpha) * (800'000 - share)).margin(3 * packet_bytes));
    CHECK_FALSE(dynamic.must_pause(0, 0));

    plan.egress_threshold = {123'000};
    SharedBuffer fixed(plan, {fast, fast});
    CHECK(fill(fixed, 0, 0) == 123'000);
    CHECK(fill(fixed, 1, 0) == 123'000);
}

TEST_CASE("No threshold lets the pool overflow") {
    core::SwitchPlan plan = small_switch();
    plan.egress_threshold = {900'000};
    plan.ingress_threshold = {900'000};
    SharedBuffer buffer(plan, {fast, fast});
    CHECK(fill(buffer, 0, 0) == 800'000);
    CHECK(fill(buffer, 0, 1) == 0);
    CHECK(fill(buffer, 1, 3) == 100'000);  // its headroom
    CHECK(buffer.used() == 900'000);
    CHECK(buffer.peak() == 900'000);
    for (int packet = 0; packet < 800; ++packet) {
        buffer.release(0, 0, packet_bytes, 0);
    }
    CHECK(buffer.used() == 100'000);
    CHECK(buffer.peak() == 900'000);
}

TEST_CASE("A port that holds nothing is not paused: no packet of it would leave and end the pause") {
    core::SwitchPlan plan = small_switch();
    plan.headroom_at_100g = {500};  // less than a packet
    plan.egress_threshold = plan.pool;
    SharedBuffer buffer(plan, {fast, fast});
    while (buffer.admit(0, 0, 100, 0)) {
    }
    CHECK_FALSE(buffer.admit(1, 3, packet_bytes, 0));
    CHECK_FALSE(buffer.must_pause(1, 3));
}

TEST_CASE("A packet refused for want of headroom pauses its port, unless nothing of that port is stored") {
    core::SwitchPlan plan = small_switch();
    plan.headroom_at_100g = {100};
    plan.ingress_threshold = {2500};
    SharedBuffer buffer(plan, {fast, fast});
    REQUIRE(buffer.admit(0, 3, packet_bytes, 0));
    REQUIRE(buffer.admit(0, 3, packet_bytes, 0));
    CHECK_FALSE(buffer.must_pause(0, 3));
    CHECK_FALSE(buffer.admit(0, 3, packet_bytes, 0));
    CHECK(buffer.must_pause(0, 3));
    buffer.set_paused(0, 3, true);
    buffer.set_paused(0, 3, false);
    CHECK_FALSE(buffer.must_pause(0, 3));
    // No packet could leave and end the pause.
    CHECK_FALSE(buffer.admit(1, 3, 3000, 0));
    CHECK_FALSE(buffer.must_pause(1, 3));
}
