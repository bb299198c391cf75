// One YAML document as a value tree in which every key and value knows its bytes. yaml_reader.cc is the only file that
// includes yaml-cpp.
//
// What is read is a strict part of YAML: one document; maps with scalar keys, each once; lists; scalars, plain, quoted
// or block. Refused, each with its place: anchors, aliases, tags, directives, explicit keys ("?"), keys and items
// without a value, tabs as indentation, control characters, what is not UTF-8. A rule file needs none of them, and
// each is a way to write something other than what one meant.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/source.h"

namespace suture {

// A rule file of 1 MiB holds some thousands of rules; what is larger is not one.
inline constexpr std::uint32_t kMaxYamlBytes = 1u << 20;
inline constexpr std::size_t kMaxYamlDepth = 32;

struct YamlEntry;

struct YamlNode {
  enum class Kind { scalar, list, map };
  enum class Style { plain, quoted, block, flow };  // block, flow: also of lists and maps
  Kind kind = Kind::scalar;
  Style style = Style::plain;
  std::string value;  // scalar: the text, decoded
  // Scalar: the bytes it stands in, quotes included; a block scalar's begin at the text of its first content line
  // (after the indentation), so that line k of the text is line k of the range. List, map: from the first to the last
  // byte inside (a flow one: with its opening bracket).
  Range at;
  std::vector<YamlNode> items;     // list
  std::vector<YamlEntry> entries;  // map, in the order of the file
};

struct YamlEntry {
  std::string key;
  Range key_at;
  YamlNode value;
};

// Errors: Exit::bad_rule, located.
Result<YamlNode> read_yaml(const Source& source);

// How messages call a kind: "a text", "a list", "a map".
const char* kind_words(YamlNode::Kind kind);

// An error that points into a YAML file.
Error yaml_error(const Source& source, Range at, std::string message, std::string hint = "");

}  // namespace suture
