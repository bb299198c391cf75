// See cost.h. Tests: tests/unit/cost_test.cc (the published case), tests/cli/cost_test.py.
#include "engine/cost.h"

#include <algorithm>

namespace suture {
namespace {

using Kind = WayOut::Kind;

// docs/measurements: FlashInfer's FP8 MLA kernel. Other shapes do not compile, or are refused.
constexpr std::int64_t kCompressed = 512, kRope = 64;

WayOut whole_cast(const CostCase& of) {
  WayOut way{.kind = Kind::whole_cast};
  way.layer_bytes = of.slots * of.columns * (of.pool_size + of.query_size);
  way.memory_bytes = of.slots * of.columns * of.query_size;
  way.memory = "one temporary, taken in each layer";
  way.needs = "nothing: it is what an unpatched server does";
  return way;
}

WayOut wide_pool(const CostCase& of) {
  WayOut way{.kind = Kind::wide_pool};
  way.memory_bytes = of.layers * of.slots * of.columns * (of.query_size - of.pool_size);
  way.memory = "more than the FP8 pool";
  way.needs = "--kv-cache-dtype auto; attention then reads twice the bytes, and half as many tokens fit";
  return way;
}

WayOut shadow_of_every_layer(const CostCase& of) {
  WayOut way{.kind = Kind::shadow_of_every_layer};
  way.layer_bytes = of.batch * of.columns * (of.pool_size + of.query_size);
  way.memory_bytes = of.layers * of.slots * of.columns * of.query_size;
  way.memory = "one shadow a layer, kept";
  way.needs = "that every write to the pool is written to the shadow too; no patch does it";
  return way;
}

WayOut gather_then_cast(const CostCase& of) {
  WayOut way{.kind = Kind::gather_then_cast};
  // The gather reads and writes the pool's type, the cast reads that and writes the query's.
  const std::int64_t each = 3 * of.pool_size + of.query_size;
  way.layer_bytes = of.active * of.columns * each;
  way.memory_bytes = of.active * of.columns * (of.pool_size + of.query_size);
  way.memory = "two compact buffers, taken in each layer";
  way.needs = "eager mode: a CUDA graph's kernels keep reading slots (there the patch casts active slots)";
  way.patch = "sglang-gather-then-cast";
  way.break_even = of.slots * (of.pool_size + of.query_size) / each;
  return way;
}

WayOut active_slots(const CostCase& of) {
  WayOut way{.kind = Kind::active_slots};
  way.layer_bytes = std::min(of.active, of.slots) * of.columns * (of.pool_size + of.query_size);
  way.memory_bytes = of.slots * of.columns * of.query_size;
  way.memory = "one shadow for all layers, kept";
  way.needs = "Triton; columns that are a multiple of 16; any page size, any GPU from sm_80 on, any FlashInfer";
  way.patch = "sglang-cast-active-slots";
  way.break_even = of.slots;
  if (of.columns % 16 != 0) way.unfit = "the columns are no multiple of 16";
  return way;
}

WayOut native_fp8(const CostCase& of) {
  WayOut way{.kind = Kind::native_fp8};
  way.memory = "none";
  way.needs =
      "FlashInfer 0.6.14 or later (fa3; 0.6.18.post1 for fa2), an SM90 GPU, e4m3, BF16 queries, head dims 512 + 64 or "
      "512 + 0, any page size that it takes for BF16";
  way.patch = "sglang-native-fp8-kv";
  if (of.columns != kCompressed + kRope && of.columns != kCompressed) way.unfit = "the columns are neither 576 nor 512";
  if (!of.e4m3) way.unfit = "the pool is not e4m3";
  return way;
}

}  // namespace

std::string way_name(Kind kind) {
  switch (kind) {
    case Kind::whole_cast:
      return "whole cast";
    case Kind::wide_pool:
      return "BF16 pool";
    case Kind::shadow_of_every_layer:
      return "shadow of every layer";
    case Kind::gather_then_cast:
      return "gather, then cast";
    case Kind::active_slots:
      return "active slots into one shadow";
    case Kind::native_fp8:
      return "native FP8";
  }
  return "";
}

bool has_cast(const CostCase& of) {
  return of.pool_size != of.query_size;
}

Cost cost_of(const CostCase& of) {
  Cost cost{.of = of};
  cost.wide_pool_bytes = of.layers * of.slots * of.columns * of.query_size;
  if (!has_cast(of)) return cost;
  cost.ways = {whole_cast(of),       wide_pool(of),    shadow_of_every_layer(of),
               gather_then_cast(of), active_slots(of), native_fp8(of)};
  for (WayOut& way : cost.ways) {
    way.step_bytes = way.layer_bytes * of.layers;
    if (of.gigabytes_a_second) way.step_ms = static_cast<double>(way.step_bytes) / *of.gigabytes_a_second / 1e6;
    if (of.memory_bytes) way.fits = static_cast<double>(way.memory_bytes) <= *of.memory_bytes;
  }
  if (of.cast_us) cost.ways[0].step_ms = *of.cast_us * static_cast<double>(of.layers) / 1000;
  cost.cast_step_ms = cost.ways[0].step_ms;
  if (cost.cast_step_ms && of.step_ms) {
    cost.trace_share = *cost.cast_step_ms / *of.step_ms;
    cost.best_step_ms = std::max(0.0, *of.step_ms - *cost.cast_step_ms);
  }
  if (of.step_ms && of.after_ms) cost.server_share = (*of.step_ms - *of.after_ms) / *of.step_ms;
  return cost;
}

}  // namespace suture
