// What a transport needs of the job, over MPI alone.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <string>
#include <vector>

#include "transport/transport.hpp"

namespace weir::test {

class MpiMeeting final : public transport::Meeting {
  public:
    [[nodiscard]] int rank() const override {
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        return rank;
    }
    std::vector<std::string> share(const std::string& mine, const char* /*what*/) override {
        int ranks = 0;
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        std::vector<std::string> all(static_cast<std::size_t>(ranks));
        for (int root = 0; root < ranks; ++root) {
            std::string text = mine;
            unsigned long length = text.size();
            MPI_Bcast(&length, 1, MPI_UNSIGNED_LONG, root, MPI_COMM_WORLD);
            text.resize(length);
            MPI_Bcast(text.data(), static_cast<int>(length), MPI_CHAR, root, MPI_COMM_WORLD);
            all[static_cast<std::size_t>(root)] = text;
        }
        return all;
    }
    void begin_barrier() override { MPI_Ibarrier(MPI_COMM_WORLD, &barrier_); }
    [[nodiscard]] bool barrier_done() override {
        int done = 0;
        MPI_Test(&barrier_, &done, MPI_STATUS_IGNORE);
        return done != 0;
    }

  private:
    MPI_Request barrier_ = MPI_REQUEST_NULL;
};

}  // namespace weir::test
