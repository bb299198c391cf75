// A Python (or YAML) file as bytes, with what is needed to point into it and to
// write into it in its own style. The bytes are never decoded or normalised:
// what is not edited is written back as it was.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace suture {

// A half-open range of bytes [begin, end) of a source.
struct Range {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  [[nodiscard]] std::uint32_t size() const { return end - begin; }
  [[nodiscard]] bool contains(Range other) const { return begin <= other.begin && other.end <= end; }
  friend bool operator==(const Range&, const Range&) = default;
};

class Source {
 public:
  // name: what diagnostics call the file (relative to the tree). bytes: at
  // most 4 GiB - 1; callers refuse larger files before they get here.
  Source(std::string name, std::string bytes);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] std::string_view text(Range r) const { return std::string_view(bytes_).substr(r.begin, r.size()); }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(bytes_.size()); }

  // The newline that most lines end with ("\n", "\r\n" or "\r"; "\n" where the file
  // has no line end). Inserted lines use it.
  [[nodiscard]] std::string_view newline() const { return newline_; }
  // Bytes of a leading UTF-8 BOM (3 or 0).
  [[nodiscard]] std::uint32_t bom() const { return bom_; }

  // 0-based line of a byte offset, and the offset a line begins at. An offset
  // at the end of the file belongs to the last line.
  [[nodiscard]] std::uint32_t line_of(std::uint32_t offset) const;
  [[nodiscard]] std::uint32_t line_begin(std::uint32_t line) const { return lines_[line]; }
  // End of the line's text: before its newline.
  [[nodiscard]] std::uint32_t line_end(std::uint32_t line) const;
  [[nodiscard]] std::uint32_t line_count() const { return static_cast<std::uint32_t>(lines_.size()); }
  // The blanks (space, tab, form feed) that the line of `offset` begins with.
  [[nodiscard]] std::string_view indentation_at(std::uint32_t offset) const;

  // A Location for diagnostics: 1-based, columns in characters. width covers
  // the range, cut at the end of its first line.
  [[nodiscard]] Location locate(Range range) const;

 private:
  std::string name_;
  std::string bytes_;
  std::vector<std::uint32_t> lines_;  // offset of each line's first byte
  std::string_view newline_;
  std::uint32_t bom_ = 0;
};

}  // namespace suture
