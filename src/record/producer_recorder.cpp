#include "record/producer_recorder.hpp"

namespace weir::record {

template class SecondRecorder<ProducerRecorder, ProducerRow>;

using core::Bytes;
using core::Duration;
using core::Instant;
using core::Observation;

ProducerRecorder::ProducerRecorder(const core::Plan& plan, core::ProducerId id, Instant start,
                                   Latencies& latencies, Sink sink)
    : DataRecorder(plan, core::node_of(id), plan.consumers, start, latencies, std::move(sink)),
      buffer_(plan.buffer),
      streams_(plan.streams),
      has_occupancy_(plan.generation != core::Generation::saturate && plan.buffer > Bytes{0}),
      loss_is_overflow_(plan.overflow == core::Overflow::drop),
      consumers_grant_(plan.consumers_grant()),
      keeps_sent_(plan.keeps_until_taken()),
      deadlines_(plan, core::last_of_set_after(plan, id)),
      trend_(plan, id, start),
      bursts_(plan.row_interval) {
    WEIR_ASSERT(streams_ > 0);
    begun_.reserve(streams_);
    state_.waiting_for_data = streams_;
    slot_share_ = consumers_grant_ ? 1 : 0;
    if (!has_occupancy_) {
        summary_.max_occupancy = std::numeric_limits<double>::quiet_NaN();
    }
}

void ProducerRecorder::integrate(Instant from, Duration length) {
    // The backlog that is there at the beginning of a stretch belongs to its second, whenever it was
    // reported.
    note_backlog(from);
    deadlines_.advance(from + length);
    trend_.over(from, length, state_.backlog);
    integrals_.backlog_ns += static_cast<double>(state_.backlog.count) * static_cast<double>(length.ns);
    integrals_.transferring_ns += state_.transferring * length.ns;
    integrals_.unattributed_ns += state_.waiting_for_grant * length.ns;
    integrals_.data_ns += state_.waiting_for_data * length.ns;
    current_.load.backlogged += state_.waiting_for_data < streams_ ? length : Duration{};
    current_.load.sending += state_.transferring > 0 ? length : Duration{};
    current_.load.transfers += length * state_.transferring;
    transfers_ += length * state_.transferring;
    current_.load.all_streams += state_.transferring == streams_ ? length : Duration{};
    bursts_.over(from, length, [this](CurrentBurst& burst, Duration part) {
        burst.backlog_ns += static_cast<double>(state_.backlog.count) * static_cast<double>(part.ns);
        burst.backlog_peak = std::max(burst.backlog_peak, state_.backlog);
    });
}

void ProducerRecorder::observe(Instant now, const Observation& observation) {
    if (!begin_to_observe(now, observation)) {
        return;
    }
    switch (observation.kind) {
        case Observation::Kind::generated:
            current_.generated += {1, observation.bytes};
            bursts_.at(clock_.position(), [&](CurrentBurst& burst) { burst.generated += observation.bytes; });
            deadlines_.generated(now - observation.elapsed);
            break;
        case Observation::Kind::gone:
            deadlines_.gone(now, observation.elapsed);
            break;
        case Observation::Kind::left_over:
            current_.lost += {1, observation.bytes};
            deadlines_.left_over(now, observation.elapsed);
            break;
        case Observation::Kind::dropped:
            current_.lost += {1, observation.bytes};
            deadlines_.dropped(now, observation.elapsed);
            if (loss_is_overflow_) {
                current_.overflowed = true;
                current_.overflowed_in_measure |= judged() && clock_.position() < Instant{duration_.ns};
            }
            break;
        case Observation::Kind::granted:
            ++current_.grants;
            add_latency(latencies_.offer_to_grant, observation.elapsed);
            break;
        case Observation::Kind::transfer_started:
            add_latency(latencies_.grant_to_first_byte, observation.elapsed);
            begin_transfer(observation.event);
            break;
        case Observation::Kind::chunk_sent:
            count_sent(observation.bytes);
            break;
        case Observation::Kind::transfer_completed:
            ++current_.sent.events;
            add_latency(latencies_.transfer, observation.elapsed);
            add_transfer(pair_times_, observation.peer.index, observation.elapsed);
            end_transfer(observation);
            break;
        default:
            break;
    }
}

void ProducerRecorder::begin_transfer(core::EventId event) {
    if (begun_.size() == streams_) {
        begun_.erase(begun_.begin());  // it was taken back, and did not end
    }
    begun_.push_back({event, transfers_, moved_});
}

void ProducerRecorder::end_transfer(const Observation& transfer) {
    const auto begun = std::find_if(begun_.begin(), begun_.end(),
                                    [&](const Begun& one) { return one.event == transfer.event; });
    if (begun == begun_.end()) {
        return;
    }
    if (transfer.elapsed > Duration{}) {
        const auto elapsed_ns = static_cast<double>(transfer.elapsed.ns);
        const auto rate = [&](Bytes bytes) { return static_cast<double>(bytes.count) * 8e9 / elapsed_ns; };
        const double at_a_time = static_cast<double>((transfers_ - begun->transfers).ns) / elapsed_ns;
        Load& load = current_.load;
        load.transfer_rates.add(transfer.bytes, rate(transfer.bytes));
        load.link_shares.add(transfer.bytes, rate(transfer.bytes) * at_a_time);
        load.link_rates.add(transfer.bytes, rate(moved_ - begun->sent));
    }
    begun_.erase(begun);
}

void ProducerRecorder::count_sent(Bytes bytes) {
    current_.sent.bytes += bytes;
    count_moved(clock_.position(), bytes);
    bursts_.at(clock_.position(), [&](CurrentBurst& burst) { burst.sent += bytes; });
}

void ProducerRecorder::chunks_sent(std::span<const ChunkBytes> chunks) {
    for (const ChunkBytes& chunk : chunks) {
        advance(chunk.at);
        if (finished_) {
            return;
        }
        count_sent(chunk.bytes);
        if (!keeps_sent_) {
            state_.backlog -= chunk.bytes;
        }
        note_backlog(clock_.position());
    }
}

void ProducerRecorder::no_credit(Instant now, Duration cumulative) {
    advance(now);
    if (finished_ || consumers_grant_) {
        return;
    }
    const Duration elapsed = clock_.position() - no_credit_at_;
    if (no_credit_known_ && elapsed <= Duration{0}) {
        return;
    }
    if (no_credit_known_) {
        const Duration without = cumulative - no_credit_cumulative_;
        // Heartbeats travel: a share can come out slightly above 1.
        slot_share_ = std::clamp(static_cast<double>(without.ns) / static_cast<double>(elapsed.ns), 0.0, 1.0);
        attribute_wait();
    }
    no_credit_known_ = true;
    no_credit_at_ = clock_.position();
    no_credit_cumulative_ = cumulative;
}

void ProducerRecorder::attribute_wait() {
    const std::int64_t for_slot = std::llround(static_cast<double>(integrals_.unattributed_ns) * slot_share_);
    integrals_.slot_ns += for_slot;
    integrals_.grant_ns += integrals_.unattributed_ns - for_slot;
    integrals_.unattributed_ns = 0;
}

void ProducerRecorder::paced(Instant now, Instant due) {
    advance(now);
    if (!finished_ && judged()) {
        // Early only where the clock of a simulated producer is fast.
        latencies_.pacing_error.add(std::max(now - due, due - now));
        if (in_step_ && last_chunk_at_) {
            latencies_.send_gap.add(now - *last_chunk_at_);
        }
    }
    last_chunk_at_ = now;
}

void ProducerRecorder::heartbeats(Instant now, const HeartbeatDelays& delays) {
    advance(now);
    if (state_.waiting_for_data < streams_) {
        current_.load.heartbeats += delays;
    }
    if (const Duration delay = delays.from_leader.longest(); delay > current_.silence) {
        current_.silence = delay;
        current_.silence_end = now;
    }
}

void ProducerRecorder::finish(Instant now) {
    advance(now);
    deadlines_.end();
    summary_.sets_in_time = deadlines_.account();
    const bool counted = static_cast<const Counts&>(current_) != Counts{};
    if (end(now, counted || deadlines_.newly_late() > 0)) {
        trend_.finish(now, state_.backlog);
        summary_.backlog_points = trend_.points();
    }
}

void ProducerRecorder::close(std::int64_t second, Duration covered) {
    attribute_wait();

    // Divided by the streams with rounding that carries over, so that the four sum to the covered time
    // exactly.
    std::int64_t stream_ns = 0;
    std::int64_t given_ns = 0;
    const auto share = [&](std::int64_t part_ns) {
        stream_ns += part_ns;
        const std::int64_t until_ns = stream_ns / streams_;
        return Duration{until_ns - std::exchange(given_ns, until_ns)};
    };

    ProducerRow& row = current_;
    start_row(second, covered);
    end_bursts(covered);
    end_row(row.sent.bytes);
    row.backlog = state_.backlog;
    if (has_occupancy_) {
        const auto buffer = static_cast<double>(buffer_.count);
        row.occupancy_mean = integrals_.backlog_ns / static_cast<double>(covered.ns) / buffer;
        row.occupancy_peak = static_cast<double>(integrals_.backlog_peak.count) / buffer;
    } else {
        row.occupancy_mean = row.occupancy_peak = std::numeric_limits<double>::quiet_NaN();
    }
    row.time.transferring = share(integrals_.transferring_ns);
    row.time.waiting_for_slot = share(integrals_.slot_ns);
    row.time.waiting_for_grant = share(integrals_.grant_ns);
    row.time.waiting_for_data = share(integrals_.data_ns);
    row.late_sets = deadlines_.report_newly_late();
    summary_.sets_in_time = deadlines_.account();
    send_row(row.sent.bytes);
    integrals_ = {};
}

void ProducerRecorder::end_bursts(Duration covered) {
    bursts_.end_second(clock_.start(), covered, [this](const BurstStart& start, const CurrentBurst& burst) {
        const bool known = has_occupancy_ && start.covered > Duration{};
        const double buffer =
            known ? static_cast<double>(buffer_.count) : std::numeric_limits<double>::quiet_NaN();
        current_.bursts.push_back(
            {.start = start,
             .generated = burst.generated,
             .sent = burst.sent,
             .occupancy_mean = burst.backlog_ns / static_cast<double>(start.covered.ns) / buffer,
             .occupancy_peak = static_cast<double>(burst.backlog_peak.count) / buffer});
    });
    WEIR_ASSERT(bursts_.sum_up(current_.bursts, &ProducerBurst::sent, current_.sent.bytes, covered));
    current_.burst = bursts_.largest(current_.bursts, &ProducerBurst::sent);
}

}  // namespace weir::record
