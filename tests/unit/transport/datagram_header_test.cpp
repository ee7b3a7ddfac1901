// What a datagram has of its chunk, and that nothing else passes for one of this run.
#include "transport/datagram/datagram_header.hpp"

#include <vector>

#include "catch.hpp"
#include "transport/chunk_header.hpp"

using namespace weir;
using transport::DatagramForm;

namespace {

core::Plan plan_of_datagrams(core::Verify verify) {
    core::Plan plan;
    plan.producers = 300;
    plan.consumers = 2;
    plan.chunk_size = {1000};
    plan.slot_size = {2500};
    plan.slots = 400;
    plan.verify = verify;
    plan.transport = core::TransportKind::datagram;
    return plan;
}

core::SendChunk one_datagram() {
    return {.to = {1},
            .place = {399},
            .stream = {0},
            .chunk = {.event = core::EventId::of(core::ProducerId{299}, (std::uint64_t{1} << 40) - 2),
                      .event_bytes = {2500},
                      .offset = {2000},
                      .length = {500},
                      .sequence = 2,
                      .generated_at = {5}}};
}

std::vector<std::byte> datagram_with(const DatagramForm& form, const core::SendChunk& chunk) {
    std::vector<std::byte> datagram(DatagramForm::size_of(chunk.chunk.length));
    transport::fill_payload(datagram, 3);
    form.write(datagram, chunk);
    return datagram;
}

}  // namespace

TEST_CASE("a datagram has the number of its chunk") {
    for (const core::Verify verify : {core::Verify::none, core::Verify::header, core::Verify::full}) {
        const DatagramForm form(plan_of_datagrams(verify), 77);
        const core::SendChunk chunk = one_datagram();
        const auto content = form.read(datagram_with(form, chunk));
        REQUIRE(content);
        CHECK(content->place == chunk.place);
        CHECK(content->chunk.event == chunk.chunk.event);
        CHECK(content->chunk.offset == chunk.chunk.offset);
        CHECK(content->chunk.length == chunk.chunk.length);
        CHECK(content->chunk.sequence == 2);
        CHECK(content->chunk.event_bytes == core::Bytes{});
    }
}

TEST_CASE("a short last chunk is filled up to the least datagram, and still has its length") {
    for (const core::Verify verify : {core::Verify::none, core::Verify::header, core::Verify::full}) {
        const DatagramForm form(plan_of_datagrams(verify), 77);
        for (std::int64_t length = 1; length <= 18; ++length) {
            core::SendChunk chunk = one_datagram();
            chunk.chunk.length = {length};
            auto datagram = datagram_with(form, chunk);
            CHECK(datagram.size() == 18);
            REQUIRE(form.read(datagram));
            CHECK(form.read(datagram)->chunk.length.count == length);
            CHECK(form.read(datagram)->chunk.event == chunk.chunk.event);
            for (std::size_t bit = 0; length < 18 && bit < datagram.size() * 8; ++bit) {
                datagram[bit / 8] ^= std::byte{1} << static_cast<int>(bit % 8);
                CHECK_FALSE(form.read(datagram));
                datagram[bit / 8] ^= std::byte{1} << static_cast<int>(bit % 8);
            }
        }
    }
}

TEST_CASE("every damaged bit is noticed, of the payload with Verify::full only") {
    for (const core::Verify verify : {core::Verify::none, core::Verify::full}) {
        const DatagramForm form(plan_of_datagrams(verify), 77);
        auto datagram = datagram_with(form, one_datagram());
        for (std::size_t bit = 0; bit < datagram.size() * 8; ++bit) {
            datagram[bit / 8] ^= std::byte{1} << static_cast<int>(bit % 8);
            const bool payload = bit / 8 >= transport::datagram_header_bytes;
            CHECK(form.read(datagram).has_value() == (payload && verify == core::Verify::none));
            datagram[bit / 8] ^= std::byte{1} << static_cast<int>(bit % 8);
        }
    }
}

TEST_CASE("what is not of this run, cut off or out of bounds is refused") {
    const core::Plan plan = plan_of_datagrams(core::Verify::header);
    const DatagramForm form(plan, 77);
    const auto datagram = datagram_with(form, one_datagram());
    CHECK_FALSE(DatagramForm(plan, 78).read(datagram));
    for (std::size_t size = 0; size < 18; ++size) {
        CHECK_FALSE(form.read(std::span(datagram).first(size)));
    }
    core::Plan smaller = plan;
    smaller.slots = 399;
    CHECK_FALSE(DatagramForm(smaller, 77).read(datagram));
    smaller = plan;
    smaller.producers = 299;
    CHECK_FALSE(DatagramForm(smaller, 77).read(datagram));
    smaller = plan;
    smaller.slot_size = {2000};
    CHECK_FALSE(DatagramForm(smaller, 77).read(datagram));
    auto longer = datagram;
    longer.resize(1001);
    CHECK_FALSE(form.read(longer));
}

TEST_CASE("a hello is no chunk, a chunk no hello, and a hello is for one consumer") {
    const DatagramForm form(plan_of_datagrams(core::Verify::none), 77);
    std::vector<std::byte> hello(1000);
    form.write_hello(hello, core::ProducerId{7}, core::ConsumerId{1});
    CHECK(form.read_hello(hello, core::ConsumerId{1}) == core::ProducerId{7});
    CHECK_FALSE(form.read_hello(hello, core::ConsumerId{0}));
    CHECK_FALSE(form.read(hello));
    CHECK_FALSE(form.read_hello(datagram_with(form, one_datagram()), core::ConsumerId{1}));
    CHECK_FALSE(
        DatagramForm(plan_of_datagrams(core::Verify::none), 5).read_hello(hello, core::ConsumerId{1}));
}
