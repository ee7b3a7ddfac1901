// Every policy under seeded random traffic, beside a slow model of it written from its rules alone. The
// traffic is that of a small farm whose credits, offers, transfers and refusals follow the scheduler's
// contract.

#include <algorithm>
#include <deque>
#include <memory>
#include <tuple>
#include <vector>

#include "catch.hpp"
#include "core/policies/pairing_policies.hpp"
#include "core/policies/policy_table.hpp"
#include "core/random.hpp"

using namespace weir::core;

namespace {

std::uint32_t draw(Random& random, std::uint64_t from, std::uint64_t to) {
    return static_cast<std::uint32_t>(from + random.below(to - from + 1));
}

// ---- The models ----

/// Keeps all standings; a model adds its rule. Everything is searched, nothing is kept in order.
class Model : public Policy {
  public:
    Model(std::uint32_t producers, std::uint32_t consumers) : producers_(producers), consumers_(consumers) {}

    void update(ProducerId producer, const ProducerStanding& standing) override {
        producers_[producer.value] = standing;
    }
    void update(ConsumerId consumer, const ConsumerStanding& standing) override {
        consumers_[consumer.value] = standing;
    }
    /// Whether choose() is what the policy must choose.
    [[nodiscard]] virtual bool foretells() const { return true; }
    [[nodiscard]] bool producer_available() const override {
        return std::any_of(producers_.begin(), producers_.end(), [](const auto& p) { return p.eligible; });
    }
    [[nodiscard]] bool consumer_available() const override {
        return std::any_of(consumers_.begin(), consumers_.end(),
                           [](const auto& c) { return c.free_slots > 0; });
    }

  protected:
    std::vector<ProducerStanding> producers_;
    std::vector<ConsumerStanding> consumers_;
};

class BalancedModel final : public Model {
  public:
    BalancedModel(std::uint32_t producers, std::uint32_t consumers)
        : Model(producers, consumers), producer_marks_(producers), consumer_marks_(consumers) {}

    void update(ProducerId producer, const ProducerStanding& standing) override {
        if (standing.eligible && !producers_[producer.value].eligible) {
            producer_marks_[producer.value] = {choices_, ++serial_};
        }
        Model::update(producer, standing);
    }
    void update(ConsumerId consumer, const ConsumerStanding& standing) override {
        if (standing.free_slots > 0 && consumers_[consumer.value].free_slots == 0) {
            consumer_marks_[consumer.value] = {choices_, ++serial_};
        }
        Model::update(consumer, standing);
    }

    std::optional<Pairing> choose() override {
        if (!producer_available() || !consumer_available()) {
            return std::nullopt;
        }
        Pairing pair;
        pair.producer.value = pick(producer_marks_, [&](std::uint32_t i) {
            const auto& p = producers_[i];
            return std::tuple{p.eligible, -p.waiting.count, p.granted.count};
        });
        pair.consumer.value = pick(consumer_marks_, [&](std::uint32_t i) {
            const auto& c = consumers_[i];
            return std::tuple{c.free_slots > 0, std::int64_t{c.occupied_slots}, c.granted.count};
        });
        ++choices_;
        producer_marks_[pair.producer.value] = {choices_, ++serial_};
        consumer_marks_[pair.consumer.value] = {choices_, ++serial_};
        return pair;
    }

  private:
    /// When a node was chosen last or became a candidate: number of choices before, and a serial number.
    struct Mark {
        std::uint64_t choices = 0;
        std::uint64_t serial = 0;
    };

    template <typename View>
    std::uint32_t pick(const std::vector<Mark>& marks, View view) const {
        std::optional<std::uint32_t> best;
        std::optional<std::uint32_t> overdue;
        for (std::uint32_t i = 0; i < marks.size(); ++i) {
            if (!std::get<0>(view(i))) {
                continue;
            }
            if (!best || view(i) < view(*best)) {
                best = i;
            }
            if (choices_ - marks[i].choices >= BalancedPolicy::starvation_factor * marks.size() &&
                (!overdue || marks[i].serial < marks[*overdue].serial)) {
                overdue = i;
            }
        }
        return overdue ? *overdue : best.value();
    }

    std::vector<Mark> producer_marks_;
    std::vector<Mark> consumer_marks_;
    std::uint64_t choices_ = 0;
    std::uint64_t serial_ = 0;
};

class TokenModel final : public Model {
  public:
    using Model::Model;

    void update(ProducerId producer, const ProducerStanding& standing) override {
        const auto place = std::find(queue_.begin(), queue_.end(), producer);
        if (!standing.eligible && place != queue_.end()) {
            queue_.erase(place);
        } else if (standing.eligible && place == queue_.end()) {
            queue_.push_back(producer);
        }
        Model::update(producer, standing);
    }
    void update(ConsumerId consumer, const ConsumerStanding& standing) override {
        for (auto free = consumers_[consumer.value].free_slots; free < standing.free_slots; ++free) {
            tokens_.push_back(consumer);
        }
        Model::update(consumer, standing);
    }
    std::optional<Pairing> choose() override {
        if (queue_.empty() || tokens_.empty()) {
            return std::nullopt;
        }
        const Pairing pair{queue_.front(), tokens_.front()};
        queue_.pop_front();
        tokens_.pop_front();
        return pair;
    }

  private:
    std::deque<ProducerId> queue_;
    std::deque<ConsumerId> tokens_;
};

class RoundRobinModel final : public Model {
  public:
    using Model::Model;

    [[nodiscard]] bool consumer_available() const override { return consumers_[consumer_].free_slots > 0; }
    std::optional<Pairing> choose() override {
        if (!producer_available() || !consumer_available()) {
            return std::nullopt;
        }
        while (!producers_[producer_].eligible) {
            producer_ = (producer_ + 1) % producers_.size();
        }
        const Pairing pair{{static_cast<std::uint32_t>(producer_)}, {static_cast<std::uint32_t>(consumer_)}};
        producer_ = (producer_ + 1) % producers_.size();
        consumer_ = (consumer_ + 1) % consumers_.size();
        return pair;
    }

  private:
    std::size_t producer_ = 0;
    std::size_t consumer_ = 0;
};

/// What the policy chooses cannot be foretold, or has no model: only who is available is known.
class AvailabilityModel final : public Model {
  public:
    using Model::Model;
    [[nodiscard]] bool foretells() const override { return false; }
    std::optional<Pairing> choose() override { return std::nullopt; }
};

std::unique_ptr<Model> make_model(const Plan& plan) {
    switch (plan.policy) {
        case PolicyKind::balanced:
            return std::make_unique<BalancedModel>(plan.producers, plan.consumers);
        case PolicyKind::token:
            return std::make_unique<TokenModel>(plan.producers, plan.consumers);
        case PolicyKind::round_robin:
            return std::make_unique<RoundRobinModel>(plan.producers, plan.consumers);
        default:
            return std::make_unique<AvailabilityModel>(plan.producers, plan.consumers);
    }
}

// ---- The traffic ----

/// A farm without time: random things happen to it, and every change of standing goes to the policy and
/// its model.
class Farm {
  public:
    Farm(PolicyKind kind, std::uint64_t seed) : seed_(seed), random_(seed, 1) {
        plan_.policy = kind;
        plan_.producers = draw(random_, 1, 9);
        plan_.consumers = draw(random_, 1, 9);
        plan_.slots = draw(random_, 1, 4);
        plan_.streams = draw(random_, 1, 3);
        policy_ = make_policy(plan_, seed);
        model_ = make_model(plan_);
        producers_.resize(plan_.producers);
        consumers_.resize(plan_.consumers);
        // Some producers have small events only, some consumers are slow to give credits: fairness is not
        // free.
        for (auto& producer : producers_) {
            producer.event_bytes = random_.below(3) == 0 ? 1 : 1000;
        }
        for (auto& consumer : consumers_) {
            consumer.slowness = random_.below(3) == 0 ? 8 : 1;
        }
    }

    /// One random event, then a check of everything that must always hold.
    void step() {
        ++step_;
        const auto producer = draw(random_, 0, plan_.producers - 1);
        const auto consumer = draw(random_, 0, plan_.consumers - 1);
        switch (random_.below(5)) {
            case 0:
                offer(producer);
                break;
            case 1:
                give_credit(consumer);
                break;
            case 2:
                finish_transfer();
                break;
            default:
                grant();
        }
        must_hold(policy_->producer_available() == model_->producer_available(),
                  "producer_available() is exact");
        must_hold(policy_->consumer_available() == model_->consumer_available(),
                  "consumer_available() is exact");
    }

    [[nodiscard]] const std::vector<Pairing>& granted() const { return granted_; }
    [[nodiscard]] std::uint64_t longest_producer_wait() const { return longest_producer_wait_; }
    [[nodiscard]] std::uint64_t longest_consumer_wait() const { return longest_consumer_wait_; }
    [[nodiscard]] const Plan& plan() const { return plan_; }

  private:
    struct Producer {
        std::int64_t event_bytes = 0;
        std::int64_t waiting = 0;  ///< events
        std::uint32_t under_way = 0;
        Bytes granted;
        std::uint64_t passed_over = 0;
    };
    struct Consumer {
        std::uint64_t slowness = 1;
        std::uint32_t free = 0;
        std::uint32_t occupied = 0;
        Bytes granted;
        std::uint64_t passed_over = 0;
    };

    /// Like REQUIRE, but as quick as a check has to be that is made millions of times.
    void must_hold(bool condition, const char* what) const {
        if (!condition) {
            FAIL("seed " << seed_ << ", step " << step_ << ": it does not hold that " << what);
        }
    }

    [[nodiscard]] bool eligible(const Producer& producer) const {
        return producer.waiting > 0 && producer.under_way < plan_.streams;
    }

    void tell(ProducerId id) {
        const auto& p = producers_[id.value];
        const ProducerStanding standing{eligible(p), {p.waiting * p.event_bytes}, p.granted};
        policy_->update(id, standing);
        model_->update(id, standing);
    }
    void tell(ConsumerId id) {
        const auto& c = consumers_[id.value];
        const ConsumerStanding standing{c.free, c.occupied, c.granted};
        policy_->update(id, standing);
        model_->update(id, standing);
    }

    void offer(std::uint32_t producer) {
        producers_[producer].waiting += draw(random_, 1, 3);
        tell(ProducerId{producer});
    }

    void give_credit(std::uint32_t consumer) {
        auto& c = consumers_[consumer];
        if (c.free + c.occupied < plan_.slots && random_.below(c.slowness) == 0) {
            ++c.free;
            tell(ConsumerId{consumer});
        }
    }

    /// A transfer is done (its size was only estimated), or, rarely, was declined: then the credit is back.
    void finish_transfer() {
        if (under_way_.empty()) {
            return;
        }
        const std::size_t which = random_.below(under_way_.size());
        const Pairing pair = under_way_[which];
        under_way_.erase(under_way_.begin() + static_cast<std::ptrdiff_t>(which));
        auto& p = producers_[pair.producer.value];
        auto& c = consumers_[pair.consumer.value];
        const bool declined = random_.below(10) == 0;
        const Bytes correction{declined ? -p.event_bytes : draw(random_, 0, 2) - std::int64_t{1}};
        --p.under_way;
        p.granted += correction;
        --c.occupied;
        c.granted += correction;
        tell(pair.producer);
        tell(pair.consumer);
        if (declined) {
            ++c.free;
            tell(pair.consumer);
        }
    }

    void grant() {
        const bool possible = policy_->producer_available() && policy_->consumer_available();
        const auto pair = policy_->choose();
        const auto expected = model_->choose();
        must_hold(pair.has_value() == possible, "there is a choice if both sides are available");
        if (!pair) {
            return;
        }
        if (model_->foretells()) {
            must_hold(expected.has_value(), "the model chooses too");
            must_hold(pair->producer == expected->producer, "the producer is the model's");
            must_hold(pair->consumer == expected->consumer, "the consumer is the model's");
        }
        auto& p = producers_.at(pair->producer.value);
        auto& c = consumers_.at(pair->consumer.value);
        must_hold(eligible(p), "the producer chosen is eligible");
        must_hold(c.free > 0, "the consumer chosen has a free slot");
        count_waits(*pair);
        granted_.push_back(*pair);
        under_way_.push_back(*pair);
        --p.waiting;
        ++p.under_way;
        p.granted += Bytes{p.event_bytes};
        --c.free;
        ++c.occupied;
        c.granted += Bytes{p.event_bytes};
        // The contract leaves the order open.
        if (random_.below(2) == 0) {
            tell(pair->producer);
            tell(pair->consumer);
        } else {
            tell(pair->consumer);
            tell(pair->producer);
        }
    }

    /// For how many choices in a row each candidate was not the one.
    void count_waits(const Pairing& pair) {
        for (std::uint32_t i = 0; i < producers_.size(); ++i) {
            auto& p = producers_[i];
            p.passed_over = eligible(p) && i != pair.producer.value ? p.passed_over + 1 : 0;
            longest_producer_wait_ = std::max(longest_producer_wait_, p.passed_over);
        }
        for (std::uint32_t i = 0; i < consumers_.size(); ++i) {
            auto& c = consumers_[i];
            c.passed_over = c.free > 0 && i != pair.consumer.value ? c.passed_over + 1 : 0;
            longest_consumer_wait_ = std::max(longest_consumer_wait_, c.passed_over);
        }
    }

    std::uint64_t seed_;
    int step_ = 0;
    Random random_;
    Plan plan_;
    std::unique_ptr<Policy> policy_;
    std::unique_ptr<Model> model_;
    std::vector<Producer> producers_;
    std::vector<Consumer> consumers_;
    std::vector<Pairing> under_way_;
    std::vector<Pairing> granted_;
    std::uint64_t longest_producer_wait_ = 0;
    std::uint64_t longest_consumer_wait_ = 0;
};

Farm run_farm(PolicyKind kind, std::uint64_t seed, int steps) {
    Farm farm(kind, seed);
    for (int step = 0; step < steps; ++step) {
        farm.step();
    }
    return farm;
}

constexpr std::uint64_t seeds = 1000;

void check_against_model(PolicyKind kind) {
    std::size_t grants = 0;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        grants += run_farm(kind, seed, 400).granted().size();
    }
    // The traffic is worth something only if it moves.
    CHECK(grants > 10 * seeds);
}

}  // namespace

TEST_CASE("Every policy agrees with its model, or at least chooses only who is available") {
    for (const PolicyRow& policy : policy_table) {
        if (policy.make != nullptr) {
            INFO(policy.name);
            check_against_model(policy.kind);
        }
    }
}

TEST_CASE("The balanced and the token policy starve nobody") {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        CAPTURE(seed);
        const auto balanced = run_farm(PolicyKind::balanced, seed, 4000);
        constexpr auto factor = BalancedPolicy::starvation_factor + 1;
        CHECK(balanced.longest_producer_wait() <= factor * balanced.plan().producers);
        CHECK(balanced.longest_consumer_wait() <= factor * balanced.plan().consumers);
        const auto token = run_farm(PolicyKind::token, seed, 4000);
        CHECK(token.longest_producer_wait() < token.plan().producers);
        CHECK(token.longest_consumer_wait() < token.plan().consumers * token.plan().slots);
    }
}

TEST_CASE("Every policy makes the same choices for the same seed") {
    for (const PolicyRow& policy : policy_table) {
        for (std::uint64_t seed = 0; policy.make != nullptr && seed < 20; ++seed) {
            CAPTURE(policy.name, seed);
            const auto first = run_farm(policy.kind, seed, 400);
            const auto second = run_farm(policy.kind, seed, 400);
            CHECK(std::equal(first.granted().begin(), first.granted().end(), second.granted().begin(),
                             second.granted().end(), [](const Pairing& a, const Pairing& b) {
                                 return a.producer == b.producer && a.consumer == b.consumer;
                             }));
        }
    }
}
