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

void NumberLog::put(std::uint64_t value, std::uint64_t& last) {
  const std::uint64_t difference = value - last;
  // Small steps down are small numbers too.
  std::uint64_t rest = difference << 1U ^ (difference >> 63U != 0 ? ~std::uint64_t{0} : 0);
  for (; rest >= 0x80; rest >>= 7U) bytes_.push_back(static_cast<std::uint8_t>(rest | 0x80U));
  bytes_.push_back(static_cast<std::uint8_t>(rest));
  last = value;
}

void NumberLog::add(std::uint64_t first, std::uint64_t second) {
  put(first, last_first_);
  put(second, last_second_);
}

template <class Take>
void NumberLog::each(Take take) const {
  std::uint64_t last[2] = {0, 0};
  auto at = bytes_.begin();
  for (int column = 0; at != bytes_.end(); column ^= 1) {
    std::uint64_t rest = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint8_t byte = *at++;
      rest |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) break;
    }
    last[column] += rest >> 1U ^ ((rest & 1U) != 0 ? ~std::uint64_t{0} : 0);
    if (column == 1) take(last[0], last[1]);
  }
}

void TraceCollector::sort_calls() {
  const auto earlier = [](const GpuCall& a, const GpuCall& b) { return a.start_ns < b.start_ns; };
  if (!std::is_sorted(trace_.calls.begin(), trace_.calls.end(), earlier))
    std::sort(trace_.calls.begin(), trace_.calls.end(), earlier);
}

void TraceCollector::join_ops() {
  // A path and, behind it, the number of the call: `first` is where an id's first call stands, which is as good as any number.
  IdTable paths(trace_.calls, external_of);
  op_log_.each([&paths](std::uint64_t external, std::uint64_t path) {
    if (std::uint32_t* found = paths.find(external)) *found = static_cast<std::uint32_t>(path);
  });
  op_log_ = NumberLog();
  IdTable first(trace_.calls, external_of);
  for (std::uint32_t i = 0; i < trace_.calls.size(); ++i) {
    GpuCall& call = trace_.calls[i];
    const std::uint64_t external = external_of(call);
    const std::uint32_t* path = paths.find(external);
    call.path = path == nullptr ? kNone : *path;
    call.op_call = i;
    if (call.path == kNone) continue;
    std::uint32_t& number = *first.find(external);
    if (number == kNone) number = i;
    call.op_call = number;
  }
}

void TraceCollector::join_launches() {
  IdTable table(trace_.calls, correlation_of);
  for (std::uint32_t i = 0; i < trace_.launches.size(); ++i) {
    if (std::uint32_t* found = table.find(trace_.launches[i].correlation)) *found = i;
  }
  for (GpuCall& call : trace_.calls) {
    const std::uint32_t* launch = table.find(correlation_of(call));
    call.launch = launch == nullptr ? kNone : *launch;
    call.step = kNone;
  }
}

}  // namespace suture
