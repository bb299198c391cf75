// See literal.h. Test: tests/unit/audit_test.cc.
#include "base/literal.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace suture {
namespace {

// Vectors of the compilers' own (GCC and clang): SSE2 or NEON, whatever the target has.
using Bytes = unsigned char __attribute__((vector_size(16)));
using Words = std::uint64_t __attribute__((vector_size(16)));
constexpr std::size_t kLanes = sizeof(Bytes);
constexpr std::size_t kStride = 4 * kLanes;

// How common a byte is in Python source, roughly: the later in this list the rarer; what is not in it is rarer still.
std::size_t rarity(char c) {
  constexpr std::string_view kCommonFirst = " etaoisnrl_cdpumfhg.,bvy()=w1k0x:2";
  const std::size_t at = kCommonFirst.find(c);
  return at == std::string_view::npos ? kCommonFirst.size() : at;
}

Bytes load(const char* from) {
  Bytes out;
  std::memcpy(&out, from, sizeof out);
  return out;
}
Bytes all(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return Bytes{} + byte;
}
bool any(Bytes mask) {
  Words words;
  std::memcpy(&words, &mask, sizeof words);
  return (words[0] | words[1]) != 0;
}

}  // namespace

Literal::Literal(std::string text) : text_(std::move(text)) {
  std::size_t best = 0, next = text_.size() > 1 ? 1 : 0;
  if (rarity(text_[next]) > rarity(text_[best])) std::swap(best, next);
  for (std::size_t i = 2; i < text_.size(); ++i) {
    if (rarity(text_[i]) > rarity(text_[best])) {
      next = std::exchange(best, i);
    } else if (rarity(text_[i]) > rarity(text_[next])) {
      next = i;
    }
  }
  first_ = std::min(best, next);
  second_ = std::max(best, next);
}

std::size_t Literal::find(std::string_view in, std::size_t from) const {
  const std::size_t size = text_.size();
  if (in.size() < size || from > in.size() - size) return std::string_view::npos;
  const std::size_t places = in.size() - size + 1;  // where it may begin
  const Bytes one = all(text_[first_]), two = all(text_[second_]);
  std::size_t at = from;
  while (at + kStride <= places) {
    Bytes found{};
    for (std::size_t lane = 0; lane < kStride; lane += kLanes) {
      const char* begin = in.data() + at + lane;
      found |= static_cast<Bytes>(load(begin + first_) == one) & static_cast<Bytes>(load(begin + second_) == two);
    }
    const std::size_t end = at + kStride;
    if (any(found)) {
      for (; at < end; ++at) {
        if (in[at + first_] == text_[first_] && std::memcmp(in.data() + at, text_.data(), size) == 0) return at;
      }
    }
    at = end;
  }
  for (; at < places; ++at) {
    if (in[at + first_] == text_[first_] && std::memcmp(in.data() + at, text_.data(), size) == 0) return at;
  }
  return std::string_view::npos;
}

}  // namespace suture
