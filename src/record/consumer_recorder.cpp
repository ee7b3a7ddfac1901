#include "record/consumer_recorder.hpp"

namespace weir::record {

template class SecondRecorder<ConsumerRecorder, ConsumerRow>;

using core::Bytes;
using core::Duration;
using core::Instant;
using core::Observation;

ConsumerRecorder::ConsumerRecorder(const core::Plan& plan, core::ConsumerId id, Instant start,
                                   Latencies& latencies, Sink sink)
    : DataRecorder(plan, core::node_of(id), plan.producers, start, latencies, std::move(sink)),
      slots_(plan.slots),
      state_{.free_slots = plan.slots},
      bursts_(plan.row_interval),
      slot_bytes_(slot_bytes_mean(plan)),
      trend_(plan, {}, start) {
    known_ = {.builds = plan.builds(), .asks_again = plan.asks_again()};
    if (plan.addressed()) {
        transfers_.emplace(plan, id);
    }
    current_.free_slots_min = state_.free_slots;
}

void ConsumerRecorder::integrate(Instant from, Duration length) {
    TimeUse& time = current_.time;
    if (state_.receiving_slots > 0) {
        time.receiving += length;
    } else if (state_.blocked()) {
        time.blocked += length;
    } else {
        time.waiting_for_data += length;
        waits_.add(from, length);
    }
    if (state_.blocked()) {
        current_.blocked_samples.add(from, length);
    }
    if (state_.processing) {
        time.processing += length;
    }
    if (state_.receiving_slots == 0) {  // also what was broken off is over
        under_way_ = 0;
        begun_.clear();
    }
    transfer_time_ += length * under_way_;
    trend_.over(from, length, {std::llround(slot_bytes_ * state_.queued_slots)});
    const std::uint32_t used = state_.free_slots + state_.receiving_slots + state_.queued_slots;
    Load& load = current_.load;
    load.free_slots += length * state_.free_slots;
    load.receiving_slots += length * state_.receiving_slots;
    load.queued_slots += length * state_.queued_slots;
    load.withheld_slots += length * (slots_ - std::min(slots_, used));
    bursts_.over(from, length, [this](ConsumerBurst& burst, Duration part) {
        burst.blocked += state_.blocked() ? part : Duration{};
        burst.free_slots_min = std::min(burst.free_slots_min, state_.free_slots);
    });
}

/// Something has been on its way since then. The second before keeps the state under which it was counted.
void ConsumerRecorder::received_since(Instant since) {
    const Duration time = waits_.remove_after(since);
    current_.time.waiting_for_data -= time;
    current_.time.receiving += time;
}

/// So has the slot been receiving, which counted as free until now. Pattern `build`: only the first fragment
/// of an event finds it free, and what is counted for the others is bounded by the time that slots were free.
void ConsumerRecorder::slot_received_since(Instant since) {
    const Duration free = known_.builds ? Duration{} : clock_.position() - std::max(since, clock_.start());
    const Duration moved = std::clamp(free, Duration{}, current_.load.free_slots);
    current_.load.free_slots -= moved;
    current_.load.receiving_slots += moved;
}

/// Its first chunk arrives: it has been under way for a while, beside those that are.
void ConsumerRecorder::begin_transfer(const Observation& noticed) {
    if (begun_.size() < followed_max) {
        begun_.push_back({noticed.event, clock_.position() - noticed.elapsed,
                          transfer_time_ - noticed.elapsed * under_way_, moved_});
    }
    transfer_time_ += noticed.elapsed;
    ++under_way_;
}

void ConsumerRecorder::end_transfer(const Observation& received) {
    under_way_ -= under_way_ > 0 ? 1 : 0;
    const auto begun = std::find_if(begun_.begin(), begun_.end(),
                                    [&](const Begun& one) { return one.event == received.event; });
    if (begun == begun_.end()) {
        return;
    }
    const Duration elapsed = clock_.position() - begun->at;
    if (elapsed > Duration{} && received.bytes > Bytes{}) {
        const auto elapsed_ns = static_cast<double>(elapsed.ns);
        const auto rate = [&](Bytes bytes) { return static_cast<double>(bytes.count) * 8e9 / elapsed_ns; };
        Load& load = current_.load;
        load.transfer_rates.add(received.bytes, rate(received.bytes));
        load.link_shares.add(
            received.bytes,
            rate(received.bytes) * static_cast<double>((transfer_time_ - begun->transfers).ns) / elapsed_ns);
        load.link_rates.add(received.bytes, rate(moved_ - begun->received));
    }
    begun_.erase(begun);
}

[[gnu::always_inline]] inline void ConsumerRecorder::take_silence(const Gap& gap) {
    if (gap.end - gap.begin > current_.silence) {
        current_.silence = gap.end - gap.begin;
        current_.silence_end = gap.end;
    }
}

/// Only while something is under way: else nothing was sent, or it is not known yet, until a heartbeat comes
/// that was as long on its way.
[[gnu::always_inline]] inline void ConsumerRecorder::end_silence(Instant at) {
    if (state_.receiving_slots > 0) {
        take_silence({last_came_at_, at});
    }
    last_came_at_ = at;
    if (at - last_data_at_ > longest_gap_.end - longest_gap_.begin) {
        longest_gap_ = {last_data_at_, at};
    }
    last_data_at_ = at;
}

[[gnu::always_inline]] inline void ConsumerRecorder::count_received(Instant at, Bytes bytes) {
    end_silence(at);
    current_.received.bytes += bytes;
    count_moved(at, bytes);
    bursts_.at(std::max(at, clock_.start()), [&](ConsumerBurst& burst) { burst.received += bytes; });
}

void ConsumerRecorder::observe(Instant now, const Observation& observation) {
    if (!begin_to_observe(now, observation)) {
        return;
    }
    switch (observation.kind) {
        case Observation::Kind::transfer_noticed:
            received_since(now - observation.elapsed);
            slot_received_since(now - observation.elapsed);
            begin_transfer(observation);
            break;
        case Observation::Kind::chunk_received:
            for (std::uint32_t chunk = 0; in_step_ && chunk < observation.chunks; ++chunk) {
                if (judged() && last_chunk_at_) {
                    latencies_.receive_gap.add(now - *last_chunk_at_);
                }
                last_chunk_at_ = now;
            }
            count_received(clock_.position(), observation.bytes);
            break;
        case Observation::Kind::received:
            ++current_.received.events;
            add_latency(latencies_.delivery, observation.elapsed);
            end_transfer(observation);
            if (transfers_) {
                transfers_->received(now, observation.event.producer(), observation.bytes,
                                     observation.elapsed);
            }
            break;
        case Observation::Kind::processed:
            current_.processed += {1, observation.bytes};
            add_latency(latencies_.processing, observation.elapsed);
            break;
        case Observation::Kind::given_up:
            under_way_ -= under_way_ > 0 ? 1 : 0;
            std::erase_if(begun_, [&](const Begun& one) { return one.event == observation.event; });
            if (observation.bytes > Bytes{}) {  // else declined: its producer has counted it
                current_.lost += {1, observation.bytes};
            }
            break;
        case Observation::Kind::event_finished:
            ++current_.finished_events;
            add_latency(latencies_.building, observation.elapsed);
            break;
        case Observation::Kind::event_given_up:
            ++current_.given_up_events;
            break;
        case Observation::Kind::asked_again:
            ++current_.asked_again;
            break;
        default:
            break;
    }
}

void ConsumerRecorder::chunks_received(std::span<const ChunkBytes> chunks) {
    if (finished_) {
        return;
    }
    for (const ChunkBytes& chunk : chunks) {
        // The time until then is integrated when the state changes, or the second ends.
        if (chunk.at >= clock_.end()) {
            advance(chunk.at);
        }
        count_received(chunk.at, chunk.bytes);
    }
}

void ConsumerRecorder::integrity(Instant now, std::uint64_t corrupt_events, std::uint64_t duplicate_events) {
    advance(now);
    // A ledger that was begun anew has less than before, all of it new.
    const auto more = [](std::uint64_t count, std::uint64_t& seen) {
        const std::uint64_t before = std::exchange(seen, count);
        return count >= before ? count - before : count;
    };
    current_.corrupt_events += more(corrupt_events, corrupt_seen_);
    current_.duplicate_events += more(duplicate_events, duplicate_seen_);
}

void ConsumerRecorder::socket(Instant now, const core::SocketState& state) {
    DataRecorder::socket(now, state);
    if (!finished_) {
        current_.socket_buffer_max_bytes = std::max(current_.socket_buffer_max_bytes, state.occupancy_bytes);
    }
}

void ConsumerRecorder::heartbeats(Instant now, const HeartbeatDelays& delays) {
    advance(now);
    current_.load.heartbeats += delays;
    if (finished_) {
        return;
    }
    const Instant left = now - delays.from_leader.longest();
    for (const Gap& gap : {longest_gap_, Gap{last_data_at_, now}}) {
        take_silence({std::max(gap.begin, left), gap.end});
    }
    longest_gap_ = {};
}

void ConsumerRecorder::finish(Instant now) {
    advance(now);
    if (end(now, static_cast<const Counts&>(current_) != Counts{})) {
        trend_.finish(now, {std::llround(slot_bytes_ * state_.queued_slots)});
        summary_.backlog_points = trend_.points();
    }
}

void ConsumerRecorder::close(std::int64_t second, Duration covered) {
    if (const auto since = std::exchange(on_its_way_since_, std::nullopt)) {
        received_since(*since);
    }
    waits_.clear();
    ConsumerRow& row = current_;
    const Bytes chunks = row.received.bytes;
    start_row(second, covered);
    end_row(row.received.bytes);
    bursts_.end_second(clock_.start(), covered, [&](const BurstStart& start, ConsumerBurst& burst) {
        burst.start = start;
        row.bursts.push_back(burst);
    });
    WEIR_ASSERT(bursts_.sum_up(row.bursts, &ConsumerBurst::received, chunks, covered));
    row.burst = bursts_.largest(row.bursts, &ConsumerBurst::received);
    send_row(row.received.bytes);
    row.free_slots_min = state_.free_slots;
}

}  // namespace weir::record
