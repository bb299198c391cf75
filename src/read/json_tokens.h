// Where the tokens of JSON text begin, found 64 bytes at a time (simdjson's first stage; json_tokens.cc is the only file that
// includes it). What the tokens mean is read/trace_reader.h.
//
// Rejected: simdjson's on-demand documents, one for each event. Finding where an event ends, so that it can be handed over, costs a
// second look at every byte, and the first stage starts anew 1.4 million times; the walk over the tokens also knows the offset of
// whatever is wrong. The first stage alone is not simdjson's documented interface, so the version is pinned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace suture {

class JsonTokens {
 public:
  enum class Verdict {
    good,
    not_utf8,           // the tokens are there; some byte in a string or elsewhere is not UTF-8
    unclosed_string,    // no tokens: a string has no end
    control_character,  // no tokens: a string holds a raw control character, or has lost a quote before
    out_of_memory,
  };

  JsonTokens();
  ~JsonTokens();
  JsonTokens(const JsonTokens&) = delete;
  JsonTokens& operator=(const JsonTokens&) = delete;

  // `bytes` begins and ends between tokens, and is shorter than 4 GiB.
  Verdict find(std::string_view bytes);
  // Ascending offsets of: { } [ ] , : and the first byte of each string, number and literal (of whatever stands where one of
  // those should). Valid until the next find().
  [[nodiscard]] std::span<const std::uint32_t> places() const;

 private:
  struct Stage;
  std::unique_ptr<Stage> stage_;
};

// Where `bytes`, which begin between tokens, may be cut: at or behind the end of the last complete token but for numbers and literals,
// which may go on. 0: within the first token.
std::size_t cut_between_tokens(std::string_view bytes);

}  // namespace suture
