#include "packet/dcqcn.hpp"

#include <cmath>

#include "catch.hpp"
#include "star_rig.hpp"

using namespace weir;
using namespace weir::packet;

namespace {

constexpr core::BitRate line{40'000'000'000};

core::DcqcnPlan plan_of_2015() {
    core::DcqcnPlan plan;
    plan.on = true;
    return plan;
}

/// The set that HPCC was compared with (simulation/run.py), at its 25 Gb/s.
core::DcqcnPlan plan_of_hpcc() {
    core::DcqcnPlan plan;
    plan.on = true;
    plan.rules = core::DcqcnRules::hpcc;
    plan.cnp_spacing = core::Duration::microseconds(4);
    plan.alpha_period = core::Duration::microseconds(1);
    plan.rate_period = core::Duration::microseconds(300);
    plan.fast_stages = 1;
    plan.additive_increase = {8'000'000};
    plan.hyper_increase = {80'000'000};
    return plan;
}

}  // namespace

TEST_CASE("Without notifications a flow sends at the speed of its link") {
    const core::DcqcnPlan plan = plan_of_2015();
    ReactionPoint point(plan, line);
    point.on_sent({100'000'000});
    CHECK(point.rate(microsecond * 1'000'000) == 40e9);
}

TEST_CASE("A notification cuts the rate by alpha / 2; alpha follows (1 - g) alpha + g and decays without") {
    const core::DcqcnPlan plan = plan_of_2015();
    ReactionPoint point(plan, line);
    constexpr double g = 1.0 / 256;
    point.on_notification({});
    CHECK(point.rate({}) == Approx(20e9));
    CHECK(point.alpha() == Approx(1));
    // 54 us later no period of 55 us is over.
    CHECK(point.rate(microsecond * 54) == Approx(20e9));
    CHECK(point.alpha() == Approx(1));
    // One period: alpha decays, and the rate has gone halfway back to the target.
    CHECK(point.rate(microsecond * 55) == Approx(30e9));
    CHECK(point.alpha() == Approx(1 - g));
    point.on_notification(microsecond * 56);
    CHECK(point.rate(microsecond * 56) == Approx(30e9 * (1 - (1 - g) / 2)));
    CHECK(point.alpha() == Approx((1 - g) * (1 - g) + g));
    // The periods start anew at the notification.
    CHECK(point.rate(microsecond * 110) == Approx(30e9 * (1 - (1 - g) / 2)));
    CHECK(point.rate(microsecond * 111) > 20e9);
}

TEST_CASE("All that happens later by some time changes rate and alpha in the same way, later by it") {
    core::DcqcnPlan plan = GENERATE(plan_of_2015(), plan_of_hpcc());
    const Picoseconds later = microsecond * GENERATE(1, 777, 1'000'000) + Picoseconds{123};
    ReactionPoint first(plan, line);
    ReactionPoint second(plan, line);
    Picoseconds now;
    for (int step = 0; step < 2000; ++step) {
        now += Picoseconds{step * 7'919 % 90'001 * 1000};
        if (step % 7 == 3 && step % 500 < 250) {
            first.on_notification(now);
            second.on_notification(now + later);
        }
        REQUIRE(first.rate(now) == second.rate(now + later));
        REQUIRE(first.alpha() == second.alpha());
        first.on_sent({1'000'000});
        second.on_sent({1'000'000});
    }
}

TEST_CASE("Alpha is 1 at the first notification of a flow, whenever that comes") {
    core::DcqcnPlan plan = plan_of_2015();
    ReactionPoint point(plan, line);
    const Picoseconds first = microsecond * GENERATE(0, 56, 1'000'000);
    CHECK(point.rate(first) == 40e9);
    point.on_notification(first);
    CHECK(point.alpha() == 1);
    CHECK(point.rate(first) == 20e9);
}

TEST_CASE("Rules of HPCC's simulator: the first cut comes a spacing after the first notification") {
    const core::DcqcnPlan plan = plan_of_hpcc();
    constexpr double g = 1.0 / 256;
    ReactionPoint point(plan, line);
    const Picoseconds first = microsecond * 1000;
    point.on_notification(first);
    CHECK(point.rate(first + microsecond * 4) == 40e9);
    CHECK(point.alpha() == Approx(1));
    // One nanosecond later; alpha has decayed by four steps of a microsecond.
    double alpha = std::pow(1 - g, 4);
    double rate = 40e9 * (1 - alpha / 2);
    CHECK(point.rate(first + microsecond * 4 + Picoseconds::nanoseconds(1)) == Approx(rate));
    // However many notifications come in a spacing, there is one cut, at its end; alpha rises in the step of
    // each microsecond in which one came. The rate has not risen in between, so 40 Gb/s remains the target.
    for (int part = 1; part <= 8; ++part) {
        point.on_notification(first + microsecond * 4 + Picoseconds::nanoseconds(480 * part));
    }
    for (int step = 5; step <= 8; ++step) {
        alpha = (1 - g) * alpha + g;
    }
    rate *= 1 - alpha / 2;
    CHECK(point.rate(first + microsecond * 9) == Approx(rate));
    const Picoseconds cut = first + microsecond * 8 + Picoseconds::nanoseconds(1);
    CHECK(point.rate(cut + microsecond * 299) == Approx(rate));
    CHECK(point.rate(cut + microsecond * 300) == Approx((rate + 40e9) / 2));
}

TEST_CASE("Rules of HPCC's simulator: one fast step, one additive one, then hyper; bytes do not count") {
    const core::DcqcnPlan plan = plan_of_hpcc();
    ReactionPoint point(plan, line);
    // Twice in a row with a rise in between: the second cut makes the risen rate the target.
    point.on_notification({});
    point.on_notification(microsecond * 305);
    Picoseconds now = microsecond * 308 + Picoseconds::nanoseconds(1);
    double rate = point.rate(now);
    const double risen = rate / (1 - point.alpha() / 2);
    double target = risen;
    CHECK(target < 35e9);
    for (const double step : {0.0, 8e6, 80e6, 80e6}) {
        point.on_sent({1'000'000'000});
        CHECK(point.rate(now) == Approx(rate));
        now += microsecond * 300;
        target += step;
        rate = (rate + target) / 2;
        CHECK(point.rate(now) == Approx(rate));
    }
}

TEST_CASE("Five steps of fast recovery, then additive, then hyper increase once both counters are beyond") {
    core::DcqcnPlan plan = plan_of_2015();
    plan.hyper_increase = {200'000'000};
    plan.byte_counter = {1'000'000};
    ReactionPoint point(plan, line);
    for (int notification = 0; notification < 5; ++notification) {
        point.on_notification({});
    }
    double rate = point.rate({});
    double target = rate / (1 - 0.5);  // alpha is 1 throughout
    REQUIRE(rate < 2e9);
    for (int period = 1; period <= 8; ++period) {
        target += period > 5 ? 40e6 : 0;
        rate = (rate + target) / 2;
        REQUIRE(point.rate(microsecond * 55 * period) == Approx(rate));
    }
    // Bytes drive the same steps: five more make the counter as old, only then it is hyper.
    for (int count = 1; count <= 7; ++count) {
        point.on_sent({1'000'000});
        target += count > 5 ? 200e6 : 40e6;
        rate = (rate + target) / 2;
        REQUIRE(point.rate(microsecond * 55 * 8) == Approx(rate));
    }
    point.on_sent({999'999});
    CHECK(point.rate(microsecond * 55 * 8) == Approx(rate));
}

TEST_CASE("The rate never falls below the least rate and never exceeds the link's") {
    core::DcqcnPlan plan = plan_of_2015();
    plan.hyper_increase = {5'000'000'000};
    ReactionPoint point(plan, line);
    for (int notification = 0; notification < 100; ++notification) {
        point.on_notification(microsecond * notification);
    }
    CHECK(point.rate(microsecond * 100) == 10e6);
    for (int step = 0; step < 10'000; ++step) {
        point.on_sent({10'000'000});
        REQUIRE(point.rate(microsecond * (100 + 55 * step)) <= 40e9);
    }
    CHECK(point.rate(microsecond * 1'000'000) == 40e9);
}

TEST_CASE("A flow that is back at the speed of its link reacts as one that was never notified, if so set") {
    core::DcqcnPlan plan = GENERATE(plan_of_2015(), plan_of_hpcc());
    plan.resets_at_line_rate = GENERATE(true, false);
    ReactionPoint rested(plan, line);
    ReactionPoint fresh(plan, line);
    rested.on_notification({});
    rested.on_notification(microsecond * 20);
    const Picoseconds later = millisecond * 1000;
    REQUIRE(rested.rate(later) == 40e9);
    CHECK((rested.alpha() == 1) == plan.resets_at_line_rate);
    for (Picoseconds now = later; now < later + microsecond * 20; now += microsecond * 7) {
        rested.on_notification(now);
        fresh.on_notification(now);
        CHECK((rested.alpha() == fresh.alpha()) == plan.resets_at_line_rate);
    }
    const Picoseconds end = later + microsecond * 30;
    CHECK((rested.rate(end) == fresh.rate(end)) == plan.resets_at_line_rate);
}

TEST_CASE(
    "Rules of HPCC's simulator: a notification that is still to be acted on is not forgotten at line rate") {
    core::DcqcnPlan plan = plan_of_hpcc();
    plan.cnp_spacing = core::Duration::milliseconds(100);
    plan.alpha_period = core::Duration::seconds(1);
    plan.hyper_increase = {40'000'000'000};
    ReactionPoint point(plan, line);
    point.on_notification({});
    const Picoseconds cut = millisecond * 100 + Picoseconds::nanoseconds(1);
    REQUIRE(point.rate(cut) < 40e9);
    point.on_notification(cut + microsecond * 1);
    REQUIRE(point.rate(cut + millisecond * 50) == 40e9);
    CHECK(point.rate(cut + millisecond * 101) < 40e9);
}

namespace {

/// Equal bursts of 16 senders to one host, so far apart: drops, or pauses with PFC.
std::vector<double> troubles_of_bursts(const core::DcqcnPlan& dcqcn, bool pfc, Picoseconds apart,
                                       int bursts) {
    constexpr std::uint32_t senders = 16;
    core::SwitchPlan switches = plain_switch();
    switches.ecn.on = true;
    switches.lossless = pfc ? core::mask_of(0) : core::PriorityMask{};
    core::NicPlan nics = plain_nic();
    nics.payload = {4096};
    nics.overhead = {82};
    nics.dcqcn = dcqcn;
    StarRig rig(senders + 1, switches, nics, 1, {}, 100 * giga);
    std::vector<FlowIndex> flows;
    for (std::uint32_t from = 0; from < senders; ++from) {
        flows.push_back(rig.network.connect({from}, {senders}, 0));
    }
    std::vector<double> all;
    double before = 0;
    for (int burst = 0; burst < bursts; ++burst) {
        for (const FlowIndex flow : flows) {
            rig.network.post(apart * burst, flow, 0, {4'000'000});
        }
        const Picoseconds end = apart * (burst + 1) - Picoseconds{1};
        rig.run_to(end);
        double sum = static_cast<double>(rig.network.counts(StarRig::down(senders), 0).dropped);
        for (std::uint32_t from = 0; pfc && from < senders; ++from) {
            sum += static_cast<double>(rig.network.counts(StarRig::down(from), 0).pauses_sent);
        }
        all.push_back(sum - before);
        before = sum;
    }
    return all;
}

}  // namespace

TEST_CASE("A burst after a long rest is as the first one; where alpha goes on decaying, the rest matters") {
    core::DcqcnPlan plan = plan_of_2015();
    plan.rules = GENERATE(core::DcqcnRules::paper, core::DcqcnRules::hpcc);
    const bool paper = plan.rules == core::DcqcnRules::paper;
    const bool pfc = GENERATE(false, true);
    const auto second = [&](int apart_ms) {
        return troubles_of_bursts(plan, pfc, millisecond * apart_ms, 2).back();
    };
    const std::vector<double> bursts = troubles_of_bursts(plan, pfc, millisecond * 1000, 4);
    CAPTURE(paper, pfc, bursts);
    for (const double burst : bursts) {
        CHECK(burst == Approx(bursts.front()).epsilon(paper ? 0.05 : 0.4));
    }
    const double before_line_rate = second(80);
    plan.resets_at_line_rate = false;
    CHECK(second(1000) > 2.5 * bursts.front() + 300);
    CHECK(second(160) > 2.5 * bursts.front() + 300);
    CHECK(second(20) < second(160));
    // Alpha has decayed, and the rate is not yet the link's: no difference.
    CHECK((second(80) == before_line_rate || !paper));
}

TEST_CASE("It does not matter how often the rate is read") {
    const core::DcqcnPlan plan = GENERATE(plan_of_2015(), plan_of_hpcc());
    ReactionPoint often(plan, line);
    ReactionPoint rarely(plan, line);
    for (ReactionPoint* point : {&often, &rarely}) {
        point->on_notification({});
        point->on_notification(microsecond * 20);
    }
    for (int step = 0; step < 3000; ++step) {
        often.rate(microsecond * (20 + step));
    }
    CHECK(often.rate(microsecond * 3100) == Approx(rarely.rate(microsecond * 3100)));
    CHECK(often.alpha() == Approx(rarely.alpha()));
}
