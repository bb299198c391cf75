// Times on the GPU, each the median of several replays of a CUDA graph of some layers. Every layer has a pool of its own and
// all share one shadow, as in a server, so that no pool is read from the cache.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cases.h"

namespace verify {

struct BenchOptions {
  std::int64_t slots;
  int layers;
  int repeats;
  std::uint64_t seed;
};

// The cast of so many slots in an order, against a kernel that moves the same bytes between the same places and converts
// nothing. Both in the launch shape that is best for them here.
struct CastTime {
  std::int64_t slots = 0;
  std::string order;  // slot order, scattered, pages of 64
  std::string shape;  // of the cast
  std::string move_shape;
  double us = 0;
  double move_us = 0;
  double default_us = 0;  // the cast in the shape that the checks use, one for all counts
  double bytes = 0;       // read and written
};

// A layer of a batch: cast and attention in each way.
struct LayerTime {
  std::string batch;
  int heads = 0;
  std::int64_t slots = 0;  // named
  double cast_us[3] = {};  // by Way
  double attention_us[3] = {};
};

struct Bench {
  double copy_gb_s = 0;   // a device copy of the shadow's size, read plus written
  double whole_us = 0;    // the whole cast by our kernel
  std::string one_shape;  // the shape whose worst distance to the best, over all of `casts`, is the least; that ratio
  double one_shape_ratio = 0;
  std::vector<CastTime> casts;
  std::vector<LayerTime> layers;
};

// `tell` hears a line of progress.
Bench run_bench(const BenchOptions& options, const std::function<void(const std::string&)>& tell);

}  // namespace verify
