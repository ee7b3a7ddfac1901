// How transfers get on: which of their chunks have left and arrived, in the eyes of the nodes.
#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "simulation/simulator.hpp"

namespace weir::simulation {

using core::Bytes;

namespace {

/// So many chunks are counted one by one rather than by a division.
constexpr int few = 8;
/// In bit nanoseconds, so that twice as much is a number of 64 bits.
constexpr BitNanoseconds furthest = std::numeric_limits<std::int64_t>::max() / 2;

/// Ticks come a nanosecond before multiples of their period.
constexpr bool second_ends_after(core::Instant tick) {
    return (tick.ns + 1) % core::Duration::seconds(1).ns == 0;
}

/// In bit nanoseconds.
struct Steps {
    /// Of what has moved at the first tick before the next chunk; negative: behind it.
    std::int64_t lead = 0;
    std::int64_t step = 0;  ///< from tick to tick
    std::int64_t chunk = 0;
    std::uint32_t most = 0;  ///< chunks
};

/// Adds the chunks that pass at each of the ticks to its account, and says how many pass in all.
std::uint32_t count_one_by_one(std::span<Bytes> accounts, Bytes chunk_size, const Steps& steps) {
    std::int64_t lead = steps.lead;
    std::uint32_t left = steps.most;
    for (Bytes& account : accounts) {
        for (; lead >= 0 && left > 0; --left) {
            lead -= steps.chunk;
            account += chunk_size;
        }
        if (left == 0) {
            break;
        }
        lead += steps.step;
    }
    return steps.most - left;
}

}  // namespace

BitNanoseconds Simulator::boundary(const Transfer& transfer, std::uint32_t chunks) const {
    return bit_nanoseconds(std::min(plan_.chunk_size * chunks, transfer.bytes));
}

core::ChunkDescription Simulator::chunks_of(const Transfer& transfer, std::uint32_t first,
                                            std::uint32_t count) const {
    core::ChunkDescription chunks = transfer.first.chunk;
    chunks.sequence = transfer.first_sequence + first;
    chunks.offset = plan_.chunk_size * chunks.sequence;
    chunks.length = std::min(plan_.chunk_size * count, chunks.event_bytes - chunks.offset);
    return chunks;
}

std::uint32_t Simulator::chunks_until(const Transfer& transfer, std::uint32_t reported, std::uint32_t limit,
                                      BitNanoseconds& next, BitNanoseconds moved) const {
    if (next > moved || reported >= limit) {
        return 0;
    }
    // All chunks but the last one are equally large.
    const BitNanoseconds further = core::quotient(moved - next, bit_nanoseconds(plan_.chunk_size));
    const bool all = moved >= bit_nanoseconds(transfer.bytes);
    const std::uint32_t most = limit - reported;
    const std::uint32_t count = all || further >= most ? most : static_cast<std::uint32_t>(further) + 1;
    next = boundary(transfer, reported + count + 1);
    return count;
}

BitNanoseconds Simulator::arrived_by_now(const Transfer& transfer) const {
    return network_.moved(transfer.flow, now_) -
           static_cast<BitNanoseconds>(network_.rate(transfer.flow).bits_per_second) *
               setup_.network.latency.ns;
}

// At ticks

void Simulator::follow(std::uint32_t place) {
    Transfer& transfer = transfers_[place];
    transfer.ticks = ticks_;
    progress_[transfer.producer + 1].transfers.push_back(place);
    progress_[producers_end_ + transfer.first.to.value].transfers.push_back(place);
    // The last chunk counts at the transfer's end and not at a tick.
    if (transfer.chunks > 1) {
        first_chunk_ahead_.emplace_back(place, transfer.serial);
    }
}

void Simulator::handle_tick() {
    ++ticks_;
    // No transfer begins meanwhile, which would add to the list: only consumers have a turn.
    std::erase_if(first_chunk_ahead_, [this](const auto& ahead) {
        const Transfer& transfer = transfers_[ahead.first];
        if (!transfer.moving || transfer.serial != ahead.second || transfer.arrived > 0) {
            return true;
        }
        const FlatNode consumer = producers_end_ + transfer.first.to.value;
        if (transfer.arrived_next > arrived_by_now(transfer) || conditions_[consumer].away()) {
            return false;
        }
        catch_up(consumer);
        carry_out(consumer);
        return transfer.arrived > 0;
    });
    if (second_ends_after(now_)) {
        credit_moving();
    }
    queue_.push(now_ + tick_period, {Kind::tick});
}

/// What rows are to be credited with ahead of the transfer's next chunk, where so much has moved.
Bytes Simulator::beyond_chunks(const Transfer& transfer, BitNanoseconds moved, std::uint32_t chunks,
                               Bytes& credited) const {
    const Bytes counted = std::min(plan_.chunk_size * chunks, transfer.bytes);
    const Bytes passed{static_cast<std::int64_t>(core::quotient(moved, bit_nanoseconds(Bytes{1})))};
    // What has arrived is worked out from the rate of the moment: it must not seem to go back.
    credited = std::max({credited, counted, std::min(passed, transfer.bytes)});
    return credited - counted;
}

void Simulator::credit_moving() {
    for (FlatNode node = 1; node < nodes_end_; ++node) {
        record_ticks(node);
    }
    moving_.assign(nodes_end_, {});
    for (Transfer& transfer : transfers_) {
        if (!transfer.active) {
            continue;
        }
        Moving& producer = moving_[transfer.producer + 1];
        Moving& consumer = moving_[producers_end_ + transfer.first.to.value];
        const bool moves = transfer.moving;
        producer.bytes += beyond_chunks(
            transfer, moves ? network_.moved(transfer.flow, now_) : bit_nanoseconds(transfer.bytes),
            transfer.sent, transfer.sent_credited);
        consumer.bytes += beyond_chunks(transfer, moves ? arrived_by_now(transfer) : 0, transfer.arrived,
                                        transfer.arrived_credited);
        if (transfer.arrived == 0 && transfer.first_sequence == 0) {
            consumer.since = std::min(consumer.since, transfer.first.chunk.begun_at);
        }
    }
    for (FlatNode node = 1; node < nodes_end_; ++node) {
        // A node whose account is closed counts no more.
        const Moving moving = nodes_[node]->finished() ? Moving{} : moving_[node];
        record_moving(node, moving);
    }
}

void Simulator::record_moving(FlatNode node, const Moving& moving) {
    if (node >= producers_end_) {
        consumer(node).record_moving(moving.bytes, moving.since);
    } else if (node != 0) {
        producer(node).record_moving(moving.bytes);
    }
}

/// Adds the chunks that pass one end of a transfer at the ticks from `first` on to the account of that end.
void Simulator::count_passing(const Transfer& transfer, Progress& progress, std::uint64_t first,
                              const Passing& passing, std::uint32_t& passed, BitNanoseconds& next) const {
    const auto ticks = static_cast<std::int64_t>(ticks_ - first + 1);
    if (passed >= passing.most || next > passing.moved + passing.step * (ticks - 1)) {
        return;
    }
    const std::uint32_t before = passed;
    const std::span<Bytes> accounts = progress.at_ticks(first, ticks_);
    const BitNanoseconds chunk = bit_nanoseconds(plan_.chunk_size);
    const BitNanoseconds lead = passing.moved - next;
    // All chunks before the last one are equally large, and few pass from tick to tick: they are counted one
    // by one, by how far the transfer is beyond the next of them, in 64 bits.
    if (const BitNanoseconds near = few * chunk;
        near <= furthest && -near < lead && lead < near && passing.step < near) {
        passed += count_one_by_one(accounts, plan_.chunk_size,
                                   {.lead = static_cast<std::int64_t>(lead),
                                    .step = static_cast<std::int64_t>(passing.step),
                                    .chunk = static_cast<std::int64_t>(chunk),
                                    .most = passing.most - passed});
        next += chunk * (passed - before);
        return;
    }
    BitNanoseconds moved = passing.moved;
    for (Bytes& account : accounts) {
        const std::uint32_t count = chunks_until(transfer, passed, passing.most, next, moved);
        account += plan_.chunk_size * count;
        passed += count;
        moved += passing.step;
    }
}

/// Only while it moves: what is left when it has left the network counts at the end.
void Simulator::count_new_ticks(Transfer& transfer) {
    const FlatNode producer = transfer.producer + 1;
    const FlatNode consumer = producers_end_ + transfer.first.to.value;
    const std::uint64_t first = std::exchange(transfer.ticks, ticks_) + 1;
    if (!transfer.moving || !by_transfer()) {
        return;
    }
    const BitNanoseconds rate = network_.rate(transfer.flow).bits_per_second;
    const BitNanoseconds moved = network_.moved(transfer.flow, tick_time(first));
    const std::uint32_t most = conditions_[producer].away() ? transfer.sent : transfer.chunks - 1;
    count_passing(transfer, progress_[producer], first, {moved, rate * tick_period.ns, most}, transfer.sent,
                  transfer.sent_next);
    // What has arrived at a tick has left by then, so the same number is the most.
    if (!conditions_[consumer].away()) {
        const BitNanoseconds in_flight = rate * setup_.network.latency.ns;
        count_passing(transfer, progress_[consumer], first, {moved - in_flight, rate * tick_period.ns, most},
                      transfer.arrived, transfer.arrived_next);
    }
    if (transfer.sent + 1 == transfer.chunks) {
        // The last one may be smaller.
        transfer.sent_next = std::min(transfer.sent_next, bit_nanoseconds(transfer.bytes));
        transfer.arrived_next = std::min(transfer.arrived_next, bit_nanoseconds(transfer.bytes));
    }
}

void Simulator::record_new_ticks(FlatNode node) {
    Progress& progress = progress_[node];
    for (const std::uint32_t place : progress.transfers) {
        count_ticks(place);
    }
    // A node whose account is closed counts no more.
    if (!progress.bytes.empty() && !nodes_[node]->finished()) {
        steps_.clear();
        for (std::size_t position = 0; position < progress.bytes.size(); ++position) {
            if (progress.bytes[position] > Bytes{}) {
                steps_.push_back({tick_time(progress.recorded + 1 + position), progress.bytes[position]});
            }
        }
        if (node < producers_end_) {
            producer(node).record_chunks(steps_);
        } else {
            consumer(node).record_chunks(steps_);
        }
    }
    progress.bytes.clear();
    progress.recorded = ticks_;
}

/// Between turns: what the nodes ask for in answer is carried out here.
void Simulator::tell_of_ticks(FlatNode node) {
    record_ticks(node);
    progress_[node].caught_up = ticks_;
    for (const std::uint32_t place : progress_[node].transfers) {
        Transfer& transfer = transfers_[place];
        // A chunk that has arrived was handed over.
        tell_sent_at_ticks(transfer);
        if (node >= producers_end_ && transfer.arrived_told < transfer.arrived) {
            tell_arrived(transfer);
            actions_.observations.clear();  // they are recorded
        }
    }
}

/// More follow it: the last chunk does not count at a tick.
void Simulator::tell_sent_at_ticks(Transfer& transfer) {
    if (transfer.sent_told < transfer.sent) {
        const std::uint32_t count = transfer.sent - transfer.sent_told;
        checker_.chunk_left(now_, {transfer.producer}, chunks_of(transfer, transfer.sent_told, count));
        producers_[transfer.producer].on_chunks_passed(transfer.first.stream, count, actions_);
        transfer.sent_told = transfer.sent;
        take_chunks(transfer.producer + 1);
        actions_.chunks.clear();
    }
}

/// Chunks are handed over in answer to those that have left, a window at a time.
void Simulator::tell_sent(Transfer& transfer) {
    checker_.chunk_left(now_, {transfer.producer},
                        chunks_of(transfer, transfer.sent_told, transfer.sent - transfer.sent_told));
    while (transfer.sent_told < transfer.sent) {
        const std::uint32_t count = std::min(transfer.sent - transfer.sent_told, plan_.window);
        producers_[transfer.producer].on_chunks_sent(
            now_, transfer.first.stream, transfer.first_sequence + transfer.sent_told, count, actions_);
        transfer.sent_told += count;
    }
}

void Simulator::tell_arrived(Transfer& transfer) {
    const std::uint32_t count = transfer.arrived - transfer.arrived_told;
    const core::ChunkDescription chunks = chunks_of(transfer, transfer.arrived_told, count);
    transfer.arrived_told = transfer.arrived;
    checker_.chunk_arrived(transfer.first.to, transfer.first.place, chunks);
    consumers_[transfer.first.to.value].on_chunk(now_, transfer.first.place,
                                                 {.source = {core::Role::producer, transfer.producer},
                                                  .header_intact = true,
                                                  .payload_intact = true,
                                                  .chunk = chunks,
                                                  .count = count},
                                                 actions_);
}

// At their own time

/// Tells the producer of every chunk that has left when so much has moved. False: of none.
bool Simulator::chunks_leave(std::uint32_t place, BitNanoseconds moved) {
    Transfer& transfer = transfers_[place];
    // The last chunk has left when the transfer has left the network, also at the instant of its end.
    const std::uint32_t chunks = transfer.chunks - (transfer.moving ? 1U : 0U);
    const std::uint32_t left = chunks_until(transfer, transfer.sent, chunks, transfer.sent_next, moved);
    if (left == 0) {
        return false;
    }
    transfer.sent += left;
    tell_sent(transfer);
    return true;
}

void Simulator::report_sent(std::uint32_t place, BitNanoseconds moved) {
    const FlatNode producer = transfers_[place].producer + 1;
    if (conditions_[producer].away()) {
        return;
    }
    catch_up(producer);
    if (chunks_leave(place, moved)) {
        carry_out(producer);
        set_deadline(producer);
    }
}

void Simulator::report_sent_by(FlatNode producer) {
    if (!by_transfer() || conditions_[producer].away()) {
        return;
    }
    catch_up(producer);
    bool some = false;
    for (const std::uint32_t place : progress_[producer].transfers) {
        const Transfer& transfer = transfers_[place];
        if (transfer.moving) {
            some = chunks_leave(place, network_.moved(transfer.flow, now_)) || some;
        }
    }
    if (some) {
        carry_out(producer);
        set_deadline(producer);
    }
}

/// Tells the consumer of every chunk that has left and arrived when so much has arrived.
void Simulator::report_arrived(std::uint32_t place, BitNanoseconds arrived) {
    const FlatNode consumer = producers_end_ + transfers_[place].first.to.value;
    if (conditions_[consumer].away()) {
        return;
    }
    catch_up(consumer);
    Transfer& transfer = transfers_[place];
    const std::uint32_t count =
        chunks_until(transfer, transfer.arrived, transfer.sent, transfer.arrived_next, arrived);
    if (count == 0) {
        return;
    }
    transfer.arrived += count;
    tell_arrived(transfer);
    carry_out(consumer);
    set_deadline(consumer);
}

void Simulator::report_progress(std::uint32_t place) {
    report_sent(place, network_.moved(transfers_[place].flow, now_));
    // What is counted as sent in this instant cannot have arrived in it, unless the latency is 0.
    report_arrived(place, arrived_by_now(transfers_[place]));
}

}  // namespace weir::simulation
