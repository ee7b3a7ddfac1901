// Writes the inputs that the fuzzers begin with: what really comes to the nodes in small runs, whose messages
// and chunks arrive at once and in order, in the form that the harnesses read.
//
//     write_fuzz_corpus DIRECTORY        DIRECTORY/scheduler/..., DIRECTORY/producer/..., ...
//
// Messages are written as they lie in memory, so the bytes between their fields differ from time to time.
#include <array>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/consumer.hpp"
#include "core/distribution.hpp"
#include "core/plan.hpp"
#include "core/policies/policy_table.hpp"
#include "core/producer.hpp"
#include "core/random.hpp"
#include "core/scheduler.hpp"
#include "job/job.hpp"
#include "job/join_connection.hpp"
#include "job/packet.hpp"
#include "participant/rank_node.hpp"
#include "record/host_counters.hpp"
#include "record/rank_summary.hpp"
#include "small_plan.hpp"
#include "steps.hpp"
#include "transport/chunk_header.hpp"
#include "transport/datagram/datagram_header.hpp"

using namespace weir;

namespace {

constexpr std::uint64_t runs = 40;

class Bytes {
  public:
    template <typename T>
    Bytes& put(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        return put(std::as_bytes(std::span(&value, 1)));
    }
    Bytes& put(std::span<const std::byte> bytes) {
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
        return *this;
    }
    Bytes& put(core::NodeId node) {
        put(static_cast<std::uint8_t>(node.role));
        return node.role == core::Role::scheduler ? *this : put(static_cast<std::uint8_t>(node.index));
    }
    void write(const std::filesystem::path& directory, const std::string& name) const {
        std::filesystem::create_directories(directory);
        std::ofstream(directory / name, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes_.data()), static_cast<std::streamsize>(bytes_.size()));
    }
    [[nodiscard]] std::size_t size() const { return bytes_.size(); }
    [[nodiscard]] std::span<const std::byte> span() const { return bytes_; }

  private:
    std::vector<std::byte> bytes_;
};

using PlanBytes = std::array<std::uint8_t, fuzz::plan_bytes>;

core::Plan plan_of(const PlanBytes& bytes) {
    fuzz::FuzzInput input(bytes.data(), bytes.size());
    return fuzz::small_plan(input);
}

/// All nodes of a run; what the first of each kind receives is written down.
class World {
  public:
    explicit World(const PlanBytes& bytes)
        : plan_(plan_of(bytes)),
          now_(core::Instant{} - plan_.warmup),
          scheduler_(plan_, make_policy(plan_, 1)) {
        for (Bytes* record : {&to_scheduler, &to_producer, &to_consumer}) {
            record->put(bytes);
        }
        for (std::uint32_t p = 0; p < plan_.producers; ++p) {
            producers_.emplace_back(
                plan_, core::ProducerId{p},
                core::EventGenerator(plan_, core::Sampler(plan_.event_size, core::Random(1, 1)), now_,
                                     core::Instant{} + plan_.duration,
                                     core::set_phase(plan_, core::ProducerId{p}), core::ProducerId{p}));
        }
        for (std::uint32_t c = 0; c < plan_.consumers; ++c) {
            std::optional<core::Sampler> results;
            if (plan_.result_size.kind != core::DistributionKind::none) {
                results.emplace(plan_.result_size, core::Random(1, 2));
            }
            consumers_.emplace_back(plan_, core::ConsumerId{c}, core::Sampler(plan_.busy, core::Random(1, 1)),
                                    results);
        }
    }

    /// False: faults, or it does not end. Nobody makes mistakes here.
    bool run() {
        for (std::uint32_t c = 0; c < plan_.consumers; ++c) {
            core::Actions out;
            consumers_[c].on_start(now_, out);
            carry_out(node_of(core::ConsumerId{c}), out);
        }
        const core::Duration turn = core::Duration::microseconds(500);
        for (int turns = 0; turns < 20000 && !scheduler_.closed(); ++turns) {
            step_time(turn);
            // What this leads to comes with the next turn, or `saturate` would go on for ever.
            for (std::size_t left = waiting_.size(); left > 0; --left) {
                const auto next = waiting_.front();
                waiting_.pop_front();
                next.chunk ? deliver_chunk(next.from, *next.chunk)
                           : deliver(next.from, next.to, next.message);
            }
        }
        return scheduler_.closed() && faults_ == 0;
    }

    Bytes to_scheduler;
    Bytes to_producer;
    Bytes to_consumer;

  private:
    struct Waiting {
        core::NodeId from;
        core::NodeId to;
        core::ControlMessage message;
        std::optional<core::SendChunk> chunk;
    };

    void step_time(core::Duration turn) {
        now_ = now_ + turn;
        for (Bytes* record : {&to_scheduler, &to_producer, &to_consumer}) {
            record->put(fuzz::Step::time).put(static_cast<std::uint32_t>(turn.ns / 1000 * 2));
        }
        core::Actions out;
        scheduler_.on_time(now_, out);
        carry_out(core::scheduler_node(), out);
        for (std::uint32_t p = 0; p < plan_.producers; ++p) {
            core::Actions of_producer;
            producers_[p].on_time(now_, of_producer);
            carry_out(node_of(core::ProducerId{p}), of_producer);
        }
        for (std::uint32_t c = 0; c < plan_.consumers; ++c) {
            core::Actions of_consumer;
            consumers_[c].on_time(now_, of_consumer);
            carry_out(node_of(core::ConsumerId{c}), of_consumer);
        }
    }

    void deliver(core::NodeId from, core::NodeId to, const core::ControlMessage& message) {
        if (to.index == 0) {
            Bytes& record = to.role == core::Role::scheduler  ? to_scheduler
                            : to.role == core::Role::producer ? to_producer
                                                              : to_consumer;
            record.put(fuzz::Step::message).put(from).put(message);
        }
        core::Actions out;
        if (to.role == core::Role::scheduler) {
            scheduler_.on_message(now_, from, message, out);
        } else if (to.role == core::Role::producer) {
            producers_[to.index].on_message(now_, from, message, out);
        } else {
            consumers_[to.index].on_message(now_, from, message, out);
        }
        carry_out(to, out);
    }

    void deliver_chunk(core::NodeId from, const core::SendChunk& chunk) {
        core::Actions left;
        if (from.index == 0) {
            to_producer.put(fuzz::Step::chunks_left).put(std::uint8_t{0});
        }
        producers_[from.index].on_chunk_sent(now_, chunk.stream, chunk.chunk.sequence, left);
        if (plan_.lossy() && ++datagrams_ % 7 == 0) {
            carry_out(from, left);
            return;
        }
        if (chunk.to.value == 0) {
            const core::ChunkDescription& described = chunk.chunk;
            to_consumer.put(fuzz::Step::chunk).put(static_cast<std::uint8_t>(chunk.place.value)).put(from);
            to_consumer.put(std::uint8_t{0}).put(described.event.value).put(described.event_bytes.count);
            to_consumer.put(described.offset.count).put(described.length.count);
            to_consumer.put(described.sequence).put(described.generated_at.ns).put(described.begun_at.ns);
            to_consumer.put(described.epoch);
        }
        core::Actions arrived;
        consumers_[chunk.to.value].on_chunk(now_, chunk.place, {.source = from, .chunk = chunk.chunk},
                                            arrived);
        carry_out(node_of(chunk.to), arrived);
        carry_out(from, left);
    }

    void carry_out(core::NodeId node, const core::Actions& out) {
        for (const core::Fault& fault : out.faults) {
            std::fprintf(stderr, "fault: %s\n", fault.detail);
            ++faults_;
        }
        for (const core::SendChunk& chunk : out.chunks) {
            waiting_.push_back({node, node_of(chunk.to), {}, chunk});
        }
        for (const core::SendResult& result : out.results) {
            to_scheduler.put(fuzz::Step::result).put(node).put(result.slot.value).put(result.event.value);
            to_scheduler.put(result.bytes.count);
            core::Actions taken;
            scheduler_.on_result(node, result, taken);
            carry_out(core::scheduler_node(), taken);
        }
        for (const core::SendMessage& message : out.messages) {
            waiting_.push_back({node, message.to, message.message, std::nullopt});
        }
    }

    core::Plan plan_;
    core::Instant now_;
    core::Scheduler scheduler_;
    std::vector<core::Producer> producers_;
    std::vector<core::Consumer> consumers_;
    std::deque<Waiting> waiting_;
    int datagrams_ = 0;
    int faults_ = 0;
};

core::SendChunk some_chunk(const core::Plan& plan) {
    core::SendChunk chunk;
    chunk.chunk = {.event = core::EventId::of({plan.producers - 1}, 17),
                   .event_bytes = plan.slot_size,
                   .offset = plan.chunk_size,
                   .length = plan.chunk_size,
                   .sequence = 1,
                   .generated_at = {123456789}};
    return chunk;
}

void write_headers(const std::filesystem::path& directory, const PlanBytes& bytes, const std::string& name) {
    core::Plan plan = plan_of(bytes);
    const core::SendChunk chunk = some_chunk(plan);
    const std::uint64_t run = 4711;
    for (const core::Verify verify :
         {core::Verify::none, core::Verify::header, core::Verify::sample, core::Verify::full}) {
        plan.verify = verify;
        Bytes header;
        header.put(bytes).put(verify).put(std::uint8_t{0}).put(run);
        std::array<std::byte, transport::header_bytes> encoded{};
        transport::encode_header(encoded, chunk.chunk, verify >= core::Verify::sample ? 99 : 0, verify);
        const std::vector<std::byte> payload(static_cast<std::size_t>(chunk.chunk.length.count));
        header.put(encoded).put(std::span<const std::byte>(payload));
        const std::string kind = std::to_string(static_cast<int>(verify));
        header.write(directory / "headers", name + "-chunk-" + kind);

        const transport::DatagramForm form(plan, run);
        std::vector<std::byte> datagram(transport::DatagramForm::size_of(chunk.chunk.length));
        form.write(datagram, chunk);
        Bytes sent;
        sent.put(bytes).put(verify).put(std::uint8_t{1}).put(run).put(std::span<const std::byte>(datagram));
        sent.write(directory / "headers", name + "-datagram-" + kind);
    }
}

Bytes one_packet(std::uint8_t rank, std::span<const std::byte> packet) {
    Bytes whole;
    whole.put(rank).put(static_cast<std::uint16_t>(packet.size())).put(packet);
    return whole;
}

void write_packets(const std::filesystem::path& directory, const PlanBytes& bytes, const std::string& name) {
    const core::Plan plan = plan_of(bytes);
    std::vector<std::byte> packet;
    Bytes all;
    all.put(bytes);
    const core::ControlMessage offer = core::Offer{{3, {900}}};
    encode_packet(job::PacketKind::control, std::span(&offer, 1), packet);
    all.put(one_packet(1, packet).span());
    const std::array nodes{core::scheduler_node(), node_of(core::ProducerId{0}),
                           node_of(core::ConsumerId{0})};
    for (std::int64_t second = -1; second < 3; ++second) {
        for (std::uint8_t rank = 0; rank < nodes.size(); ++rank) {
            record::LiveSample report;
            report.start = {.second = second, .covered = core::Duration::seconds(1)};
            report.node = nodes[rank];
            report.moved = {1000000};
            report.rows = second + 2;
            encode_packet(job::PacketKind::report, std::span<const record::LiveSample>(&report, 1), packet);
            all.put(one_packet(rank, packet).span());
        }
    }
    const job::Notice notice = job::make_notice(job::Notice::Kind::failure, 2, 1, "cannot go on");
    encode_packet(job::PacketKind::notice, std::span(&notice, 1), packet);
    all.put(one_packet(2, packet).span());
    all.write(directory / "packets", name);
}

void write_accounts(const std::filesystem::path& directory) {
    record::HostCounters host;
    host.host = "eb01";
    host.file = record::host_file("eb01");
    host.seconds = 10;
    host.sums = {{"eth0.rx_bytes", 123, 456}, {"mlx5_0/1.np_cnp_sent", std::nullopt, 7}};
    host.settings = R"({"mtu":9000})";
    Bytes text;
    const std::string encoded = record::encode_host(host);
    text.put(std::uint8_t{1}).put(std::as_bytes(std::span(encoded)));
    text.write(directory / "accounts", "host");

    participant::RankAccount account;
    account.summary.node = node_of(core::ConsumerId{1});
    account.fault_count = 1;
    account.faults.push_back(
        show::fault_record({.kind = core::Fault::Kind::corrupt_payload, .detail = "bad"}));
    account.lost.push_back({{1}, 3, 5, core::LostRange::Reason::overflow});
    account.traffic.push_back({.producer = 1, .traffic = {3, {900}}});
    account.datagrams.push_back({.peer = 1, .sent = 10, .received = 9});
    account.log_error = "no space";
    account.host_counters = encoded;
    const std::vector<std::byte> whole = participant::encode_account(account);
    Bytes bytes;
    bytes.put(std::uint8_t{0}).put(std::span<const std::byte>(whole));
    bytes.write(directory / "accounts", "account");
}

/// The harness's acts: 0 bytes, 1 frame, 2 hello, 3 proof, 4 time, 5 connect, 6 close, 7 look; then which
/// connection.
void write_join(const std::filesystem::path& directory) {
    const auto text = [&](const std::string& content, const std::string& name) {
        Bytes bytes;
        bytes.put(std::uint8_t{0}).put(std::as_bytes(std::span(content)));
        bytes.write(directory / "join", name);
    };
    const job::Hello hello{
        .nonce = std::string(job::nonce_bytes, 'n'), .version = "1", .host = "fn01", .pid = 7, .rank = 3};
    text(encode(hello), "hello");
    text(encode(job::Welcome{.rank = 2, .ranks = 5, .options = {{"rate", "1Gb/s"}}, .life = 7}), "welcome");
    text(encode(job::ReturnedPeer{.rank = 3, .host = "fn01", .pid = 7, .address = {"a", "b", 2}}), "peer");
    Bytes good;
    good.put(std::uint8_t{1});
    for (const std::uint8_t act : std::array<std::uint8_t, 5>{5, 2, 3, 7, 3}) {
        good.put(act).put(std::uint8_t{0});
        if (act == 2) {
            good.put(std::int32_t{-1});
        }
    }
    good.write(directory / "join", "good");
    Bytes bad;
    bad.put(std::uint8_t{1});
    for (const auto kind : {job::FrameKind::pulse, job::FrameKind::texts, job::FrameKind::proof}) {
        bad.put(std::uint8_t{5}).put(std::uint8_t{0}).put(std::uint8_t{1}).put(std::uint8_t{255});
        bad.put(static_cast<std::uint8_t>(kind))
            .put(std::uint16_t{3})
            .put(std::array<char, 3>{'a', 'b', 'c'});
        bad.put(std::uint32_t{1});
    }
    bad.put(std::uint8_t{4}).put(std::uint8_t{0}).put(std::uint32_t{2'000'000'000});
    bad.write(directory / "join", "strangers");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
        return 2;
    }
    const std::filesystem::path directory(argv[1]);
    bool good = true;
    for (std::uint64_t run = 0; run < runs; ++run) {
        core::Random random(run, 1);
        PlanBytes bytes{};
        for (std::uint8_t& byte : bytes) {
            byte = static_cast<std::uint8_t>(random.next());
        }
        const std::string name = (run < 10 ? "run-0" : "run-") + std::to_string(run);
        World world(bytes);
        if (!world.run()) {
            std::fprintf(stderr, "run %d did not go well\n", static_cast<int>(run));
            good = false;
        }
        world.to_scheduler.write(directory / "scheduler", name);
        world.to_producer.write(directory / "producer", name);
        world.to_consumer.write(directory / "consumer", name);
        if (run < 4) {
            write_headers(directory, bytes, name);
            write_packets(directory, bytes, name);
        }
    }
    write_accounts(directory);
    write_join(directory);
    return good ? 0 : 1;
}
