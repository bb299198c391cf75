#include "base/sha256.h"

#include <sodium.h>

#include <array>

namespace suture {

// Hashing needs no sodium_init(): that only picks faster implementations and seeds the random generator.
std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, crypto_hash_sha256_BYTES> digest{};
  crypto_hash_sha256(digest.data(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  std::array<char, 2 * crypto_hash_sha256_BYTES + 1> hex{};
  sodium_bin2hex(hex.data(), hex.size(), digest.data(), digest.size());
  return {hex.data(), hex.size() - 1};
}

}  // namespace suture
