#include "fp8.h"

#include <bit>
#include <cmath>
#include <limits>

namespace verify {

double decode(Fp8 type, std::uint8_t code) {
  const int mantissa_bits = type == Fp8::e4m3fn ? 3 : 2;
  const int bias = type == Fp8::e4m3fn ? 7 : 15;
  const int magnitude = code & 0x7f;
  const int exponent = magnitude >> mantissa_bits;
  const int mantissa = magnitude & ((1 << mantissa_bits) - 1);
  const double sign = (code & 0x80) != 0 ? -1.0 : 1.0;
  if (type == Fp8::e4m3fn && magnitude == 0x7f) return std::numeric_limits<double>::quiet_NaN();
  if (type == Fp8::e5m2 && exponent == 31) {
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  }
  // A subnormal has the smallest normal exponent and no leading one.
  const int significand = exponent == 0 ? mantissa : mantissa + (1 << mantissa_bits);
  const int power = (exponent == 0 ? 1 : exponent) - bias - mantissa_bits;
  return sign * std::ldexp(significand, power);
}

float float_of_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::uint16_t bf16_of(float value) {
  if (std::isnan(value)) return 0x7fff;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  // Half of the last kept bit, less one where that bit is even: ties then stay.
  const std::uint32_t half = 0x7fff + ((bits >> 16) & 1);
  return static_cast<std::uint16_t>((bits + half) >> 16);
}

}  // namespace verify
