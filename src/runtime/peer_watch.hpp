// Who is still there. Two kinds of evidence: something was heard of a rank not long ago, and (for ranks on
// the same host) its process exists. The second is instant and exact, the first works across hosts.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/units.hpp"
#include "runtime/host_facts.hpp"

namespace weir::runtime {

class PeerWatch {
  public:
    /// `places` by rank; `self` is this rank.
    PeerWatch(const std::vector<Place>& places, int self, core::Instant now);

    void heard(int rank, core::Instant now) { heard_[static_cast<std::size_t>(rank)] = now; }
    /// Everyone counts as heard now (this rank itself was away).
    void forgive(core::Instant now);

    /// These ranks can hold up others, which then fall silent as well: a rank that waits for one of them
    /// inside MPI, and whose last heartbeat happened to be the earlier one, is not to be taken for the cause.
    /// `heartbeat_period` is theirs.
    void suspect_first(const std::vector<int>& ranks, core::Duration heartbeat_period);

    /// The rank that has been silent longest, if for longer than `limit`; this rank aside. If one
    /// of suspect_first() fell silent at about the same time, it is that one, as soon as the limit is over
    /// for it.
    [[nodiscard]] std::optional<int> silent(core::Instant now, core::Duration limit) const;
    [[nodiscard]] bool silent(int rank, core::Instant now, core::Duration limit) const;

    /// All ranks that have been silent for longer than `limit`, in their order; this rank aside.
    [[nodiscard]] std::vector<int> all_silent(core::Instant now, core::Duration limit) const;
    /// For how long nothing has been heard of a rank.
    [[nodiscard]] core::Duration silence(int rank, core::Instant now) const {
        return now - heard_[static_cast<std::size_t>(rank)];
    }
    /// Whether gone() would tell if the process of this rank ended. Else only its silence does.
    [[nodiscard]] bool sees_process_of(int rank) const;

    /// A rank on this host whose process does not exist any more.
    [[nodiscard]] std::optional<int> gone() const;
    /// Likewise, but looks at one peer only: every call costs one system call, whatever the number of ranks.
    [[nodiscard]] std::optional<int> next_gone();

  private:
    struct LocalPeer {
        int rank = -1;
        pid_t pid = 0;
    };
    /// What a busy host adds to the time between heartbeats.
    static constexpr core::Duration heartbeat_delay = core::Duration::milliseconds(200);

    [[nodiscard]] static bool exists(pid_t pid);

    int self_;
    std::vector<core::Instant> heard_;
    std::vector<int> suspects_;
    core::Duration suspects_apart_;  ///< ranks whose last heartbeats are closer fell silent together
    std::vector<LocalPeer> local_;
    std::size_t next_ = 0;
};

}  // namespace weir::runtime
