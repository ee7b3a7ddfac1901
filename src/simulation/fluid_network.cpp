#include "simulation/fluid_network.hpp"

#include <algorithm>
#include <cmath>

namespace weir::simulation {

using core::Bytes;
using core::Duration;
using core::Instant;

namespace {

/// Transfers that can be in the network at a time.
std::uint32_t most_transfers(const core::Plan& plan) {
    return plan.producers * plan.streams * (plan.shaping.kind != core::ShapingKind::none ? plan.window : 1);
}

/// Up and down, by node.
std::vector<core::BitRate> capacities(const core::Plan& plan, const core::NetworkPlan& network) {
    std::vector<core::BitRate> rates(
        2, payload_rate(network, std::max(network.producer_link, network.consumer_link)));
    for (const core::BitRate link : core::producer_links(network, plan.producers)) {
        rates.insert(rates.end(), 2, payload_rate(network, link));
    }
    for (const core::BitRate link : core::consumer_links(network, plan.consumers)) {
        rates.insert(rates.end(), 2, payload_rate(network, link));
    }
    return rates;
}

}  // namespace

FluidNetwork::FluidNetwork(const core::Plan& plan, const core::NetworkPlan& network, Events& events,
                           NetworkClient& client)
    : SeparateControl(plan, network, events, client),
      chunk_size_(plan.chunk_size),
      by_chunk_(plan.shaping.kind != core::ShapingKind::none),
      fabric_(network.fluid_fabric ? std::make_unique<FluidFabric>(plan, network) : nullptr),
      shares_(fabric_ ? fabric_->capacities() : capacities(plan, network), most_transfers(plan)),
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

}  // namespace weir::simulation
