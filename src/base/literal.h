// Searching a text for a literal, fast: most files of a package hold none of what is looked for, and reading them is
// all the time there is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace suture {

// Finds every occurrence. Two of its bytes, the rarest in source code, are compared at 16 or 32 places at a time; only where both
// fit is the rest compared. Rejected: memmem (1.5 GB/s, five literals would cost more than reading), std::search.
class Literal {
 public:
  // Precondition: not empty.
  explicit Literal(std::string text);

  [[nodiscard]] const std::string& text() const { return text_; }
  // The first occurrence at `from` or later; npos.
  [[nodiscard]] std::size_t find(std::string_view in, std::size_t from = 0) const;

 private:
  std::string text_;
  std::size_t first_ = 0, second_ = 0;  // places of the two bytes, first_ <= second_
};

}  // namespace suture
