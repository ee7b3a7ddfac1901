#include "record/parallel_links.hpp"

#include "catch.hpp"

using namespace weir;
using record::EvenLoads;

namespace {

constexpr core::Duration row = core::Duration::milliseconds(10);
constexpr core::Bytes packet{4096};

core::Instant after_ms(std::int64_t ms) {
    return core::Instant{} + core::Duration::milliseconds(ms);
}

/// Rows of 10 ms from `first_ms` on; below 0: a row without load.
void add_rows(EvenLoads& loads, std::int64_t first_ms, const std::vector<std::vector<double>>& rows) {
    for (const std::vector<double>& of_groups : rows) {
        std::vector<std::optional<double>> indices;
        for (const double index : of_groups) {
            indices.push_back(index < 0 ? std::nullopt : std::optional(index));
        }
        loads.add_row(after_ms(first_ms), after_ms(first_ms) + row, indices);
        first_ms += 10;
    }
}

}  // namespace

TEST_CASE("A row with a few packets says nothing of how even loads are") {
    const core::Bytes size = GENERATE(packet, core::Bytes{1448});
    const EvenLoads loads(1, size);
    const auto packets = [&](std::int64_t count) { return static_cast<double>(count * size.count); };
    const std::vector<double> few{84.0, 0.0};
    CHECK_FALSE(loads.index_of(few));
    CHECK_FALSE(loads.index_of(std::vector<double>{}));
    const std::vector<double> enough{packets(2 * EvenLoads::least_packets), 0.0};
    CHECK(loads.index_of(enough) == 0.5);
    const std::vector<double> less{enough[0] - 1, 0.0};
    CHECK_FALSE(loads.index_of(less));
    const std::vector<double> one_more{packets(8), packets(9)};
    CHECK(loads.index_of(one_more).value_or(0) > 1 - EvenLoads::tolerance);
}

TEST_CASE("Loads are even again after the last row that is less even than those before the failure") {
    EvenLoads loads(1, packet);
    add_rows(loads, 0, {{0.98}, {0.95}, {0.99}});
    loads.begin(7, after_ms(34), {0});
    CHECK_FALSE(loads.even_after(7));
    // 0.95 less 0.02.
    add_rows(loads, 30, {{0.5}, {0.94}, {0.9}});
    CHECK_FALSE(loads.even_after(7));
    add_rows(loads, 60, {{0.93}, {-1}, {0.97}});
    CHECK(loads.even_after(7) == core::Duration::milliseconds(60 - 34));
    CHECK_FALSE(loads.even_after(8));
}

TEST_CASE("What comes after the end of a failure is not its own, and a group without load says nothing") {
    EvenLoads loads(2, packet);
    add_rows(loads, 0, {{1, -1}});
    loads.begin(0, after_ms(10), {0, 1});
    add_rows(loads, 10, {{1, 0.5}, {0.5, 0.5}});
    CHECK_FALSE(loads.even_after(0));
    loads.end(0, after_ms(30));
    add_rows(loads, 30, {{1, 1}});
    CHECK_FALSE(loads.even_after(0));

    EvenLoads unhurt(2, packet);
    add_rows(unhurt, 0, {{1, 1}});
    unhurt.begin(0, after_ms(10), {1});
    CHECK_FALSE(unhurt.even_after(0));  // nothing has come since
    add_rows(unhurt, 10, {{0.2, 1}});
    CHECK(unhurt.even_after(0) == core::Duration{});
    unhurt.begin(1, after_ms(20), {});  // links without parallel ones
    add_rows(unhurt, 20, {{1, 1}});
    CHECK_FALSE(unhurt.even_after(1));
}

TEST_CASE("Only the last rows before a failure count as before") {
    EvenLoads loads(1, packet);
    add_rows(loads, 0, {{0.3}});
    for (std::size_t place = 0; place < EvenLoads::rows_before; ++place) {
        add_rows(loads, 10, {{1}});
    }
    loads.begin(0, after_ms(500), {0});
    add_rows(loads, 500, {{0.9}, {1}});
    CHECK(loads.even_after(0) == row);
}

TEST_CASE("Loads are not even before routes have left the failed link, though nothing is carried") {
    EvenLoads loads(2, packet);
    add_rows(loads, 0, {{1, 1}});
    loads.begin(0, after_ms(10), {0});
    add_rows(loads, 10, {{0.5, 1}, {-1, 1}, {-1, 1}});
    loads.follow_routes(0, 0, after_ms(30), after_ms(40));
    loads.follow_routes(0, 1, after_ms(50), after_ms(60));  // of links that it did not take
    add_rows(loads, 60, {{1, 1}});
    CHECK(loads.even_after(0) == core::Duration{3 * row.ns});
}

TEST_CASE(
    "Routes that leave a link in the row in which its failure ends count, and those of another do not") {
    EvenLoads loads(1, packet);
    add_rows(loads, 0, {{1}});
    loads.begin(0, after_ms(10), {0});
    loads.begin(1, after_ms(12), {0});
    add_rows(loads, 10, {{0.5}, {1}});
    loads.end(0, after_ms(34));
    loads.follow_routes(0, 0, after_ms(30), after_ms(40));
    loads.follow_routes(0, 0, after_ms(40), after_ms(50));  // it has ended
    add_rows(loads, 30, {{1}});
    CHECK(loads.even_after(0) == core::Duration::milliseconds(40 - 10));
    CHECK(loads.even_after(1) == core::Duration::milliseconds(20 - 12));
}
