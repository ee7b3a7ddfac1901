// What the transports `put` and `get` have in common over the engine `ucx`: every rank learns where the
// chunk buffers of the others are and how they are reached, once, and small active messages go with the
// transfers, which give their target no notice.
#include <cstring>
#include <deque>
#include <string_view>
#include <utility>

#include "transport/ucx/ucx_data.hpp"

namespace weir::transport {

namespace {

/// What a rank sends about its chunk buffers, in front of the key and of the address of its worker.
struct AddressHead {
    std::uint64_t base = 0;
    std::uint32_t stride = 0;
    std::uint32_t key_bytes = 0;
};

class UcxRemoteData : public UcxData {
  public:
    void drop(const Arrival& /*arrival*/) override {}

    [[nodiscard]] std::string address() const override {
        const std::string key = network_.key_of(memory_);
        const AddressHead head{.base = reinterpret_cast<std::uintptr_t>(buffers_.memory().data()),
                               .stride = static_cast<std::uint32_t>(stride_),
                               .key_bytes = static_cast<std::uint32_t>(key.size())};
        return std::string(reinterpret_cast<const char*>(&head), sizeof head) + key + network_.address();
    }

    void set_addresses(std::vector<std::string> addresses) override {
        for (int rank = 0; rank < std::ssize(addresses); ++rank) {
            std::string& address = addresses[static_cast<std::size_t>(rank)];
            take_address(rank, std::string(address), address);
        }
        network_.set_addresses(std::move(addresses));
    }

    void reconnect(int rank, const std::string& address) override {
        std::string of_worker;
        take_address(rank, address, of_worker);
        network_.reconnect(rank, std::move(of_worker));
    }

    void progress() override {
        network_.progress();
        while (!ready_.empty()) {
            Transfer& transfer = transfers_[ready_.back()];
            ready_.pop_back();
            next_step(transfer);
        }
    }

  protected:
    UcxRemoteData(UcxNetwork::Settings settings, int self, const ChunkBuffers& buffers)
        : UcxData(std::move(settings), self, buffers),
          stride_(buffers.stride()),
          bases_(static_cast<std::size_t>(ranks_)) {
        network_.receive(message_kind, message_announced, this, false);
    }

    /// Announces a message; with get also the answer of its receiver. Plain memory on the wire: all ranks run
    /// the same executable.
    struct DataNotice {
        std::int32_t source = -1;
        std::uint32_t place = 0;
        std::uint32_t buffer = 0;  ///< put: of the receiver; get: of the source
        std::uint32_t bytes = 0;
        std::uint32_t transfer = 0;  ///< the sender's
        std::uint32_t ticket = 0;
    };
    /// An outgoing message. `pending` requests, and with get the receiver's answer, are awaited; then
    /// next_step() is called.
    struct Transfer {
        UcxRemoteData* data = nullptr;
        std::uint32_t index = 0;
        std::uint32_t ticket = 0;  ///< of each use another
        std::size_t sending = 0;
        int to = -1;  ///< -1: not in use
        int pending = 0;
        int step = 0;
        bool answered = false;
        ucs_status_t status = UCS_OK;
        DataNotice notice;
    };

    Transfer& begin_transfer(int to, Target target, std::size_t bytes, std::size_t sending) {
        begin_sending(to);
        if (free_.empty()) {
            free_.push_back(static_cast<std::uint32_t>(transfers_.size()));
            transfers_.push_back({.data = this, .index = free_.back(), .notice = {}});
        }
        Transfer& transfer = transfers_[free_.back()];
        free_.pop_back();
        const std::uint32_t ticket = transfer.ticket + 1;
        transfer = {.data = this,
                    .index = transfer.index,
                    .ticket = ticket,
                    .sending = sending,
                    .to = to,
                    .notice = {.source = self_,
                               .place = target.place,
                               .buffer = target.buffer,
                               .bytes = static_cast<std::uint32_t>(bytes),
                               .transfer = transfer.index,
                               .ticket = ticket}};
        return transfer;
    }

    /// All that the transfer waited for has ended; its status is UCS_OK as long as all went well.
    virtual void next_step(Transfer& transfer) = 0;
    /// A message was announced while arrivals are dropped.
    virtual void announce_dropped(const Arrival& /*arrival*/) {}
    void end_transfer(Transfer& transfer) {
        end_sending(transfer.sending, std::exchange(transfer.to, -1), transfer.status);
        free_.push_back(transfer.index);
    }

    /// Counts the request of a call if it is under way.
    void await(Transfer& transfer, ucs_status_ptr_t result) {
        ++transfer.pending;
        if (const ucs_status_t status = status_of(result); status != UCS_INPROGRESS) {
            ended(transfer, status);
        }
    }

    /// One of what the transfer waits for has ended.
    void ended(Transfer& transfer, ucs_status_t status) {
        if (status != UCS_OK) {
            transfer.status = status;
        }
        if (--transfer.pending == 0) {
            ready_.push_back(transfer.index);
        }
    }

    void send_notice(Transfer& transfer) {
        const ucp_ep_h endpoint = network_.endpoint(transfer.to);
        if (endpoint == nullptr) {
            transfer.status = UCS_ERR_CANCELED;
            return;
        }
        ucp_request_param_t params = request_params(request_ended, &transfer);
        params.op_attr_mask &= ~static_cast<std::uint32_t>(UCP_OP_ATTR_FIELD_MEMH);
        await(transfer, network_.api().am_send_nbx(endpoint, message_kind, &transfer.notice,
                                                   sizeof(DataNotice), nullptr, 0, &params));
    }

    /// Where byte 0 of a chunk buffer of another rank is, for UCX.
    [[nodiscard]] std::uint64_t remote_address(int rank, std::uint32_t buffer) const {
        return bases_[static_cast<std::size_t>(rank)] + std::uint64_t{buffer} * stride_;
    }
    [[nodiscard]] Transfer* find(const DataNotice& notice) {
        if (notice.transfer >= transfers_.size()) {
            return nullptr;
        }
        Transfer& transfer = transfers_[notice.transfer];
        return transfer.ticket == notice.ticket && transfer.to == notice.source ? &transfer : nullptr;
    }

    /// UCX calls it with the transfer of an ended request.
    static void request_ended(void* request, ucs_status_t status, void* transfer) {
        Transfer& ended = *static_cast<Transfer*>(transfer);
        UcxRemoteData& data = *ended.data;
        data.ended(ended, status);
        data.network_.api().request_free(request);
    }

    std::deque<Transfer> transfers_;  ///< UCX has pointers to them

  private:
    static ucs_status_t message_announced(void* to, const void* header, std::size_t header_length,
                                          void* /*data*/, std::size_t bytes,
                                          const ucp_am_recv_param_t* /*params*/) {
        UcxRemoteData& self = *static_cast<UcxRemoteData*>(to);
        DataNotice notice;
        if (header_length == sizeof(notice)) {
            std::memcpy(&notice, header, sizeof(notice));
        }
        if (bytes != 0 || notice.source < 0 || notice.source >= self.ranks_ ||
            notice.bytes > self.buffers_.message_bytes()) {
            self.refuse(notice.bytes);
            return UCS_OK;
        }
        const Arrival arrival{.place = notice.place,
                              .source = Rank{notice.source},
                              .bytes = notice.bytes,
                              .buffer = notice.buffer,
                              .transfer = notice.transfer,
                              .ticket = notice.ticket};
        if (self.drops_) {
            self.announce_dropped(arrival);
        } else {
            self.arrivals_.push_back(arrival);
        }
        return UCS_OK;
    }

    void take_address(int rank, const std::string& text, std::string& of_worker) {
        if (text.empty()) {
            of_worker.clear();  // of a rank without data
            return;
        }
        AddressHead head;
        if (text.size() >= sizeof head) {
            std::memcpy(&head, text.data(), sizeof head);
        }
        if (text.size() < sizeof head + head.key_bytes || head.stride != stride_) {
            throw TransportError(
                "the exchange of addresses", Rank{rank},
                "its chunk buffers are not what this rank expects: do all ranks run the same plan?");
        }
        bases_[static_cast<std::size_t>(rank)] = head.base;
        network_.set_key(rank, text.substr(sizeof head, head.key_bytes));
        of_worker = text.substr(sizeof head + head.key_bytes);
    }

    std::uint64_t stride_ = 0;
    std::vector<std::uint64_t> bases_;  ///< by rank
    std::vector<std::uint32_t> free_;
    std::vector<std::uint32_t> ready_;  ///< for their next step
};

/// Transport `put` over the engine `ucx`: a producer writes a message into the buffer of the place that it
/// was granted, waits until it lies there (a flush of the endpoint, which does not block), and notifies it.
///
/// (Rejected: a fence instead of the flush. It orders writes and atomic operations, and not the active
/// message that informs the consumer.)

class UcxPutData final : public UcxRemoteData {
  public:
    UcxPutData(UcxNetwork::Settings settings, int self, const ChunkBuffers& buffers)
        : UcxRemoteData(std::move(settings), self, buffers) {}

    void send(int to, Target target, std::span<const std::byte> message, std::size_t sending) override {
        Transfer& transfer = begin_transfer(to, target, message.size(), sending);
        const auto [endpoint, key] = network_.next_connection(to);
        if (key == nullptr) {
            transfer.status = UCS_ERR_CANCELED;
            end_transfer(transfer);
            return;
        }
        const ucp_request_param_t params = request_params(request_ended, &transfer);
        ++transfer.pending;  // not before both are begun
        await(transfer, network_.api().put_nbx(endpoint, message.data(), message.size(),
                                               remote_address(to, target.buffer), key, &params));
        ucp_request_param_t of_flush = params;
        of_flush.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
        await(transfer, network_.api().ep_flush_nbx(endpoint, &of_flush));
        ended(transfer, UCS_OK);
    }

    void receive(const Arrival& arrival, std::size_t buffer) override {
        begin_receiving();
        end_receiving(arrival, buffer, UCS_OK);
    }

    [[nodiscard]] bool writes_into_buffers() const override { return true; }

  private:
    void next_step(Transfer& transfer) override {
        if (transfer.step++ == 0 && transfer.status == UCS_OK) {
            send_notice(transfer);
            if (transfer.status == UCS_OK) {
                return;
            }
        }
        end_transfer(transfer);
    }
};

/// Transport `get` over the engine `ucx`: a producer informs the consumer in which of its buffers a message
/// lies, the consumer reads it when it has a buffer for it, and sends a message. Then the message has left.
class UcxGetData final : public UcxRemoteData {
  public:
    UcxGetData(UcxNetwork::Settings settings, int self, const ChunkBuffers& buffers)
        : UcxRemoteData(std::move(settings), self, buffers),
          readings_(buffers.count(), Reading{.data = this, .arrival = {}}) {
        network_.receive(answer_kind, answer_arrived, this, false);
    }

    void send(int to, Target target, std::span<const std::byte> message, std::size_t sending) override {
        target.buffer = buffers_.index_of(message.data());
        Transfer& transfer = begin_transfer(to, target, message.size(), sending);
        ++transfer.pending;  // the answer
        send_notice(transfer);
        if (transfer.status != UCS_OK) {
            take_answer(transfer, transfer.status);
        }
    }

    void receive(const Arrival& arrival, std::size_t buffer) override {
        readings_[buffer].arrival = arrival;
        begin_receiving();
        const auto [endpoint, key] = network_.next_connection(arrival.source.value);
        if (key == nullptr) {
            end_reading(buffer, UCS_ERR_CANCELED);
            return;
        }
        const ucp_request_param_t params = request_params(message_read, &readings_[buffer]);
        const ucs_status_t status = status_of(
            network_.api().get_nbx(endpoint, buffers_.at(buffer).data(), arrival.bytes,
                                   remote_address(arrival.source.value, arrival.buffer), key, &params));
        if (status != UCS_INPROGRESS) {
            end_reading(buffer, status);
        }
    }

    void drop(const Arrival& arrival) override { answer(arrival); }
    void progress() override {
        UcxRemoteData::progress();
        for (const Arrival& arrival : std::exchange(to_answer_, {})) {
            answer(arrival);
        }
    }

  private:
    static constexpr unsigned answer_kind = message_kind + 1;

    struct Reading {
        UcxGetData* data = nullptr;
        Arrival arrival;
    };
    /// UCX has pointers to those that are in use.
    struct Answer {
        UcxGetData* data = nullptr;
        std::uint32_t index = 0;
        DataNotice notice;
    };

    static void message_read(void* request, ucs_status_t status, void* reading) {
        Reading& one = *static_cast<Reading*>(reading);
        UcxGetData& data = *one.data;
        data.end_reading(static_cast<std::size_t>(&one - data.readings_.data()), status);
        data.network_.api().request_free(request);
    }

    static void answer_sent(void* request, ucs_status_t /*status*/, void* answer) {
        const Answer& sent = *static_cast<Answer*>(answer);
        sent.data->free_answers_.push_back(sent.index);
        sent.data->network_.api().request_free(request);
    }

    static ucs_status_t answer_arrived(void* self, const void* header, std::size_t header_length,
                                       void* /*data*/, std::size_t /*bytes*/,
                                       const ucp_am_recv_param_t* /*params*/) {
        UcxGetData& data = *static_cast<UcxGetData*>(self);
        DataNotice notice;
        if (header_length == sizeof(notice)) {
            std::memcpy(&notice, header, sizeof(notice));
            if (Transfer* const transfer = data.find(notice)) {  // else of a rank that was given up
                data.take_answer(*transfer, UCS_OK);
            }
        }
        return UCS_OK;
    }

    void next_step(Transfer& transfer) override { end_transfer(transfer); }
    void announce_dropped(const Arrival& arrival) override { to_answer_.push_back(arrival); }
    void give_up(int rank) override {
        for (Transfer& transfer : transfers_) {
            if (transfer.to == rank) {
                take_answer(transfer, UCS_ERR_CANCELED);
            }
        }
    }

    [[nodiscard]] bool answering() const override {
        return answers_.size() > free_answers_.size() || !to_answer_.empty();
    }
    void end_reading(std::size_t buffer, ucs_status_t status) {
        const Arrival& arrival = readings_[buffer].arrival;
        end_receiving(arrival, buffer, status);
        if (status == UCS_OK) {
            to_answer_.push_back(arrival);
        }
    }

    void take_answer(Transfer& transfer, ucs_status_t status) {
        if (!std::exchange(transfer.answered, true)) {
            ended(transfer, status);
        }
    }

    void answer(const Arrival& arrival) {
        const ucp_ep_h endpoint = network_.endpoint(arrival.source.value);
        if (endpoint == nullptr) {
            return;
        }
        if (free_answers_.empty()) {
            free_answers_.push_back(static_cast<std::uint32_t>(answers_.size()));
            answers_.push_back({.data = this, .index = free_answers_.back(), .notice = {}});
        }
        Answer& answer = answers_[free_answers_.back()];
        free_answers_.pop_back();
        answer.notice = {.source = self_, .transfer = arrival.transfer, .ticket = arrival.ticket};
        ucp_request_param_t params = request_params(answer_sent, &answer);
        params.op_attr_mask &= ~static_cast<std::uint32_t>(UCP_OP_ATTR_FIELD_MEMH);
        const ucs_status_t status = status_of(network_.api().am_send_nbx(
            endpoint, answer_kind, &answer.notice, sizeof(DataNotice), nullptr, 0, &params));
        if (status != UCS_INPROGRESS) {
            free_answers_.push_back(answer.index);
            if (status != UCS_OK) {
                network_.fail(arrival.source.value, status);
            }
        }
    }

    std::vector<Reading> readings_;  ///< by buffer; UCX has pointers to them
    std::deque<Answer> answers_;
    std::vector<std::uint32_t> free_answers_;
    std::vector<Arrival> to_answer_;
};

}  // namespace

std::unique_ptr<UcxData> make_ucx_puts(UcxNetwork::Settings settings, int self, const ChunkBuffers& buffers) {
    return std::make_unique<UcxPutData>(std::move(settings), self, buffers);
}

std::unique_ptr<UcxData> make_ucx_gets(UcxNetwork::Settings settings, int self, const ChunkBuffers& buffers) {
    return std::make_unique<UcxGetData>(std::move(settings), self, buffers);
}

}  // namespace weir::transport
