// The data flow on the CPU, in float, with the GPU's algorithm: tiles of 16 slots, a running maximum, probabilities
// rounded to BF16. Nothing here is shared with the double-precision reference.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "machine.h"

namespace verify {
namespace {

constexpr int kTile = 16;
constexpr int kLanes = 16;  // partial sums of a dot product, so that it vectorises without -ffast-math

float dot(const float* a, const float* b) {
  std::array<float, kLanes> sums{};
  for (int i = 0; i < kColumns; i += kLanes) {
    for (int k = 0; k < kLanes; ++k) sums[static_cast<std::size_t>(k)] += a[i + k] * b[i + k];
  }
  float sum = 0;
  for (const float part : sums) sum += part;
  return sum;
}

// One head of one query row: the state of the running softmax.
struct Running {
  float maximum = -std::numeric_limits<float>::infinity();
  float total = 0;
  std::array<float, kValueColumns> values{};

  void add_tile(const std::array<float, kTile>& scores, const float* const* keys, int count) {
    float highest = maximum;
    for (int j = 0; j < count; ++j) highest = std::max(highest, scores[static_cast<std::size_t>(j)]);
    const float shrink = std::exp2(maximum - highest);
    maximum = highest;
    total *= shrink;
    for (float& value : values) value *= shrink;
    for (int j = 0; j < count; ++j) {
      const float p = std::exp2(scores[static_cast<std::size_t>(j)] - highest);
      total += p;
      const float rounded = float_of_bf16(bf16_of(p));
      const float* key = keys[j];
      for (int d = 0; d < kValueColumns; ++d) values[static_cast<std::size_t>(d)] += rounded * key[d];
    }
  }
};

class CpuMachine : public Machine {
 public:
  void load(const Case& c) override {
    case_ = &c;
    for (int code = 0; code < 256; ++code) {
      const auto index = static_cast<std::size_t>(code);
      bits_[index] = bf16_of(static_cast<float>(decode(c.type, static_cast<std::uint8_t>(code))));
    }
    const std::size_t named = most_slots_named(c);
    const auto slots = static_cast<std::size_t>(c.slots);
    // The compact buffer is no smaller than the pool, so that a wrong index reads poison and not somebody's memory; one
    // more row each for the cast that is planted to be late.
    for (auto& [keys, rows] :
         {std::pair{&whole_, slots}, std::pair{&compact_, std::max(named, slots)}, std::pair{&shadow_, slots}}) {
      keys->assign((rows + 1) * kColumns, kPoison);
    }
    sequential_.resize(named);
    for (std::size_t i = 0; i < named; ++i) sequential_[i] = static_cast<std::int32_t>(i);
    output_.assign(c.fill.rows.size() * static_cast<std::size_t>(c.heads) * kValueColumns, 0.0f);
    slots_.assign(named, 0);
    plan(c.fill);
    saved_ = slots_;
    saved_count_ = count_;
  }

  void plan(const Plan& plan) override {
    // As a server refills it: what lies behind stays.
    std::copy(plan.slots.begin(), plan.slots.end(), slots_.begin());
    count_ = static_cast<std::int64_t>(plan.slots.size());
    rows_ = plan.rows;
  }

  void poison() override {
    for (auto* keys : {&whole_, &compact_, &shadow_}) std::fill(keys->begin(), keys->end(), kPoison);
    std::fill(output_.begin(), output_.end(), std::numeric_limits<float>::quiet_NaN());
  }

  void run(const Layer& layer) override {
    cast(layer.cast);
    attend(layer.attention);
  }

  void capture(const Layer& layer) override { captured_ = layer; }
  void replay() override { run(captured_); }

  std::vector<float> output(int rows) override {
    const std::size_t size = static_cast<std::size_t>(rows) * static_cast<std::size_t>(case_->heads) * kValueColumns;
    return {output_.begin(), output_.begin() + static_cast<std::ptrdiff_t>(size)};
  }

  std::vector<std::uint16_t> shadow(std::int64_t rows) override {
    return {shadow_.begin(), shadow_.begin() + static_cast<std::ptrdiff_t>(rows * kColumns)};
  }

  int splits() const override { return 1; }

 private:
  std::vector<std::uint16_t>& buffer(Keys keys) {
    return keys == Keys::whole ? whole_ : keys == Keys::compact ? compact_ : shadow_;
  }
  const std::vector<std::int32_t>& ids(Ids which) const {
    return which == Ids::slots ? slots_ : which == Ids::sequential ? sequential_ : saved_;
  }

  void cast(const CastLaunch& launch) {
    std::vector<std::uint16_t>& target = buffer(launch.to);
    const std::vector<std::int32_t>& named = ids(launch.ids);
    std::int64_t count = (launch.count == Count::live ? count_ : saved_count_) - launch.left_out;
    count = std::clamp<std::int64_t>(count, 0, static_cast<std::int64_t>(named.size()));
    // More rows named than slots: one pass over all of them, once each.
    const bool all = launch.all || (!launch.compact && count > case_->slots);
    if (all) count = case_->slots;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t slot = all ? i : named[static_cast<std::size_t>(i)];
      if (slot < 0 || slot >= case_->slots) continue;
      cast_row(slot, (launch.compact ? i : slot) + launch.rows_late, launch.factor, target);
    }
  }

  void cast_row(std::int64_t from, std::int64_t to, float factor, std::vector<std::uint16_t>& target) const {
    const std::uint8_t* codes = case_->pool.data() + from * kColumns;
    std::uint16_t* out = target.data() + to * kColumns;
    for (int d = 0; d < kColumns; ++d) {
      const std::uint16_t bits = bits_[codes[d]];
      out[d] = factor == 1 ? bits : bf16_of(float_of_bf16(bits) * factor);
    }
  }

  void attend(const AttentionLaunch& launch) {
    for (std::size_t row = 0; row < rows_.size(); ++row) attend_row(launch, row);
  }

  void attend_row(const AttentionLaunch& launch, std::size_t row) {
    const std::vector<std::uint16_t>& keys = buffer(launch.keys);
    const std::vector<std::int32_t>& named = ids(launch.ids);
    const auto [start, length] = rows_[row];
    std::vector<float> wide(static_cast<std::size_t>(length) * kColumns);
    for (std::int32_t j = 0; j < length; ++j) {
      const std::int64_t key = named[static_cast<std::size_t>(start + j)];
      for (int d = 0; d < kColumns; ++d) {
        wide[static_cast<std::size_t>(j) * kColumns + static_cast<std::size_t>(d)] =
            float_of_bf16(keys[static_cast<std::size_t>(key * kColumns + d)]);
      }
    }
    const auto heads = static_cast<std::size_t>(case_->heads);
    for (std::size_t head = 0; head < heads; ++head) {
      attend_head(wide, length, row * heads + head);
    }
  }

  void attend_head(const std::vector<float>& wide, std::int32_t length, std::size_t query_row) {
    std::array<float, kColumns> query;
    for (std::size_t d = 0; d < kColumns; ++d) query[d] = float_of_bf16(case_->query[query_row * kColumns + d]);
    const float scale = case_->scale * 1.4426950408889634f;  // exp(x) = exp2(x log2 e)
    Running state;
    for (std::int32_t base = 0; base < length; base += kTile) {
      const int count = std::min(kTile, length - base);
      std::array<float, kTile> scores;
      std::array<const float*, kTile> keys;
      for (int j = 0; j < count; ++j) {
        const auto index = static_cast<std::size_t>(j);
        keys[index] = wide.data() + static_cast<std::size_t>(base + j) * kColumns;
        scores[index] = dot(query.data(), keys[index]) * scale;
      }
      state.add_tile(scores, keys.data(), count);
    }
    float* out = output_.data() + query_row * kValueColumns;
    // A request without slots attends to nothing: zeros, as a kernel that starts from zeros leaves.
    for (std::size_t d = 0; d < kValueColumns; ++d) out[d] = length == 0 ? 0 : state.values[d] / state.total;
  }

  const Case* case_ = nullptr;
  std::array<std::uint16_t, 256> bits_{};
  std::vector<std::uint16_t> whole_, compact_, shadow_;
  std::vector<std::int32_t> slots_, sequential_, saved_;
  std::int64_t count_ = 0, saved_count_ = 0;
  std::vector<Row> rows_;
  std::vector<float> output_;
  Layer captured_;
};

}  // namespace

std::unique_ptr<Machine> make_cpu_machine() {
  return std::make_unique<CpuMachine>();
}

}  // namespace verify
