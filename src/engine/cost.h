// What each way out of the whole-pool cast moves, takes and needs: arithmetic on the shape of a pool, before anyone patches.
//
// Bytes are those of the cast, read and written; what attention itself reads is not among them. Milliseconds are bytes by a bandwidth
// that is given or measured; the launch of a kernel (about 2 us, hidden in a CUDA graph's gaps or not) is not in them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace suture {

struct CostCase {
  std::int64_t slots = 0, columns = 0, layers = 0;
  std::int64_t active = 0;                        // slots that a step reads
  std::int64_t batch = 1;                         // rows that a step writes in each layer
  std::int64_t pool_size = 1, query_size = 2;     // bytes of an element: FP8, BF16
  bool e4m3 = true;                               // the pool's FP8 is e4m3, not e5m2
  std::optional<double> gigabytes_a_second = {};  // given, or of the measured cast
  bool measured_bandwidth = false;                // it is that of the measured cast
  std::optional<double> cast_us = {};             // measured: one whole cast
  std::optional<double> step_ms = {};             // measured: a step with the whole cast
  std::optional<double> after_ms = {};            // and without it
  std::optional<double> memory_bytes = {};        // free on the GPU
};

struct WayOut {
  enum class Kind { whole_cast, wide_pool, shadow_of_every_layer, gather_then_cast, active_slots, native_fp8 };
  Kind kind = Kind::whole_cast;
  std::int64_t layer_bytes = 0, step_bytes = 0;
  std::optional<double> step_ms = {};  // of the cast alone
  std::int64_t memory_bytes = 0;       // beyond the FP8 pool; kept, or at the peak of a step
  std::string memory = {};             // what that is
  std::string needs = {};
  std::string patch = {};         // that makes it; may be empty
  std::string unfit = {};         // why it cannot be, of what is known here; empty: it can
  std::optional<bool> fits = {};  // memory_bytes in CostCase::memory_bytes
  std::optional<std::int64_t> break_even =
      {};  // active slots from which on it moves as much as the whole cast; absent: never
};
std::string way_name(WayOut::Kind kind);  // "active slots into one shadow"

struct Cost {
  CostCase of = {};
  std::int64_t wide_pool_bytes = 0;         // the whole pool in the query's type: of all layers
  std::vector<WayOut> ways = {};            // in the order of the enumeration; none where there is no cast
  std::optional<double> cast_step_ms = {};  // the whole cast in a step
  std::optional<double> trace_share = {};   // of step_ms
  std::optional<double> best_step_ms = {};  // step_ms without the cast
  std::optional<double> server_share = {};  // of step_ms that went, by after_ms
};

// Whether there is a cast at all: a pool in the query's type is read as it is, and has no ways out.
bool has_cast(const CostCase& of);

// Precondition: slots, columns and layers are positive; active is from 0 on.
Cost cost_of(const CostCase& of);

}  // namespace suture
