// One MPI window over the chunk buffers that peers reach into: the consumers' with transport `put`, the
// producers' with `get`. Passive target throughout: one shared lock on all ranks for the whole run, so that
// no rank waits for a turn of its peer's loop to start an operation.
//
// MPI_Win_allocate and not MPI_Win_create, although that needs memory of MPI's: among ranks on one host Open
// MPI then uses memory that they share, and operations are copies; over memory of our own it would emulate
// them by messages. Open MPI's way of completing a request (an atomic operation or a flush behind it) is
// costly in other places: see requests_limit.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "transport/mpi/mpi_support.hpp"
#include "transport/mpi/mpi_transport.hpp"
#include "transport/transport.hpp"

namespace weir::transport {

class RmaWindow {
  public:
    /// Requests of one rank that may be under way. With UCX, Open MPI 5 ends the process at the 255th
    /// (github.com/open-mpi/ompi/issues/14192).
    static constexpr std::size_t requests_limit = 128;

    /// Collective over `comm`, whose errors must return: `bytes` of this rank's memory, 0 on ranks whose
    /// memory no other uses. Throws CapacityError when MPI makes no window, with a message that names
    /// `transport` (put or get) and ends with how there could be less of it; TransportError when its windows
    /// are of no use here.
    RmaWindow(MPI_Comm comm, std::int64_t bytes, const std::string& transport, const std::string& how_less) {
        void* memory = nullptr;
        try {
            check_mpi(MPI_Win_allocate(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, comm,
                                       static_cast<void*>(&memory), &window_),
                      "MPI_Win_allocate");
        } catch (const TransportError& error) {
            throw CapacityError(
                "--transport " + transport + ": MPI made no window (" + error.what() + "; " +
                std::to_string(bytes) +
                " bytes on this rank); use --transport send, which needs none. With UCX, mpirun may need "
                "--mca osc ucx; if memory is short, less of " +
                how_less + " helps");
        }
        check_mpi(MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
        if (!is_unified(window_)) {
            throw TransportError(
                "MPI_Win_allocate", Rank{},
                "this MPI keeps a private copy of what a window shows to others (no unified memory "
                "model), so one-sided transfers would be invisible: use --transport send");
        }
        memory_ = static_cast<std::byte*>(memory);
        // No lock of this run excludes another one, so MPI need not ask the targets.
        check_mpi(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
    }

    RmaWindow(const RmaWindow&) = delete;
    RmaWindow& operator=(const RmaWindow&) = delete;
    /// Leaves the window to MPI: freeing it is collective, see free().
    ~RmaWindow() = default;

    /// This rank's memory, which MPI owns; not aligned to anything.
    [[nodiscard]] std::byte* memory() const { return memory_; }

    /// Start an operation on `target`'s memory from byte `displacement` on. `request` completes when `from`
    /// may be written to again, which has no meaning for `target`; and when the data lies in `into`.
    void put(std::span<const std::byte> from, int target, std::int64_t displacement, MPI_Request& request) {
        const int size = static_cast<int>(from.size());
        check_mpi(MPI_Rput(from.data(), size, MPI_BYTE, target, static_cast<MPI_Aint>(displacement), size,
                           MPI_BYTE, window_, &request),
                  "MPI_Rput", target);
    }

    void get(std::span<std::byte> into, int target, std::int64_t displacement, MPI_Request& request) {
        const int size = static_cast<int>(into.size());
        check_mpi(MPI_Rget(into.data(), size, MPI_BYTE, target, static_cast<MPI_Aint>(displacement), size,
                           MPI_BYTE, window_, &request),
                  "MPI_Rget", target);
    }

    /// Waits until all that was put to `target` lies there. Short if all requests to it have completed; how
    /// short is up to MPI. `target` may have to answer, so this does not return if it never does:
    /// waits_for().
    void flush(int target) {
        waits_for_.store(target, std::memory_order_relaxed);
        const int code = MPI_Win_flush(target, window_);
        waits_for_.store(-1, std::memory_order_relaxed);
        check_mpi(code, "MPI_Win_flush", target);
    }

    /// Between loads and stores of this process in its own window and the messages about them: before peers
    /// are told what was stored here, and before what they announce as put here is loaded.
    void sync() { check_mpi(MPI_Win_sync(window_), "MPI_Win_sync"); }

    /// Collective, no operation under way: ends the lock and gives window and memory back.
    void free() {
        check_mpi(MPI_Win_unlock_all(window_), "MPI_Win_unlock_all");
        check_mpi(MPI_Win_free(&window_), "MPI_Win_free");
        memory_ = nullptr;
    }

    /// The target of a flush that has not returned, or -1. Any thread may read it.
    [[nodiscard]] int waits_for() const { return waits_for_.load(std::memory_order_relaxed); }

  private:
    /// Loads and stores of the target and operations of its peers see the same memory. Without that, a
    /// consumer would have to lock its window for every look into it.
    static bool is_unified(MPI_Win window) {
        void* attribute = nullptr;
        int found = 0;
        check_mpi(MPI_Win_get_attr(window, MPI_WIN_MODEL, static_cast<void*>(&attribute), &found),
                  "MPI_Win_get_attr");
        return found != 0 && *static_cast<const int*>(attribute) == MPI_WIN_UNIFIED;
    }

    MPI_Win window_ = MPI_WIN_NULL;
    std::byte* memory_ = nullptr;
    std::atomic<int> waits_for_{-1};
};

// The messages that go with one-sided transfers: an operation moves bytes without notice to its target. Small
// structs, gathered by rank and sent as packets on a communicator of their own; those between two ranks
// arrive in order.

/// Plain memory on the wire: both sides run the same executable, which is checked at the start. Fields that a
/// kind does not use are 0.
struct RmaNotice {
    enum class Kind : std::uint32_t {
        written,  ///< producer -> consumer: the chunk lies in your `place`, as the one of this `sequence`
        offered,  ///< producer -> consumer: the chunk for your `place` lies in my `buffer`
        taken,    ///< consumer -> producer: I have read the chunk of `stream` and `sequence`
        refused,  ///< consumer -> producer: I take no chunks any more, and have not read that one
    };
    Kind kind = Kind::written;
    core::PlaceId place{};
    std::uint32_t sequence = 0;       ///< of the chunk in its event
    std::uint32_t message_bytes = 0;  ///< header and payload
    std::uint32_t stream = 0;
    std::uint32_t buffer = 0;  ///< of all of the producer's chunk buffers
    std::uint64_t event = 0;   ///< as the chunk's header has it

    bool operator==(const RmaNotice&) const = default;
};
static_assert(sizeof(RmaNotice) == 32 && std::is_trivially_copyable_v<RmaNotice>);
class RmaNotices {
  public:
    struct Received {
        int from = -1;
        RmaNotice notice;
    };

    /// `comm` belongs to the caller and must outlive this object; nothing else may use its point-to-point
    /// messages. `receives` and `sends` as in MpiControl; `ranks` is the size of `comm`.
    RmaNotices(MPI_Comm comm, std::size_t receives, std::size_t sends, int ranks)
        : packets_(comm, receives, sends), gathered_(static_cast<std::size_t>(ranks)) {}

    /// Gathers a notice; it leaves with send(), or before if a packet is full.
    void add(int to, const RmaNotice& notice) {
        std::vector<RmaNotice>& gathered = gathered_[static_cast<std::size_t>(to)];
        if (gathered.size() == notices_per_packet) {
            send(to);
        } else if (gathered.empty()) {
            gathering_.push_back(to);
        }
        gathered.push_back(notice);
    }

    /// Sends what was gathered.
    void send() {
        for (const int to : gathering_) {
            send(to);
        }
        gathering_.clear();
    }

    /// What has arrived since the last call, valid until the next one. Throws TransportError, also for
    /// packets that are no notices.
    [[nodiscard]] const std::vector<Received>& poll() {
        polled_.clear();
        received_.clear();
        packets_.poll(polled_);
        for (const PacketArrived& packet : polled_.packets) {
            const auto content = polled_.content(packet);
            if (content.empty() || content.size() % sizeof(RmaNotice) != 0) {
                throw TransportError(
                    "receiving a notice", packet.source,
                    "it sent " + std::to_string(content.size()) + " bytes, no multiple of a notice's " +
                        std::to_string(sizeof(RmaNotice)) + ": do all ranks run the same build?");
            }
            for (std::size_t at = 0; at < content.size(); at += sizeof(RmaNotice)) {
                Received one{packet.source.value, {}};
                std::memcpy(&one.notice, content.data() + at, sizeof(RmaNotice));
                received_.push_back(one);
            }
        }
        return received_;
    }

    /// Packets of notices that have not left, gathered ones included.
    [[nodiscard]] std::size_t under_way() const { return packets_.under_way() + gathering_.size(); }

    /// See MpiControl.
    bool close(Deadline deadline) { return packets_.close(deadline); }

  private:
    static constexpr std::size_t notices_per_packet = MpiControl::packet_limit / sizeof(RmaNotice);

    void send(int to) {
        std::vector<RmaNotice>& gathered = gathered_[static_cast<std::size_t>(to)];
        packets_.send(Rank{to}, std::as_bytes(std::span(gathered)));
        gathered.clear();
    }

    MpiControl packets_;
    std::vector<std::vector<RmaNotice>> gathered_;  ///< by rank
    std::vector<int> gathering_;                    ///< ranks with some gathered
    Polled polled_;
    std::vector<Received> received_;
};

/// Throws TransportError: `from` sent a notice that it cannot have meant.
[[noreturn]] inline void refuse_notice(const RmaNotices::Received& received) {
    const RmaNotice& notice = received.notice;
    throw TransportError(
        "receiving a notice", Rank{received.from},
        "it cannot be right: kind " + std::to_string(static_cast<std::uint32_t>(notice.kind)) + ", place " +
            std::to_string(notice.place.value) + ", stream " + std::to_string(notice.stream) + ", sequence " +
            std::to_string(notice.sequence) + ", buffer " + std::to_string(notice.buffer) + ", " +
            std::to_string(notice.message_bytes) + " bytes");
}

/// What the two transports over a window have in common.
class RmaTransport : public MpiTransport {
  protected:
    /// `notices`: so many can be under way, control packets apart.
    RmaTransport(MPI_Comm comm, const core::RoleMap& roles, const core::Plan& plan, std::size_t notices)
        : MpiTransport(comm, roles, plan),
          notices_(data_comm_, control_receives(), control_sends() + notices, roles_.ranks()) {}

    /// For destructors. `done`: nothing is under way in the chunk buffers any more.
    template <typename Done>
    void withdraw(const Done& done) {
        const bool clean = withdraw_all([&](Deadline deadline) {
            static_cast<void>(notices_.close(deadline));
            return done();
        });
        if (!clean) {
            buffers_.abandon();
        }
    }

    bool release_data(Deadline deadline) final {
        window_->free();
        return notices_.close(deadline);
    }

    /// Of a chunk that this producer has under way.
    [[nodiscard]] RmaNotice notice_of(RmaNotice::Kind kind, std::size_t entry) {
        const OutgoingChunks::Chunk& chunk = outgoing_.at(entry);
        const auto message = outgoing_.message(entry);
        return {.kind = kind,
                .place = chunk.place,
                .sequence = chunk.sequence,
                .message_bytes = static_cast<std::uint32_t>(message.size()),
                .stream = chunk.stream.value,
                .buffer = static_cast<std::uint32_t>(chunk.buffer),
                .event = load_little_endian<std::uint64_t>(message.data() + event_id_at)};
    }

    /// What was read or written must be what the notice is about, and not what has taken its place since.
    [[nodiscard]] ChunkArrived inspect(std::span<const std::byte> message,
                                       const RmaNotices::Received& about) const {
        const RmaNotice& notice = about.notice;
        ChunkArrived arrived = inspect_chunk(message, notice.place, Rank{about.from}, bounds_, plan_.verify);
        if (load_little_endian<std::uint64_t>(message.data() + event_id_at) != notice.event) {
            arrived.header_intact = false;
        }
        return arrived;
    }

    std::unique_ptr<RmaWindow> window_;
    RmaNotices notices_;
};

}  // namespace weir::transport
