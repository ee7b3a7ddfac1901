#include "packet/flow.hpp"

#include <deque>
#include <memory>

#include "catch.hpp"
#include "core/random.hpp"

using namespace weir;
using namespace weir::packet;

namespace {

/// Has as many packets as it is given, so far apart as it is told.
class PacedFlow final : public Flow {
  public:
    explicit PacedFlow(std::uint32_t index) : Flow({{index}, {}, {}, 0, {}}, {1000}) {}

    void give(std::int64_t packets) {
        packets_ += packets;
        update();
    }
    [[nodiscard]] std::int64_t packets() const { return packets_; }
    void send_after(Picoseconds gap, Picoseconds now) {
        --packets_;
        next_send_ = now + gap;
        update();
    }
    void lose_all() {
        packets_ = 0;
        update();
    }

    [[nodiscard]] std::int64_t next_wire_bytes() override { return 1000; }
    Packet send(Picoseconds /*now*/) override { return {}; }
    void on_reply(const Packet& /*reply*/, Picoseconds /*now*/,
                  std::vector<MessageHandle>& /*sent*/) override {}
    [[nodiscard]] Picoseconds timeout_at() const override { return Picoseconds::never(); }
    bool on_timeout(Picoseconds /*now*/) override { return false; }
    Replies on_data(const Packet& /*packet*/, Picoseconds /*now*/,
                    std::vector<MessageHandle>& /*arrived*/) override {
        return {};
    }

  private:
    void update() override { has_packet_ = packets_ > 0; }
    std::int64_t packets_ = 0;
};

/// What a row is to be: each flow that is looked at goes to the end.
class PlainRow {
  public:
    void push(PacedFlow& flow) { flows_.push_back(&flow); }
    [[nodiscard]] bool has(const PacedFlow& flow) const {
        return std::find(flows_.begin(), flows_.end(), &flow) != flows_.end();
    }
    PacedFlow* next(Picoseconds now, Picoseconds& earliest) {
        for (std::size_t left = flows_.size(); left > 0; --left) {
            PacedFlow& flow = *flows_.front();
            if (flow.has_packet() && flow.next_send() <= now) {
                return &flow;
            }
            flows_.pop_front();
            if (flow.has_packet()) {
                earliest = std::min(earliest, flow.next_send());
                flows_.push_back(&flow);
            }
        }
        return nullptr;
    }
    void sent() {
        PacedFlow& flow = *flows_.front();
        flows_.pop_front();
        if (flow.has_packet()) {
            flows_.push_back(&flow);
        }
    }

  private:
    std::deque<PacedFlow*> flows_;
};

/// Flows get packets, send them, wait, and lose them, in a row and in a plain one.
class RowRig {
  public:
    RowRig(std::uint64_t seed, std::uint32_t flows) : random_(seed, 0) {
        for (std::uint32_t flow = 0; flow < flows; ++flow) {
            flows_.push_back(std::make_unique<PacedFlow>(flow));
        }
    }
    /// Whether both rows chose the same.
    bool step() {
        PacedFlow& any = *flows_[random_.below(flows_.size())];
        const std::uint64_t what = random_.below(8);
        if (what < 2) {
            give(any);
        } else if (what == 2) {
            any.hold_until(now_ + Picoseconds{static_cast<std::int64_t>(random_.below(longest_))});
        } else if (what == 3 && random_.below(4) == 0) {
            any.lose_all();
            if (any.queued) {
                row_.note_empty(any);
            }
        } else if (what > 3) {
            now_ += Picoseconds{static_cast<std::int64_t>(random_.below(longest_ / flows_.size() + 2))};
            return serve();
        }
        return true;
    }
    [[nodiscard]] std::uint64_t served() const { return served_; }

  private:
    void give(PacedFlow& flow) {
        flow.give(1 + static_cast<std::int64_t>(random_.below(3)));
        if (!flow.queued) {
            row_.push(flow);
            plain_.push(flow);
        }
    }
    bool serve() {
        Picoseconds earliest = Picoseconds::never();
        Picoseconds exact = Picoseconds::never();
        Flow* const chosen = row_.next(now_, earliest);
        PacedFlow* const expected = plain_.next(now_, exact);
        const bool same = chosen == expected && earliest <= exact && (chosen != nullptr || earliest > now_) &&
                          knows_when_the_next_sends();
        if (same && expected != nullptr) {
            const auto gap = static_cast<std::int64_t>(random_.below(longest_));
            expected->send_after({random_.below(3) == 0 ? 0 : gap}, now_);
            row_.sent();
            plain_.sent();
            ++served_;
        }
        return same && all_know_where_they_are();
    }
    /// Not later than the first flow with packets does, or `until`.
    bool knows_when_the_next_sends() {
        const Picoseconds until = now_ + Picoseconds{static_cast<std::int64_t>(random_.below(longest_))};
        const Picoseconds said = row_.not_before(until);
        Picoseconds first = Picoseconds::never();
        for (const auto& flow : flows_) {
            if (flow->queued && flow->has_packet()) {
                first = std::min(first, flow->next_send());
            }
        }
        return said <= std::max(first, until);
    }
    [[nodiscard]] bool all_know_where_they_are() const {
        return std::all_of(flows_.begin(), flows_.end(),
                           [&](const auto& flow) { return flow->queued == plain_.has(*flow); });
    }

    core::Random random_;
    std::vector<std::unique_ptr<PacedFlow>> flows_;
    FlowRow row_;
    PlainRow plain_;
    Picoseconds now_;
    std::uint64_t longest_ = 1000;
    std::uint64_t served_ = 0;
};

}  // namespace

TEST_CASE("Of flows in a row the first whose time has come sends, and those before it go to the end") {
    const auto seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{5}));
    const auto flows = GENERATE(1U, 4U, 33U, 150U);
    CAPTURE(seed, flows);
    RowRig rig(seed, flows);
    bool same = true;
    for (int step = 0; step < 4'000 && same; ++step) {
        same = rig.step();
    }
    CHECK(same);
    CHECK(rig.served() > 200);
}
