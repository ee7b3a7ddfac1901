// One context of UCP with one worker, and its endpoints to other ranks. Control packets and data have a
// network each: the traffic class is a property of a context, and messages of one context share their queues.
// A rank may have several endpoints, each with a connection (queue pair) of its own, which messages take in
// turn. An endpoint fails alone (error handling mode `peer`); its rank is reported a moment later, and
// nothing goes to it any more.
//
// Everything happens on one thread. Callbacks of UCP only record: no call that may make progress is in them.
#pragma once

#include <ucp/api/ucp.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

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

}  // namespace weir::transport
