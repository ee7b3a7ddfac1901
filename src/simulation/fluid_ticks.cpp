// How transfers of the fluid get on at ticks: which of their chunks have left and arrived, worked out late
// and together.
#include <algorithm>
#include <limits>

#include "simulation/fluid_network.hpp"

namespace weir::simulation {

using core::Bytes;
using core::Instant;

namespace {

/// So many chunks are counted one by one rather than by a division.
constexpr int few = 8;
/// In bit nanoseconds, so that twice as much is a number of 64 bits.
constexpr BitNanoseconds furthest = std::numeric_limits<std::int64_t>::max() / 2;

/// Ticks come a nanosecond before multiples of their period.
constexpr bool second_ends_after(Instant tick) {
    return (tick.ns + 1) % core::Duration::seconds(1).ns == 0;
}

/// In bit nanoseconds.
struct Steps {
    /// How far what has moved at the first tick is before the next chunk; negative: behind it.
    std::int64_t lead = 0;
    std::int64_t step = 0;  ///< from tick to tick
    std::int64_t chunk = 0;
    std::uint32_t most = 0;  ///< chunks
};

/// Adds the chunks that pass at each of the ticks to its account. Returns how many pass in all.
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

void FluidNetwork::handle_tick(Instant now) {
    ++ticks_;
    shares_.watch_again();
    // No transfer begins meanwhile, which would add to the list: only consumers have a turn.
    std::erase_if(first_chunk_ahead_, [&](const auto& ahead) {
        const Transfer& transfer = transfers_[ahead.first];
        if (!transfer.moving || transfer.serial != ahead.second || transfer.arrived.chunks > 0) {
            return true;
        }
        const FlatNode consumer = consumer_of(transfer);
        if (transfer.arrived.next > arrived_by(now, transfer) || client().stands_still(consumer)) {
            return false;
        }
        client().give_turn(consumer);
        return transfer.arrived.chunks > 0;
    });
    if (second_ends_after(now)) {
        credit_moving(now);
    }
    push(now + tick_period, tick, 0);
}

/// What rows are to be credited with ahead of the transfer's next chunk, where so much has moved.
Bytes FluidNetwork::beyond_chunks(const Transfer& transfer, Passage& end, BitNanoseconds moved) const {
    const Bytes counted = std::min(chunk_size_ * end.chunks, transfer.bytes);
    const Bytes passed{static_cast<std::int64_t>(core::quotient(moved, bit_nanoseconds(Bytes{1})))};
    // What has arrived is worked out from the rate of the moment: it must not seem to go back.
    end.credited = std::max({end.credited, counted, std::min(passed, transfer.bytes)});
    return end.credited - counted;
}

/// Credits rows with what moves, at the last tick of a second.
void FluidNetwork::credit_moving(Instant now) {
    for (FlatNode node = 1; node < row().size(); ++node) {
        record(node);
    }
    moving_.assign(row().size(), {});
    for (Transfer& transfer : transfers_) {
        if (!transfer.active) {
            continue;
        }
        Moving& consumer = moving_[consumer_of(transfer)];
        const bool moves = transfer.moving;
        moving_[producer_of(transfer)].bytes +=
            beyond_chunks(transfer, transfer.sent,
                          moves ? shares_.moved(transfer.flow, now) : bit_nanoseconds(transfer.bytes));
        consumer.bytes += beyond_chunks(transfer, transfer.arrived, moves ? arrived_by(now, transfer) : 0);
        if (transfer.arrived.chunks == 0 && transfer.first_sequence == 0) {
            consumer.since = std::min(consumer.since, transfer.first.chunk.chunk.begun_at);
        }
    }
    for (FlatNode node = 1; node < row().size(); ++node) {
        client().record_moving(node, moving_[node].bytes, moving_[node].since);
    }
}

/// Adds the chunks that pass one end of a transfer at the ticks from `first` on to the account of that end.
void FluidNetwork::count_passing(const Transfer& transfer, Passage& end, Account& account,
                                 std::uint64_t first, const TickSteps& steps) const {
    const auto ticks = static_cast<std::int64_t>(ticks_ - first + 1);
    if (end.chunks >= steps.most || end.next > steps.moved + steps.step * (ticks - 1)) {
        return;
    }
    const std::uint32_t before = end.chunks;
    const std::span<Bytes> at_ticks = account.at_ticks(first, ticks_);
    const BitNanoseconds chunk = bit_nanoseconds(chunk_size_);
    const BitNanoseconds lead = steps.moved - end.next;
    // All chunks before the last one are equally large, and few pass from tick to tick: they are counted one
    // by one, by how far the transfer is beyond the next of them, in 64 bits.
    if (const BitNanoseconds near = few * chunk;
        near <= furthest && -near < lead && lead < near && steps.step < near) {
        end.chunks += count_one_by_one(at_ticks, chunk_size_,
                                       {.lead = static_cast<std::int64_t>(lead),
                                        .step = static_cast<std::int64_t>(steps.step),
                                        .chunk = static_cast<std::int64_t>(chunk),
                                        .most = steps.most - before});
        end.next += chunk * (end.chunks - before);
        return;
    }
    BitNanoseconds moved = steps.moved;
    for (Bytes& bytes : at_ticks) {
        bytes += chunk_size_ * pass_chunks(transfer, end, steps.most, moved);
        moved += steps.step;
    }
}

/// Only while it moves: what is left when it has left the network counts at the end.
void FluidNetwork::count_new_ticks(Transfer& transfer) {
    const FlatNode producer = producer_of(transfer);
    const FlatNode consumer = consumer_of(transfer);
    const std::uint64_t first = std::exchange(transfer.ticks, ticks_) + 1;
    if (!transfer.moving || by_chunk_) {
        return;
    }
    const BitNanoseconds rate = shares_.rate(transfer.flow).bits_per_second;
    const BitNanoseconds moved = shares_.moved(transfer.flow, tick_time(first));
    const std::uint32_t most = client().stands_still(producer) ? transfer.sent.chunks : transfer.chunks - 1;
    count_passing(transfer, transfer.sent, accounts_[producer], first, {moved, rate * tick_period.ns, most});
    // What has arrived at a tick has left by then, so the same number is the most.
    if (!client().stands_still(consumer)) {
        count_passing(transfer, transfer.arrived, accounts_[consumer], first,
                      {moved - rate * transfer.latency.ns, rate * tick_period.ns, most});
    }
    if (transfer.sent.chunks + 1 == transfer.chunks) {
        // The last one may be smaller.
        const BitNanoseconds all = bit_nanoseconds(transfer.bytes);
        transfer.sent.next = std::min(transfer.sent.next, all);
        transfer.arrived.next = std::min(transfer.arrived.next, all);
    }
}

void FluidNetwork::record_ticks(FlatNode node) {
    Account& account = accounts_[node];
    for (const std::uint32_t index : account.transfers) {
        count_ticks(transfers_[index]);
    }
    if (!account.bytes.empty()) {
        steps_.clear();
        for (std::size_t position = 0; position < account.bytes.size(); ++position) {
            if (account.bytes[position] > Bytes{}) {
                steps_.push_back({tick_time(account.recorded + 1 + position), account.bytes[position]});
            }
        }
        client().record_chunks(node, steps_);
    }
    account.bytes.clear();
    account.recorded = ticks_;
}

void FluidNetwork::report_ticks(FlatNode node) {
    record(node);
    accounts_[node].reported = ticks_;
    for (const std::uint32_t index : accounts_[node].transfers) {
        Transfer& transfer = transfers_[index];
        // For a consumer too: a chunk that has arrived was handed over.
        if (transfer.sent.reported < transfer.sent.chunks) {
            client().chunks_left_before(mark_reported(transfer, transfer.sent));
        }
        if (row().is_consumer(node) && transfer.arrived.reported < transfer.arrived.chunks) {
            client().chunks_arrived_before(mark_reported(transfer, transfer.arrived));
        }
    }
}

}  // namespace weir::simulation
