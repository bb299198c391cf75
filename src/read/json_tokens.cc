// See json_tokens.h. Tests: tests/unit/json_tokens_test.cc.
#include "read/json_tokens.h"

#include <simdjson.h>

#include <algorithm>
#include <bit>

namespace suture {

struct JsonTokens::Stage {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> parser;
  std::size_t capacity = 0, count = 0;
};

JsonTokens::JsonTokens() : stage_(std::make_unique<Stage>()) {}
JsonTokens::~JsonTokens() = default;

JsonTokens::Verdict JsonTokens::find(std::string_view bytes) {
  stage_->count = 0;
  if (bytes.empty()) return Verdict::good;
  if (bytes.size() > stage_->capacity) {
    // Windows differ by a few bytes; what is not used of the capacity is never touched. The depth is of the second stage, which is
    // never run.
    const std::size_t capacity = std::bit_ceil(bytes.size());
    if (simdjson::get_active_implementation()->create_dom_parser_implementation(capacity, 1, stage_->parser) !=
        simdjson::SUCCESS)
      return Verdict::out_of_memory;
    stage_->capacity = capacity;
  }
  const simdjson::error_code code = stage_->parser->stage1(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                                           bytes.size(), simdjson::stage1_mode::regular);
  switch (code) {
    case simdjson::SUCCESS:
    case simdjson::UTF8_ERROR:
      stage_->count = stage_->parser->n_structural_indexes;
      return code == simdjson::SUCCESS ? Verdict::good : Verdict::not_utf8;
    case simdjson::EMPTY:
      return Verdict::good;
    case simdjson::UNCLOSED_STRING:
      return Verdict::unclosed_string;
    default:
      return Verdict::control_character;
  }
}

std::span<const std::uint32_t> JsonTokens::places() const {
  return {stage_->count == 0 ? nullptr : stage_->parser->structural_indexes.get(), stage_->count};
}

namespace {

// The next quote from `at` on that no backslash takes away, looking back no further than `from`.
std::size_t next_quote(std::string_view bytes, std::size_t at, std::size_t from) {
  for (;; ++at) {
    at = bytes.find('"', at);
    if (at == std::string_view::npos) return at;
    std::size_t slashes = 0;
    while (at - slashes > from && bytes[at - 1 - slashes] == '\\') ++slashes;
    if (slashes % 2 == 0) return at;
  }
}

// Brackets, commas and blanks end a token. A quote that stands at once behind a number does not: it is a part of that token.
std::size_t behind_mark(std::string_view bytes) {
  const std::size_t mark = bytes.find_last_of("{}[],: \t\r");
  return mark == std::string_view::npos ? 0 : mark + 1;
}

}  // namespace

std::size_t cut_between_tokens(std::string_view bytes) {
  // A raw newline cannot stand in a string: the quick way for whatever is laid out in lines.
  const std::size_t newline = bytes.rfind('\n');
  if (newline != std::string_view::npos) return newline + 1;
  std::size_t cut = 0;
  for (std::size_t quote = next_quote(bytes, 0, 0); quote != std::string_view::npos;
       quote = next_quote(bytes, cut, cut)) {
    const std::size_t end = next_quote(bytes, quote + 1, quote + 1);
    if (end == std::string_view::npos) return std::max(cut, behind_mark(bytes.substr(0, quote)));
    cut = end + 1;
  }
  return cut > 0 ? cut : behind_mark(bytes);
}

}  // namespace suture
