// SHA-256 (FIPS 180-4) and HMAC with it (RFC 2104), for what must be proven with a secret
// (join_protocol.hpp).
//
// Chosen: 100 lines of our own, which the vectors of NIST and of RFC 4231 test. They are one fixed function
// without options, branches or tables that depend on the secret. Rejected: libcrypto, which nothing else of
// weir needs, so that each administrator would have to install it, in the version that was there at build
// time, for one function; the kernel's AF_ALG, which containers and hardened kernels do not offer; xxhash and
// the like, which are no functions for secrets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::host {

class Sha256 {
  public:
    static constexpr std::size_t block_bytes = 64;

    void add(std::string_view bytes);
    /// The digest, as bytes. Once, at the end.
    [[nodiscard]] std::string digest();

  private:
    void compress();

    std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<unsigned char, block_bytes> block_{};
    std::size_t filled_ = 0;
    std::uint64_t bytes_ = 0;
};

/// As bytes.
std::string sha256(std::string_view bytes);
std::string hmac_sha256(std::string_view key, std::string_view bytes);

/// Whether two texts are the same, in a time that depends on their lengths only.
bool same_secret(std::string_view a, std::string_view b);

/// So many bytes that cannot be guessed, from the kernel. Throws std::system_error.
std::string random_bytes(std::size_t count);

}  // namespace weir::host
