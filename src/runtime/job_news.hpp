// What the loop of a rank learns of the processes of a job that started without MPI, and what it tells the
// job:
// --on-failure continue.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "transport/transport.hpp"

namespace weir::runtime {

struct JobEvent {
    enum class Kind : std::uint8_t {
        gone,       ///< the connection to `rank` has ended; on the leader, or about it
        back,       ///< another process has taken the place of `rank`
        taken_out,  ///< this rank was given up by the leader
    };
    Kind kind = Kind::gone;
    int rank = -1;
    std::string why = {};                 ///< gone
    transport::PeerAddress address = {};  ///< back
    std::string host = {};                ///< back
    std::int64_t pid = 0;                 ///< back
    std::string pids = {};                ///< back: Place::pids()
};

class JobNews {
  public:
    JobNews() = default;
    JobNews(const JobNews&) = delete;
    JobNews& operator=(const JobNews&) = delete;
    virtual ~JobNews() = default;

    /// What has happened since the last call. Does not block.
    virtual std::vector<JobEvent> look() = 0;
    /// Whether somebody waits for an answer of look(), so that it should be called in every turn.
    [[nodiscard]] virtual bool is_awaited() const = 0;
    /// Leader: `rank` is given up. Returns its next life.
    virtual std::uint32_t take_out(int rank) = 0;
    /// Other ranks: what look() has told of `rank` (back) has been carried out.
    virtual void know(int rank) = 0;
};

}  // namespace weir::runtime
