// One context of UCP with one worker, and its endpoints to other ranks. Control packets and data have a
// network each: the traffic class is a property of a context, and messages of one context share their queues.
// A rank may have several endpoints, each with a connection (queue pair) of its own, which messages take in
// turn. An endpoint fails alone (error handling mode `peer`); its rank is reported a moment later, and
// nothing goes to it any more.
//
// Everything happens on one thread. Callbacks of UCP only record: no call that may make progress is in them.
#pragma once

#include <ucp/api/ucp.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/assertion.hpp"
#include "transport/packet_order.hpp"
#include "transport/transport.hpp"
#include "transport/ucx/ucx_api.hpp"

namespace weir::transport {

class UcxNetwork {
  public:
    /// What disconnect() may take: closing an endpoint by force needs a moment of progress.
    static constexpr std::chrono::seconds disconnect_limit{2};
    /// How long requests have to end when their endpoint is closed.
    static constexpr std::chrono::milliseconds disconnect_patience{20};

    struct Settings {
        const char* purpose = "";  ///< for messages: "control packets"
        int ranks = 0;
        std::uint32_t connections = 1;  ///< to each rank
        std::optional<std::uint32_t> traffic_class;
        std::string device;  ///< of UCX_NET_DEVICES; empty: UCX's
        /// Settings of UCX, without UCX_ in front; what the environment sets instead stays.
        std::vector<std::pair<std::string, std::string>> defaults;
        bool remote_access = false;       ///< other ranks write into or read out of memory of this one
        bool leaves_control = false;      ///< control packets still go when an endpoint of this has failed
        std::vector<bool> outlived = {};  ///< by rank: its failure does not end the run; empty: no rank's
    };

    /// Throws TransportError.
    explicit UcxNetwork(Settings settings);
    UcxNetwork(const UcxNetwork&) = delete;
    UcxNetwork& operator=(const UcxNetwork&) = delete;
    /// Gives context and worker up, without freeing them, after abandon() or if close() did not succeed.
    ~UcxNetwork();

    /// Address of this rank's worker, for set_addresses() of the others.
    [[nodiscard]] std::string address() const;
    /// By rank. Before the first endpoint().
    void set_addresses(std::vector<std::string> addresses) { addresses_ = std::move(addresses); }

    /// `callback` gets the messages of this kind. `keeps_data`: it may keep what it gets.
    void receive(unsigned kind, ucp_am_recv_callback_t callback, void* argument, bool keeps_data);
    /// For as long as this object lives. Throws TransportError.
    [[nodiscard]] ucp_mem_h register_memory(std::span<std::byte> memory);

    /// With remote_access: what other ranks need for set_key(). Throws TransportError.
    [[nodiscard]] std::string key_of(ucp_mem_h memory) const;
    /// The key to a rank's memory; before the first next_connection().
    void set_key(int rank, std::string packed);

    struct Connection {
        ucp_ep_h endpoint = nullptr;
        ucp_rkey_h key = nullptr;  ///< with remote_access: to the rank's memory
    };
    /// The endpoint to a rank that messages without turns use; connects at the first call. nullptr: it has
    /// failed.
    [[nodiscard]] ucp_ep_h endpoint(int rank);
    /// The rank's connection whose turn it is; connects at its first turn. nullptr in it: it has failed.
    [[nodiscard]] Connection next_connection(int rank);
    /// A call that concerned this rank returned an error.
    void fail(int rank, ucs_status_t status);

    /// What UCX has chosen for the endpoints of this rank, by its own word: "tcp/eth0 for am am_bw", and how
    /// many of these there are.
    [[nodiscard]] std::map<std::string, std::int64_t> paths() const;

    void progress();
    /// Throws TransportError for a rank whose endpoint failed a moment ago, once per rank. Ranks that the run
    /// outlives are appended to `found` instead.
    void report_failures(std::vector<Unreachable>& found);
    [[nodiscard]] bool is_outlived(int rank) const {
        return !settings_.outlived.empty() && settings_.outlived[static_cast<std::size_t>(rank)];
    }
    /// Gives up the endpoint to a rank: what is under way is cancelled, and its callbacks are called by
    /// progress(). From then on it counts as failed.
    void disconnect(int rank);
    /// Whether what disconnect() has begun has ended.
    [[nodiscard]] bool disconnected() const { return closing_.empty(); }
    /// The rank can be reached there.
    void reconnect(int rank, std::string address);
    /// Other ranks are ending: failures are no news any more.
    void ignore_failures() { ignores_failures_ = true; }

    /// Closes all endpoints; what is under way is cancelled, and its callbacks called. False: the deadline
    /// came first.
    bool close(Deadline deadline);
    /// UCX may still reach into memory: what it holds stays until the process ends.
    void abandon() { abandoned_ = true; }

    [[nodiscard]] const UcxApi& api() const { return api_; }
    [[nodiscard]] ucp_worker_h worker() const { return worker_; }

  private:
    struct Peer {
        UcxNetwork* network = nullptr;
        int rank = -1;
        std::vector<Connection> connections{1};  ///< all from the first turn on
        std::size_t turn = 0;
        bool failed = false;
        std::string packed_key;
        [[nodiscard]] bool connected() const;
    };
    struct EndpointFailure {
        int rank = -1;
        ucs_status_t status = UCS_OK;
        Deadline report_at;
    };

    void begin_closing(Peer& peer);
    void make_endpoint(Peer& peer, Connection& connection);
    [[nodiscard]] ucp_ep_h connected(Peer& peer, Connection& connection);
    [[nodiscard]] std::string info_of(ucp_ep_h endpoint) const;
    void complete_closing();
    static void endpoint_failed(void* peer, ucp_ep_h endpoint, ucs_status_t status);
    void make_context();
    void make_worker();

    Settings settings_;
    const UcxApi& api_;
    ucp_context_h context_ = nullptr;
    ucp_worker_h worker_ = nullptr;
    std::vector<ucp_mem_h> memories_;
    std::vector<std::string> addresses_;
    std::vector<Peer> peers_;  ///< by rank; UCX has pointers to them
    std::vector<EndpointFailure> failures_;
    bool ignores_failures_ = false;
    std::vector<ucs_status_ptr_t> closing_;
    std::vector<ucp_rkey_h>
        old_keys_;  ///< of endpoints that are closing: what is under way may still use them
    bool closed_ = false;
    bool abandoned_ = false;
};

// Control packets over UCP: an active message each, sent eagerly, in a context of their own, so that a packet
// waits neither for data nor for a receive. UCX promises no order between active messages of different
// lengths: packets carry a number, and are put in order when they arrive.

class UcxControl final : public ControlChannel {
  public:
    /// `self` is this rank; at most `sends` packets can be under way. Throws TransportError.
    UcxControl(UcxNetwork::Settings settings, int self, std::size_t sends)
        : self_(self),
          ranks_(settings.ranks),
          send_bound_(sends),
          network_(std::move(settings)),
          life_of_(static_cast<std::size_t>(ranks_)),
          next_number_(static_cast<std::size_t>(ranks_)),
          order_(ranks_) {
        network_.receive(packet_kind, packet_arrived, this, false);
    }

    UcxControl(const UcxControl&) = delete;
    UcxControl& operator=(const UcxControl&) = delete;
    ~UcxControl() override {
        for (std::unique_ptr<Sending>& sending : all_) {
            if (sending->under_way) {  // UCX keeps its memory, and the context with it
                network_.abandon();
                static_cast<void>(sending.release());
            }
        }
    }

    /// A packet to a rank whose endpoint has failed is dropped.
    void send(Rank to, std::span<const std::byte> packet) override {
        WEIR_ASSERT(!closed_ && !packet.empty() && packet.size() <= packet_limit);
        if (network_.is_outlived(to.value) && !has_room()) {
            network_.fail(to.value, UCS_ERR_TIMED_OUT);  // what is under way does not leave
            return;
        }
        Sending& sending = next_sending(to.value);
        sending.header = {self_, next_number_[static_cast<std::size_t>(to.value)]++, life_};
        std::memcpy(sending.content.data(), packet.data(), packet.size());
        begin(sending, packet.size());
    }

    void poll(Polled& found) override {
        if (closed_) {
            return;
        }
        network_.progress();
        found.add(arrived_);
        arrived_.clear();
        if (!unreadable_.empty()) {
            throw TransportError("receiving control packets over UCX", Rank{},
                                 std::exchange(unreadable_, {}));
        }
        network_.report_failures(found.unreachable);
    }

    [[nodiscard]] std::size_t under_way() const override { return all_.size() - spare_.size(); }
    bool close(Deadline deadline) override {
        closed_ = true;
        return network_.close(deadline) && under_way() == 0;
    }

    /// This process is in its rank's life of this number.
    void set_life(std::uint32_t life) { life_ = life; }
    /// transport.hpp.
    void disconnect(int rank) {
        network_.disconnect(rank);
        ++life_of_[static_cast<std::size_t>(rank)];
        const auto to_it = [rank](const auto& sending) { return sending->under_way && sending->to == rank; };
        const Deadline deadline = std::chrono::steady_clock::now() + UcxNetwork::disconnect_limit;
        while (!network_.disconnected() || std::any_of(all_.begin(), all_.end(), to_it)) {
            network_.progress();
            if (std::chrono::steady_clock::now() >= deadline) {
                throw TransportError("giving up control packets", Rank{rank}, "they stay under way");
            }
        }
    }

    void reconnect(int rank, std::string address, std::uint32_t life) {
        network_.reconnect(rank, std::move(address));
        life_of_[static_cast<std::size_t>(rank)] = life;
        next_number_[static_cast<std::size_t>(rank)] = 0;
        order_.reset(Rank{rank});
    }

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

    static void sent(void* request, ucs_status_t status, void* sending) {
        Sending& one = *static_cast<Sending*>(sending);
        one.control->end(one, status);
        one.control->network_.api().request_free(request);
    }

    static ucs_status_t packet_arrived(void* control, const void* header, std::size_t header_length,
                                       void* data, std::size_t bytes, const ucp_am_recv_param_t* params) {
        UcxControl& self = *static_cast<UcxControl*>(control);
        Header read;
        if (header_length == sizeof(read)) {
            std::memcpy(&read, header, sizeof(read));
        }
        if (read.source < 0 || read.source >= self.ranks_ || bytes == 0 || bytes > packet_limit ||
            (params->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) {
            self.unreadable_ = "a message of " + std::to_string(bytes) + " bytes is no control packet";
        } else if (!self.closed_ && read.life == self.life_of_[static_cast<std::size_t>(read.source)]) {
            self.order_.add(Rank{read.source}, read.number, {static_cast<const std::byte*>(data), bytes},
                            self.arrived_);
        }
        return UCS_OK;
    }

    [[nodiscard]] bool has_room() {
        if (under_way() == send_bound_) {
            network_.progress();
        }
        return under_way() < send_bound_;
    }

    Sending& next_sending(int to) {
        if (!has_room()) {
            const auto to_this = std::count_if(all_.begin(), all_.end(), [to](const auto& sending) {
                return sending->under_way && sending->to == to;
            });
            throw TransportError("sending a control packet", Rank{to},
                                 std::to_string(send_bound_) + " packets are under way and do not leave, " +
                                     std::to_string(to_this) + " of them to this rank");
        }
        if (spare_.empty()) {
            spare_.push_back(all_.emplace_back(std::make_unique<Sending>()).get());
            spare_.back()->control = this;
        }
        Sending& sending = *spare_.back();
        spare_.pop_back();
        sending.to = to;
        sending.under_way = true;
        return sending;
    }

    void begin(Sending& sending, std::size_t bytes) {
        const ucp_ep_h endpoint = network_.endpoint(sending.to);
        if (endpoint == nullptr) {
            end(sending, UCS_ERR_CANCELED);
            return;
        }
        ucp_request_param_t params{};
        params.op_attr_mask =
            UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
        params.flags = UCP_AM_SEND_FLAG_EAGER;
        params.cb.send = sent;
        params.user_data = &sending;
        const ucs_status_t status = status_of(
            network_.api().am_send_nbx(endpoint, packet_kind, &sending.header, sizeof(sending.header),
                                       sending.content.data(), bytes, &params));
        if (status != UCS_INPROGRESS) {
            end(sending, status);
        }
    }

    void end(Sending& sending, ucs_status_t status) {
        if (status != UCS_OK) {
            network_.fail(sending.to, status);
        }
        sending.under_way = false;
        spare_.push_back(&sending);
    }

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
