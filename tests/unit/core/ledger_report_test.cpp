// A ledger as messages: what is reported is what is added up.
#include "core/actions.hpp"

#include "catch.hpp"

using namespace weir::core;

namespace {

Ledger different_entries() {
    const auto tally = [](std::uint64_t n) { return Tally{n, {static_cast<std::int64_t>(10 * n)}, ~n}; };
    return {tally(1), tally(2), tally(3), tally(4), tally(5), tally(6), tally(7), tally(8), {}};
}

}  // namespace

TEST_CASE("A reported ledger is the same when it is put together again") {
    Actions out;
    append_ledger_report(different_entries(), out);
    REQUIRE(out.messages.size() == ledger_report_messages);
    Ledger again;
    for (std::uint32_t entry = 0; entry < ledger_report_messages; ++entry) {
        const SendMessage& sent = out.messages[entry];
        CHECK(sent.to == scheduler_node());
        const auto& part = std::get<LedgerPart>(sent.message);
        CHECK(part.entry == LedgerEntry{entry});
        CHECK(add_ledger_entry(part, again));
    }
    CHECK(again == different_entries());
}

TEST_CASE("A report is appended to what was to be said before") {
    Actions out;
    out.messages.push_back({scheduler_node(), Drained{{0, {0}}}});
    append_ledger_report({}, out);
    CHECK(out.messages.size() == 1 + ledger_report_messages);
    CHECK(std::holds_alternative<Drained>(out.messages[0].message));
}

TEST_CASE("Entries of several reports add up") {
    Ledger sum;
    for (int report = 0; report < 3; ++report) {
        CHECK(add_ledger_entry(LedgerPart{LedgerEntry{1}, {2, {30}, 4}}, sum));
    }
    CHECK(sum.sent == Tally{6, {90}, 12});
    CHECK(sum.generated == Tally{});
}

TEST_CASE("A message that names no entry changes nothing") {
    Ledger ledger = different_entries();
    CHECK_FALSE(add_ledger_entry(LedgerPart{LedgerEntry{8}, {1, {0}, 0}}, ledger));
    CHECK_FALSE(add_ledger_entry(LedgerPart{LedgerEntry{0xffffffff}, {1, {0}, 0}}, ledger));
    CHECK(ledger == different_entries());
}
