// The simulator's traffic: what nodes send each other in a turn, as messages and as transfers over the
// network.
#include "simulation/simulator.hpp"

#include <algorithm>

namespace weir::simulation {

using core::Bytes;
using core::Duration;
using core::Instant;
using core::NodeId;
using core::Role;

void Simulator::carry_out(FlatNode node) {
    const NodeId name = id(node);
    nodes_[node]->record(now_, actions_);
    for (const core::Observation& observation : actions_.observations) {
        checker_.observed(now_, name, observation);
    }
    for (const core::PlaceId place : actions_.open_places) {
        checker_.place_opened({name.index}, place);
    }
    take_chunks(node);
    for (const core::SendResult& result : actions_.results) {
        send_result(node, result);
    }
    for (const core::SendMessage& message : actions_.messages) {
        checker_.message_sent(name, message);
        send_message(node, message);
    }
    if (name.role == Role::producer && !nodes_[node]->finished()) {
        checker_.backlog_claimed({name.index}, producer(node).backlog());
    } else if (name.role == Role::scheduler) {
        checker_.scheduler_decided();
    }
    for (const core::Fault& fault : actions_.faults) {
        ++fault_count_;
        constexpr std::size_t kept = 100;
        if (found_faults_.size() < kept) {
            found_faults_.push_back(fault);
        }
    }
    actions_.clear();
}

// Messages

std::uint32_t Simulator::place_message(const Message& message) {
    std::uint32_t place = 0;
    if (unused_messages_.empty()) {
        place = static_cast<std::uint32_t>(messages_.size());
        messages_.emplace_back();
    } else {
        place = unused_messages_.back();
        unused_messages_.pop_back();
    }
    messages_[place] = message;
    return place;
}

/// A result takes its time on the consumer's link, results one after the other; what shares the link with
/// them is not slowed down. Messages that are sent behind it arrive behind it.
void Simulator::send_result(FlatNode from, const core::SendResult& result) {
    results_left_.resize(nodes_end_, now_);
    core::Instant& left = results_left_[from];
    left = std::max(now_, left) + core::time_for(payload_rates_[from], result.bytes);
    const std::uint32_t place = place_message(
        {.from = from,
         .to = flat(core::scheduler_node()),
         .message = {.slot = result.slot.value, .event = result.event.value, .bytes = result.bytes.count},
         .result = true});
    queue_.push(left + setup_.network.latency, {Kind::message, place, 0});
}

void Simulator::send_message(FlatNode from, const core::SendMessage& sent) {
    const FlatNode to = flat(sent.to);
    const std::uint32_t place = place_message({.from = from, .to = to, .message = sent.message});
    const core::BitRate slower = std::min(payload_rates_[from], payload_rates_[to]);
    const Instant begin = to == 0 && !results_left_.empty() ? std::max(now_, results_left_[from]) : now_;
    Instant arrival = begin + setup_.network.latency + core::time_for(slower, message_bytes);
    if (!extra_delays_.empty() || !last_arrival_.empty()) {
        if (!extra_delays_.empty()) {
            const Duration most = *std::max_element(extra_delays_.begin(), extra_delays_.end());
            arrival =
                arrival +
                Duration{static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(most.ns) + 1))};
        }
        std::int64_t& last = last_arrival_[(std::uint64_t{from} << 32U) | to];
        arrival.ns = std::max(arrival.ns, last);
        last = arrival.ns;
    }
    queue_.push(arrival, {Kind::message, place, 0});
}

/// The scheduler begins with the message that has waited longest, for as long as it takes by now.
void Simulator::serve_next() {
    messages_[at_scheduler_.front()].served = true;
    queue_.push(now_ + scheduler_time_, {Kind::message, at_scheduler_.front(), 0});
}

void Simulator::handle_message(const Event& event) {
    Message& message = messages_[event.a];
    const FlatNode to = message.to;
    if (conditions_[to].away()) {
        conditions_[to].held.push_back(event);
        return;
    }
    if (to == 0 && !message.served && (scheduler_time_ > Duration{} || !at_scheduler_.empty())) {
        at_scheduler_.push_back(event.a);
        if (at_scheduler_.size() == 1) {
            serve_next();
        }
        return;
    }
    if (message.served) {
        at_scheduler_.pop_front();
        if (!at_scheduler_.empty()) {
            serve_next();
        }
    }
    const Message taken = message;
    unused_messages_.push_back(event.a);
    if (taken.result) {
        const core::SendResult result{{taken.message.slot}, {taken.message.event}, {taken.message.bytes}};
        turn(to, [&](core::Actions& out) { scheduler_->on_result(now_, id(taken.from), result, out); });
        return;
    }
    checker_.message_taken(now_, id(taken.from), id(to), taken.message);
    turn(to, [&](core::Actions& out) { nodes_[to]->on_message(now_, id(taken.from), taken.message, out); });
}

// Data

/// What follows each other is checked as one, where the network moves a transfer as a whole.
void Simulator::take_chunks(FlatNode producer) {
    const std::vector<core::SendChunk>& chunks = actions_.chunks;
    const bool together = by_transfer();
    for (std::size_t next = 0; next < chunks.size();) {
        core::SendChunk run = chunks[next];
        for (++next; together && next < chunks.size(); ++next) {
            const core::SendChunk& follows = chunks[next];
            if (follows.stream != run.stream || follows.chunk.event != run.chunk.event ||
                follows.chunk.offset != run.chunk.offset + run.chunk.length) {
                break;
            }
            run.chunk.length += follows.chunk.length;
        }
        take_chunk(producer, run);
    }
}

void Simulator::take_chunk(FlatNode producer, const core::SendChunk& chunk) {
    checker_.chunk_handed_over({producer - 1}, chunk);
    if (checker_.objection()) {
        return;
    }
    if (plan_.lossy()) {
        send_datagram(producer, chunk);
        return;
    }
    // The network moves a transfer as a whole; that later chunks were handed over in time is the checker's to
    // see.
    if (chunk.chunk.sequence == 0 || by_chunk()) {
        begin_transfer(producer, chunk);
    }
}

void Simulator::begin_transfer(FlatNode producer, const core::SendChunk& chunk) {
    std::uint32_t place = 0;
    if (unused_transfers_.empty()) {
        place = static_cast<std::uint32_t>(transfers_.size());
        transfers_.emplace_back();
    } else {
        place = unused_transfers_.back();
        unused_transfers_.pop_back();
    }
    Transfer& transfer = transfers_[place];
    const std::uint32_t serial = transfer.serial + 1;
    transfer = {};
    transfer.serial = serial;
    transfer.active = transfer.moving = true;
    transfer.first = chunk;
    transfer.producer = producer - 1;
    transfer.bytes = by_chunk() ? chunk.chunk.length : chunk.chunk.event_bytes;
    transfer.first_sequence = chunk.chunk.sequence;
    transfer.chunks = static_cast<std::uint32_t>((transfer.bytes.count + plan_.chunk_size.count - 1) /
                                                 plan_.chunk_size.count);
    transfer.sent_next = transfer.arrived_next = boundary(transfer, 1);
    transfer.flow = network_.begin(now_, up(producer), down(producers_end_ + chunk.to.value), transfer.bytes);
    transfer_of_flow_[transfer.flow.value] = place;
    new_transfers_.push_back(place);
    if (by_transfer()) {
        follow(place);
    }
}

void Simulator::end_flow(FlowId flow) {
    const std::uint32_t place = transfer_of_flow_[flow.value];
    count_ticks(place);
    network_.end(now_, flow);
    transfers_[place].moving = false;
    const FlatNode producer = transfers_[place].producer + 1;
    if (conditions_[producer].away()) {
        conditions_[producer].held.push_back({Kind::all_left, place, 0});
    } else {
        all_left(place);
    }
}

void Simulator::all_left(std::uint32_t place) {
    queue_.push(now_ + setup_.network.latency, {Kind::rest_arrived, place, 0});
    report_sent(place, bit_nanoseconds(transfers_[place].bytes));
    if (by_transfer()) {
        std::erase(progress_[transfers_[place].producer + 1].transfers, place);
    }
}

// Datagrams

void Simulator::send_datagram(FlatNode producer, const core::SendChunk& chunk) {
    std::uint32_t place = 0;
    if (unused_datagrams_.empty()) {
        place = static_cast<std::uint32_t>(datagrams_.size());
        datagrams_.emplace_back();
    } else {
        place = unused_datagrams_.back();
        unused_datagrams_.pop_back();
    }
    datagrams_[place] = {chunk, producer - 1};
    datagram_network_.hand_over(now_, producer, place, chunk.chunk.length);
}

/// One has passed its producer's link and reaches the switch, or its consumer's.
void Simulator::datagram_passed() {
    const DatagramNetwork::Passed passed = datagram_network_.take_next();
    if (passed.node < producers_end_) {
        datagram_left({Kind::datagram_left, passed.datagram, 0});
    } else {
        queue_.push(now_ + setup_.network.latency, {Kind::datagram_arrived, passed.datagram, 0});
    }
}

void Simulator::datagram_left(const Event& event) {
    const Datagram datagram = datagrams_[event.a];
    const FlatNode producer = datagram.producer + 1;
    if (conditions_[producer].away()) {
        conditions_[producer].held.push_back(event);
        return;
    }
    const FlatNode consumer = producers_end_ + datagram.chunk.to.value;
    if (!datagram_network_.reach_port(now_, consumer, event.a, datagram.chunk.chunk.length)) {
        unused_datagrams_.push_back(event.a);
    }
    checker_.chunk_left(now_, {datagram.producer}, datagram.chunk.chunk);
    turn(producer, [&](core::Actions& out) {
        producers_[datagram.producer].on_chunks_sent(now_, datagram.chunk.stream,
                                                     datagram.chunk.chunk.sequence, 1, out);
    });
}

void Simulator::datagram_arrived(const Event& event) {
    const Datagram datagram = datagrams_[event.a];
    const FlatNode consumer = producers_end_ + datagram.chunk.to.value;
    if (conditions_[consumer].away()) {
        conditions_[consumer].held.push_back(event);
        return;
    }
    unused_datagrams_.push_back(event.a);
    core::ChunkDescription chunk = datagram.chunk.chunk;
    checker_.chunk_arrived(datagram.chunk.to, datagram.chunk.place, chunk);
    // What a datagram does not say.
    chunk.event_bytes = {};
    chunk.generated_at = {};
    turn(consumer, [&](core::Actions& out) {
        consumers_[datagram.chunk.to.value].on_chunk(now_, datagram.chunk.place,
                                                     {.source = {Role::producer, datagram.producer},
                                                      .header_intact = true,
                                                      .payload_intact = true,
                                                      .chunk = chunk},
                                                     out);
    });
}

}  // namespace weir::simulation
