#include "effects/sealed_json.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "base/text.h"
#include "effects/file_system.h"

namespace suture {
namespace {

using nlohmann::json;

constexpr std::size_t kDeepest = 32;
constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string to_base64(std::string_view bytes) {
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      group = group << 8U | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      out += at + i > bytes.size() ? '=' : kAlphabet[group >> (18 - 6 * i) & 63U];
    }
  }
  return out;
}

json broken(const char* why) {
  throw json::other_error::create(501, why, nullptr);
}

std::string from_base64(std::string_view text) {
  if (text.size() % 4 != 0) broken("base64 of a wrong length");
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += 4) {
    std::uint32_t group = 0;
    std::size_t padding = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const char c = text[at + i];
      const bool pad = c == '=' && at + 4 == text.size() && i >= 2;
      const std::size_t digit = pad ? 0 : kAlphabet.find(c);
      if (digit == std::string_view::npos || (padding > 0 && !pad)) broken("not base64");
      padding += pad ? 1 : 0;
      group = group << 6U | static_cast<std::uint32_t>(digit);
    }
    for (std::size_t i = 0; i + padding < 3; ++i) out += static_cast<char>(group >> (16 - 8 * i) & 255U);
  }
  return out;
}

// The checksum is over the compact form: keys are sorted, so it is one text for one document.
std::string checksum_of(const json& document) {
  return sha256_hex(document.dump());
}

Error newer(const std::string& what, const std::string& path) {
  Error error;
  error.exit = Exit::file_system;
  error.message = what + " " + path + " was written by a newer suture";
  error.hint = "use that version of suture on this tree";
  return error;
}

}  // namespace

json parse_flat(std::string_view text) {
  std::size_t depth = 0, deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_string = !in_string;
    } else if (!in_string && (c == '[' || c == '{')) {
      deepest = std::max(deepest, ++depth);
    } else if (!in_string && (c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  if (deepest > kDeepest) return json(json::value_t::discarded);
  return json::parse(text, nullptr, false);
}

std::string seal(json document) {
  document.erase("checksum");
  document["checksum"] = checksum_of(document);
  return document.dump(1) + "\n";
}

Result<json> unseal(std::string_view text, int format, const std::string& what, const std::string& path) {
  json document = parse_flat(text);
  if (document.is_discarded() || !document.is_object()) return damaged(what, path, "it is not a JSON document");
  const auto number = document.find("format");
  if (number == document.end() || !number->is_number_integer()) return damaged(what, path, "it has no format number");
  if (number->get<std::int64_t>() > format) return newer(what, path);
  if (*number != format) return damaged(what, path, "its format number is not known");
  const auto checksum = document.find("checksum");
  if (checksum == document.end() || !checksum->is_string()) return damaged(what, path, "it has no checksum");
  const std::string expected = checksum->get<std::string>();
  document.erase("checksum");
  if (checksum_of(document) != expected)
    return damaged(what, path, "its checksum does not hold, it was changed by something else");
  return document;
}

json bytes_to_json(std::string_view bytes) {
  if (!first_bad_utf8(bytes)) return std::string(bytes);
  return json{{"base64", to_base64(bytes)}};
}

std::string bytes_from_json(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  return from_base64(value.at("base64").get<std::string>());
}

Error damaged(const std::string& what, const std::string& path, const std::string& why) {
  Error error;
  error.exit = Exit::file_system;
  error.message = what + " " + path + " is damaged: " + why;
  error.hint =
      "put the package's own files back (pip install --force-reinstall --no-deps), remove the .suture folder, and "
      "apply again";
  return error;
}

Error damaged(const std::string& what, const std::string& path, const std::exception& why) {
  std::string words = why.what();  // "[json.exception.out_of_range.403] key 'phase' not found"
  const std::size_t end = words.find("] ");
  if (words.starts_with('[') && end != std::string::npos) words.erase(0, end + 2);
  return damaged(what, path, words);
}

Error unreadable(const std::string& what, const std::string& path, int error, std::uint64_t most) {
  if (error == EISDIR) return damaged(what, path, "it is a folder");
  if (error == ELOOP) return damaged(what, path, "it is a symbolic link");
  if (error == EINVAL || error == ENXIO) return damaged(what, path, "it is no regular file");
  if (error == EFBIG) return damaged(what, path, "it is larger than " + std::to_string(most >> 20U) + " MiB");
  return io_error("read", path, error);
}

}  // namespace suture
