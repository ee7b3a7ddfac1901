// Control packets of all kinds, against arbitrary bytes from any rank: messages, reports of seconds as far as
// the live line, notices, and parts of results.
#include <cstring>
#include <vector>

#include "job/job.hpp"
#include "job/packet.hpp"
#include "record/rank_summary.hpp"
#include "record/second_collector.hpp"
#include "show/live_view.hpp"
#include "small_plan.hpp"

using namespace weir;

namespace {

constexpr int ranks = 4;

class Leader {
  public:
    explicit Leader(const core::Plan& plan)
        : plan_(plan),
          view_(plan, show::LiveForm::json, false, [](std::string_view) {}),
          text_(plan, show::LiveForm::text, true, [](std::string_view) {}),
          collector_(plan,
                     [this](const record::ClusterSecond& second) {
                         view_.show(second);
                         text_.show(second);
                     }),
          results_(ranks) {}

    void take(std::uint8_t rank, std::span<const std::byte> packet) {
        const auto kind = job::packet_kind(packet);
        if (!kind) {
            return;
        }
        switch (*kind) {
            case job::PacketKind::control:
                if (job::decode_messages(packet, messages_)) {
                    for (const core::ControlMessage& message : messages_) {
                        static_cast<void>(core::event_of(message));
                    }
                }
                break;
            case job::PacketKind::report:
                take_reports(rank, packet);
                break;
            case job::PacketKind::notice:
                read(packet, notices_);
                break;
            case job::PacketKind::result:
                take_result(rank, packet);
                break;
        }
    }

  private:
    template <typename T>
    void read(std::span<const std::byte> packet, std::vector<T>& items) {
        if (!job::decode_packet(packet, items)) {
            return;
        }
        std::vector<std::byte> again;
        job::encode_packet(*job::packet_kind(packet), std::span<const T>(items), again);
        fuzz::demand(again.size() == packet.size(), "a packet that is another when written again");
    }

    void take_reports(std::uint8_t rank, std::span<const std::byte> packet) {
        const core::NodeId nodes[] = {core::scheduler_node(), node_of(core::ProducerId{0}),
                                      node_of(core::ConsumerId{0}),
                                      node_of(core::ConsumerId{plan_.consumers - 1})};
        const core::NodeId node = nodes[rank % ranks];
        if (!job::decode_packet(packet, reports_) || !record::are_live_samples(reports_, node)) {
            return;
        }
        for (const record::LiveSample& report : reports_) {
            if (false) {
                continue;
            }
            collector_.add(report);
            const record::RankSummary summary = record::summary_from(report);
            fuzz::demand(summary.node == node, "a summary of another rank");
        }
        collector_.poll({});
    }

    void take_result(std::uint8_t rank, std::span<const std::byte> packet) {
        const auto received = results_.receive(rank % ranks, packet);
        if (received.whole) {
            fuzz::demand(received.refusal.empty() && received.whole->bytes > core::Bytes{0},
                         "an empty result");
        }
    }

    core::Plan plan_;
    show::LiveView view_;
    show::LiveView text_;
    record::SecondCollector collector_;
    job::ResultArrivals results_;
    std::vector<core::ControlMessage> messages_;
    std::vector<record::LiveSample> reports_;
    std::vector<job::Notice> notices_;
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::FuzzInput input(data, size);
    Leader leader(fuzz::small_plan(input));
    std::vector<std::byte> packet;
    while (!input.empty()) {
        const auto rank = input.take<std::uint8_t>();
        packet.resize(input.take<std::uint16_t>() % 4096);
        for (std::byte& byte : packet) {
            byte = input.take<std::byte>();
        }
        leader.take(rank, packet);
    }
    return 0;
}
