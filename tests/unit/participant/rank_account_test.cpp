// A rank's account as bytes: whole or not at all.
#include "participant/rank_node.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "catch.hpp"

using namespace weir::core;
using namespace weir::participant;
using namespace weir::record;

namespace {

RankAccount filled_account() {
    RankAccount account;
    account.summary.node = {Role::producer, 3};
    account.summary.rows = 17;
    account.summary.ledger.sent.add(EventId::of({3}, 4), {500});
    account.summary.ledger_known = true;
    account.latencies.transfer.add(Duration::microseconds(123));
    account.clock_error_ns = 1030;
    account.started_late = Duration::milliseconds(33);
    account.fault_count = 1000;
    account.faults.push_back(weir::show::fault_record({.kind = Fault::Kind::corrupt_payload,
                                                       .source = {Role::producer, 3},
                                                       .destination = {Role::consumer, 1},
                                                       .event = EventId::of({3}, 4),
                                                       .offset = {65536},
                                                       .sequence = 4,
                                                       .detail = "the payload does not verify"}));
    account.faults.push_back(weir::show::fault_record({.kind = Fault::Kind::duplicate_chunk}));
    account.lost = {{ProducerId{2}, 5, 9, LostRange::Reason::overflow},
                    {ProducerId{2}, 12, 12, LostRange::Reason::undelivered}};
    account.traffic = {{.producer = 1, .traffic = {7, {700}}}, {.producer = 4, .traffic = {1, {99}}}};
    account.datagrams.resize(2);
    account.datagrams[1].peer = 6;
    account.datagrams[1].received = 77;
    account.log_error = "cannot write x: No space left on device";
    account.host_counters = "{a host}";
    return account;
}

}  // namespace

TEST_CASE("An account is the same after its travel") {
    const RankAccount account = filled_account();
    const auto again = decode_account(encode_account(account));
    REQUIRE(again);
    CHECK(again->summary.node == account.summary.node);
    CHECK(again->summary.rows == 17);
    CHECK(again->summary.ledger == account.summary.ledger);
    CHECK(again->summary.ledger_known);
    CHECK(again->latencies.transfer.count() == 1);
    CHECK(again->latencies.transfer.max() == Duration::microseconds(123));
    CHECK(again->clock_error_ns == 1030);
    CHECK(again->started_late == Duration::milliseconds(33));
    CHECK(again->fault_count == 1000);
    REQUIRE(again->faults.size() == 2);
    CHECK(fault_text(again->faults[0]) == fault_text(account.faults[0]));
    CHECK(again->faults[1].kind == Fault::Kind::duplicate_chunk);
    REQUIRE(again->lost.size() == 2);
    CHECK(again->lost[0].last == 9);
    CHECK(again->lost[1].reason == LostRange::Reason::undelivered);
    CHECK(again->traffic == account.traffic);
    CHECK(again->datagrams == account.datagrams);
    CHECK(again->log_error == account.log_error);
    CHECK(again->host_counters == account.host_counters);
}

TEST_CASE("An account without trouble is short") {
    const auto bytes = encode_account({});
    const auto again = decode_account(bytes);
    REQUIRE(again);
    CHECK(again->faults.empty());
    CHECK(again->lost.empty());
    CHECK(again->traffic.empty());
    CHECK(again->log_error.empty());
    CHECK(encode_account(filled_account()).size() > bytes.size());
}

TEST_CASE("Bytes that are cut or too many are no account") {
    auto bytes = encode_account(filled_account());
    const std::size_t fixed = encode_account({}).size();
    CHECK_FALSE(decode_account({}));
    for (const std::size_t size : {std::size_t{1}, fixed - 1, fixed, fixed + 1, bytes.size() - 1}) {
        CHECK_FALSE(decode_account(std::span(bytes).first(size)));
    }
    bytes.push_back({});
    CHECK_FALSE(decode_account(bytes));
}

TEST_CASE("Lengths that lie are found out") {
    // Whatever number a list's length is changed to, more bytes are never read than there are.
    const auto whole = encode_account(filled_account());
    const std::size_t fixed = encode_account({}).size();
    int refused = 0;
    for (const std::uint64_t lie : {~std::uint64_t{0}, std::uint64_t{1} << 61, std::uint64_t{1} << 32,
                                    std::uint64_t{whole.size()}, std::uint64_t{3}}) {
        for (std::size_t place = fixed - 32; place < fixed; place += 8) {
            auto bytes = whole;
            std::memcpy(bytes.data() + place, &lie, sizeof lie);
            refused += decode_account(bytes) ? 0 : 1;
        }
    }
    CHECK(refused == 20);
}

TEST_CASE("Traffic that no consumer counts is refused") {
    const auto refused = [](std::vector<ProducerTraffic> traffic) {
        RankAccount account;
        account.traffic = std::move(traffic);
        return !decode_account(encode_account(account));
    };
    const Traffic some{2, {200}};
    CHECK_FALSE(refused({{.producer = 3, .traffic = some}, {.producer = 4, .traffic = some}}));
    CHECK(refused({{.producer = 4, .traffic = some}, {.producer = 3, .traffic = some}}));
    CHECK(refused({{.producer = 3, .traffic = some}, {.producer = 3, .traffic = some}}));
    CHECK(refused({{.producer = 3, .traffic = {0, {200}}}}));
    CHECK(refused({{.producer = 3, .traffic = {2, {0}}}}));
    CHECK(refused({{.producer = 3, .traffic = {2, {-1}}}}));
    CHECK(refused({{.producer = 3, .reserved = 1, .traffic = some}}));
}

TEST_CASE("Latencies whose parts do not belong together are refused") {
    RankAccount account;
    account.latencies.delivery.add(Duration::microseconds(3));
    std::vector<std::byte> bytes = encode_account(account);
    REQUIRE(decode_account(bytes));
    // The count of the only bucket, which is not all there is.
    const auto one = std::find(bytes.begin() + sizeof(RankSummary), bytes.end(), std::byte{1});
    REQUIRE(one != bytes.end());
    *one = std::byte{2};
    CHECK_FALSE(decode_account(bytes));
}

TEST_CASE("A fault's text may come without its end") {
    RankAccount account;
    account.faults.resize(2);
    std::memset(account.faults[0].detail, 'x', sizeof account.faults[0].detail);
    const auto again = decode_account(encode_account(account));
    REQUIRE(again);
    CHECK(fault_text(again->faults[0]).find(std::string(sizeof account.faults[0].detail, 'x') + ")") !=
          std::string::npos);
}

TEST_CASE("The traffic of thousands of producers travels") {
    RankAccount account;
    for (std::uint32_t producer = 0; producer < 5000; ++producer) {
        account.traffic.push_back({.producer = producer, .traffic = {producer + 1, {1}}});
    }
    const auto again = decode_account(encode_account(account));
    REQUIRE(again);
    CHECK(again->traffic == account.traffic);
}
