#include "cases.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace verify {
namespace {

// Magnitudes up to 1.75 (e5m2) and 1.875 (e4m3fn), each code alike: every octave down to the subnormals is met, and a
// score stays small enough for a softmax that is neither flat nor a single one.
constexpr int kCodes = 0x40;

struct Shape {
  std::string name;
  std::int64_t slots;
  std::vector<Request> requests;
};

// Lengths around the kernel's tile of 16 and around 64, 0 and 1 among others, and what a server makes of them.
std::vector<Shape> small_shapes(int fresh) {
  const auto request = [fresh](int shared, int own) { return Request{shared, own, fresh}; };
  return {
      {"one token", 64, {request(0, 1)}},
      {"lengths 0 and 1", 64, {request(0, 0), request(0, 1), request(0, 2), request(0, 0)}},
      {"ragged", 512, {request(0, 1), request(0, 15), request(0, 16), request(0, 17), request(0, 63), request(0, 65)}},
      {"shared prefix", 256, {request(37, 5), request(37, 20), request(37, 0), request(0, 9)}},
      {"more rows named than slots", 96, {request(60, 5), request(60, 9), request(60, 1), request(60, 12)}},
      {"all of the pool", 128, {request(0, 50), request(0, 1), request(0, 77)}},
  };
}

void add_shapes(std::vector<CaseSpec>& specs, const std::vector<Shape>& shapes, Fp8 type, int heads,
                const std::string& mode, bool small) {
  for (const Shape& shape : shapes) {
    specs.push_back({mode + ", " + shape.name, type, heads, shape.slots, shape.requests, small});
  }
}

// One step: slots are dealt from a shuffled deck, so none is owned twice but the shared ones.
Plan make_plan(const std::vector<Request>& requests, const std::vector<std::int32_t>& deck) {
  Plan plan;
  int longest_shared = 0;
  for (const Request& request : requests) longest_shared = std::max(longest_shared, request.shared);
  std::size_t dealt = static_cast<std::size_t>(longest_shared);
  for (const Request& request : requests) {
    const auto start = static_cast<std::int32_t>(plan.slots.size());
    plan.slots.insert(plan.slots.end(), deck.begin(), deck.begin() + request.shared);
    for (int i = 0; i < request.own; ++i) plan.slots.push_back(deck[dealt++]);
    const int length = request.shared + request.own;
    const int fresh = std::max(1, std::min(request.fresh, length));
    for (int token = 0; token < fresh; ++token) plan.rows.push_back({start, std::max(0, length - fresh + 1 + token)});
  }
  plan.compared = static_cast<int>(plan.rows.size());
  return plan;
}

// A padding row is a request of length 1 that reads slot 0.
void pad(Plan& plan, std::size_t rows) {
  while (plan.rows.size() < rows) {
    plan.rows.push_back({static_cast<std::int32_t>(plan.slots.size()), 1});
    plan.slots.push_back(0);
  }
}

// All slots but 0, which a server keeps for padding; where the requests need every slot, 0 too.
std::vector<std::int32_t> deck_for(const CaseSpec& spec, Random& random) {
  std::int64_t needed = 0;
  std::int64_t shared = 0;
  for (const Request& request : spec.requests) {
    needed += request.own;
    shared = std::max<std::int64_t>(shared, request.shared);
  }
  std::vector<std::int32_t> deck = shuffled(spec.slots, random);
  if (needed + shared < spec.slots) deck.erase(std::find(deck.begin(), deck.end(), 0));
  return deck;
}

void fill_pool(Case& c, Random& random) {
  std::vector<bool> owned(static_cast<std::size_t>(c.slots));
  for (const Plan& step : c.steps) {
    const std::size_t real = step.slots.size() - (step.rows.size() - static_cast<std::size_t>(step.compared));
    for (std::size_t i = 0; i < real; ++i) owned[static_cast<std::size_t>(step.slots[i])] = true;
  }
  c.pool.assign(static_cast<std::size_t>(c.slots) * kColumns, kNanCode);
  for (std::size_t slot = 0; slot < owned.size(); ++slot) {
    if (!owned[slot]) continue;
    std::uint8_t* row = c.pool.data() + slot * kColumns;
    for (int i = 0; i < kColumns; i += 8) {
      // A byte of the generator for a code: six bits of magnitude and the sign.
      const std::uint64_t bits = random.next();
      for (int k = 0; k < 8; ++k) row[i + k] = static_cast<std::uint8_t>(bits >> (8 * k)) & (0x80 | (kCodes - 1));
    }
  }
}

void fill_query(Case& c, std::size_t rows, Random& random) {
  c.query.resize(rows * static_cast<std::size_t>(c.heads) * kColumns);
  for (std::uint16_t& bits : c.query) bits = bf16_of(static_cast<float>(random.between(-4, 4)));
}

}  // namespace

std::vector<CaseSpec> small_cases() {
  std::vector<CaseSpec> specs;
  for (const Fp8 type : {Fp8::e4m3fn, Fp8::e5m2}) {
    for (const int heads : {16, 128}) {
      add_shapes(specs, small_shapes(1), type, heads, "decode", true);
      add_shapes(specs, small_shapes(4), type, heads, "extend", true);
    }
  }
  return specs;
}

std::vector<CaseSpec> large_cases(std::int64_t slots) {
  std::vector<CaseSpec> specs;
  const auto batch = [](int requests, int shared, std::int64_t own, int fresh) {
    return std::vector<Request>(static_cast<std::size_t>(requests), Request{shared, static_cast<int>(own), fresh});
  };
  for (const Fp8 type : {Fp8::e4m3fn, Fp8::e5m2}) {
    for (const int heads : {16, 128}) {
      const std::vector<Shape> decode = {
          {"8 x 1024", slots / 8, batch(8, 0, std::min<std::int64_t>(1024, slots / 128), 1)},
          {"one long request", slots / 4, batch(1, 0, slots / 16, 1)},
          {"64 that share a prefix, more rows named than slots", slots / 16,
           batch(64, static_cast<int>(slots / 32), slots / 4096, 1)},
          {"all of the pool by 64", slots, batch(64, 0, slots / 64, 1)},
      };
      add_shapes(specs, decode, type, heads, "decode", false);
      add_shapes(specs, {{"4 with 48 new tokens each", slots / 8, batch(4, 0, slots / 256, 48)}}, type, heads, "extend",
                 false);
    }
  }
  return specs;
}

Case make_case(const CaseSpec& spec, std::uint64_t seed) {
  Random random(seed);
  Case c;
  c.name = spec.name;
  c.type = spec.type;
  c.heads = spec.heads;
  c.slots = spec.slots;
  c.small = spec.small;
  c.scale = static_cast<float>(1 / std::sqrt(192.0));  // 128 + 64 columns before the absorption
  std::vector<Request> requests = spec.requests;
  c.steps[0] = make_plan(requests, deck_for(spec, random));
  std::reverse(requests.begin(), requests.end());
  const bool covers_all = c.steps[0].slots.size() == static_cast<std::size_t>(spec.slots);
  if (requests.size() > 1 && !covers_all) requests.pop_back();
  c.steps[1] = make_plan(requests, deck_for(spec, random));
  const std::size_t rows = std::max(c.steps[0].rows.size(), c.steps[1].rows.size());
  for (Plan& step : c.steps) pad(step, rows);
  pad(c.fill, rows);
  fill_pool(c, random);
  fill_query(c, rows, random);
  return c;
}

Case all_codes(Fp8 type) {
  Case c;
  c.name = "all 256 codes";
  c.type = type;
  c.slots = 16;
  c.scale = 1;
  c.small = true;
  for (Plan& step : c.steps) {
    for (std::int32_t slot = 0; slot < c.slots; ++slot) step.slots.push_back(slot);
    step.rows = {{0, 0}};
  }
  pad(c.fill, 1);
  // One further on after each 256, so that a code meets several places of a chunk.
  for (int i = 0; i < c.slots * kColumns; ++i) c.pool.push_back(static_cast<std::uint8_t>(i + i / 256));
  c.query.resize(static_cast<std::size_t>(c.heads) * kColumns, 0);
  return c;
}

std::size_t most_slots_named(const Case& c) {
  return std::max({c.fill.slots.size(), c.steps[0].slots.size(), c.steps[1].slots.size()});
}

std::uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15u;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::int64_t Random::below(std::int64_t bound) {
  return static_cast<std::int64_t>(((next() >> 32) * static_cast<std::uint64_t>(bound)) >> 32);
}

double Random::between(double low, double high) {
  return low + (high - low) * static_cast<double>(next() >> 11) / 9007199254740992.0;
}

std::vector<std::int32_t> shuffled(std::int64_t n, Random& random) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t i = n - 1; i > 0; --i) {
    std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(random.below(i + 1))]);
  }
  return order;
}

}  // namespace verify
