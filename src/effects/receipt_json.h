// The receipt as the file .suture/receipt.json, pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/state.h"

namespace suture {

inline constexpr int kReceiptFormat = 1;

std::string receipt_to_json(const Receipt& receipt, const std::string& package);
// Checked as a whole: types, hashes, paths that stay in the tree and out of .suture, ascending offsets. `path`: for
// errors.
Result<Receipt> receipt_from_json(std::string_view text, const std::string& path);

// The distribution that a receipt says it is of, nothing else checked; empty: it does not say.
std::string receipt_package(std::string_view text);

// 64 lower-case hexadecimal digits.
bool is_sha256(std::string_view text);

}  // namespace suture
