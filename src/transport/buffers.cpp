#include "transport/buffers.hpp"

#include <sys/mman.h>

#include <cerrno>

#include "transport/transport.hpp"

namespace weir::transport {

Arena::Arena(std::int64_t bytes, const std::string& owner, const std::string& advice) {
    WEIR_ASSERT(bytes > 0);
    void* const memory = mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        throw CapacityError("the chunk buffers of " + owner + " need " + std::to_string(bytes) +
                            " bytes, which the system refused (" + std::strerror(errno) + "): less " +
                            advice + " makes it less");
    }
    data_ = static_cast<std::byte*>(memory);
    size_ = static_cast<std::size_t>(bytes);
    // Fewer page table entries for memory that is read and written from end to end. Where it is not to be
    // had, the run is still right.
    static_cast<void>(madvise(memory, size_, MADV_HUGEPAGE));
}

Arena::~Arena() {
    if (data_ != nullptr) {
        munmap(data_, size_);
    }
}

Arena::Arena(Arena&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Arena& Arena::operator=(Arena&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
}

void Arena::abandon() noexcept {
    data_ = nullptr;
    size_ = 0;
}

namespace {

std::size_t producer_buffers(const core::Plan& plan) {
    return static_cast<std::size_t>(core::chunk_buffers_per_stream(plan)) * plan.streams;
}

std::size_t consumer_buffers(const core::Plan& plan) {
    return static_cast<std::size_t>(core::chunk_buffers_per_place(plan)) * plan.places();
}

}  // namespace

ChunkBuffers::ChunkBuffers(Arena arena, std::byte* memory, std::size_t count, const core::Plan& plan)
    : arena_(std::move(arena)),
      memory_(memory),
      count_(count),
      stride_(static_cast<std::size_t>(core::chunk_stride_bytes(plan))),
      message_bytes_(static_cast<std::size_t>(core::chunk_header_bytes + core::chunk_capacity_bytes(plan))) {
    WEIR_ASSERT(memory_ != nullptr);
    WEIR_ASSERT(arena_.data() == nullptr || count_ * stride_ == arena_.size());
}

ChunkBuffers ChunkBuffers::for_producer(const core::Plan& plan) {
    Arena arena(core::producer_memory_bytes(plan), "a producer",
                "--buffer, --streams, --window or --chunk-size");
    std::byte* const memory = arena.data();
    return {std::move(arena), memory, producer_buffers(plan), plan};
}

ChunkBuffers ChunkBuffers::for_consumer(const core::Plan& plan) {
    Arena arena(core::consumer_memory_bytes(plan), "a consumer", "--slots or --event-size");
    std::byte* const memory = arena.data();
    return {std::move(arena), memory, consumer_buffers(plan), plan};
}

ChunkBuffers ChunkBuffers::for_producer(const core::Plan& plan, std::byte* memory) {
    return {Arena(), memory, producer_buffers(plan), plan};
}

ChunkBuffers ChunkBuffers::for_consumer(const core::Plan& plan, std::byte* memory) {
    return {Arena(), memory, consumer_buffers(plan), plan};
}

std::span<std::byte> ChunkBuffers::at(std::size_t index) const {
    WEIR_ASSERT(index < count_);
    return {memory_ + index * stride_, message_bytes_};
}

PlaceBuffers::PlaceBuffers(std::uint32_t places, const ChunkBuffers& buffers)
    : per_place_(buffers.count() / places) {
    for (std::uint32_t place = 0; place < places; ++place) {
        places_.push_back(
            {core::RingQueue<std::size_t>(per_place_), core::RingQueue<std::size_t>(per_place_)});
        for (std::size_t buffer = 0; buffer < per_place_; ++buffer) {
            places_.back().idle.push(place * per_place_ + buffer);
        }
    }
}

void PlaceBuffers::open(std::uint32_t place) {
    while (!places_[place].idle.empty()) {
        places_[place].available.push(places_[place].idle.pop());
    }
}

std::size_t BufferRing::reserve() {
    // Fewer buffers are busy than the window has chunks, so this ends after as many steps.
    for (std::size_t tried = 0; tried < busy_.size(); ++tried) {
        const std::size_t index = next_;
        next_ = next_ + 1 == busy_.size() ? 0 : next_ + 1;
        if (busy_[index] == 0) {
            busy_[index] = 1;
            return index;
        }
    }
    core::assertion_failed("a chunk buffer is free", __FILE__, __LINE__);
}

void BufferRing::give_back(std::size_t index) {
    WEIR_ASSERT(index < busy_.size() && busy_[index] == 1);
    busy_[index] = 0;
}

std::int64_t warmup_messages_per_pair(const core::Plan& plan) {
    const std::int64_t stride = core::chunk_stride_bytes(plan);
    const std::int64_t sent = core::producer_memory_bytes(plan) / stride;
    const std::int64_t received = core::consumer_memory_bytes(plan) / stride;
    return std::max({std::int64_t{1}, core::detail::ceil_div(sent, std::int64_t{plan.consumers}),
                     core::detail::ceil_div(received, std::int64_t{plan.producers})});
}

}  // namespace weir::transport
