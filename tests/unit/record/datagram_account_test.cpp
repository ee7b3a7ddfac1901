// Datagrams counted by pair and by second, and what became of those that are missing.

#include <fstream>
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "record/pairs.hpp"
#include "temporary_directory.hpp"

using namespace weir::record;
namespace core = weir::core;
using Kind = core::Observation::Kind;

namespace {

core::Plan plan_with_datagrams() {
    core::Plan plan;
    plan.producers = 3;
    plan.consumers = 2;
    plan.transport = core::TransportKind::datagram;
    return plan;
}

core::Observation seen(Kind kind, core::NodeId peer) {
    return {.kind = kind, .peer = peer, .event = {}, .bytes = {1000}, .elapsed = {}};
}

PeerDatagrams counted(std::uint32_t peer, std::uint64_t sent, std::uint64_t received) {
    PeerDatagrams entry;
    entry.peer = peer;
    entry.sent = sent;
    entry.received = received;
    return entry;
}

RankRecord rank_of(core::NodeId node, const core::SocketState& socket, const DatagramCounts& counts) {
    RankRecord rank;
    rank.summary.node = node;
    rank.summary.socket = socket;
    rank.summary.run.datagrams = counts;
    rank.summary.measured.datagrams = counts;
    rank.summary.covered = core::Duration::seconds(2);
    return rank;
}

HostCounters host_with(std::vector<CounterSum> sums) {
    HostCounters host;
    host.handed_in = true;
    host.sums = std::move(sums);
    return host;
}

/// 1000 sent by producer 0, 900 of them received by consumer 0, which dropped 60 at its socket.
DatagramAccount account_of(const std::vector<HostCounters>& hosts, core::Bytes asked = {},
                           std::uint64_t strays = 0) {
    DatagramMatrix matrix;
    matrix.add(core::node_of(core::ProducerId{0}), std::vector{counted(0, 1000, 0)});
    matrix.add(core::node_of(core::ConsumerId{0}), std::vector{counted(0, 0, 900)});
    DatagramCounts sent;
    sent.sent = 1000;
    sent.sent_bytes = 1472000;
    sent.sent_frames = 1000;
    sent.wire_bytes = 1538000;
    DatagramCounts received;
    received.received = 900;
    received.socket_drops = 60;
    received.strays = strays;
    const std::vector<RankRecord> ranks{
        rank_of(core::node_of(core::ProducerId{0}),
                {.refused_by_queue = 7,
                 .send_buffer_bytes = 8000,
                 .receive_buffer_bytes = 8000,
                 .mtu_bytes = 1500},
                sent),
        rank_of(core::node_of(core::ConsumerId{0}),
                {.occupancy_bytes = 3999, .send_buffer_bytes = 8000, .receive_buffer_bytes = 4000},
                received)};
    return account_for_datagrams(ranks, matrix, hosts, asked);
}

}  // namespace

TEST_CASE("datagrams are counted by peer and by second") {
    DatagramRecorder producer(plan_with_datagrams(), 2);
    DatagramCounts second;
    const core::NodeId consumer = core::node_of(core::ConsumerId{1});
    producer.observe(seen(Kind::chunk_sent, consumer), second);
    core::Observation several = seen(Kind::chunk_sent, consumer);
    several.chunks = 3;
    producer.observe(several, second);
    producer.observe(seen(Kind::chunk_sent_again, consumer), second);
    producer.socket({.sent_datagrams = 3, .wire_bytes = 500, .occupancy_bytes = 40}, second);
    producer.socket({.sent_datagrams = 5, .wire_bytes = 700, .occupancy_bytes = 10, .send_buffer_bytes = 9},
                    second);
    CHECK(second == DatagramCounts{.sent = 5, .wire_bytes = 700});
    second = {};
    producer.socket({.sent_datagrams = 6, .wire_bytes = 700, .occupancy_bytes = 10}, second);
    CHECK(second == DatagramCounts{.sent = 1});
    REQUIRE(producer.entries().size() == 1);
    CHECK(producer.entries()[0].peer == 1);
    CHECK(producer.entries()[0].sent == 4);
    CHECK(producer.entries()[0].sent_again == 1);
    CHECK(producer.socket().occupancy_bytes == 40);

    DatagramRecorder receiver(plan_with_datagrams(), 3);
    DatagramCounts counts;
    for (const Kind kind :
         {Kind::chunk_received, Kind::chunk_duplicate, Kind::chunk_late, Kind::chunk_corrupt}) {
        core::Observation two = seen(kind, core::node_of(core::ProducerId{2}));
        two.chunks = 2;
        receiver.observe(two, counts);
    }
    CHECK(counts == DatagramCounts{.received = 2, .duplicate = 2, .late = 2, .corrupt = 2});
    REQUIRE(receiver.entries().size() == 1);
    CHECK(receiver.entries()[0].received == 2);
    CHECK(receiver.entries()[0].corrupt == 2);
    // Chunks of another transport are no datagrams.
    core::Plan other = plan_with_datagrams();
    other.transport = core::TransportKind::send;
    DatagramRecorder none(other, 3);
    counts = {};
    none.observe(seen(Kind::chunk_received, core::node_of(core::ProducerId{2})), counts);
    CHECK(counts == DatagramCounts{});
    CHECK(none.entries().empty());
}

TEST_CASE("missing is what was sent and did not come, whatever came twice") {
    PeerDatagrams pair = counted(0, 100, 90);
    pair.duplicate = 5;
    pair.late = 3;
    pair.corrupt = 2;
    CHECK(pair.missing() == 5);
    // Sent again because one was late: both came.
    pair.sent_again = 4;
    CHECK(pair.missing() == 5);
    pair.sent_again = 20;
    CHECK(pair.missing() == 20);
    CHECK(counted(0, 1, 2).missing() == -1);
}

TEST_CASE("pairs of both sides come together, in a file by producer") {
    DatagramMatrix matrix;
    matrix.add(core::node_of(core::ProducerId{1}), std::vector{counted(0, 5, 0), counted(1, 7, 0)});
    matrix.add(core::node_of(core::ConsumerId{1}), std::vector{counted(0, 0, 2), counted(1, 0, 6)});
    CHECK(matrix.pairs().size() == 3);
    CHECK(matrix.missing() == 6);  // a pair with more received than sent hides nothing of another
    CHECK(matrix.sum().sent == 12);
    const TemporaryDirectory directory;
    const auto path = directory / "datagrams.csv";
    REQUIRE_FALSE(write_datagrams_csv(path.string(), matrix));
    CHECK(text_of(path) ==
          "producer,consumer,sent,sent_again,received,missing,duplicate,late,corrupt\n"
          "0,1,0,0,2,-2,0,0,0\n1,0,5,0,0,5,0,0,0\n1,1,7,0,6,1,0,0,0\n");
    CHECK(is_datagrams(std::vector{counted(0, 1, 1), counted(2, 1, 1)}));
    CHECK_FALSE(is_datagrams(std::vector{counted(2, 1, 1), counted(2, 1, 1)}));
}

TEST_CASE("every missing datagram is explained by a counter or is said not to be") {
    const auto bare = account_of({});
    CHECK(bare.missing == 100);
    CHECK(bare.explained.socket == 60);
    CHECK(bare.unexplained() == 40);
    CHECK(losses_text(bare) ==
          "sent 1000, received 900; missing 100 (10 %): 60 dropped at full sockets, 40 in no host's counters "
          "(lost between hosts); "
          "duplicate 0, late 0, corrupt 0");
    CHECK(wire_text(bare) == "5.89 Mb/s of datagrams are 6.15 Mb/s on the wire in 500 frames/s (MTU 1500 B)");

    // Socket drops are in the errors of UDP as well; of the queue's drops, 7 were reported to the sender.
    const auto full = account_of({host_with({{"udp.receive_errors", 0, 62},
                                             {"udp.receive_buffer_errors", 0, 60},
                                             {"ip.reassembly_failures", 0, 3},
                                             {"softnet.dropped", 0, 4},
                                             {"eth0.rx_missed_errors", 0, 5},
                                             {"eth0.rx_discards_phy", 0, 6},
                                             {"eth0.rx_packets", 0, 1000000},
                                             {"eth0.qdisc_drops", 0, 17},
                                             {"tcp.retransmitted_segments", 0, 99}})});
    CHECK(full.explained == DatagramLosses{60, 3, 2, 4, 11, 10});
    CHECK(full.unexplained() == 10);
    CHECK(to_json(full)["unexplained"] == 10);

    const auto busy_host = account_of({host_with({{"softnet.dropped", 0, 50}})});
    CHECK(busy_host.unexplained() == -10);
    CHECK(to_json(busy_host)["unexplained"] == 0);
    CHECK(to_json(busy_host)["explained_beyond_missing"] == 10);
    CHECK(losses_text(busy_host).find("10 more than are missing") != std::string::npos);

    HostCounters silent;
    CHECK(account_of({silent}).hosts_without_counters == 1);
}

TEST_CASE("datagrams from elsewhere are named in the summary, also few of them") {
    CHECK(account_of({}).notes.empty());
    const auto account = account_of({}, {}, 82000);
    REQUIRE(account.notes.size() == 1);
    CHECK(account.notes[0] == "82000 more came into the run's sockets from elsewhere, and were thrown away");
    CHECK(to_json(account)["stray"] == 82000);
}

TEST_CASE("a buffer that the kernel cut is named with the setting to raise") {
    CHECK(account_of({}).notes.empty());
    CHECK(account_of({}, {2000}).notes.empty());
    const auto cut = account_of({}, {3000});
    REQUIRE(cut.notes.size() == 1);
    CHECK(cut.notes[0].find("net.core.rmem_max to 3000") != std::string::npos);
    CHECK(account_of({}, {5000}).notes.size() == 2);
}
