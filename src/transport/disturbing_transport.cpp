#include "transport/disturbing_transport.hpp"

#include <array>
#include <charconv>

namespace weir::transport {

namespace {

constexpr std::array<std::pair<std::string_view, DisturbanceKind>, 4> kinds{{
    {"corrupt-header", DisturbanceKind::corrupt_header},
    {"corrupt-payload", DisturbanceKind::corrupt_payload},
    {"duplicate", DisturbanceKind::duplicate},
    {"lose", DisturbanceKind::lose},
}};

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
    throw std::invalid_argument("fault '" + std::string(text) + "': " + why +
                                "; the form is KIND:producer=N,event=N,chunk=N with KIND corrupt-header, "
                                "corrupt-payload, duplicate or lose");
}

std::uint64_t parse_number(std::string_view text, std::string_view field, std::uint64_t limit) {
    const std::size_t equals = field.find('=');
    const std::string_view digits = field.substr(equals + 1);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size() || value > limit) {
        refuse(text, "'" + std::string(field) + "' is not a number from 0 to " + std::to_string(limit));
    }
    return value;
}

}  // namespace

ChunkDisturbance parse_disturbance(std::string_view text) {
    const std::size_t colon = text.find(':');
    const std::string_view name = text.substr(0, colon);
    const auto* const kind =
        std::find_if(kinds.begin(), kinds.end(), [name](const auto& entry) { return entry.first == name; });
    if (kind == kinds.end()) {
        refuse(text, "there is no kind '" + std::string(name) + "'");
    }
    ChunkDisturbance spec{.kind = kind->second};
    std::string_view rest = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
    while (!rest.empty()) {
        const std::size_t comma = rest.find(',');
        const std::string_view field = rest.substr(0, comma);
        rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
        constexpr std::uint64_t most_32 = std::numeric_limits<std::uint32_t>::max();
        if (field.starts_with("producer=")) {
            spec.producer = static_cast<std::uint32_t>(parse_number(text, field, most_32));
        } else if (field.starts_with("event=")) {
            constexpr std::uint64_t most_events = (std::uint64_t{1} << core::EventId::sequence_bits) - 1;
            spec.event = parse_number(text, field, most_events);
        } else if (field.starts_with("chunk=")) {
            spec.chunk = static_cast<std::uint32_t>(parse_number(text, field, most_32));
        } else {
            refuse(text, "there is no field '" + std::string(field) + "'");
        }
    }
    return spec;
}

DisturbingTransport::DisturbingTransport(Transport& inner, std::vector<ChunkDisturbance> disturbances)
    : inner_(inner), pending_(std::move(disturbances)) {}

void DisturbingTransport::send_chunk(const core::SendChunk& chunk) {
    const auto found = std::find_if(pending_.begin(), pending_.end(), [&chunk](const ChunkDisturbance& spec) {
        return spec.producer == chunk.chunk.event.producer().value &&
               spec.event == chunk.chunk.event.sequence() && spec.chunk == chunk.chunk.sequence;
    });
    if (found == pending_.end()) {
        inner_.send_chunk(chunk);
        return;
    }
    const DisturbanceKind kind = found->kind;
    pending_.erase(found);
    if (kind == DisturbanceKind::lose) {
        lost_.push_back({chunk.stream, chunk.chunk.sequence});
        return;
    }
    inner_.disturb_next_chunk(kind);
    inner_.send_chunk(chunk);
}

void DisturbingTransport::poll(Polled& found) {
    found.sent.insert(found.sent.end(), lost_.begin(), lost_.end());
    lost_.clear();
    inner_.poll(found);
}

}  // namespace weir::transport
