// See literal.h. Test: tests/unit/audit_test.cc.
#include "base/literal.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

namespace suture {
namespace {

// How common a byte is in Python source, roughly: the later in this list the rarer; what is not in it is rarer still.
std::size_t rarity(char c) {
  constexpr std::string_view kCommonFirst = " etaoisnrl_cdpumfhg.,bvy()=w1k0x:2";
  const std::size_t at = kCommonFirst.find(c);
  return at == std::string_view::npos ? kCommonFirst.size() : at;
}

// Vectors of the compilers' own (GCC and clang).
using Narrow = unsigned char __attribute__((vector_size(16)));
using Wide = unsigned char __attribute__((vector_size(32)));

// Four vectors of bytes at a time: SSE2, AVX2 or NEON, whatever the function that this becomes part of is compiled for.
template <class Bytes>
[[gnu::always_inline]] inline std::size_t find_by(std::string_view in, std::string_view text, std::size_t first,
                                                  std::size_t second, std::size_t from) {
  constexpr std::size_t kLanes = sizeof(Bytes);
  using Words = std::array<std::uint64_t, kLanes / sizeof(std::uint64_t)>;
  constexpr std::size_t kStride = 4 * kLanes;
  const std::size_t size = text.size();
  const std::size_t places = in.size() - size + 1;  // where it may begin
  const Bytes one = Bytes{} + static_cast<unsigned char>(text[first]);
  const Bytes two = Bytes{} + static_cast<unsigned char>(text[second]);
  const auto is_at = [&](std::size_t at) {
    return in[at + first] == text[first] && in[at + second] == text[second] &&
           std::memcmp(in.data() + at, text.data(), size) == 0;
  };
  std::size_t at = from;
  while (at + kStride <= places) {
    Bytes found{};
    const char* const a = in.data() + first;
    const char* const b = in.data() + second;
    // By itself, so that nothing but the two loads stands in its way.
    for (std::uint64_t any = 0; at + kStride <= places; at += kStride) {
      found = Bytes{};
#pragma GCC unroll 4
      for (std::size_t lane = 0; lane < kStride; lane += kLanes) {
        Bytes x, y;
        std::memcpy(&x, a + at + lane, kLanes);
        std::memcpy(&y, b + at + lane, kLanes);
        found |= static_cast<Bytes>(x == one) & static_cast<Bytes>(y == two);
      }
      Words words;
      std::memcpy(words.data(), &found, kLanes);
      for (const std::uint64_t word : words) any |= word;
      if (any != 0) break;
    }
    const std::size_t end = std::min(at + kStride, places);
    for (; at < end; ++at) {
      if (is_at(at)) return at;
    }
  }
  for (; at < places; ++at) {
    if (is_at(at)) return at;
  }
  return std::string_view::npos;
}

#ifdef __x86_64__
[[gnu::target("avx2")]] std::size_t find_wide(std::string_view in, std::string_view text, std::size_t first,
                                              std::size_t second, std::size_t from) {
  return find_by<Wide>(in, text, first, second, from);
}
// Asked of the processor, and not by target_clones: its resolvers run before the sanitizers are up.
bool has_wide() {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}
#endif

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
  if (in.size() < text_.size() || from > in.size() - text_.size()) return std::string_view::npos;
#ifdef __x86_64__
  if (has_wide()) return find_wide(in, text_, first_, second_, from);
#endif
  return find_by<Narrow>(in, text_, first_, second_, from);
}

}  // namespace suture
