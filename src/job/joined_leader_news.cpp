// What the leader of a job without MPI does while the loop runs: it finds out who is gone, gives ranks up,
// and takes in processes that come back.
#include <string>
#include <utility>

#include "host/common_clock.hpp"
#include "job/joined_job.hpp"
#include "transport/transport.hpp"

namespace weir::job {

namespace {

/// Connections to processes that were given up, which may still run, are kept so that they receive the news.
constexpr std::size_t parting_max = 64;

}  // namespace

std::vector<JobEvent> JoinLeader::look() {
    pump();
    greet_newcomers();
    for (int rank = 1; rank < size_; ++rank) {
        const auto index = static_cast<std::size_t>(rank);
        if (!is_present(rank)) {
            continue;
        }
        while (const auto frame = connection(rank).take(FrameKind::known)) {
            for (Returning& returning : returning_) {
                if (returning.rank == static_cast<int>(frame->number)) {
                    std::erase(returning.unaware, rank);
                }
            }
        }
        if (connection(rank).closed() && !gone_[index] && !may_have_a_cause(rank)) {
            gone_[index] = true;
            events_.push_back({.kind = JobEvent::Kind::gone, .rank = rank, .why = connection(rank).reason()});
        }
    }
    for (Returning& returning : returning_) {
        serve(returning);
    }
    std::erase_if(returning_, [](const Returning& one) { return one.connection == nullptr; });
    for (const std::shared_ptr<JoinConnection>& connection : parting_) {
        connection->pump();
    }
    std::erase_if(parting_, [](const auto& connection) { return connection->closed(); });
    return std::exchange(events_, {});
}

std::string JoinLeader::last_words_of(int rank) {
    // Of a process of this host it is known sooner that it is gone than what it sent before.
    if (rank > 0 && is_present(rank)) {
        connection(rank).pump();
        static_cast<void>(may_have_a_cause(rank));
    }
    return aborted_ns_[static_cast<std::size_t>(rank)] == 0
               ? ""
               : "it was ended by abort(), as UCX ends a process that has lost a peer, or that was sent what "
                 "it cannot read";
}

void JoinLeader::serve(Returning& returning) {
    JoinConnection& connection = *returning.connection;
    connection.pump();
    while (connection.take(FrameKind::clock_question)) {
        const std::int64_t now_ns = host::monotonic_ns();
        connection.send(FrameKind::clock_reading, std::as_bytes(std::span(&now_ns, 1)));
    }
    if (const auto frame = connection.take(FrameKind::address)) {
        announce(returning, frame->bytes);
    }
    std::erase_if(returning.unaware, [this](int rank) { return !is_present(rank); });
    if (connection.closed()) {
        returning.connection.reset();  // its place stays free
    } else if (returning.announced && returning.unaware.empty()) {
        complete(returning);
    }
}

void JoinLeader::announce(Returning& returning, const std::string& text) {
    const auto rank = static_cast<std::size_t>(returning.rank);
    const auto peer = decode_returned_peer(text);
    if (!peer || peer->rank != returning.rank || peer->address.life != lives_[rank]) {
        returning.connection->send(FrameKind::refusal, "its address cannot be read");
        return;
    }
    // Whoever comes next must find this process, and not the one before.
    for (Exchanged& exchanged : history_) {
        const bool control = exchanged.what == transport::exchange_of_control_addresses;
        if (control || exchanged.what == transport::exchange_of_data_addresses) {
            auto texts = unpack_texts(exchanged.text).value();
            texts[rank] = control ? peer->address.control : peer->address.data;
            exchanged.text = pack_texts(texts);
        }
    }
    returning.announced = true;
    for (int other = 1; other < size_; ++other) {
        if (is_present(other)) {
            connection(other).send(FrameKind::address, text);
            returning.unaware.push_back(other);
        }
    }
    events_.push_back(return_of(*peer));
}

void JoinLeader::complete(Returning& returning) {
    const auto rank = static_cast<std::size_t>(returning.rank);
    returning.connection->send(FrameKind::go,
                               pack_texts(std::vector{std::to_string(exchange_), std::to_string(round_)}));
    connections_[rank] = std::move(returning.connection);
    aborted_ns_[rank] = 0;
    gone_[rank] = false;
}

std::uint32_t JoinLeader::take_out(int rank) {
    std::shared_ptr<JoinConnection>& connection = connections_[static_cast<std::size_t>(rank)];
    if (connection != nullptr) {
        connection->send(FrameKind::taken_out, std::string_view{});
        parting_.push_back(std::move(connection));
        if (parting_.size() > parting_max) {
            parting_.erase(parting_.begin());
        }
    }
    std::erase_if(returning_, [rank](const Returning& one) { return one.rank == rank; });
    return ++lives_[static_cast<std::size_t>(rank)];
}

}  // namespace weir::job
