// A simulated network by itself: chunks that are sent at once, and when they arrive.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "catch.hpp"
#include "core/network_plan.hpp"
#include "simulation/network.hpp"

namespace weir::simulation::test {

using namespace core;

inline constexpr BitRate line{8'000'000'000};  // a byte per nanosecond
inline constexpr std::int64_t chunk_bytes = 100'000;

/// Sends chunks at once and notes when they arrive.
class Transfers final : private NetworkClient {
  public:
    Transfers(std::uint32_t producers, std::uint32_t consumers, const NetworkPlan& assumed,
              std::uint64_t seed = 1)
        : plan_(plan_of(producers, consumers, seed)), network_(make_network(plan_, assumed, events_, *this)) {
        network_->start(now_);
    }
    void send(std::uint32_t from, std::uint32_t to, std::uint32_t chunks) {
        for (std::uint32_t sequence = 0; sequence < chunks; ++sequence) {
            SendChunk chunk;
            chunk.chunk = {.event = EventId::of(ProducerId{from}, 0),
                           .event_bytes = {chunk_bytes * chunks},
                           .offset = {chunk_bytes * sequence},
                           .length = {chunk_bytes},
                           .sequence = sequence,
                           .generated_at = {}};
            chunk.to = {to};
            network_->send_chunks(now_, from, std::span(&chunk, 1));
        }
    }
    /// To the end, or until then: a fluid looks at transfers for ever.
    void run(core::Instant until = core::Instant::never()) {
        for (;;) {
            const Instant in_network = network_->next(now_, events_.next_time());
            const Instant next = std::min(events_.next_time(), in_network);
            if (next == Instant::never() || next > until) {
                return;
            }
            const bool from_queue = events_.next_time() <= next;
            now_ = next;
            from_queue ? network_->handle(now_, events_.pop()) : network_->advance(now_);
        }
    }
    /// Payload per line rate of the time until the last chunk of a consumer has come.
    [[nodiscard]] double rate_to(std::uint32_t consumer) {
        return static_cast<double>(chunk_bytes) * received_[consumer] /
               static_cast<double>((last_[consumer] - Instant{}).ns);
    }
    [[nodiscard]] Network& network() { return *network_; }
    [[nodiscard]] Instant now() const { return now_; }
    std::map<std::uint32_t, std::uint32_t> received_;  ///< chunks by consumer
    std::map<std::uint32_t, Instant> last_;
    std::uint32_t left_ = 0;
    std::vector<std::uint32_t> messages_;
    std::map<FlatNode, bool> stands_;

  private:
    static Plan plan_of(std::uint32_t producers, std::uint32_t consumers, std::uint64_t seed) {
        Plan plan;
        plan.producers = producers;
        plan.consumers = consumers;
        plan.chunk_size = {chunk_bytes};
        plan.streams = 16;
        plan.seed = seed;
        return plan;
    }
    void chunks_left(const ChunkRun& run) override { left_ += run.count; }
    void chunks_arrived(const ChunkRun& run) override {
        received_[run.chunk.to.value] += run.count;
        last_[run.chunk.to.value] = now_;
    }
    void chunk_dropped(const ChunkRun& /*run*/) override { FAIL("lost"); }
    void message_arrived(std::uint32_t handle) override { messages_.push_back(handle); }
    [[nodiscard]] bool stands_still(FlatNode node) const override { return stands_.contains(node); }
    void hold(FlatNode /*node*/, const QueueEvent& /*event*/) override {}
    void chunks_left_before(const ChunkRun& run) override { left_ += run.count; }
    void chunks_arrived_before(const ChunkRun& run) override { received_[run.chunk.to.value] += run.count; }
    void give_turn(FlatNode /*node*/) override {}
    void record_chunks(FlatNode /*node*/, std::span<const record::ChunkBytes> /*chunks*/) override {}
    void record_moving(FlatNode /*node*/, Bytes /*bytes*/, Instant /*since*/) override {}

    Plan plan_;
    Instant now_;
    Events events_;
    std::unique_ptr<Network> network_;
};

}  // namespace weir::simulation::test
