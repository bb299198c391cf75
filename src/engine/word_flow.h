// Whether a definition can hold a site, told by its words and without parsing: the names of a site's expression must stand in one logical
// line, and where the rule asks where a value comes from (engine/flow.h), a way must lead from there to that line. Most functions that get a
// buffer and cast something cast something else.
//
// Sound: what flow.cc follows is, in each step, one expression, which stands in one logical line, or a name from where an assignment
// or `:=` binds it to where it is used. So from the lines that hold the origin, names are followed by their spelling to every line that
// has them, whatever the order of the lines and whatever else binds the name. `name.shape` is another value, unless the rule looks through
// it; in `x.to()` the value is x. Text in strings and comments counts as code.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/outline.h"
#include "engine/prefilter.h"

namespace suture {

// Of one part of a file: an Excerpt's body. What it found is kept for the next need. All that it is given outlives it.
class WordFlow {
 public:
  WordFlow(const Prefilter& prefilter, std::string_view text, const Outline& outline, Range part);

  // false: what the need asks for cannot be. A need that looks past the site's expression is let pass; in a part whose code is not all ASCII
  // names are not followed.
  [[nodiscard]] bool admits(const Need& need);

 private:
  using Lines = std::vector<bool>;  // by index into the part's lines
  // Where a value may have come to from its origin.
  struct Reached {
    Origin origin;
    Lines origins;  // that hold the origin
    Lines lines;    // and those that use a name
    std::vector<std::string_view> names;
  };

  const Lines& with_anchor(std::size_t anchor);
  [[nodiscard]] Lines with_anchors(const std::vector<std::size_t>& anchors);
  [[nodiscard]] bool admits(const OriginOfValue& value, const Lines& sites);
  [[nodiscard]] bool takes(const OriginOfValue& value, const Reached& from, std::uint32_t method) const;
  const Reached& reached(const Origin& origin);
  void follow(std::vector<std::string_view> names, Reached& out) const;
  void add_bound(std::size_t line, std::vector<std::string_view>& names) const;
  [[nodiscard]] bool has_name(Range part, const Reached& from, bool whatever) const;
  static bool keeps(std::string_view until, std::size_t name_end, const Origin& origin);
  [[nodiscard]] std::optional<std::size_t> line_at(std::uint32_t at) const;

  const Prefilter& prefilter_;
  std::string_view text_;
  Range part_;
  bool ascii_ = false;
  std::vector<LogicalLine> lines_;
  std::deque<std::pair<std::size_t, Lines>> anchors_;
  std::deque<Reached> reached_;
};

}  // namespace suture
