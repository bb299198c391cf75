// The codec against a table that another implementation computed (make_fp8_table.py), and the rounding of BF16.
#include "fp8.h"

#include <cmath>
#include <cstdio>
#include <initializer_list>
#include <limits>

namespace {

int failures = 0;

void expect(bool holds, const char* what, unsigned code, unsigned got, unsigned want) {
  if (holds) return;
  ++failures;
  std::printf("FAIL %s, code %02x: %04x, not %04x\n", what, code, got, want);
}

struct TableRow {
  unsigned code, e4m3fn, e5m2;
};
constexpr TableRow kTable[] = {
#include "fp8_table.inc"
};

void all_codes() {
  static_assert(sizeof kTable / sizeof kTable[0] == 256);
  for (const TableRow& row : kTable) {
    const auto code = static_cast<std::uint8_t>(row.code);
    for (const auto type : {verify::Fp8::e4m3fn, verify::Fp8::e5m2}) {
      const unsigned want = type == verify::Fp8::e4m3fn ? row.e4m3fn : row.e5m2;
      const double value = verify::decode(type, code);
      const unsigned got = verify::bf16_of(static_cast<float>(value));
      expect(got == want, verify::name_of(type), row.code, got, want);
      // The cast rounds nothing.
      const double back = static_cast<double>(verify::float_of_bf16(static_cast<std::uint16_t>(got)));
      expect(back == value || std::isnan(value), "exactness", row.code, got, want);
    }
  }
}

void rounding() {
  const struct {
    float value;
    unsigned want;
  } cases[] = {{1.0f, 0x3f80},
               {1.00390625f, 0x3f80},  // halfway, to even: down
               {1.01171875f, 0x3f82},  // halfway, to even: up
               {1.004f, 0x3f81},       // above halfway
               {-1.004f, 0xbf81},
               {3.4e38f, 0x7f80},  // past the largest
               {0.0f, 0x0000},
               {-0.0f, 0x8000},
               {std::numeric_limits<float>::infinity(), 0x7f80},
               {std::numeric_limits<float>::quiet_NaN(), 0x7fff}};
  for (const auto& [value, want] : cases) {
    const unsigned got = verify::bf16_of(value);
    expect(got == want, "bf16_of", 0, got, want);
  }
  expect(verify::is_nan_bf16(verify::kPoison), "the poison is a NaN", 0, verify::kPoison, 0);
  for (const auto type : {verify::Fp8::e4m3fn, verify::Fp8::e5m2}) {
    expect(std::isnan(verify::decode(type, verify::kNanCode)), "kNanCode is NaN", verify::kNanCode, 0, 0);
  }
}

}  // namespace

int main() {
  all_codes();
  rounding();
  std::printf("%s\n", failures == 0 ? "all 256 codes of both types, and the rounding, hold" : "FAILED");
  return failures == 0 ? 0 : 1;
}
