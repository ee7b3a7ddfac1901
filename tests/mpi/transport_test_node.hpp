// One rank's part in a scenario of transport_test.cpp: the smallest protocol that moves events through slots
// (a consumer asks the producers in turn), so that the test is about the transport and not about weir's core.
#pragma once

#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/ledger.hpp"
#include "core/random.hpp"
#include "loop/make_transport.hpp"
#include "mpi_meeting.hpp"
#include "transport/disturbing_transport.hpp"

namespace weir::test {

using transport::DisturbanceKind;
using transport::Rank;

inline int rank = -1;
inline int ranks = 0;
inline int failures = 0;
inline transport::TransportOptions tested_options;
inline MpiMeeting meeting;
using Clock = std::chrono::steady_clock;
constexpr int nap_us = 100;
constexpr std::uint64_t events_per_producer = 12;
constexpr std::uint64_t traffic_per_pair = 60;

[[noreturn]] inline void give_up(const std::string& why) {
    std::fprintf(stderr, "rank %d: %s\n", rank, why.c_str());
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
}

inline void check(bool holds, const std::string& what) {
    if (!holds) {
        std::fprintf(stderr, "rank %d: FAILED: %s\n", rank, what.c_str());
        ++failures;
    }
}

enum class Kind : std::uint32_t { traffic, grant, decline, sent, quit };

/// A barrier in which the transport goes on, as it does in the exchanges of a run.
inline void wait_for_all(transport::TransportBase& net) {
    MPI_Request barrier = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    for (int done = 0; done == 0;) {
        net.make_progress();
        MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
        usleep(done != 0 ? 0 : nap_us);
    }
}

/// Every packet of the test begins with this; `traffic` is followed by `size` bytes that the seed fixes.
struct Packet {
    Kind kind = Kind::traffic;
    std::uint32_t place = 0;
    std::uint64_t sequence = 0;  ///< of all packets from this rank to that
    std::uint64_t event = 0;
    std::uint64_t size = 0;
};

struct Tally {
    std::uint64_t events = 0;
    std::uint64_t hash = 0;
    std::uint64_t corrupt_header = 0;
    std::uint64_t corrupt_payload = 0;
    std::uint64_t duplicate = 0;
    std::uint64_t unexpected = 0;
    std::uint64_t lost = 0;
};

struct Scenario {
    std::string name;
    core::Plan plan;
    std::optional<transport::ChunkDisturbance> fault;
};

/// One rank's part in one scenario.
class Node {
  public:
    Node(const Scenario& scenario, const core::RoleMap& roles)
        : scenario_(scenario),
          plan_(scenario.plan),
          roles_(roles),
          self_(roles.node(rank)),
          transport_(transport::make_transport(MPI_COMM_WORLD, meeting, roles, plan_, tested_options)),
          inner_(*transport_),
          faulty_(inner_, faults_of(scenario)),
          net_(scenario.fault ? static_cast<transport::Transport&>(faulty_) : inner_),
          random_(17, static_cast<std::uint64_t>(rank)),
          next_out_(static_cast<std::size_t>(ranks)),
          next_in_(static_cast<std::size_t>(ranks)),
          traffic_out_(static_cast<std::size_t>(ranks)),
          transfers_(plan_.streams),
          places_(plan_.places()),
          exhausted_(roles.producers(), false) {}

    void run() {
        warm_up();
        if (self_.role == core::Role::consumer) {
            for (std::uint32_t place = 0; place < plan_.places(); ++place) {
                inner_.open_place({place});
                ask(place);
            }
        }
        const auto deadline = Clock::now() + std::chrono::seconds(25);
        while (!finished()) {
            found_.clear();
            net_.poll(found_);
            for (const auto& packet : found_.packets) {
                on_packet(packet.source, found_.content(packet));
            }
            for (const auto& sent : found_.sent) {
                on_sent(sent);
            }
            for (const auto& chunk : found_.chunks) {
                on_chunk(chunk);
            }
            start_transfers();
            give_up_lost_events();
            const bool talked = send_traffic();
            if (found_.empty() && !talked) {
                usleep(nap_us);
            }
            if (Clock::now() > deadline) {
                give_up(scenario_.name + ": not finished in time");
            }
        }
        net_.close_places();
        found_.clear();
        net_.poll(found_);
        check(found_.chunks.empty(), "no chunk comes out of withdrawn receives");
        check(faulty_.pending().empty() || self_ != core::node_of(core::ProducerId{0}),
              "the fault was injected");
        check(inner_.shut_down(core::Duration::seconds(20)), "shut_down");
        compare();
    }

  private:
    struct Transfer {
        bool active = false;
        core::EventId event;
        core::Bytes bytes;
        core::Bytes handed_over;
        std::uint32_t sequence = 0;
        std::uint32_t under_way = 0;
        core::ConsumerId to;
        core::PlaceId place;
    };
    struct Place {
        bool waiting = false;  ///< for the event of `producer`
        std::uint32_t producer = 0;
        std::optional<core::EventId> event;
        std::optional<core::EventId> sent;  ///< the producer has reported that it sent this one whole
        core::EventId last{~std::uint64_t{0}};
        std::map<std::uint32_t, core::Bytes> chunks;
        core::Bytes bytes;
        Clock::time_point changed;
    };

    static std::vector<transport::ChunkDisturbance> faults_of(const Scenario& scenario) {
        return scenario.fault ? std::vector{*scenario.fault} : std::vector<transport::ChunkDisturbance>{};
    }

    core::Bytes event_bytes(core::EventId event) const {
        const std::uint64_t sequence = event.sequence();
        // Event 2, which faults are about, fills its place: the case in which every receive is needed.
        if (sequence == 2) {
            return plan_.slot_size;
        }
        core::Random random(plan_.seed, event.producer().value * 1000 + sequence);
        return {1 +
                static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(plan_.slot_size.count)))};
    }

    static core::Instant generated_at(core::EventId event) {
        return {static_cast<std::int64_t>(event.value) - 5};
    }

    void warm_up() {
        inner_.expose_buffers();
        inner_.begin_warmup();
        const auto deadline = Clock::now() + std::chrono::seconds(25);
        while (!inner_.warmup_step()) {
            usleep(nap_us);
            if (Clock::now() > deadline) {
                const auto progress = inner_.warmup_progress();
                give_up(scenario_.name + ": warm-up stuck at " + std::to_string(progress.messages_done) +
                        " of " + std::to_string(progress.messages_total));
            }
        }
        check(inner_.warmup_step(), "warm-up stays done");
        const auto progress = inner_.warmup_progress();
        check(progress.messages_done == progress.messages_total && progress.messages_total > 0,
              "warm-up progress");
    }

    void send(int to, Kind kind, std::uint32_t place = 0, std::uint64_t event = 0, std::uint64_t size = 0) {
        Packet head{kind, place, next_out_[static_cast<std::size_t>(to)]++, event, size};
        std::vector<std::byte> bytes(sizeof(head) + size);
        std::memcpy(bytes.data(), &head, sizeof(head));
        for (std::size_t i = 0; i < size; ++i) {
            bytes[sizeof(head) + i] = static_cast<std::byte>(head.sequence + i);
        }
        inner_.send_packet(Rank{to}, bytes);
    }

    bool send_traffic() {
        bool talked = false;
        for (int to = 0; to < ranks; ++to) {
            auto& sent = traffic_out_[static_cast<std::size_t>(to)];
            // In bursts, so that packets of one rank overtake each other if they can.
            while (to != rank && sent < traffic_per_pair && net_.packets_under_way() < 200) {
                send(to, Kind::traffic, 0, 0, random_.below(inner_.packet_limit() - sizeof(Packet) + 1));
                talked = true;
                if (++sent % 10 == 0) {
                    break;
                }
            }
        }
        return talked;
    }

    void on_packet(Rank source, std::span<const std::byte> bytes) {
        Packet head;
        if (bytes.size() < sizeof(head)) {
            give_up("a packet of " + std::to_string(bytes.size()) + " bytes");
        }
        std::memcpy(&head, bytes.data(), sizeof(head));
        const auto from = static_cast<std::size_t>(source.value);
        if (head.sequence != next_in_[from]++ || bytes.size() != sizeof(head) + head.size) {
            give_up("packet " + std::to_string(head.sequence) + " from " + std::to_string(source.value) +
                    " instead of " + std::to_string(next_in_[from] - 1));
        }
        for (std::size_t i = 0; i < head.size; ++i) {
            if (bytes[sizeof(head) + i] != static_cast<std::byte>(head.sequence + i)) {
                give_up("a packet with other bytes than were sent");
            }
        }
        const core::NodeId node = roles_.node(source.value);
        switch (head.kind) {
            case Kind::traffic:
                ++traffic_in_;
                break;
            case Kind::quit:
                ++quits_;
                break;
            case Kind::grant:
                grants_.push_back({core::ConsumerId{node.index}, core::PlaceId{head.place}});
                break;
            case Kind::decline:
                exhausted_[node.index] = true;
                places_[head.place].waiting = false;
                ask(head.place);
                break;
            case Kind::sent:
                if (places_[head.place].waiting && places_[head.place].producer == node.index &&
                    places_[head.place].last.value != head.event) {
                    places_[head.place].sent = core::EventId{head.event};
                    places_[head.place].changed = Clock::now();
                }
                break;
        }
    }

    // Producer.

    void start_transfers() {
        for (std::uint32_t stream = 0; stream < transfers_.size(); ++stream) {
            Transfer& transfer = transfers_[stream];
            while (!transfer.active && !grants_.empty()) {
                const auto [to, place] = grants_.front();
                grants_.pop_front();
                if (next_event_ == events_per_producer) {
                    send(roles_.rank(core::node_of(to)), Kind::decline, place.value);
                    continue;
                }
                transfer = Transfer{};
                transfer.active = true;
                transfer.event = core::EventId::of(core::ProducerId{self_.index}, next_event_);
                transfer.bytes = event_bytes(transfer.event);
                transfer.to = to;
                transfer.place = place;
                ++next_event_;
                tally_.events += 1;
                tally_.hash += core::ledger_mix(transfer.event, transfer.bytes);
            }
            hand_over(stream);
        }
    }

    void hand_over(std::uint32_t stream) {
        Transfer& transfer = transfers_[stream];
        while (transfer.active && transfer.handed_over < transfer.bytes &&
               transfer.under_way < plan_.window) {
            const core::Bytes length = std::min(plan_.chunk_size, transfer.bytes - transfer.handed_over);
            net_.send_chunk({.to = transfer.to,
                             .place = transfer.place,
                             .stream = {stream},
                             .chunk = {.event = transfer.event,
                                       .event_bytes = transfer.bytes,
                                       .offset = transfer.handed_over,
                                       .length = length,
                                       .sequence = transfer.sequence++,
                                       .generated_at = generated_at(transfer.event)}});
            transfer.handed_over += length;
            ++transfer.under_way;
        }
    }

    void on_sent(const transport::ChunkSent& sent) {
        Transfer& transfer = transfers_[sent.stream.value];
        if (!transfer.active || transfer.under_way == 0 || sent.sequence >= transfer.sequence) {
            give_up("a chunk was reported as sent that was not under way");
        }
        --transfer.under_way;
        if (transfer.handed_over == transfer.bytes && transfer.under_way == 0) {
            send(roles_.rank(core::node_of(transfer.to)), Kind::sent, transfer.place.value,
                 transfer.event.value);
            transfer.active = false;
        }
    }

    // Consumer.

    void ask(std::uint32_t place) {
        for (std::uint32_t tried = 0; tried < roles_.producers(); ++tried) {
            const std::uint32_t producer = next_producer_++ % roles_.producers();
            if (!exhausted_[producer]) {
                const core::EventId last = places_[place].last;
                places_[place] = Place{};
                places_[place].waiting = true;
                places_[place].producer = producer;
                places_[place].last = last;
                send(roles_.rank(core::node_of(core::ProducerId{producer})), Kind::grant, place);
                return;
            }
        }
        if (++places_done_ == plan_.places()) {
            for (int to = 0; to < ranks; ++to) {
                if (to != rank) {
                    send(to, Kind::quit);
                }
            }
            ++quits_;
        }
    }

    void on_chunk(const transport::ChunkArrived& arrived) {
        core::ChunkDescription chunk = arrived.chunk;
        if (plan_.lossy() && arrived.header_intact) {
            // What a datagram does not have.
            chunk.event_bytes = event_bytes(chunk.event);
            chunk.length = std::min(chunk.length, chunk.event_bytes - chunk.offset);
            chunk.generated_at = generated_at(chunk.event);
        }
        Place& place = places_[arrived.place.value];
        if (!arrived.header_intact) {
            ++tally_.corrupt_header;
            net_.open_place(arrived.place);
            return;
        }
        if (!arrived.payload_intact) {
            ++tally_.corrupt_payload;
        }
        if (chunk.event == place.last ||
            (place.event == chunk.event && place.chunks.contains(chunk.sequence))) {
            ++tally_.duplicate;
            net_.open_place(arrived.place);
            return;
        }
        const bool right =
            place.waiting && (!place.event || *place.event == chunk.event) &&
            roles_.node(arrived.source.value) == core::node_of(core::ProducerId{place.producer}) &&
            chunk.event.producer().value == place.producer &&
            chunk.offset == plan_.chunk_size * chunk.sequence &&
            chunk.generated_at == generated_at(chunk.event);
        if (!right) {
            ++tally_.unexpected;
            net_.open_place(arrived.place);
            return;
        }
        place.event = chunk.event;
        place.chunks[chunk.sequence] = chunk.length;
        place.bytes += chunk.length;
        place.changed = Clock::now();
        if (place.bytes == chunk.event_bytes) {
            tally_.events += 1;
            tally_.hash += core::ledger_mix(chunk.event, chunk.event_bytes);
            place.last = chunk.event;
            next_event(arrived.place);
        }
    }

    void next_event(core::PlaceId place) {
        places_[place.value].waiting = false;
        net_.open_place(place);
        ask(place.value);
    }

    void give_up_lost_events() {
        for (std::uint32_t place = 0; place < places_.size(); ++place) {
            if (places_[place].waiting && places_[place].sent &&
                Clock::now() - places_[place].changed > std::chrono::milliseconds(600)) {
                ++tally_.lost;
                places_[place].last = *places_[place].sent;
                next_event({place});
            }
        }
    }

    bool finished() const {
        const auto others = static_cast<std::uint64_t>(ranks - 1);
        bool all = quits_ == roles_.consumers() && traffic_in_ == others * traffic_per_pair &&
                   net_.packets_under_way() == 0;
        for (int to = 0; to < ranks; ++to) {
            all = all && (to == rank || traffic_out_[static_cast<std::size_t>(to)] == traffic_per_pair);
        }
        return all;
    }

    /// What producers sent against what consumers found; on rank 0.
    void compare() {
        const bool producer = self_.role == core::Role::producer;
        Tally sent = producer ? tally_ : Tally{};
        Tally got = producer ? Tally{} : tally_;
        constexpr int words = sizeof(Tally) / sizeof(std::uint64_t);
        const void* const in_place = rank == 0 ? MPI_IN_PLACE : nullptr;
        MPI_Reduce(rank == 0 ? in_place : &sent, &sent, words, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
        MPI_Reduce(rank == 0 ? in_place : &got, &got, words, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
        if (rank != 0) {
            return;
        }
        const bool full = plan_.verify == core::Verify::full;
        const bool none = plan_.verify == core::Verify::none;
        const auto is = [this](DisturbanceKind kind) {
            return scenario_.fault && scenario_.fault->kind == kind;
        };
        const std::string& name = scenario_.name;
        // A datagram has one checksum, which is always there.
        const bool one_sum = plan_.lossy();
        const bool bad_header =
            is(DisturbanceKind::corrupt_header) || (one_sum && full && is(DisturbanceKind::corrupt_payload));
        const bool lost = is(DisturbanceKind::lose) || bad_header;
        check(sent.events == events_per_producer * roles_.producers(), name + ": events sent");
        check(got.events == sent.events - (lost ? 1 : 0), name + ": events received");
        check((got.hash == sent.hash) == !lost, name + ": hash of the events");
        check(got.lost == (lost ? 1 : 0), name + ": lost events");
        check(got.duplicate == (is(DisturbanceKind::duplicate) ? 1 : 0), name + ": duplicates");
        check(got.corrupt_payload == (full && !one_sum && is(DisturbanceKind::corrupt_payload) ? 1 : 0),
              name + ": corrupt payloads");
        check(got.corrupt_header == ((!none || one_sum) && bad_header ? 1 : 0), name + ": corrupt headers");
        check((got.unexpected > 0) == (none && !one_sum && is(DisturbanceKind::corrupt_header)),
              name + ": unexpected chunks");
    }

    const Scenario& scenario_;
    core::Plan plan_;
    core::RoleMap roles_;
    core::NodeId self_;
    std::unique_ptr<transport::TransportBase> transport_;
    transport::TransportBase& inner_;
    transport::DisturbingTransport faulty_;
    transport::Transport& net_;
    transport::Polled found_;
    core::Random random_;
    Tally tally_;

    std::vector<std::uint64_t> next_out_;
    std::vector<std::uint64_t> next_in_;
    std::vector<std::uint64_t> traffic_out_;
    std::uint64_t traffic_in_ = 0;
    std::uint32_t quits_ = 0;

    std::vector<Transfer> transfers_;
    std::deque<std::pair<core::ConsumerId, core::PlaceId>> grants_;
    std::uint64_t next_event_ = 0;

    std::vector<Place> places_;
    std::vector<bool> exhausted_;
    std::uint32_t next_producer_ = static_cast<std::uint32_t>(rank);
    std::uint32_t places_done_ = 0;
};

}  // namespace weir::test
