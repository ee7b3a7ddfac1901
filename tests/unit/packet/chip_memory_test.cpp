// Memory of chips: cells, slices, what is reserved, pools of headroom and of queues. The numbers of packets
// that fill a chip follow from its configuration by the arithmetic of
// src/report/weir_suites/switches/asics.py; where real switches took as many, results/asic-thresholds has
// them. Packets have 64 B and take a cell each.
#include <cmath>

#include "catch.hpp"
#include "packet/shared_buffer.hpp"

using namespace weir;
using namespace weir::packet;

namespace chip_memory_test {

constexpr core::BitRate fast{100'000'000'000};
constexpr Priority guarded = 3;
constexpr Priority lossy = 0;
constexpr std::int64_t wire_bytes = 64 + 20;  // preamble and gap take no memory
constexpr int lossy_queues = 7;

/// What a chip with a port for each of four slices has beside the cells that it shares.
core::SwitchPlan with_headroom_pool(core::SwitchPlan plan, std::int64_t pool_bytes) {
    plan.lossless = core::mask_of(guarded);
    plan.pool = {pool_bytes + plan.headroom_pool.count +
                 4 * core::memory_units(plan, plan.group_reserved) * plan.cell.count};
    return plan;
}

/// 100 Gb/s, 300 m: pool 10 875 072 B, headroom pool 4 194 112 B, alpha 1, profile 1248 B + 268 736 B, queues
/// share 9 243 812 B with alpha 8, 1518 B each for itself (device/common/profiles/th of sonic-buildimage).
core::SwitchPlan tomahawk() {
    core::SwitchPlan plan;
    plan.cell = {208};
    plan.slices = 4;
    plan.ingress_alpha = 1;
    plan.headroom_at_100g = {268'736};
    plan.headroom_pool = {4'194'112};
    plan.group_reserved = {1'248};
    plan.resume_offset = {2'288};
    plan.egress_alpha = 8;
    plan.queue_reserved = {1'518};
    plan.egress_pool = {9'243'812 + 4 * lossy_queues * 8 * 208};
    return with_headroom_pool(plan, 10'875'072);
}

/// A chip like Tomahawk 5: two slices of larger cells.
core::SwitchPlan two_slices(double alpha) {
    core::SwitchPlan plan;
    plan.cell = {254};
    plan.slices = 2;
    plan.ingress_alpha = alpha;
    plan.headroom_at_100g = {100'000};
    plan.headroom_pool = {2'000'000};
    plan.group_reserved = {1'000};
    plan.resume_offset = {3'048};
    return with_headroom_pool(plan, 20'000'000);
}

struct Filled {
    std::int64_t pause = 0;  ///< with this packet
    std::int64_t drop = 0;   ///< this packet is the first one
};

/// Packets from port 0 to port 1 that sends nothing, by a sender that ignores pauses.
Filled fill(SharedBuffer& buffer, Priority priority) {
    Filled filled;
    for (std::int64_t packet = 1; filled.drop == 0; ++packet) {
        if (!buffer.admit(0, priority, wire_bytes, 1)) {
            filled.drop = packet;
        } else if (filled.pause == 0 && buffer.must_pause(0, priority)) {
            filled.pause = packet;
        }
    }
    return filled;
}

/// The first n with n >= floor(alpha (shared - n)).
std::int64_t reached(double alpha, std::int64_t shared) {
    std::int64_t cells = 0;
    while (static_cast<double>(cells) < std::floor(alpha * static_cast<double>(shared - cells))) {
        ++cells;
    }
    return cells;
}

TEST_CASE("Tomahawk pauses and loses with the packets that real switches took") {
    SharedBuffer buffer(tomahawk(), {fast, fast, fast, fast});
    CHECK(buffer.sharable() == 13'071 * 208);
    const Filled filled = fill(buffer, guarded);
    CHECK(filled.pause == 6'542);
    CHECK(filled.drop == 7'835);
    CHECK(buffer.used() == 7'834 * 208);
    SharedBuffer for_queue(tomahawk(), {fast, fast, fast, fast});
    CHECK(fill(for_queue, lossy).drop == 9'885);  // measured: 9887
}

TEST_CASE("Pause, loss and the end of a pause come with the packets that the configuration gives") {
    const double alpha = GENERATE(0.125, 0.25, 1.0, 2.0, 8.0);
    const core::SwitchPlan plan = two_slices(alpha);
    SharedBuffer buffer(plan, {fast, fast, fast, fast});
    const std::int64_t shared = 20'000'000 / 254 / 2;
    const std::int64_t at_threshold = reached(alpha, shared);
    const Filled filled = fill(buffer, guarded);
    CHECK(filled.pause == 4 + at_threshold);
    CHECK(filled.drop == filled.pause + 394 + 1);  // 100 000 B are 394 cells of 254 B
    buffer.set_paused(0, guarded, true);
    std::int64_t left = 0;
    while (!buffer.may_resume(0, guarded)) {
        buffer.release(0, guarded, wire_bytes, 1);
        ++left;
    }
    // After the headroom: 12 cells below a threshold that grows meanwhile.
    std::int64_t below = 0;
    while (static_cast<double>(at_threshold - below + 12) >
           std::floor(alpha * static_cast<double>(shared - at_threshold + below))) {
        ++below;
    }
    CHECK(left == 394 + below);
}

TEST_CASE("A queue is full with its reserve and its share of the egress pool, and others keep theirs") {
    core::SwitchPlan plan = two_slices(1);
    plan.queue_reserved = {2'000};  // 8 cells
    plan.egress_alpha = GENERATE(0.5, 1.0, 4.0);
    plan.egress_pool = {10'000'000};
    const std::int64_t shared = (10'000'000 / 254 - 4 * lossy_queues * 8) / 2;
    SharedBuffer buffer(plan, {fast, fast, fast, fast});
    const std::int64_t at_threshold = reached(plan.egress_alpha, shared);
    CHECK(fill(buffer, lossy).drop == 8 + at_threshold + 1);
    // Of the rest, another queue gets as much in proportion.
    std::int64_t more = 0;
    while (buffer.admit(0, lossy, wire_bytes, 2)) {
        ++more;
    }
    CHECK(more == 8 + reached(plan.egress_alpha, shared - at_threshold));
    // The other slice is empty.
    for (std::int64_t packet = 0; packet < 8 + at_threshold; ++packet) {
        REQUIRE(buffer.admit(1, lossy, wire_bytes, 1));
    }
    CHECK_FALSE(buffer.admit(1, lossy, wire_bytes, 1));
}

TEST_CASE("A lossy packet needs room in the pool as well as in the egress pool") {
    core::SwitchPlan plan = two_slices(1);
    plan.egress_alpha = 1000;
    plan.egress_pool = plan.pool * 2;
    SharedBuffer buffer(plan, {fast, fast, fast, fast});
    const std::int64_t shared = 20'000'000 / 254 / 2;
    CHECK(fill(buffer, lossy).drop == shared + 1);
    buffer.release(0, lossy, wire_bytes, 1);
    CHECK(buffer.admit(0, lossy, wire_bytes, 2));
    // Nothing is left to share, but a lossless group has its reserve and its headroom.
    CHECK(fill(buffer, guarded).drop == 4 + 394 + 1);
}

TEST_CASE("A headroom pool is for whoever needs it, up to the headroom of each") {
    core::SwitchPlan plan;
    plan.lossless = core::mask_of(guarded);
    plan.pool = {1'000'000};
    plan.headroom_at_100g = {100'000};
    plan.headroom_pool = {150'000};
    plan.ingress_threshold = {20'000};
    SharedBuffer buffer(plan, {fast, fast, fast});
    CHECK(buffer.sharable() == 850'000);
    const auto fill_port = [&](std::uint32_t port) {
        std::int64_t stored = 0;
        while (buffer.admit(port, guarded, 1'000, 0)) {
            stored += 1'000;
        }
        return stored;
    };
    CHECK(fill_port(0) == 20'000 + 100'000);
    CHECK(fill_port(1) == 20'000 + 50'000);
    CHECK(fill_port(2) == 20'000);
    CHECK(buffer.must_pause(2, guarded));
    for (int packet = 0; packet < 30; ++packet) {
        buffer.release(0, guarded, 1'000, 0);
    }
    CHECK(fill_port(2) == 30'000);
    CHECK(buffer.used() == 60'000 + 150'000);
}

TEST_CASE("What is reserved is used first, and does not count as shared") {
    core::SwitchPlan plan;
    plan.lossless = core::mask_of(guarded);
    plan.pool = {1'000'000};
    plan.headroom_at_100g = {0};
    plan.ingress_threshold = {10'000};
    plan.resume_offset = {4'000};
    plan.group_reserved = {5'000};
    plan.queue_reserved = {3'000};
    SharedBuffer buffer(plan, {fast, fast});
    const std::int64_t shared = 1'000'000 - 2 * (5'000 + lossy_queues * 3'000);
    CHECK(buffer.sharable() == shared);
    for (int packet = 1; packet <= 15; ++packet) {
        REQUIRE(buffer.admit(0, guarded, 1'000, 1));
        REQUIRE(buffer.must_pause(0, guarded) == (packet == 15));
    }
    buffer.set_paused(0, guarded, true);
    for (int packet = 1; packet <= 4; ++packet) {
        REQUIRE_FALSE(buffer.may_resume(0, guarded));
        buffer.release(0, guarded, 1'000, 1);
    }
    CHECK(buffer.may_resume(0, guarded));
    // A packet that is larger than what is left of a reserve takes the rest of what is shared. Alpha is 1.
    std::int64_t queued = 0;
    while (buffer.admit(0, lossy, 2'000, 1)) {
        queued += 2'000;
    }
    CHECK(queued == (3'000 + (shared - 6'000) / 2) / 2'000 * 2'000);
}

TEST_CASE("Packets take whole cells, and a slice is for the ports whose turn it was") {
    core::SwitchPlan plan;
    plan.pool = {400'000};
    plan.cell = {200};
    plan.slices = 2;
    plan.egress_threshold = {400'000};
    SharedBuffer buffer(plan, {fast, fast, fast});
    REQUIRE(buffer.admit(0, lossy, 20 + 200, 0));
    CHECK(buffer.used() == 200);
    REQUIRE(buffer.admit(0, lossy, 20 + 201, 0));
    CHECK(buffer.used() == 600);
    CHECK(buffer.share_slice(0, 2));
    CHECK_FALSE(buffer.share_slice(0, 1));
    const auto fill_from = [&](std::uint32_t port) {
        int packets = 0;
        while (buffer.admit(port, lossy, 20 + 200, 0)) {
            ++packets;
        }
        return packets;
    };
    CHECK(fill_from(2) == 997);
    CHECK(fill_from(0) == 0);
    CHECK(fill_from(1) == 1'000);
    CHECK(buffer.peak() == 400'000);
    buffer.release(0, lossy, 20 + 201, 0);
    CHECK(fill_from(0) == 2);
}

}  // namespace chip_memory_test
