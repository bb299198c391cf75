// The end of TraceCollector: calls on the GPU in the order of time, each with the operator and the launch that it belongs to.
//
// "External id" names the operator, "correlation" the launch. Both joins look up what the calls ask for, in a table of the calls'
// ids: there are ten operators for each call.
#include <algorithm>
#include <bit>

#include "engine/trace_collect.h"

namespace suture {
namespace {

// Ids that are asked for, and one number for each. Open addressing: 12 bytes a place, at most two thirds full. 0 is no id.
class IdTable {
 public:
  explicit IdTable(const std::vector<std::uint64_t>& ids)
      : keys_(std::bit_ceil(ids.size() * 3 / 2 + 8)), values_(keys_.size(), kNone) {
    for (const std::uint64_t id : ids) {
      if (id != 0) keys_[place(id)] = id;
    }
  }
  // The number of `id`, where it is asked for.
  std::uint32_t* find(std::uint64_t id) {
    if (id == 0) return nullptr;
    const std::size_t at = place(id);
    return keys_[at] == id ? &values_[at] : nullptr;
  }

 private:
  std::size_t place(std::uint64_t id) const {
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

void TraceCollector::join_calls() {
  std::sort(calls_.begin(), calls_.end(), [](const RawCall& a, const RawCall& b) { return a.start_ns < b.start_ns; });
  trace_.calls.reserve(calls_.size());
  externals_.reserve(calls_.size());
  correlations_.reserve(calls_.size());
  for (; !calls_.empty(); calls_.pop_front()) {  // the deque gives its memory back as it goes
    const RawCall& raw = calls_.front();
    trace_.calls.push_back(
        {.start_ns = raw.start_ns, .duration_ns = raw.duration_ns, .work = raw.work, .stream = raw.stream});
    externals_.push_back(raw.external);
    correlations_.push_back(raw.correlation);
  }
}

void TraceCollector::join_ops() {
  {
    IdTable table(externals_);
    op_log_.each([&table](std::uint64_t external, std::uint64_t path) {
      if (std::uint32_t* found = table.find(external)) *found = static_cast<std::uint32_t>(path);
    });
    op_log_ = NumberLog();
    for (std::size_t i = 0; i < externals_.size(); ++i) {
      const std::uint32_t* path = table.find(externals_[i]);
      if (path != nullptr) trace_.calls[i].path = *path;
    }
  }
  IdTable numbers(externals_);
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < externals_.size(); ++i) {
    std::uint32_t* number = trace_.calls[i].path == kNone ? nullptr : numbers.find(externals_[i]);
    if (number != nullptr && *number == kNone) *number = next++;
    trace_.calls[i].op_call = number != nullptr ? *number : next++;
  }
  externals_ = {};
}

void TraceCollector::join_launches() {
  IdTable table(correlations_);
  for (const RawLaunch& launch : launches_) {
    std::uint32_t* found = table.find(launch.correlation);
    if (found == nullptr) continue;
    *found = static_cast<std::uint32_t>(trace_.launches.size());
    trace_.launches.push_back({launch.start_ns, launch.thread});
  }
  launches_ = {};
  for (std::size_t i = 0; i < correlations_.size(); ++i) {
    const std::uint32_t* launch = table.find(correlations_[i]);
    if (launch != nullptr) trace_.calls[i].launch = *launch;
  }
  correlations_ = {};
}

}  // namespace suture
