// What a transport needs of the job (transport/meeting.hpp), by the job's exchanges.
#pragma once

#include <string>
#include <vector>

#include "runtime/job.hpp"
#include "transport/meeting.hpp"

namespace weir::runtime {

class JobMeeting final : public transport::Meeting {
  public:
    /// `job` outlives this object.
    explicit JobMeeting(Job& job) : job_(job) {}

    [[nodiscard]] int rank() const override { return job_.rank(); }
    std::vector<std::string> share(const std::string& mine, const char* what) override {
        return job_.share(mine, what);
    }
    void begin_barrier() override { job_.begin_round({}, last_barrier); }
    [[nodiscard]] bool barrier_done() override { return job_.end_round(last_barrier).has_value(); }

  private:
    static constexpr const char* last_barrier = "end of the transport";
    Job& job_;
};

}  // namespace weir::runtime
