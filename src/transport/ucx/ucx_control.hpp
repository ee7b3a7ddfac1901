// Control packets over UCP: an active message each, sent eagerly, in a context of their own, so that a packet
// waits neither for data nor for a receive. UCX promises no order between active messages of different
// lengths: packets carry a number, and are put in order when they arrive.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transport/control_channel.hpp"
#include "transport/packet_order.hpp"
#include "transport/ucx/ucx_network.hpp"

namespace weir::transport {

class UcxControl final : public ControlChannel {
  public:
    /// `self` is this rank; at most `sends` packets can be under way. Throws TransportError.
    UcxControl(UcxNetwork::Settings settings, int self, std::size_t sends);
    UcxControl(const UcxControl&) = delete;
    UcxControl& operator=(const UcxControl&) = delete;
    ~UcxControl() override;

    /// A packet to a rank whose endpoint has failed is dropped.
    void send(Rank to, std::span<const std::byte> packet) override;
    void poll(Polled& found) override;
    [[nodiscard]] std::size_t under_way() const override { return all_.size() - spare_.size(); }
    bool close(Deadline deadline) override;

    /// This process is in its rank's life of this number.
    void set_life(std::uint32_t life) { life_ = life; }
    /// transport.hpp.
    void disconnect(int rank);
    void reconnect(int rank, std::string address, std::uint32_t life);

    [[nodiscard]] UcxNetwork& network() { return network_; }

  private:
    static constexpr unsigned packet_kind = 0;
    /// In front of every message. Plain memory on the wire: all ranks run the same executable.
    struct Header {
        std::int32_t source = -1;
        std::uint32_t number = 0;
        std::uint32_t life = 0;  ///< of the sender's rank
    };
    /// A message that UCX may still read.
    struct Sending {
        UcxControl* control = nullptr;
        int to = -1;
        bool under_way = false;
        Header header;
        std::array<std::byte, packet_limit> content;
    };

    static void sent(void* request, ucs_status_t status, void* sending);
    static ucs_status_t packet_arrived(void* control, const void* header, std::size_t header_length,
                                       void* data, std::size_t bytes, const ucp_am_recv_param_t* params);

    [[nodiscard]] bool has_room();
    Sending& next_sending(int to);
    void begin(Sending& sending, std::size_t bytes);
    void end(Sending& sending, ucs_status_t status);

    int self_;
    int ranks_;
    std::size_t send_bound_;
    UcxNetwork network_;
    std::vector<std::unique_ptr<Sending>> all_;
    std::vector<Sending*> spare_;
    std::uint32_t life_ = 0;
    std::vector<std::uint32_t> life_of_;      ///< by rank: packets of other lives are not taken
    std::vector<std::uint32_t> next_number_;  ///< by rank
    PacketOrder order_;
    Polled arrived_;          ///< since the last poll
    std::string unreadable_;  ///< what came that is no packet
    bool closed_ = false;
};

}  // namespace weir::transport
