// Where a scalar of a YAML file ends. yaml-cpp tells only where one begins, and what it says.
//
// The answer is found by laying the decoded value over the bytes, so it proves itself: bytes that do not give the
// value are an error and not a wrong range. Internal to the YAML reader.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/source.h"
#include "read/yaml_reader.h"

namespace suture {

struct YamlSpan {
  YamlNode::Style style = YamlNode::Style::plain;
  Range at;     // as YamlNode::at
  Range whole;  // everything that belongs to the scalar: a block scalar's header too
};

// The scalar that begins at `begin` (its first character, its quote, or the "|" or ">"). nullopt: the bytes do not
// give `value` (a quote that is not closed, or a tab within a block's indentation).
std::optional<YamlSpan> yaml_span(const Source& source, std::uint32_t begin, std::string_view value);

// The first byte outside the given spans (ascending, disjoint) that is neither punctuation, blank nor comment;
// `tab`: it is a tab that indents something.
struct YamlStray {
  std::uint32_t at = 0;
  bool tab = false;
};
std::optional<YamlStray> first_stray_byte(const Source& source, const std::vector<Range>& spans);

}  // namespace suture
