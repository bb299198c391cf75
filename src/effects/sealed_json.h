// JSON documents that notice when someone changed them: a "format" number, and in "checksum" the SHA-256 of the
// rest. The receipt and the journal are such documents. Only src/effects/*_json.cc and sealed_json.cc know the JSON
// library.
//
// The checksum is no signature: whoever can write the tree can write it anew. It catches an editor, a merge tool, a
// disk.
#pragma once

#include <cstdint>
#include <exception>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace suture {

// The document with its checksum, indented, with a newline at the end.
std::string seal(nlohmann::json document);

// The document; discarded where it is no JSON, or nested deeper than any of ours: the library walks deep ones by
// recursion.
nlohmann::json parse_flat(std::string_view text);

// The document without its checksum. `what` and `path` are for the error: not JSON, a newer format ("written by a
// newer suture"), a checksum that does not hold.
Result<nlohmann::json> unseal(std::string_view text, int format, const std::string& what, const std::string& path);

// Bytes as a JSON value: a string where they are UTF-8, else {"base64": "..."}.
nlohmann::json bytes_to_json(std::string_view bytes);
// Throws nlohmann::json::exception where it is neither.
std::string bytes_from_json(const nlohmann::json& value);

// "WHAT PATH is damaged: WHY"
Error damaged(const std::string& what, const std::string& path, const std::string& why);
// The same, in the words of an exception of the JSON library without its name and number.
Error damaged(const std::string& what, const std::string& path, const std::exception& why);
// The errno of a read that failed: damaged where no file of ours is there, but a folder, a link, a pipe, something over
// `most` bytes; else the system's words.
Error unreadable(const std::string& what, const std::string& path, int error, std::uint64_t most);

}  // namespace suture
