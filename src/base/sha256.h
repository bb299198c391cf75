// SHA-256, by libsodium. RECORD files, receipts and editions speak in these.
#pragma once

#include <string>
#include <string_view>

namespace suture {

// 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

}  // namespace suture
