// The turns of the simulator's nodes: what reaches them, by message and through the network, and what they
// send in answer.
#include <algorithm>

#include "simulation/simulator.hpp"

namespace weir::simulation {

using core::Bytes;
using core::Duration;
using core::Instant;
using core::NodeId;
using core::Role;

void Simulator::carry_out(FlatNode node) {
    const NodeId name = row_.id(node);
    if (plan_.lossy()) {
        record_socket(node);  // before the node's last row, which the turn may end
    }
    nodes_[node]->record(now_, actions_);
    for (const core::Observation& observation : actions_.observations) {
        checker_.observed(now_, name, observation);
    }
    for (const core::PlaceId place : actions_.open_places) {
        checker_.place_opened({name.index}, place);
    }
    for (const core::StreamId stream : actions_.cancelled) {
        network_->cancel(now_, name.index, stream);
    }
    hand_over_chunks(name.index);
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
        for (const core::Observation& observation : actions_.observations) {
            if (observation.kind == core::Observation::Kind::consumer_lost) {
                silent_since_.push_back(conditions_[row_.flat(observation.peer)].silent_since);
            }
        }
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

/// Chunks that follow each other are checked as one.
void Simulator::hand_over_chunks(std::uint32_t producer) {
    const std::vector<core::SendChunk>& chunks = actions_.chunks;
    if (chunks.empty()) {
        return;
    }
    for (std::size_t next = 0; next < chunks.size();) {
        core::SendChunk run = chunks[next];
        for (++next; next < chunks.size(); ++next) {
            const core::SendChunk& follows = chunks[next];
            if (follows.stream != run.stream || follows.chunk.event != run.chunk.event ||
                follows.chunk.offset != run.chunk.offset + run.chunk.length) {
                break;
            }
            run.chunk.length += follows.chunk.length;
        }
        checker_.chunk_handed_over({producer}, run);
    }
    if (!checker_.objection()) {
        network_->send_chunks(now_, producer, chunks);
    }
}

// Messages

void Simulator::send_result(FlatNode from, const core::SendResult& result) {
    const std::uint32_t index = messages_.add({.from = from, .to = 0, .content = result});
    network_->send_result(now_, from, result.bytes, index);
}

void Simulator::send_message(FlatNode from, const core::SendMessage& sent) {
    const FlatNode to = row_.flat(sent.to);
    const std::uint32_t index = messages_.take();
    Message& message = messages_[index];
    message.from = from;
    message.to = to;
    message.content = sent.message;
    if (conditions_[from].cuts > 0) {
        conditions_[from].unsent.push_back(index);
        return;
    }
    if (conditions_[to].silent() && std::holds_alternative<core::Admit>(sent.message)) {
        // An old message of it was taken for a sign of life.
        push(now_ + setup_.silence_timeout, Kind::noticed, to);
    }
    network_->send_message(now_, from, to, message_bytes, index);
}

void Simulator::message_arrived(std::uint32_t index) {
    const FlatNode to = messages_[index].to;
    if (conditions_[to].silent()) {
        hold(to, {false, static_cast<std::uint8_t>(Kind::message), index, 0});
    } else if (to == 0 && (scheduler_time_ > Duration{} || !at_scheduler_.empty())) {
        at_scheduler_.push(index);
        if (at_scheduler_.size() == 1) {
            serve_next();
        }
    } else {
        deliver(index);
    }
}

/// The scheduler begins with the message that has waited longest, for as long as it takes by now.
void Simulator::serve_next() {
    push(now_ + scheduler_time_, Kind::handled, at_scheduler_.front());
}

void Simulator::message_handled(std::uint32_t index) {
    if (conditions_[0].away()) {
        hold(0, {false, static_cast<std::uint8_t>(Kind::handled), index, 0});
        return;
    }
    at_scheduler_.pop();
    scheduler_->record_handling(now_, scheduler_time_);
    if (!at_scheduler_.empty()) {
        serve_next();
    }
    deliver(index);
}

void Simulator::deliver(std::uint32_t index) {
    const Message taken = messages_[index];
    messages_.remove(index);
    const NodeId from = row_.id(taken.from);
    if (const auto* const result = std::get_if<core::SendResult>(&taken.content)) {
        turn(taken.to, [&](core::Actions& out) { scheduler_->on_result(now_, from, *result, out); });
        return;
    }
    const auto& message = std::get<core::ControlMessage>(taken.content);
    checker_.message_taken(now_, from, row_.id(taken.to), message);
    turn(taken.to, [&](core::Actions& out) { nodes_[taken.to]->on_message(now_, from, message, out); });
}

// Chunks

void Simulator::chunks_left(const ChunkRun& run) {
    turn(row_.producer(run.producer), [&](core::Actions& out) {
        checker_.chunk_left(now_, {run.producer}, run.chunk.chunk);
        producers_[run.producer].on_chunks_sent(now_, run.chunk.stream, run.chunk.chunk.sequence, run.count,
                                                out);
    });
}

void Simulator::chunks_arrived(const ChunkRun& run) {
    turn(row_.consumer(run.chunk.to.value), [&](core::Actions&) { feed_arrived(run); });
}

void Simulator::feed_arrived(const ChunkRun& run) {
    checker_.chunk_arrived(run.chunk.to, run.chunk.place, run.chunk.chunk);
    consumers_[run.chunk.to.value].on_chunk(now_, run.chunk.place,
                                            {.source = {Role::producer, run.producer},
                                             .header_intact = true,
                                             .payload_intact = true,
                                             .chunk = run.chunk.chunk,
                                             .count = run.count},
                                            actions_);
}

void Simulator::chunk_dropped(const ChunkRun& run) {
    checker_.chunk_dropped({run.producer}, run.chunk.chunk);
}

/// More follow them, which are handed over at once.
void Simulator::chunks_left_before(const ChunkRun& run) {
    checker_.chunk_left(now_, {run.producer}, run.chunk.chunk);
    producers_[run.producer].on_chunks_passed(run.chunk.stream, run.count, actions_);
    hand_over_chunks(run.producer);
    actions_.chunks.clear();
}

void Simulator::chunks_arrived_before(const ChunkRun& run) {
    feed_arrived(run);
    actions_.observations.clear();  // they are recorded
}

/// A node whose account is closed counts no more.
void Simulator::record_chunks(FlatNode node, std::span<const record::ChunkBytes> chunks) {
    if (nodes_[node]->finished()) {
        return;
    }
    if (row_.is_producer(node)) {
        producer(node).record_chunks(chunks);
    } else {
        consumer(node).record_chunks(chunks);
    }
}

void Simulator::record_moving(FlatNode node, Bytes bytes, Instant since) {
    const bool counts = !nodes_[node]->finished();
    if (row_.is_producer(node)) {
        producer(node).record_moving(counts ? bytes : Bytes{});
    } else if (row_.is_consumer(node)) {
        consumer(node).record_moving(counts ? bytes : Bytes{}, counts ? since : Instant::never());
    }
}

}  // namespace weir::simulation
