// The end of TraceCollector: calls on the GPU in the order of time, each with the operator and the launch that it belongs to.
//
// "External id" names the operator, "correlation" the launch. Both joins look up what the calls ask for, in a table of the calls'
// ids: there are ten operators for each call.
#include <algorithm>
#include <bit>

#include "engine/trace_collect.h"

namespace suture {
namespace {

std::uint64_t joined(std::uint32_t low, std::uint32_t high) {
  return std::uint64_t{high} << 32U | low;
}
std::uint64_t external_of(const GpuCall& call) {
  return joined(call.path, call.op_call);
}
std::uint64_t correlation_of(const GpuCall& call) {
  return joined(call.launch, call.step);
}

// Ids that the calls ask for, and one number for each. Open addressing: 12 bytes a place, at most two thirds full. 0 is no id.
class IdTable {
 public:
  template <class IdOf>
  IdTable(const std::deque<GpuCall>& calls, IdOf id_of)
      : keys_(std::bit_ceil(calls.size() * 3 / 2 + 8)), values_(keys_.size(), kNone) {
    for (const GpuCall& call : calls) {
      if (const std::uint64_t id = id_of(call); id != 0) keys_[place(id)] = id;
    }
  }
  // The number of `id`, where it is asked for.
  std::uint32_t* find(std::uint64_t id) {
    if (id == 0) return nullptr;
    const std::size_t at = place(id);
    return keys_[at] == id ? &values_[at] : nullptr;
  }
  void forget() { std::fill(values_.begin(), values_.end(), kNone); }

 private:
  [[nodiscard]] std::size_t place(std::uint64_t id) const {
    const std::size_t mask = keys_.size() - 1;
    std::size_t at = (id * 0x9E3779B97F4A7C15U >> 20U) & mask;
    while (keys_[at] != 0 && keys_[at] != id) at = (at + 1) & mask;
    return at;
  }
  std::vector<std::uint64_t> keys_;
  std::vector<std::uint32_t> values_;
};

}  // namespace

template <std::size_t Columns>
void NumberLog<Columns>::add(const Row& row) {
  if (chunks_.empty() || chunks_.back()->size + kLongestRow > chunks_.back()->bytes.size())
    chunks_.push_back(std::make_unique<Chunk>());
  Chunk& chunk = *chunks_.back();
  std::uint8_t* out = chunk.bytes.data() + chunk.size;
  for (std::size_t i = 0; i < Columns; ++i) {
    const std::uint64_t difference = row[i] - last_[i];
    // Small steps down are small numbers too.
    std::uint64_t rest = difference << 1U ^ (difference >> 63U != 0 ? ~std::uint64_t{0} : 0);
    for (; rest >= 0x80; rest >>= 7U) *out++ = static_cast<std::uint8_t>(rest | 0x80U);
    *out++ = static_cast<std::uint8_t>(rest);
  }
  chunk.size = static_cast<std::size_t>(out - chunk.bytes.data());
  last_ = row;
}

template <std::size_t Columns>
template <class Take>
void NumberLog<Columns>::each(Take take) const {
  Row row{};
  for (const std::unique_ptr<Chunk>& chunk : chunks_) {
    const std::uint8_t* at = chunk->bytes.data();
    const std::uint8_t* const end = at + chunk->size;
    while (at != end) {
      for (std::uint64_t& value : row) {
        std::uint64_t rest = 0;
        for (unsigned shift = 0;; shift += 7) {
          const std::uint8_t byte = *at++;
          rest |= std::uint64_t{byte & 0x7FU} << shift;
          if (byte < 0x80) break;
        }
        value += rest >> 1U ^ ((rest & 1U) != 0 ? ~std::uint64_t{0} : 0);
      }
      take(row);
    }
  }
}

template class NumberLog<2>;
template class NumberLog<3>;

void TraceCollector::sort_calls() {
  const auto earlier = [](const GpuCall& a, const GpuCall& b) { return a.start_ns < b.start_ns; };
  if (!std::is_sorted(trace_.calls.begin(), trace_.calls.end(), earlier))
    std::sort(trace_.calls.begin(), trace_.calls.end(), earlier);
}

void TraceCollector::join_ops() {
  IdTable table(trace_.calls, external_of);
  op_log_.each([&table](const auto& row) {
    if (std::uint32_t* found = table.find(row[0])) *found = static_cast<std::uint32_t>(row[1]);
  });
  op_log_ = {};
  std::vector<std::uint32_t> paths(trace_.calls.size(), kNone);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (const std::uint32_t* path = table.find(external_of(trace_.calls[i]))) paths[i] = *path;
  }
  // The number of an operator's call: where its first call on the GPU stands, which is as good as any.
  table.forget();
  for (std::uint32_t i = 0; i < paths.size(); ++i) {
    GpuCall& call = trace_.calls[i];
    std::uint32_t number = i;
    if (paths[i] != kNone) {
      std::uint32_t& first = *table.find(external_of(call));
      if (first == kNone) first = i;
      number = first;
    }
    call.path = paths[i];
    call.op_call = number;
  }
}

void TraceCollector::join_launches() {
  IdTable table(trace_.calls, correlation_of);
  launch_log_.each([&](const auto& row) {
    std::uint32_t* found = table.find(row[0]);
    if (found == nullptr) return;
    *found = static_cast<std::uint32_t>(trace_.launches.size());
    trace_.launches.push_back({static_cast<std::int64_t>(row[1]), static_cast<std::uint32_t>(row[2])});
  });
  launch_log_ = {};
  for (GpuCall& call : trace_.calls) {
    const std::uint32_t* launch = table.find(correlation_of(call));
    call.launch = launch == nullptr ? kNone : *launch;
    call.step = kNone;
  }
}

}  // namespace suture
