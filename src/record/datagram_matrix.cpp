#include "record/datagram_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "files/whole_file.hpp"

namespace weir::record {

PeerDatagrams& PeerDatagrams::operator+=(const PeerDatagrams& other) {
    sent += other.sent;
    sent_again += other.sent_again;
    received += other.received;
    duplicate += other.duplicate;
    late += other.late;
    corrupt += other.corrupt;
    return *this;
}

std::int64_t PeerDatagrams::missing() const {
    const std::uint64_t arrived = received + late + corrupt + std::min(duplicate, sent_again);
    return static_cast<std::int64_t>(sent + sent_again) - static_cast<std::int64_t>(arrived);
}

bool is_datagrams(std::span<const PeerDatagrams> entries) {
    return std::adjacent_find(entries.begin(), entries.end(),
                              [](const PeerDatagrams& a, const PeerDatagrams& b) {
                                  return a.peer >= b.peer;
                              }) == entries.end();
}

void DatagramMatrix::add(core::NodeId node, std::span<const PeerDatagrams> entries) {
    for (const PeerDatagrams& entry : entries) {
        const auto pair = node.role == core::Role::producer ? std::pair(node.index, entry.peer)
                                                            : std::pair(entry.peer, node.index);
        pairs_[pair] += entry;
    }
}

PeerDatagrams DatagramMatrix::sum() const {
    PeerDatagrams sum;
    for (const auto& [pair, counted] : pairs_) {
        sum += counted;
    }
    return sum;
}

std::int64_t DatagramMatrix::missing() const {
    std::int64_t missing = 0;
    for (const auto& [pair, counted] : pairs_) {
        missing += std::max<std::int64_t>(0, counted.missing());
    }
    return missing;
}

files::MaybeIoError write_datagrams_csv(const std::string& path, const DatagramMatrix& matrix) {
    files::WholeFile file(path);
    file.put("producer,consumer,sent,sent_again,received,missing,duplicate,late,corrupt\n");
    for (const auto& [pair, counted] : matrix.pairs()) {
        file.put(fmt::format("{},{},{},{},{},{},{},{},{}\n", pair.first, pair.second, counted.sent,
                             counted.sent_again, counted.received, counted.missing(), counted.duplicate,
                             counted.late, counted.corrupt));
    }
    return file.finish();
}

}  // namespace weir::record
