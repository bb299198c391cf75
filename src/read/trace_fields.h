// One event: from its tokens to its fields. The walk looks at each token once; what is wrong is named by the token that is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "read/trace_event.h"

namespace suture {

// Tokens of a piece of JSON text (read/json_tokens.h).
struct TokenText {
  std::string_view bytes;
  std::span<const std::uint32_t> places;

  [[nodiscard]] char first(std::size_t token) const { return bytes[places[token]]; }
  // A string without its quotes, or a number or literal; of the last token of the text it may be a part.
  [[nodiscard]] std::string_view scalar(std::size_t token) const {
    const std::size_t begin = places[token];
    std::size_t end = token + 1 < places.size() ? places[token + 1] : bytes.size();
    while (end > begin && is_blank(bytes[end - 1])) --end;
    if (bytes[begin] != '"') return bytes.substr(begin, end - begin);
    return end - begin < 2 ? std::string_view() : bytes.substr(begin + 1, end - begin - 2);
  }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
};

// Where a walk over a value ended.
struct ValueEnd {
  enum class State { complete, incomplete, bad } state = State::complete;
  std::size_t token = 0;  // complete: the one behind the value; bad: the one that is wrong
  const char* why = "";   // bad
};

// The value that begins at `token`, passed over; brackets must match.
ValueEnd skip_value(const TokenText& text, std::size_t token);

// What was noticed in an event beside its fields.
struct EventNotes {
  std::size_t duplicate_key = 0;  // its token; 0: none (an event's first token is no key)
  std::size_t not_a_number = 0;   // the token of a ts, dur or id that is none: NaN, Infinity
  std::size_t out_of_range = 0;   // of a ts or id that is a number, and none that a time or an id can be
  std::size_t impossible_duration = 0;
};

// The event whose `{` is at `token`. Where a key stands twice the last one counts, as in Python's json. `bad` where it is no
// object, or one whose keys, colons, commas or brackets are wrong.
ValueEnd read_event(const TokenText& text, std::size_t token, TraceEvent& event, EventNotes& notes);

}  // namespace suture
