// The end of TraceCollector: calls on the GPU in the order of time, each with the operator and the launch that it belongs to.
//
// "External id" names the operator, "correlation" the launch. Both joins look up what the calls ask for, in a table of the calls'
// ids: there are ten operators for each call.
#include <algorithm>
#include <bit>
#include <utility>

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

// Ids that the calls ask for, and one number for each. Open addressing: 8 bytes a place, 12 where an id has more than 32 bits; at most
// two thirds full. 0 is no id.
class IdTable {
 public:
  template <class IdOf>
  IdTable(const std::deque<GpuCall>& calls, IdOf id_of)
      : low_(std::bit_ceil(calls.size() * 3 / 2 + 8)), values_(low_.size(), kNone) {
    const auto is_wide = [&](const GpuCall& call) { return id_of(call) >> 32U != 0; };
    if (std::any_of(calls.begin(), calls.end(), is_wide)) high_.resize(low_.size());
    for (const GpuCall& call : calls) {
      const std::uint64_t id = id_of(call);
      if (id == 0) continue;
      const std::size_t at = place(id);
      low_[at] = static_cast<std::uint32_t>(id);
      if (!high_.empty()) high_[at] = static_cast<std::uint32_t>(id >> 32U);
    }
  }
  // The number of `id`, where it is asked for.
  std::uint32_t* find(std::uint64_t id) {
    if (id == 0 || (high_.empty() && id >> 32U != 0)) return nullptr;
    const std::size_t at = place(id);
    return key(at) == id ? &values_[at] : nullptr;
  }
  void forget() { std::fill(values_.begin(), values_.end(), kNone); }

 private:
  [[nodiscard]] std::uint64_t key(std::size_t at) const { return joined(low_[at], high_.empty() ? 0 : high_[at]); }
  [[nodiscard]] std::size_t place(std::uint64_t id) const {
    const std::size_t mask = low_.size() - 1;
    std::size_t at = (id * 0x9E3779B97F4A7C15U >> 20U) & mask;
    while (key(at) != 0 && key(at) != id) at = (at + 1) & mask;
    return at;
  }
  std::vector<std::uint32_t> low_, high_;  // of the ids
  std::vector<std::uint32_t> values_;
};

}  // namespace

template <std::size_t Columns>
void NumberLog<Columns>::put(std::uint64_t number) {
  if (chunks_.empty() || chunks_.back()->size + kLongestNumber > chunks_.back()->bytes.size())
    chunks_.push_back(std::make_unique<Chunk>());
  Chunk& chunk = *chunks_.back();
  for (; number >= 0x80; number >>= 7U) chunk.bytes[chunk.size++] = static_cast<std::uint8_t>(number | 0x80U);
  chunk.bytes[chunk.size++] = static_cast<std::uint8_t>(number);
}

template <std::size_t Columns>
void NumberLog<Columns>::add(const Row& row) {
  Row difference;
  for (std::size_t i = 0; i < Columns; ++i) difference[i] = row[i] - last_[i];
  last_ = row;
  if (difference == difference_) {
    ++repeats_;
    return;
  }
  put(std::exchange(repeats_, 0));
  difference_ = difference;
  // Small steps down are small numbers too.
  for (const std::uint64_t each : difference) put(each << 1U ^ (each >> 63U != 0 ? ~std::uint64_t{0} : 0));
}

template <std::size_t Columns>
template <class Take>
void NumberLog<Columns>::each(Take take) const {
  Row row{}, difference{};
  const auto go_on = [&](std::uint64_t times) {
    for (; times > 0; --times) {
      for (std::size_t i = 0; i < Columns; ++i) row[i] += difference[i];
      take(row);
    }
  };
  std::size_t column = Columns;  // of the number that comes; Columns: of repeats
  for (const std::unique_ptr<Chunk>& chunk : chunks_) {
    for (std::size_t at = 0; at < chunk->size;) {
      std::uint64_t number = 0;
      for (unsigned shift = 0;; shift += 7) {
        const std::uint8_t byte = chunk->bytes[at++];
        number |= std::uint64_t{byte & 0x7FU} << shift;
        if (byte < 0x80) break;
      }
      if (column == Columns) {
        go_on(number);
        column = 0;
        continue;
      }
      difference[column] = number >> 1U ^ ((number & 1U) != 0 ? ~std::uint64_t{0} : 0);
      if (++column == Columns) go_on(1);
    }
  }
  go_on(repeats_);
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
