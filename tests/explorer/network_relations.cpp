#include "explorer/network_relations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "core/random.hpp"
#include "simulation/network.hpp"
#include "simulation/switched_counters.hpp"

namespace weir::explorer {

namespace {

using namespace simulation;

using core::Bytes;
using core::Duration;
using core::Instant;

constexpr std::int64_t mega = 1'000'000;
constexpr std::int64_t longest_frame = 4096 + 82;
/// More than any transfer here takes.
constexpr Duration relation_patience = Duration::seconds(100);

struct Transfer {
    Instant at;
    std::uint32_t producer = 0;
    std::uint32_t consumer = 0;
    std::uint32_t chunks = 1;  ///< of the plan's size
};

/// A network and what goes through it.
struct Scenario {
    core::Plan plan;
    core::NetworkPlan network;
    std::vector<Transfer> transfers;  ///< by time
};

/// What is reported of a transfer.
struct Course {
    Instant last_arrived = Instant::never();
    Instant last_left = Instant::never();
    std::uint32_t arrived = 0;  ///< chunks
    std::uint32_t left = 0;
    std::uint32_t dropped = 0;
    bool operator==(const Course&) const = default;
};

/// Sends the transfers of a scenario and notes what the network reports.
class Observer final : private NetworkClient {
  public:
    explicit Observer(const Scenario& scenario)
        : scenario_(scenario),
          network_(make_network(scenario.plan, scenario.network, events_, *this)),
          first_of_(scenario.plan.producers) {
        network_->start(now_);
        courses.resize(scenario.transfers.size());
        for (std::uint32_t index = 0; index < scenario.transfers.size(); ++index) {
            const Transfer& transfer = scenario.transfers[index];
            go_to(transfer.at);
            now_ = transfer.at;
            send(index, transfer);
        }
        const Instant limit = now_ + relation_patience;
        while (open_ > 0 && step(limit)) {
        }
    }

    std::vector<Course> courses;
    [[nodiscard]] const packet::PacketNetwork& packets() const { return network_->counters()->packets(); }

  private:
    /// What happens next, if not after `limit`.
    bool step(Instant limit) {
        const Instant in_network = network_->next(now_, std::min(events_.next_time(), limit));
        const Instant next = std::min(events_.next_time(), in_network);
        if (next > limit) {
            return false;
        }
        const bool from_queue = events_.next_time() <= next;
        now_ = next;
        if (from_queue) {
            network_->handle(now_, events_.pop());
        } else {
            network_->advance(now_);
        }
        return true;
    }
    void go_to(Instant until) {
        while (step(until)) {
        }
    }
    void send(std::uint32_t index, const Transfer& transfer) {
        std::vector<std::uint32_t>& of_producer = first_of_[transfer.producer];
        const auto number = static_cast<std::uint32_t>(of_producer.size());
        of_producer.push_back(index);
        const Bytes size = scenario_.plan.chunk_size;
        std::vector<core::SendChunk> chunks(transfer.chunks);
        for (std::uint32_t sequence = 0; sequence < transfer.chunks; ++sequence) {
            core::SendChunk& chunk = chunks[sequence];
            chunk.to = core::ConsumerId{transfer.consumer};
            chunk.stream = core::StreamId{number};
            chunk.chunk = {.event = core::EventId::of(core::ProducerId{transfer.producer}, number),
                           .event_bytes = size * transfer.chunks,
                           .offset = size * sequence,
                           .length = size,
                           .sequence = sequence,
                           .generated_at = {}};
        }
        ++open_;
        network_->send_chunks(now_, transfer.producer, chunks);
    }

    Course& course(const ChunkRun& run) {
        return courses[first_of_[run.producer][run.chunk.chunk.event.sequence()]];
    }
    void close(const ChunkRun& run, const Course& course) {
        const std::uint32_t all =
            scenario_.transfers[first_of_[run.producer][run.chunk.chunk.event.sequence()]].chunks;
        open_ -= course.left == all && course.arrived + course.dropped == all ? 1 : 0;
    }
    void note_left(const ChunkRun& run) {
        Course& noted = course(run);
        noted.left += run.count;
        noted.last_left = now_;
        close(run, noted);
    }
    void note_arrived(const ChunkRun& run) {
        Course& noted = course(run);
        noted.arrived += run.count;
        noted.last_arrived = now_;
        close(run, noted);
    }

    void chunks_left(const ChunkRun& run) override { note_left(run); }
    void chunks_arrived(const ChunkRun& run) override { note_arrived(run); }
    void chunk_dropped(const ChunkRun& run) override {
        Course& noted = course(run);
        noted.dropped += run.count;
        close(run, noted);
    }
    void message_arrived(std::uint32_t /*handle*/) override {}
    [[nodiscard]] bool stands_still(FlatNode /*node*/) const override { return false; }
    void hold(FlatNode /*node*/, const QueueEvent& /*event*/) override {}
    void chunks_left_before(const ChunkRun& run) override { note_left(run); }
    void chunks_arrived_before(const ChunkRun& run) override { note_arrived(run); }
    void give_turn(FlatNode node) override { network_->catch_up(node); }
    void record_chunks(FlatNode /*node*/, std::span<const record::ChunkBytes> /*chunks*/) override {}
    void record_moving(FlatNode /*node*/, Bytes /*bytes*/, Instant /*since*/) override {}

    const Scenario& scenario_;
    Instant now_;
    Events events_;
    std::unique_ptr<Network> network_;
    std::vector<std::vector<std::uint32_t>> first_of_;  ///< indices of transfers, by producer and number
    std::size_t open_ = 0;
};

using Courses = std::vector<Course>;

Courses courses_of(const Scenario& scenario) {
    return Observer(scenario).courses;
}

class Relations {
  public:
    explicit Relations(std::uint64_t seed)
        : seed_(seed), random_(seed, core::random_stream(core::RandomPurpose::exploration, 1)) {}

    std::string broken() {
        for (const auto check :
             {&Relations::fluid, &Relations::packets, &Relations::datagrams, &Relations::shares}) {
            if (std::string what = (this->*check)(); !what.empty()) {
                return what;
            }
        }
        return {};
    }

  private:
    std::int64_t number(std::int64_t least, std::int64_t most) {
        return least + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(most - least) + 1));
    }
    core::BitRate rate() { return {number(1, 4) * 250 * mega}; }

    Scenario drawn(bool datagrams) {
        Scenario scenario;
        core::Plan& plan = scenario.plan;
        plan.seed = seed_;
        plan.producers = static_cast<std::uint32_t>(number(1, 5));
        plan.consumers = static_cast<std::uint32_t>(number(1, 4));
        plan.chunk_size = {datagrams ? 1000 : number(500, 5000)};
        plan.transport = datagrams ? core::TransportKind::datagram : core::TransportKind::send;
        plan.warmup = {};
        plan.streams = 64;  // more than there are transfers
        core::NetworkPlan& network = scenario.network;
        network.producer_link = rate();
        network.consumer_link = rate();
        network.mtu = {4096};
        network.latency = Duration::nanoseconds(number(0, 20'000));
        network.port_buffer = {1 << 30};
        Instant at;
        for (std::int64_t left = number(1, 30); left > 0; --left) {
            scenario.transfers.push_back({at, static_cast<std::uint32_t>(number(0, plan.producers - 1)),
                                          static_cast<std::uint32_t>(number(0, plan.consumers - 1)),
                                          static_cast<std::uint32_t>(number(1, 20))});
            at = at + Duration::nanoseconds(number(0, 3) * number(0, 50'000));
        }
        return scenario;
    }

    /// The latency is that of both cables. All that a port sends until it heeds a pause: what it has begun,
    /// the same on the way of the pause, which other pauses may precede, and what is on the cable both ways.
    static Bytes headroom_for(const core::NetworkPlan& network, core::BitRate fastest) {
        return Bytes{4 * longest_frame + 2'000} + core::bytes_in(fastest, network.latency);
    }

    void make_packets(Scenario& scenario) {
        core::NetworkPlan& network = scenario.network;
        network.model = core::NetworkModel::packet;
        network.framing = random_.below(4) == 0 ? core::Framing::tcp : core::Framing::roce;
        core::SwitchPlan& switches = network.fabric.switches;
        switches.pool = {std::int64_t{1} << 40};
        switches.egress_threshold = {number(20'000, 200'000)};
        if (random_.below(2) == 0) {
            switches.lossless = core::mask_of(network.fabric.data_priority);
            switches.ingress_threshold = {number(20'000, 100'000)};
            // Slow ports have a quarter of this.
            switches.headroom_at_100g = headroom_for(network, {1000 * mega}) * 4;
        }
        switches.arbitration =
            random_.below(4) == 0 ? core::Arbitration::ingress_round_robin : core::Arbitration::fifo;
        switches.ecn.on = random_.below(2) == 0;
        switches.ecn.all_above = {number(5'000, 100'000)};
        network.fabric.nics.dcqcn.on = switches.ecn.on;
        network.fabric.nics.dcqcn.rules =
            random_.below(2) == 0 ? core::DcqcnRules::paper : core::DcqcnRules::hpcc;
        network.fabric.nics.control = static_cast<core::PairControl>(random_.below(3));
        network.fabric.queue_pairs = {.of_events = random_.below(3) == 0};
        if (!network.fabric.queue_pairs.of_events) {
            network.fabric.queue_pairs.of_a_pair = static_cast<std::uint32_t>(number(1, 4));
        }
        network.fabric.nics.recovery =
            random_.below(2) == 0 ? core::LossRecovery::go_back_n : core::LossRecovery::selective;
        network.fabric.nics.ack_timeout = Duration::milliseconds(2);
        network.fabric.tcp.initial_timeout = network.fabric.tcp.least_timeout = Duration::milliseconds(3);
    }

    // Relations

    static std::string difference(const char* relation, const Courses& expected, const Courses& found) {
        for (std::size_t index = 0; index < expected.size(); ++index) {
            const Course& a = expected[index];
            const Course& b = found[index];
            if (a != b) {
                return fmt::format(
                    "relation `{}`: transfer {} has arrived at {} ns and left at {} ns, {} chunks of it are "
                    "lost; expected {} ns, {} ns, {}",
                    relation, index, b.last_arrived.ns, b.last_left.ns, b.dropped, a.last_arrived.ns,
                    a.last_left.ns, a.dropped);
            }
        }
        return {};
    }

    std::string later(const Scenario& scenario, const Courses& courses) {
        const Duration time = Duration::nanoseconds(number(1, 3'000'000'000));
        Scenario moved = scenario;
        for (Transfer& transfer : moved.transfers) {
            transfer.at = transfer.at + time;
        }
        Courses expected = courses;
        for (Course& course : expected) {
            for (Instant* const at : {&course.last_arrived, &course.last_left}) {
                *at = *at == Instant::never() ? *at : *at + time;
            }
        }
        return difference("later", expected, courses_of(moved));
    }

    static std::string idle(const Scenario& scenario, const Courses& courses) {
        Scenario larger = scenario;
        ++larger.plan.producers;
        ++larger.plan.consumers;
        return difference("idle", courses, courses_of(larger));
    }

    static std::string permuted(const Scenario& scenario, const Courses& courses) {
        Scenario reversed = scenario;
        for (Transfer& transfer : reversed.transfers) {
            transfer.producer = scenario.plan.producers - 1 - transfer.producer;
            transfer.consumer = scenario.plan.consumers - 1 - transfer.consumer;
        }
        return difference("permuted", courses, courses_of(reversed));
    }

    static std::string conserved(const Scenario& scenario, const Courses& courses) {
        for (std::size_t index = 0; index < courses.size(); ++index) {
            const std::uint32_t chunks = scenario.transfers[index].chunks;
            const Course& course = courses[index];
            if (course.left != chunks || course.arrived + course.dropped != chunks ||
                (course.dropped > 0 && !scenario.plan.lossy())) {
                return fmt::format(
                    "relation `conserved`: of {} chunks of transfer {}, {} left, {} arrived, {} are lost",
                    chunks, index, course.left, course.arrived, course.dropped);
            }
        }
        return {};
    }

    static std::string conserved_by_flow(const packet::PacketNetwork& packets) {
        const std::vector<std::uint64_t> inside = packets.bytes_inside();
        for (std::uint32_t index = 0; index < packets.flows(); ++index) {
            const packet::Flow::WireBytes& traffic = packets.flow({index}).traffic;
            if (traffic.sent != traffic.arrived + traffic.dropped + inside[index]) {
                return fmt::format(
                    "relation `conserved`: of {} bytes of flow {}, {} arrived, {} were dropped, {} are "
                    "inside",
                    traffic.sent, index, traffic.arrived, traffic.dropped, inside[index]);
            }
        }
        return {};
    }

    std::string fluid() {
        const Scenario scenario = drawn(false);
        const Courses courses = courses_of(scenario);
        return first_of({conserved(scenario, courses), later(scenario, courses), idle(scenario, courses),
                         permuted(scenario, courses)});
    }

    std::string packets() {
        Scenario scenario = drawn(false);
        make_packets(scenario);
        const Observer observer(scenario);
        const core::SwitchPlan& switches = scenario.network.fabric.switches;
        std::string lost;
        if (const std::uint64_t dropped = dropped_at_ports(scenario, observer.packets());
            switches.lossless != 0 && dropped > 0) {
            lost = fmt::format("relation `headroom`: {} packets are lost in spite of {} bytes of headroom",
                               dropped, core::headroom(switches, {1000 * mega}).count);
        }
        return first_of({lost, conserved(scenario, observer.courses), conserved_by_flow(observer.packets()),
                         idle(scenario, observer.courses), later(scenario, observer.courses)});
    }

    /// By the switch, which has two links for each host.
    static std::uint64_t dropped_at_ports(const Scenario& scenario, const packet::PacketNetwork& packets) {
        const std::uint32_t hosts = 1 + scenario.plan.producers + scenario.plan.consumers;
        std::uint64_t dropped = 0;
        for (packet::LinkIndex link = 0; link < 2 * hosts; ++link) {
            dropped += packets.counts(link, scenario.network.fabric.data_priority).dropped;
        }
        return dropped;
    }

    std::string datagrams() {
        Scenario scenario = drawn(true);
        scenario.network.model = core::NetworkModel::packet;
        core::SwitchPlan& switches = scenario.network.fabric.switches;
        switches.pool = {std::int64_t{1} << 40};
        switches.egress_threshold = {number(2'000, 20'000)};
        const Courses courses = courses_of(scenario);
        const auto lost = [&scenario](const Courses& some) {
            std::vector<std::uint32_t> by_consumer(scenario.plan.consumers);
            for (std::size_t index = 0; index < some.size(); ++index) {
                by_consumer[scenario.transfers[index].consumer] += some[index].dropped;
            }
            return by_consumer;
        };
        Scenario larger = scenario;
        larger.network.fabric.switches.egress_threshold.count += number(1, 20'000);
        const std::vector<std::uint32_t> before = lost(courses);
        const std::vector<std::uint32_t> after = lost(courses_of(larger));
        std::string memory;
        for (std::size_t consumer = 0; consumer < before.size(); ++consumer) {
            if (after[consumer] > before[consumer]) {
                memory = fmt::format(
                    "relation `memory`: with {} bytes before its port, consumer {} loses {} datagrams, with "
                    "{} bytes {}",
                    switches.egress_threshold.count, consumer, before[consumer],
                    larger.network.fabric.switches.egress_threshold.count, after[consumer]);
            }
        }
        return first_of(
            {memory, conserved(scenario, courses), later(scenario, courses), idle(scenario, courses)});
    }

    std::string shares() {
        Scenario scenario = drawn(false);
        scenario.plan.producers = static_cast<std::uint32_t>(number(2, 6));
        scenario.plan.chunk_size = {4096};
        scenario.network.producer_link = scenario.network.consumer_link = rate();
        scenario.transfers.clear();
        const auto chunks = static_cast<std::uint32_t>(number(50, 200));
        for (std::uint32_t producer = 0; producer < scenario.plan.producers; ++producer) {
            scenario.transfers.push_back({Instant{}, producer, 0, chunks});
        }
        std::string unequal = unequal_ends(scenario, Duration::nanoseconds(2));
        scenario.network.model = core::NetworkModel::packet;
        scenario.network.fabric.switches.pool = {std::int64_t{1} << 40};
        const Duration frame =
            core::time_for(scenario.network.consumer_link, {2 * longest_frame * scenario.plan.producers});
        return first_of({unequal, unequal_ends(scenario, frame)});
    }

    static std::string unequal_ends(const Scenario& scenario, Duration tolerance) {
        const Courses courses = courses_of(scenario);
        const auto [first, last] = std::minmax_element(
            courses.begin(), courses.end(),
            [](const Course& a, const Course& b) { return a.last_arrived < b.last_arrived; });
        if (last->last_arrived == Instant::never() || last->last_arrived - first->last_arrived > tolerance) {
            return fmt::format(
                "relation `shares`: of {} equal transfers the first has arrived at {} ns and the last at {} "
                "ns",
                courses.size(), first->last_arrived.ns, last->last_arrived.ns);
        }
        return {};
    }

    static std::string first_of(const std::vector<std::string>& broken) {
        const auto found =
            std::find_if(broken.begin(), broken.end(), [](const std::string& what) { return !what.empty(); });
        return found == broken.end() ? std::string{} : *found;
    }

    std::uint64_t seed_;
    core::Random random_;
};

}  // namespace

std::string broken_relation(std::uint64_t seed) {
    return Relations(seed).broken();
}

}  // namespace weir::explorer
