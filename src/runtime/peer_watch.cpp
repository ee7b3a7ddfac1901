#include "runtime/peer_watch.hpp"

#include <algorithm>
#include <csignal>
#include <fstream>

#include <fmt/format.h>

namespace weir::runtime {

bool PeerWatch::exists(pid_t pid) {
    // A killed process whose parent has not collected it yet is a zombie: it exists for kill(2), not for us.
    std::ifstream file(fmt::format("/proc/{}/stat", pid));
    std::string line;
    if (!std::getline(file, line)) {
        return false;
    }
    const auto end_of_name = line.rfind(')');
    return end_of_name != std::string::npos && end_of_name + 2 < line.size() &&
           line[end_of_name + 2] != 'Z' && line[end_of_name + 2] != 'X';
}

PeerWatch::PeerWatch(const std::vector<Place>& places, int self, core::Instant now)
    : self_(self), heard_(places.size(), now) {
    for (std::size_t rank = 0; rank < places.size(); ++rank) {
        const auto pid = static_cast<pid_t>(places[rank].pid);
        const bool same_host = places[rank].host == places[static_cast<std::size_t>(self)].host;
        // Ranks in containers of their own have the host's name but not its process numbers: leave them out.
        if (static_cast<int>(rank) != self && same_host && exists(pid)) {
            local_.push_back({static_cast<int>(rank), pid});
        }
    }
}

void PeerWatch::forgive(core::Instant now) {
    heard_.assign(heard_.size(), now);
}

bool PeerWatch::silent(int rank, core::Instant now, core::Duration limit) const {
    return now - heard_[static_cast<std::size_t>(rank)] > limit;
}

std::optional<int> PeerWatch::silent(core::Instant now, core::Duration limit) const {
    std::optional<int> longest;
    for (int rank = 0; rank < static_cast<int>(heard_.size()); ++rank) {
        if (rank != self_ && silent(rank, now, limit) &&
            (!longest ||
             heard_[static_cast<std::size_t>(rank)] < heard_[static_cast<std::size_t>(*longest)])) {
            longest = rank;
        }
    }
    std::optional<int> suspect;
    for (const int rank : suspects_) {
        const core::Instant heard = heard_[static_cast<std::size_t>(rank)];
        if (longest && rank != self_ &&
            heard <= heard_[static_cast<std::size_t>(*longest)] + suspects_apart_ &&
            (!suspect || heard < heard_[static_cast<std::size_t>(*suspect)])) {
            suspect = rank;
        }
    }
    if (suspect) {
        return silent(*suspect, now, limit) ? suspect : std::nullopt;
    }
    return longest;
}

std::vector<int> PeerWatch::all_silent(core::Instant now, core::Duration limit) const {
    std::vector<int> ranks;
    for (int rank = 0; rank < static_cast<int>(heard_.size()); ++rank) {
        if (rank != self_ && silent(rank, now, limit)) {
            ranks.push_back(rank);
        }
    }
    return ranks;
}

bool PeerWatch::sees_process_of(int rank) const {
    return std::any_of(local_.begin(), local_.end(),
                       [rank](const LocalPeer& peer) { return peer.rank == rank; });
}

void PeerWatch::suspect_first(const std::vector<int>& ranks, core::Duration heartbeat_period) {
    suspects_ = ranks;
    suspects_apart_ = heartbeat_period * 2 + heartbeat_delay;
}

std::optional<int> PeerWatch::gone() const {
    for (const LocalPeer& peer : local_) {
        if (!exists(peer.pid)) {
            return peer.rank;
        }
    }
    return std::nullopt;
}

std::optional<int> PeerWatch::next_gone() {
    if (local_.empty()) {
        return std::nullopt;
    }
    next_ = (next_ + 1) % local_.size();
    return exists(local_[next_].pid) ? std::nullopt : std::optional(local_[next_].rank);
}

}  // namespace weir::runtime
