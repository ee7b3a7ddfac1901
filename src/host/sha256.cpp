#include "host/sha256.hpp"

#include <sys/random.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <system_error>

namespace weir::host {

namespace {

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2).
constexpr std::array<std::uint32_t, 64> round_constants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t small_sigma(std::uint32_t word, int first, int second, int shift) {
    return std::rotr(word, first) ^ std::rotr(word, second) ^ (word >> static_cast<unsigned>(shift));
}

std::uint32_t big_sigma(std::uint32_t word, int first, int second, int third) {
    return std::rotr(word, first) ^ std::rotr(word, second) ^ std::rotr(word, third);
}

void put_big_endian(std::string& text, std::uint64_t number, int bytes) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
        text += static_cast<char>(number >> static_cast<unsigned>(shift) & 0xffU);
    }
}

}  // namespace

void Sha256::add(std::string_view bytes) {
    bytes_ += bytes.size();
    for (const char byte : bytes) {
        block_[filled_] = static_cast<unsigned char>(byte);
        if (++filled_ == block_bytes) {
            compress();
            filled_ = 0;
        }
    }
}

std::string Sha256::digest() {
    constexpr std::size_t length_bytes = 8;
    std::string end("\x80", 1);
    const std::uint64_t bits = bytes_ * 8;
    while ((filled_ + end.size()) % block_bytes != block_bytes - length_bytes) {
        end += '\0';
    }
    put_big_endian(end, bits, length_bytes);
    add(end);
    std::string digest;
    for (const std::uint32_t word : state_) {
        put_big_endian(digest, word, sizeof word);
    }
    return digest;
}

/// FIPS 180-4, 6.2.2.
void Sha256::compress() {
    std::array<std::uint32_t, 64> schedule{};
    for (std::size_t i = 0; i < 16; ++i) {
        schedule[i] = static_cast<std::uint32_t>(block_[4 * i]) << 24U |
                      static_cast<std::uint32_t>(block_[4 * i + 1]) << 16U |
                      static_cast<std::uint32_t>(block_[4 * i + 2]) << 8U |
                      static_cast<std::uint32_t>(block_[4 * i + 3]);
    }
    for (std::size_t i = 16; i < schedule.size(); ++i) {
        schedule[i] = small_sigma(schedule[i - 2], 17, 19, 10) + schedule[i - 7] +
                      small_sigma(schedule[i - 15], 7, 18, 3) + schedule[i - 16];
    }
    auto [a, b, c, d, e, f, g, h] = state_;
    for (std::size_t i = 0; i < schedule.size(); ++i) {
        const std::uint32_t first =
            h + big_sigma(e, 6, 11, 25) + ((e & f) ^ (~e & g)) + round_constants[i] + schedule[i];
        const std::uint32_t second = big_sigma(a, 2, 13, 22) + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + first;
        d = c;
        c = b;
        b = a;
        a = first + second;
    }
    const std::array<std::uint32_t, 8> worked{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < state_.size(); ++i) {
        state_[i] += worked[i];
    }
}

std::string sha256(std::string_view bytes) {
    Sha256 hash;
    hash.add(bytes);
    return hash.digest();
}

std::string hmac_sha256(std::string_view key, std::string_view bytes) {
    std::string block = key.size() > Sha256::block_bytes ? sha256(key) : std::string(key);
    block.resize(Sha256::block_bytes, '\0');
    const auto padded = [&block](unsigned char pad) {
        std::string text = block;
        for (char& letter : text) {
            letter = static_cast<char>(static_cast<unsigned char>(letter) ^ pad);
        }
        return text;
    };
    Sha256 inner;
    inner.add(padded(0x36));
    inner.add(bytes);
    Sha256 outer;
    outer.add(padded(0x5c));
    outer.add(inner.digest());
    return outer.digest();
}

bool same_secret(std::string_view a, std::string_view b) {
    unsigned difference = a.size() == b.size() ? 0 : 1;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const char other = i < b.size() ? b[i] : '\0';
        difference |=
            static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(other));
    }
    return difference == 0;
}

std::string random_bytes(std::size_t count) {
    std::string bytes(count, '\0');
    for (std::size_t filled = 0; filled < count;) {
        const ssize_t got = getrandom(bytes.data() + filled, count - filled, 0);
        if (got < 0 && errno != EINTR) {
            throw std::system_error(errno, std::system_category(), "getrandom");
        }
        filled += got > 0 ? static_cast<std::size_t>(got) : 0;
    }
    return bytes;
}

}  // namespace weir::host
