#include "simulation/fluid_network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weir::simulation {

using core::Bytes;
using core::Duration;
using core::Instant;

namespace {

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
std::uint32_t count_at_ticks(std::span<Bytes> accounts, Bytes chunk_size, const Steps& steps) {
    std::int64_t lead = steps.lead;
    std::int64_t left = steps.most;
    for (Bytes& account : accounts) {
        if (lead >= 0) {
            const std::int64_t passed = std::min(lead / steps.chunk + 1, left);
            lead -= passed * steps.chunk;
            account += chunk_size * passed;
            left -= passed;
            if (left == 0) {
                break;
            }
        }
        lead += steps.step;
    }
    return steps.most - static_cast<std::uint32_t>(left);
}

/// Transfers that can be in the network at a time.
std::uint32_t most_transfers(const core::Plan& plan) {
    return plan.producers * plan.streams * (plan.shaping.kind != core::ShapingKind::none ? plan.window : 1);
}

}  // namespace

/// Up and down, by node.
std::vector<core::BitRate> FluidNetwork::capacities() const {
    std::vector<core::BitRate> rates;
    for (FlatNode node = 0; node < row().size(); ++node) {
        rates.insert(rates.end(), 2, payload_rate(node));
    }
    return rates;
}

FluidNetwork::FluidNetwork(const core::Plan& plan, const core::NetworkPlan& network, Events& events,
                           NetworkClient& client)
    : SeparateControl(plan, network, events, client),
      chunk_size_(plan.chunk_size),
      by_chunk_(plan.shaping.kind != core::ShapingKind::none),
      fabric_(network.fluid_fabric ? std::make_unique<FluidFabric>(plan, network) : nullptr),
      shares_(fabric_ ? fabric_->capacities() : capacities(), most_transfers(plan)),
      transfer_of_flow_(most_transfers(plan)),
      accounts_(row().size()) {
    shares_.watch_rates([this](FlowId flow) { count_ticks(transfers_[transfer_of_flow_[flow.value]]); });
}

void FluidNetwork::start(Instant now) {
    // A nanosecond before the multiple: what has moved until then belongs to the bin and second that end
    // there.
    first_tick_ = next_multiple(now, tick_period) - Duration{1};
    push(first_tick_, tick, 0);
}

// Transfers

void FluidNetwork::send_chunks(Instant now, std::uint32_t producer, std::span<const core::SendChunk> chunks) {
    for (const core::SendChunk& chunk : chunks) {
        if (chunk.chunk.sequence == 0 || by_chunk_) {
            begin(now, producer, chunk);
        }
    }
}

void FluidNetwork::begin(Instant now, std::uint32_t producer, const core::SendChunk& chunk) {
    // Filled in place: a copy right after the stores of its fields would stall on them.
    const std::uint32_t index = transfers_.take();
    Transfer& transfer = transfers_[index];
    transfer = {};
    transfer.serial = ++begun_;
    transfer.active = transfer.moving = true;
    transfer.first.producer = producer;
    transfer.first.chunk = chunk;
    transfer.bytes = by_chunk_ ? chunk.chunk.length : chunk.chunk.event_bytes;
    transfer.first_sequence = chunk.chunk.sequence;
    transfer.chunks =
        static_cast<std::uint32_t>((transfer.bytes.count + chunk_size_.count - 1) / chunk_size_.count);
    transfer.ticks = ticks_;
    transfer.sent.next = transfer.arrived.next = boundary(transfer, 1);
    const FlatNode from = producer_of(transfer);
    const FlatNode to = consumer_of(transfer);
    transfer.latency = fabric_ ? fabric_->delay(from, to) : latency();
    transfer.flow = fabric_ ? shares_.begin(now, fabric_->path(from, to), transfer.bytes)
                            : shares_.begin(now, up(from), down(to), transfer.bytes);
    transfer_of_flow_[transfer.flow.value] = index;
    new_transfers_.push_back(index);
    if (!by_chunk_) {
        accounts_[from].transfers.push_back(index);
        accounts_[to].transfers.push_back(index);
        // The last chunk counts at the transfer's end and not at a tick.
        if (transfer.chunks > 1) {
            first_chunk_ahead_.emplace_back(index, transfer.serial);
        }
    }
}

void FluidNetwork::cancel(Instant now, std::uint32_t producer, core::StreamId stream) {
    WEIR_ASSERT(!by_chunk_);
    const FlatNode from = row().producer(producer);
    const std::vector<std::uint32_t>& own = accounts_[from].transfers;
    const auto found = std::find_if(own.begin(), own.end(), [&](std::uint32_t index) {
        return transfers_[index].first.chunk.stream == stream;
    });
    WEIR_ASSERT(found != own.end());
    const std::uint32_t index = *found;
    Transfer& transfer = transfers_[index];
    const FlatNode to = consumer_of(transfer);
    // What has passed by now is in the rows of both; nothing more of it is reported to the consumer.
    record(from);
    record(to);
    if (transfer.moving) {
        shares_.end(now, transfer.flow);
    }
    transfer.moving = transfer.active = false;
    std::erase(accounts_[from].transfers, index);
    std::erase(accounts_[to].transfers, index);
    transfers_.remove(index);
}

Instant FluidNetwork::next(Instant now, Instant /*until*/) {
    shares_.share_out(now);
    for (const std::uint32_t index : new_transfers_) {
        const Transfer& transfer = transfers_[index];
        const std::int64_t rate = shares_.rate(transfer.flow).bits_per_second;
        if (transfer.moving && rate > 0) {
            const auto takes = static_cast<std::int64_t>((boundary(transfer, 1) + rate - 1) / rate);
            push(now + Duration{takes} + transfer.latency, first_chunk, index, transfer.serial);
        }
    }
    new_transfers_.clear();
    return shares_.next_end();
}

/// All of one transfer has moved.
void FluidNetwork::advance(Instant now) {
    const FlowId flow = shares_.next_to_end();
    const std::uint32_t index = transfer_of_flow_[flow.value];
    count_ticks(transfers_[index]);
    shares_.end(now, flow);
    transfers_[index].moving = false;
    end_left(now, index);
}

void FluidNetwork::handle_data(Instant now, const QueueEvent& event) {
    switch (event.kind()) {
        case first_chunk: {
            const Transfer& transfer = transfers_[event.a()];
            if (transfer.moving && transfer.serial == event.b) {
                report_sent(event.a(), shares_.moved(transfer.flow, now));
                // What is counted as sent in this instant cannot have arrived in it, unless the latency is 0.
                report_arrived(event.a(), arrived_by(now, transfers_[event.a()]));
            }
            return;
        }
        case all_left:
            if (transfers_[event.a()].active && transfers_[event.a()].serial == event.b) {
                end_left(now, event.a());
            }
            return;
        case all_arrived:
            end_arrived(event.a());
            return;
        case routes_converge:
            converge(now);
            return;
        default:
            handle_tick(now);
            return;
    }
}

void FluidNetwork::end_left(Instant now, std::uint32_t index) {
    const FlatNode producer = producer_of(transfers_[index]);
    if (client().stands_still(producer)) {
        client().hold(producer, {true, all_left, index, transfers_[index].serial});
        return;
    }
    push(now + transfers_[index].latency, all_arrived, index);
    report_sent(index, bit_nanoseconds(transfers_[index].bytes));
    std::erase(accounts_[producer].transfers, index);
}

void FluidNetwork::end_arrived(std::uint32_t index) {
    const FlatNode consumer = consumer_of(transfers_[index]);
    if (client().stands_still(consumer)) {
        client().hold(consumer, {true, all_arrived, index});
        return;
    }
    report_arrived(index, bit_nanoseconds(transfers_[index].bytes));
    std::erase(accounts_[consumer].transfers, index);
    transfers_[index].active = false;
    transfers_.remove(index);
}

void FluidNetwork::set_link(Instant now, FlatNode node, double factor) {
    if (fabric_) {
        set_capacities(now, fabric_->set_link(node, factor));
        return;
    }
    const core::BitRate rate = payload_rate(node);
    const core::BitRate capacity{std::llround(static_cast<double>(rate.bits_per_second) * factor)};
    shares_.set_capacity(now, up(node), capacity);
    shares_.set_capacity(now, down(node), capacity);
}

void FluidNetwork::set_failed(Instant now, std::uint32_t number, const Disturbance& disturbance, bool on) {
    WEIR_ASSERT(fabric_ != nullptr);
    set_capacities(now, fabric_->set_failed(number, disturbance, on));
    push(now + fabric_->convergence(), routes_converge, 0);
}

void FluidNetwork::set_capacities(Instant now, const std::vector<LinkId>& links) {
    for (const LinkId link : links) {
        shares_.set_capacity(now, link, fabric_->capacity(link));
    }
}

void FluidNetwork::converge(Instant now) {
    if (!fabric_->converge()) {
        return;
    }
    for (const Transfer& transfer : transfers_) {
        if (transfer.active && transfer.moving) {
            shares_.set_path(now, transfer.flow, fabric_->path(producer_of(transfer), consumer_of(transfer)));
        }
    }
}

// Chunks at their own time

BitNanoseconds FluidNetwork::boundary(const Transfer& transfer, std::uint32_t chunks) const {
    return bit_nanoseconds(std::min(chunk_size_ * chunks, transfer.bytes));
}

ChunkRun FluidNetwork::run_of(const Transfer& transfer, std::uint32_t first, std::uint32_t count) const {
    ChunkRun run = transfer.first;
    core::ChunkDescription& chunk = run.chunk.chunk;
    chunk.sequence = transfer.first_sequence + first;
    chunk.offset = chunk_size_ * chunk.sequence;
    chunk.length = std::min(chunk_size_ * count, chunk.event_bytes - chunk.offset);
    run.count = count;
    return run;
}

std::uint32_t FluidNetwork::pass_chunks(const Transfer& transfer, Passage& end, std::uint32_t most,
                                        BitNanoseconds moved) const {
    if (end.next > moved || end.chunks >= most) {
        return 0;
    }
    // All chunks but the last one are equally large.
    const BitNanoseconds further = core::quotient(moved - end.next, bit_nanoseconds(chunk_size_));
    const bool all = moved >= bit_nanoseconds(transfer.bytes);
    const std::uint32_t rest = most - end.chunks;
    const std::uint32_t count = all || further >= rest ? rest : static_cast<std::uint32_t>(further) + 1;
    end.chunks += count;
    end.next = boundary(transfer, end.chunks + 1);
    return count;
}

BitNanoseconds FluidNetwork::arrived_by(Instant now, const Transfer& transfer) const {
    return shares_.moved(transfer.flow, now) -
           static_cast<BitNanoseconds>(shares_.rate(transfer.flow).bits_per_second) * transfer.latency.ns;
}

/// Reports every chunk that has left when so much has moved.
void FluidNetwork::report_sent(std::uint32_t index, BitNanoseconds moved) {
    const FlatNode producer = producer_of(transfers_[index]);
    if (client().stands_still(producer)) {
        return;
    }
    catch_up(producer);
    Transfer& transfer = transfers_[index];
    // The last chunk has left when the transfer has left the network, also at the instant of its end.
    if (pass_chunks(transfer, transfer.sent, transfer.chunks - (transfer.moving ? 1U : 0U), moved) > 0) {
        client().chunks_left(mark_reported(transfer, transfer.sent));
    }
}

/// Reports every chunk that has left and arrived when so much has arrived.
void FluidNetwork::report_arrived(std::uint32_t index, BitNanoseconds arrived) {
    const FlatNode consumer = consumer_of(transfers_[index]);
    if (client().stands_still(consumer)) {
        return;
    }
    catch_up(consumer);
    Transfer& transfer = transfers_[index];
    if (pass_chunks(transfer, transfer.arrived, transfer.sent.chunks, arrived) > 0) {
        client().chunks_arrived(mark_reported(transfer, transfer.arrived));
    }
}

void FluidNetwork::report_left(Instant now, FlatNode producer) {
    // Transfers that begin meanwhile are put behind these, and nothing of them has moved.
    const std::size_t count = accounts_[producer].transfers.size();
    for (std::size_t position = 0; position < count; ++position) {
        const std::uint32_t index = accounts_[producer].transfers[position];
        if (transfers_[index].moving) {
            report_sent(index, shares_.moved(transfers_[index].flow, now));
        }
    }
}

// How transfers of the fluid get on at ticks: which of their chunks have left and arrived, worked out late
// and together.
using core::Bytes;
using core::Instant;

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
    // All chunks before the last one are equally large: by how far the transfer is beyond the next of them,
    // in 64 bits, unless they are very large.
    if (-furthest < lead && lead < furthest && steps.step < furthest && chunk < furthest) {
        end.chunks += count_at_ticks(at_ticks, chunk_size_,
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
