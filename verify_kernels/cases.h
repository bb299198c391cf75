// What is checked: a pool of KV slots, the requests of two steps over it, and the queries. All of it follows from a
// seed, the same on every machine.
//
// A slot is 576 columns of FP8: 512 that are both key and value, and 64 that are key only (MLA, absorbed form). A step
// is a ragged list of rows, one a query token; a row reads a run of the step's slot list. In decode a request has one
// row, which reads all its slots; in causal extend it has one a new token, and the later ones read one slot more each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fp8.h"

namespace verify {

inline constexpr int kValueColumns = 512;
inline constexpr int kColumns = 576;
inline constexpr int kHeadGroup = 16;  // heads come in groups of these

// One query token: slots[start, start + length) are what it reads.
struct Row {
  std::int32_t start;
  std::int32_t length;
};

// What a step gives to its kernels.
struct Plan {
  std::vector<std::int32_t> slots;  // of all requests, one after another; a shared prefix is named by each
  std::vector<Row> rows;
  int compared = 0;  // so many rows are real; those behind are padding, as in a graph that was captured for more
};

struct Case {
  std::string name;
  Fp8 type = Fp8::e4m3fn;
  int heads = 16;
  std::int64_t slots = 0;
  float scale = 0;
  std::vector<std::uint8_t> pool;    // slots x 576; kNanCode in every slot that no request of either step owns
  std::vector<std::uint16_t> query;  // rows x heads x 576, BF16
  Plan fill;                         // what a graph is captured with: each row reads slot 0, as a server's does
  Plan steps[2];                     // two steps of other requests, lengths and slots; the second has fewer rows
  bool small = false;                // small enough to compare all of it with double precision
};

// What a request is made of, and how many of each a case has.
struct Request {
  int shared;  // leading slots that it shares with the others
  int own;     // slots of its own behind them
  int fresh;   // the last so many tokens are new, each a row (1: decode)
};

struct CaseSpec {
  std::string name;
  Fp8 type;
  int heads;
  std::int64_t slots;
  std::vector<Request> requests;
  bool small;
};

// The cases that both parts run, and those that only a GPU is fast enough for.
std::vector<CaseSpec> small_cases();
std::vector<CaseSpec> large_cases(std::int64_t slots);

Case make_case(const CaseSpec& spec, std::uint64_t seed);

// A pool of all 256 codes, NaN and infinities among them, and a step that names every slot: for the cast alone.
Case all_codes(Fp8 type);

std::size_t most_slots_named(const Case& c);

// A generator that is the same everywhere (SplitMix64); std's distributions are not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  std::int64_t below(std::int64_t bound);  // 0 .. bound - 1, bound below 2^31
  double between(double low, double high);

 private:
  std::uint64_t state_;
};

// 0 .. n - 1 in random order.
std::vector<std::int32_t> shuffled(std::int64_t n, Random& random);

}  // namespace verify
