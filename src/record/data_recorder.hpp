// What the recorders of producers and of consumers share: they count bytes that move.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "core/plan.hpp"
#include "core/units.hpp"
#include "record/datagram_recorder.hpp"
#include "record/generation_time.hpp"
#include "record/latencies.hpp"
#include "record/rate_window.hpp"
#include "record/second_recorder.hpp"

namespace weir::record {

template <typename Self, typename SelfRow>
class DataRecorder : public SecondRecorder<Self, SelfRow> {
    using Base = SecondRecorder<Self, SelfRow>;

  public:
    /// At the end of the current second so many bytes of chunks have moved whose end has not: known in a
    /// simulator only.
    void moving(core::Bytes bytes) { moving_.set(bytes); }
    /// The rank's socket as it is now, where chunks are datagrams.
    void socket(core::Instant now, const core::SocketState& state) {
        this->advance(now);
        if (!this->finished_) {
            known_.datagrams = true;
            datagrams_.socket(state, this->current_.datagrams);
            this->summary_.socket = datagrams_.socket();
        }
    }
    /// Datagrams by peer, where chunks are datagrams.
    [[nodiscard]] std::vector<PeerDatagrams> datagrams() const { return datagrams_.entries(); }

  protected:
    DataRecorder(const core::Plan& plan, core::NodeId node, std::uint32_t peers, core::Instant start,
                 Latencies& latencies, typename Base::Sink sink)
        : Base(plan, node, start, std::move(sink)),
          in_step_(plan.shaping.kind == core::ShapingKind::in_step),
          latencies_(latencies),
          datagrams_(plan, peers),
          lowest_rate_(plan),
          generation_time_(plan, start) {}

    void count_moved(core::Instant at, core::Bytes bytes) {
        moved_ += bytes;
        generation_time_.count(at, bytes);
        peak_bins_.add(at, bytes);
    }
    /// The row is complete but for these, and `bytes` are those that moved.
    void end_row(core::Bytes& bytes) {
        bytes = moving_.end_second(bytes);
        this->current_.peak_10ms = peak_bins_.end_second();
        this->current_.known = known_;
    }
    void send_row(core::Bytes bytes) {
        count_row(this->summary_, this->current_);
        lowest_rate_.add(this->summary_, this->current_);
        generation_time_.end_second(this->current_.start.second, this->clock_.position(), bytes);
        this->summary_.in_time = generation_time_.moved();
        Base::send_row();
    }
    bool end(core::Instant now, bool counted) {
        const bool ends = Base::end(counted);
        if (ends) {
            generation_time_.finish(now);
            this->summary_.in_time = generation_time_.moved();
        }
        return ends;
    }

    bool in_step_;
    std::optional<core::Instant> last_chunk_at_;  ///< shaping
    Latencies& latencies_;
    DatagramRecorder datagrams_;
    Known known_;        ///< of the rows
    core::Bytes moved_;  ///< so far

  private:
    MovingBytes moving_;
    LowestRate lowest_rate_;
    GenerationTime generation_time_;
    PeakBins peak_bins_;
};

}  // namespace weir::record
