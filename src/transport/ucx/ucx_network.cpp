#include "transport/ucx/ucx_network.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "transport/ucx/ucx_words.hpp"

namespace weir::transport {

namespace {

/// Calls of progress that a poll makes at most while there is something to do.
constexpr int rounds_per_poll = 8;
/// A process closes its connections before it has ended: who looks for dead processes names the cause better,
/// and finds it within that time.
constexpr std::chrono::milliseconds report_delay{300};

}  // namespace

UcxNetwork::UcxNetwork(Settings settings)
    : settings_(std::move(settings)),
      api_(UcxApi::loaded()),
      peers_(static_cast<std::size_t>(settings_.ranks)) {
    for (int rank = 0; rank < settings_.ranks; ++rank) {
        peers_[static_cast<std::size_t>(rank)].network = this;
        peers_[static_cast<std::size_t>(rank)].rank = rank;
    }
    make_context();
    try {
        make_worker();
    } catch (const TransportError&) {
        api_.cleanup(context_);
        throw;
    }
}

void UcxNetwork::make_context() {
    ucp_config_t* config = nullptr;
    api_.check(api_.config_read(nullptr, nullptr, &config), "ucp_config_read");
    const std::unique_ptr<ucp_config_t, decltype(api_.config_release)> owned(config, api_.config_release);
    const auto set = [&](const std::string& name, const std::string& value) {
        api_.check(api_.config_modify(config, name.c_str(), value.c_str()), ("UCX_" + name).c_str());
    };
    const char* const transports = std::getenv("UCX_TLS");
    const bool outlives =
        std::find(settings_.outlived.begin(), settings_.outlived.end(), true) != settings_.outlived.end();
    if (const auto without = outlives ? without_queues_in_shared_memory(transports) : std::nullopt) {
        set("TLS", *without);
    } else if (may_use_shared_memory(transports)) {
        // Without this, endpoints that report failures do not use shared memory; where that is not used, UCX
        // warns.
        set("MM_ERROR_HANDLING", "y");
    }
    for (const auto& [name, value] : settings_.defaults) {
        if (std::getenv(("UCX_" + name).c_str()) == nullptr) {
            set(name, value);
        }
    }
    if (settings_.traffic_class) {
        set("IB_TRAFFIC_CLASS", std::to_string(*settings_.traffic_class));
    }
    if (!settings_.device.empty()) {
        set("NET_DEVICES", settings_.device);
    }
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS;
    params.features = UCP_FEATURE_AM;
    if (settings_.remote_access) {
        params.features |= UCP_FEATURE_RMA;
    }
    // And not of connections: for many (UCX_RC_MAX_NUM_EPS), UCX takes transports whose endpoints share queue
    // pairs.
    params.estimated_num_eps = static_cast<std::size_t>(settings_.ranks);
    api_.check(api_.init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &context_), "ucp_init");
}

void UcxNetwork::make_worker() {
    ucp_worker_params_t params{};
    params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    params.thread_mode = UCS_THREAD_MODE_SINGLE;
    api_.check(api_.worker_create(context_, &params, &worker_), "ucp_worker_create");
}

UcxNetwork::~UcxNetwork() {
    const bool connected =
        std::any_of(peers_.begin(), peers_.end(), [](const Peer& peer) { return peer.connected(); });
    if (connected || abandoned_) {
        return;
    }
    for (const Peer& peer : peers_) {
        for (const Connection& connection : peer.connections) {
            if (connection.key != nullptr) {
                api_.rkey_destroy(connection.key);
            }
        }
    }
    for (const ucp_rkey_h key : old_keys_) {
        api_.rkey_destroy(key);
    }
    api_.worker_destroy(worker_);
    for (const ucp_mem_h memory : memories_) {
        api_.mem_unmap(context_, memory);
    }
    api_.cleanup(context_);
}

std::string UcxNetwork::address() const {
    ucp_worker_attr_t attributes{};
    attributes.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS;
    api_.check(api_.worker_query(worker_, &attributes), "ucp_worker_query");
    std::string bytes(reinterpret_cast<const char*>(attributes.address), attributes.address_length);
    api_.worker_release_address(worker_, attributes.address);
    return bytes;
}

void UcxNetwork::receive(unsigned kind, ucp_am_recv_callback_t callback, void* argument, bool keeps_data) {
    ucp_am_handler_param_t params{};
    params.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                        UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
    params.id = kind;
    params.flags = UCP_AM_FLAG_WHOLE_MSG;
    if (keeps_data) {
        params.flags |= static_cast<std::uint32_t>(UCP_AM_FLAG_PERSISTENT_DATA);
    }
    params.cb = callback;
    params.arg = argument;
    api_.check(api_.worker_set_am_recv_handler(worker_, &params), "ucp_worker_set_am_recv_handler");
}

ucp_mem_h UcxNetwork::register_memory(std::span<std::byte> memory) {
    ucp_mem_map_params_t params{};
    params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
    params.address = memory.data();
    params.length = memory.size();
    ucp_mem_h handle = nullptr;
    api_.check(api_.mem_map(context_, &params, &handle), "ucp_mem_map");
    memories_.push_back(handle);
    return handle;
}

std::string UcxNetwork::key_of(ucp_mem_h memory) const {
    void* packed = nullptr;
    std::size_t bytes = 0;
    api_.check(api_.rkey_pack(context_, memory, &packed, &bytes), "ucp_rkey_pack");
    std::string key(static_cast<const char*>(packed), bytes);
    api_.rkey_buffer_release(packed);
    return key;
}

void UcxNetwork::set_key(int rank, std::string packed) {
    Peer& peer = peers_[static_cast<std::size_t>(rank)];
    WEIR_ASSERT(std::all_of(peer.connections.begin(), peer.connections.end(),
                            [](const Connection& connection) { return connection.key == nullptr; }));
    peer.packed_key = std::move(packed);
}

ucp_ep_h UcxNetwork::connected(Peer& peer, Connection& connection) {
    if (peer.failed || closed_) {
        return nullptr;
    }
    if (connection.endpoint == nullptr) {
        make_endpoint(peer, connection);
    }
    return connection.endpoint;
}

ucp_ep_h UcxNetwork::endpoint(int rank) {
    Peer& peer = peers_[static_cast<std::size_t>(rank)];
    return connected(peer, peer.connections.front());
}

UcxNetwork::Connection UcxNetwork::next_connection(int rank) {
    Peer& peer = peers_[static_cast<std::size_t>(rank)];
    peer.connections.resize(settings_.connections);
    Connection& next = peer.connections[std::exchange(peer.turn, (peer.turn + 1) % peer.connections.size())];
    if (connected(peer, next) == nullptr) {
        return {};
    }
    if (settings_.remote_access && next.key == nullptr) {
        if (const ucs_status_t status = api_.ep_rkey_unpack(next.endpoint, peer.packed_key.data(), &next.key);
            status != UCS_OK) {
            next.key = nullptr;
            fail(rank, status);
        }
    }
    return next;
}

void UcxNetwork::make_endpoint(Peer& peer, Connection& connection) {
    WEIR_ASSERT(addresses_.size() == peers_.size());
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                        UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params.address =
        reinterpret_cast<const ucp_address_t*>(addresses_[static_cast<std::size_t>(peer.rank)].data());
    params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    params.err_handler.cb = endpoint_failed;
    params.err_handler.arg = &peer;
    if (const ucs_status_t status = api_.ep_create(worker_, &params, &connection.endpoint);
        status != UCS_OK) {
        connection.endpoint = nullptr;
        fail(peer.rank, status);
    }
}

bool UcxNetwork::Peer::connected() const {
    return std::any_of(connections.begin(), connections.end(),
                       [](const Connection& connection) { return connection.endpoint != nullptr; });
}

void UcxNetwork::endpoint_failed(void* peer, ucp_ep_h /*endpoint*/, ucs_status_t status) {
    const Peer& failed = *static_cast<const Peer*>(peer);
    failed.network->fail(failed.rank, status);
}

void UcxNetwork::fail(int rank, ucs_status_t status) {
    Peer& peer = peers_[static_cast<std::size_t>(rank)];
    if (!peer.failed) {
        peer.failed = true;
        failures_.push_back({rank, status, std::chrono::steady_clock::now() + report_delay});
    }
}

std::map<std::string, std::int64_t> UcxNetwork::paths() const {
    std::map<std::string, std::int64_t> found;
    for (const Peer& peer : peers_) {
        for (const Connection& connection : peer.connections) {
            if (connection.endpoint == nullptr || peer.failed) {
                continue;
            }
            for (const std::string& lane : ucx_lanes(info_of(connection.endpoint))) {
                ++found[lane];
            }
        }
    }
    return found;
}

std::string UcxNetwork::info_of(ucp_ep_h endpoint) const {
    char* text = nullptr;
    std::size_t bytes = 0;
    FILE* const stream = open_memstream(&text, &bytes);
    if (stream == nullptr) {
        return {};
    }
    api_.ep_print_info(endpoint, stream);
    static_cast<void>(std::fclose(stream));
    const std::unique_ptr<char, decltype(&std::free)> owned(text, std::free);
    return {text, bytes};
}

void UcxNetwork::progress() {
    for (int round = 0; round < rounds_per_poll && api_.worker_progress(worker_) != 0; ++round) {
    }
    complete_closing();
}

void UcxNetwork::report_failures(std::vector<Unreachable>& found) {
    if (failures_.empty() || ignores_failures_ ||
        failures_.front().report_at > std::chrono::steady_clock::now()) {
        return;
    }
    const EndpointFailure failure = failures_.front();
    failures_.erase(failures_.begin());
    const std::string operation = std::string("sending ") + settings_.purpose + " over UCX";
    std::string why = api_.status_string(failure.status);
    if (failure.status == UCS_ERR_UNREACHABLE && !settings_.device.empty()) {
        why += " by way of " + settings_.device + ": do both hosts have it, in one network?";
    }
    if (is_outlived(failure.rank)) {
        found.push_back({Rank{failure.rank}, operation + ": " + why});
        return;
    }
    TransportError error(operation, Rank{failure.rank}, why);
    if (settings_.leaves_control) {
        throw std::move(error).that_leaves_control();
    }
    throw std::move(error);
}

void UcxNetwork::disconnect(int rank) {
    Peer& peer = peers_[static_cast<std::size_t>(rank)];
    peer.failed = true;
    std::erase_if(failures_, [rank](const EndpointFailure& failure) { return failure.rank == rank; });
    if (!closed_) {
        begin_closing(peer);
    }
    for (Connection& connection : peer.connections) {
        if (!closed_) {
            connection.endpoint = nullptr;
        }
        if (connection.key != nullptr) {
            old_keys_.push_back(std::exchange(connection.key, nullptr));
        }
    }
}

void UcxNetwork::reconnect(int rank, std::string address) {
    Peer& peer = peers_[static_cast<std::size_t>(rank)];
    WEIR_ASSERT(!peer.connected() && disconnected());
    addresses_[static_cast<std::size_t>(rank)] = std::move(address);
    peer.failed = false;
}

void UcxNetwork::begin_closing(Peer& peer) {
    ucp_request_param_t params{};
    params.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    params.flags = UCP_EP_CLOSE_FLAG_FORCE;
    for (const Connection& connection : peer.connections) {
        if (connection.endpoint == nullptr) {
            continue;
        }
        const ucs_status_ptr_t request = api_.ep_close_nbx(connection.endpoint, &params);
        if (status_of(request) == UCS_INPROGRESS) {
            closing_.push_back(request);
        }
    }
}

void UcxNetwork::complete_closing() {
    std::erase_if(closing_, [this](ucs_status_ptr_t request) {
        const bool done = api_.request_check_status(request) != UCS_INPROGRESS;
        if (done) {
            api_.request_free(request);
        }
        return done;
    });
}

bool UcxNetwork::close(Deadline deadline) {
    ignores_failures_ = true;
    for (Peer& peer : peers_) {
        if (!closed_) {
            begin_closing(peer);
        }
    }
    closed_ = true;
    while (!closing_.empty()) {
        progress();
        if (!closing_.empty() && std::chrono::steady_clock::now() >= deadline) {
            return false;
        }
    }
    for (Peer& peer : peers_) {
        for (Connection& connection : peer.connections) {
            connection.endpoint = nullptr;
        }
    }
    return true;
}

}  // namespace weir::transport
