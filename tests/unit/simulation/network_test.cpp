// The networks behind their seam: what they report of what is sent, and when.
#include "simulation/network.hpp"

#include <algorithm>
#include <vector>

#include "catch.hpp"

using namespace weir::core;
using namespace weir::simulation;

namespace {

/// One producer and one consumer of a small plan; records what its network reports.
class Bench final : private NetworkClient {
  public:
    struct Report {
        Instant at;
        std::uint32_t value = 0;  ///< handle of a message, number of chunks
        bool operator==(const Report&) const = default;
    };
    explicit Bench(const Plan& plan, const NetworkPlan& assumed)
        : network(make_network(plan, assumed, events, *this)) {
        network->start(now);
    }

    /// Until nothing but what repeats happens, or to `end`.
    void run(Instant end) {
        for (;;) {
            const Instant in_network = network->next(now, std::min(events.next_time(), end));
            const Instant next = std::min(events.next_time(), in_network);
            if (next > end) {
                return;
            }
            const bool from_queue = events.next_time() <= next;
            now = next;
            if (from_queue) {
                network->handle(now, events.pop());
            } else {
                network->advance(now);
            }
        }
    }

    Instant now;
    Events events;
    std::unique_ptr<Network> network;
    std::vector<Report> messages;
    std::vector<Report> left;
    std::vector<Report> arrived;
    std::uint32_t dropped = 0;
    bool consumer_pauses = false;
    std::vector<QueueEvent> held;

  private:
    void chunks_left(const ChunkRun& run) override { left.push_back({now, run.count}); }
    void chunks_arrived(const ChunkRun& run) override { arrived.push_back({now, run.count}); }
    void chunk_dropped(const ChunkRun& run) override { dropped += run.count; }
    void message_arrived(std::uint32_t handle) override { messages.push_back({now, handle}); }
    [[nodiscard]] bool stands_still(FlatNode node) const override { return node == 2 && consumer_pauses; }
    void hold(FlatNode /*node*/, const QueueEvent& event) override { held.push_back(event); }
    void chunks_left_before(const ChunkRun& run) override { left.push_back({now, run.count}); }
    void chunks_arrived_before(const ChunkRun& run) override { arrived.push_back({now, run.count}); }
    void give_turn(FlatNode node) override { network->catch_up(node); }
    void record_chunks(FlatNode /*node*/, std::span<const weir::record::ChunkBytes> /*chunks*/) override {}
    void record_moving(FlatNode /*node*/, Bytes /*bytes*/, Instant /*since*/) override {}
};

/// Links of a byte per microsecond, a latency of 10 us, chunks of 1000 bytes.
Plan small_plan(TransportKind transport) {
    Plan plan;
    plan.producers = plan.consumers = 1;
    plan.chunk_size = {1000};
    plan.window = 8;
    plan.streams = 1;
    plan.transport = transport;
    return plan;
}

NetworkPlan small_network() {
    return {.producer_link = {8000000},
            .consumer_link = {8000000},
            .framing = Framing::none,
            .mtu = {4096},
            .port_buffer = {2000},
            .latency = Duration::microseconds(10),
            .scheduler_time = {}};
}

/// small_network() packet by packet; ports without a limit, and control messages on links of their own.
NetworkPlan datagram_network() {
    NetworkPlan network = small_network();
    network.model = NetworkModel::packet;
    network.separate_control = true;
    network.fabric.switches.pool = {std::int64_t{1} << 40};
    return network;
}

NetworkPlan network_for(TransportKind transport) {
    return transport == TransportKind::datagram ? datagram_network() : small_network();
}

std::vector<SendChunk> chunks_of_event(std::uint32_t count) {
    std::vector<SendChunk> chunks(count);
    for (std::uint32_t sequence = 0; sequence < count; ++sequence) {
        chunks[sequence].chunk = {.event = EventId::of(ProducerId{0}, 0),
                                  .event_bytes = {1000 * std::int64_t{count}},
                                  .offset = {1000 * std::int64_t{sequence}},
                                  .length = {1000},
                                  .sequence = sequence,
                                  .generated_at = {}};
    }
    return chunks;
}

Instant after_us(std::int64_t us) {
    return Instant{} + Duration::microseconds(us);
}

/// But for the clocks of links, which are up to 100 ppm slow, and what is random.
bool is_at(Instant at, std::int64_t us, std::int64_t random_us = 0) {
    return at >= after_us(us) && at <= Instant{after_us(us).ns * 10001 / 10000 + 1000 * random_us};
}

std::uint32_t sum_of(const std::vector<Bench::Report>& reports) {
    std::uint32_t sum = 0;
    for (const Bench::Report& report : reports) {
        sum += report.value;
    }
    return sum;
}

}  // namespace

TEST_CASE("a message takes the latency and its bytes, and does not queue") {
    for (const TransportKind transport : {TransportKind::send, TransportKind::datagram}) {
        Bench bench(small_plan(transport), network_for(transport));
        bench.network->send_message(bench.now, 1, 0, {100}, 7);
        bench.network->send_message(bench.now, 0, 2, {50}, 8);
        bench.network->send_message(bench.now, 1, 0, {100}, 9);
        bench.run(after_us(1000));
        CHECK(bench.messages ==
              std::vector<Bench::Report>{{after_us(60), 8}, {after_us(110), 7}, {after_us(110), 9}});
    }
}

TEST_CASE("results queue, and a message to the scheduler stays behind the results of its sender") {
    Bench bench(small_plan(TransportKind::send), small_network());
    bench.network->send_result(bench.now, 2, {1000}, 1);
    bench.network->send_result(bench.now, 2, {1000}, 2);
    bench.network->send_message(bench.now, 2, 0, {100}, 3);
    bench.network->send_message(bench.now, 2, 1, {100}, 4);
    bench.network->send_message(bench.now, 1, 0, {200}, 5);
    bench.run(after_us(5000));
    CHECK(bench.messages == std::vector<Bench::Report>{{after_us(110), 4},
                                                       {after_us(210), 5},
                                                       {after_us(1010), 1},
                                                       {after_us(2010), 2},
                                                       {after_us(2110), 3}});
}

TEST_CASE("delayed messages arrive in order, also behind those that are sent when the delay is over") {
    Bench bench(small_plan(TransportKind::send), small_network());
    bench.network->set_extra_delay(Duration::milliseconds(1));
    for (std::uint32_t handle = 0; handle < 100; ++handle) {
        if (handle == 90) {
            bench.network->set_extra_delay({});
        }
        bench.network->send_message(bench.now, 1, 0, {100}, handle);
    }
    bench.run(after_us(5000));
    REQUIRE(bench.messages.size() == 100);
    for (std::uint32_t handle = 0; handle < 100; ++handle) {
        CHECK(bench.messages[handle].value == handle);
    }
    CHECK(bench.messages[0].at >= after_us(110));
    CHECK(bench.messages[99].at > after_us(500));
    CHECK(bench.messages[99].at <= after_us(1110));
}

TEST_CASE(
    "How long a message is delayed does not depend on messages between others, or on how many nodes there "
    "are") {
    const auto arrivals = [](std::uint32_t producers, bool others) {
        Plan plan = small_plan(TransportKind::send);
        plan.producers = producers;
        Bench bench(plan, small_network());
        bench.network->set_extra_delay(Duration::microseconds(500));
        const FlatNode consumer = 1 + producers;
        std::vector<Bench::Report> of_pair;
        for (std::uint32_t message = 0; message < 20; ++message) {
            bench.now = after_us(1000 * std::int64_t{message});
            if (others) {
                bench.network->send_message(bench.now, 0, 1, {80}, 100);
            }
            bench.network->send_message(bench.now, consumer, 0, {80}, message);
            bench.run(bench.now + Duration::microseconds(900));
        }
        std::copy_if(bench.messages.begin(), bench.messages.end(), std::back_inserter(of_pair),
                     [](const Bench::Report& report) { return report.value < 100; });
        return of_pair;
    };
    const std::vector<Bench::Report> alone = arrivals(1, false);
    REQUIRE(alone.size() == 20);
    CHECK(arrivals(1, true) == alone);
    CHECK(arrivals(3, false) == alone);
}

TEST_CASE("delayed messages arrive before instant 0 if they are sent long before it") {
    Bench bench(small_plan(TransportKind::send), small_network());
    bench.now = Instant{} - Duration::seconds(1);
    bench.network->set_extra_delay(Duration::milliseconds(1));
    bench.network->send_message(bench.now, 1, 0, {100}, 0);
    bench.run(Instant{});
    REQUIRE(bench.messages.size() == 1);
    CHECK(bench.messages[0].at < Instant{} - Duration::milliseconds(990));
}

TEST_CASE("of a transfer in the fluid, the first chunk arrives on time and all when it is through") {
    Bench bench(small_plan(TransportKind::send), small_network());
    bench.network->send_chunks(bench.now, 0, chunks_of_event(50));
    bench.run(after_us(100000));
    REQUIRE_FALSE(bench.arrived.empty());
    CHECK(bench.arrived.front() == Bench::Report{after_us(1010), 1});
    CHECK(bench.left.back().at == after_us(50000));
    CHECK(bench.arrived.back().at == after_us(50010));
    CHECK(sum_of(bench.left) == 50);
    CHECK(sum_of(bench.arrived) == 50);
}

TEST_CASE("the fluid reports what has left by now when it is asked to") {
    Bench bench(small_plan(TransportKind::send), small_network());
    CHECK(bench.network->report_period() > Duration{});
    bench.network->send_chunks(bench.now, 0, chunks_of_event(50));
    bench.run(after_us(1010));  // the first chunk arrives
    bench.now = after_us(5500);
    bench.network->report_left(bench.now, 1);
    CHECK(sum_of(bench.left) == 5);
}

TEST_CASE("a link that carries half takes twice the time") {
    Bench bench(small_plan(TransportKind::send), small_network());
    bench.network->set_link(bench.now, 2, 0.5);
    bench.network->send_chunks(bench.now, 0, chunks_of_event(5));
    bench.run(after_us(100000));
    CHECK(bench.left.back().at == after_us(10000));
}

TEST_CASE("datagrams are reported one by one, and dropped where the port is full") {
    const Plan plan = small_plan(TransportKind::datagram);
    NetworkPlan network = datagram_network();
    network.consumer_link = {4000000};
    network.fabric.switches.egress_threshold = {1500};
    Bench bench(plan, network);
    CHECK(bench.network->report_period() == Duration{});
    bench.network->send_chunks(bench.now, 0, chunks_of_event(4));
    bench.run(after_us(100000));
    // They leave every 1000 us, the first one after a random time of up to that, and the port takes 2000 us
    // for each: the second one and the third one wait for it, but the buffer has room for one.
    CHECK(bench.dropped == 1);
    REQUIRE(bench.left.size() == 4);
    REQUIRE(bench.arrived.size() == 3);
    for (std::uint32_t datagram = 0; datagram < 4; ++datagram) {
        CHECK(is_at(bench.left[datagram].at, 1000 * (datagram + 1), 1000));
        CHECK((bench.left[datagram].at - bench.left[0].at).ns / 1000 == 1000 * datagram);
    }
    for (std::uint32_t datagram = 0; datagram < 3; ++datagram) {
        CHECK(is_at(bench.arrived[datagram].at, 2000 * (datagram + 1) + 1010, 1000));
    }
}

TEST_CASE("what would reach a node that stands still is held and comes back") {
    for (const TransportKind transport : {TransportKind::send, TransportKind::datagram}) {
        Bench bench(small_plan(transport), network_for(transport));
        bench.network->send_chunks(bench.now, 0, chunks_of_event(1));
        bench.consumer_pauses = true;
        bench.run(after_us(9000));
        CHECK(bench.arrived.empty());
        REQUIRE(bench.held.size() == 1);
        bench.consumer_pauses = false;
        bench.network->handle(bench.now, bench.held.front());
        CHECK(sum_of(bench.arrived) == 1);
    }
}
