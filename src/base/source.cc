// The line index. Line ends are "\n", "\r\n" and a lone "\r", as Python itself reads them; a newline at the end of
// the file begins no further line. Test: tests/unit/source_test.cc.
#include "base/source.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace suture {
namespace {

constexpr std::string_view kBom = "\xEF\xBB\xBF";

struct NewlineCounts {
  std::size_t lf = 0, crlf = 0, cr = 0;
};

// Offsets of the lines' first bytes; counts what the lines end with.
std::vector<std::uint32_t> index_lines(std::string_view bytes, NewlineCounts& counts) {
  std::vector<std::uint32_t> lines = {0};
  // Not find_first_of, which looks each byte up in the set.
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const char c = bytes[at];
    if (c != '\n' && c != '\r') continue;
    const bool crlf = c == '\r' && at + 1 < bytes.size() && bytes[at + 1] == '\n';
    ++(crlf ? counts.crlf : c == '\n' ? counts.lf : counts.cr);
    if (crlf) ++at;
    if (at + 1 < bytes.size()) lines.push_back(static_cast<std::uint32_t>(at + 1));
  }
  return lines;
}

std::string_view most_common(const NewlineCounts& counts) {
  if (counts.lf >= counts.crlf && counts.lf >= counts.cr) return "\n";
  return counts.crlf >= counts.cr ? "\r\n" : "\r";
}

}  // namespace

Source::Source(std::string name, std::string bytes) : name_(std::move(name)), bytes_(std::move(bytes)) {
  NewlineCounts counts;
  lines_ = index_lines(bytes_, counts);
  newline_ = most_common(counts);
  if (std::string_view(bytes_).substr(0, kBom.size()) == kBom) bom_ = static_cast<std::uint32_t>(kBom.size());
}

std::uint32_t Source::line_of(std::uint32_t offset) const {
  const auto after = std::upper_bound(lines_.begin(), lines_.end(), offset);
  return static_cast<std::uint32_t>(after - lines_.begin()) - 1;
}

std::uint32_t Source::line_end(std::uint32_t line) const {
  std::uint32_t end = line + 1 < line_count() ? lines_[line + 1] : size();
  if (end > lines_[line] && bytes_[end - 1] == '\n') --end;
  if (end > lines_[line] && bytes_[end - 1] == '\r') --end;
  return end;
}

std::string_view Source::indentation_at(std::uint32_t offset) const {
  const std::uint32_t line = line_of(offset);
  const std::uint32_t begin = std::max(lines_[line], line == 0 ? bom_ : 0u);
  std::uint32_t end = begin;
  while (end < size() && (bytes_[end] == ' ' || bytes_[end] == '\t' || bytes_[end] == '\f')) ++end;
  return text({begin, end});
}

Location Source::locate(Range range) const {
  const std::uint32_t line = line_of(std::min(range.begin, size()));
  const std::uint32_t line_start = std::max(lines_[line], line == 0 ? bom_ : 0u);
  const std::uint32_t line_stop = std::max(line_end(line), line_start);
  const std::uint32_t begin = std::clamp(range.begin, line_start, line_stop);
  const std::uint32_t end = std::clamp(range.end, begin, line_stop);
  Location where;
  where.file = name_;
  where.line = line + 1;
  where.column = static_cast<std::uint32_t>(count_characters(text({line_start, begin}))) + 1;
  where.text = std::string(text({line_start, line_stop}));
  where.width = std::max(1u, static_cast<std::uint32_t>(count_characters(text({begin, end}))));
  return where;
}

}  // namespace suture
