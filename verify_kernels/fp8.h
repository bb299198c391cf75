// FP8 and BF16 codes, decoded exactly and by our own arithmetic, so that the CPU part shares nothing with the hardware
// whose conversions it checks.
//
// e4m3fn   s eeee mmm, bias 7; no infinities; 0x7f and 0xff are NaN, 0x7e is 448.
// e5m2     s eeeee mm, bias 15; as IEEE: 0x7c is infinity, 0x7d..0x7f NaN, 0x7b is 57,344.
// BF16     the upper half of a float.
//
// Every finite value of both FP8 types is a BF16 value (3 and 2 bits of mantissa fit in 7, and the smallest subnormals, 2^-9
// and 2^-16, are normal BF16): a cast has exactly one right answer, and rounds nothing.
#pragma once

#include <cstdint>

namespace verify {

enum class Fp8 { e4m3fn, e5m2 };

constexpr const char* name_of(Fp8 type) {
  return type == Fp8::e4m3fn ? "e4m3fn" : "e5m2";
}

// A code that is NaN in both types.
inline constexpr std::uint8_t kNanCode = 0x7f;
// A BF16 NaN that no cast makes (all bits set): what a cast did not write still holds it.
inline constexpr std::uint16_t kPoison = 0xffff;

double decode(Fp8 type, std::uint8_t code);

float float_of_bf16(std::uint16_t bits);
// Round to nearest, ties to even; a NaN becomes 0x7fff.
std::uint16_t bf16_of(float value);

constexpr bool is_nan_bf16(std::uint16_t bits) {
  return (bits & 0x7fff) > 0x7f80;
}
// Equal bits, where any NaN equals any NaN.
constexpr bool same_bf16(std::uint16_t a, std::uint16_t b) {
  return a == b || (is_nan_bf16(a) && is_nan_bf16(b));
}

}  // namespace verify
