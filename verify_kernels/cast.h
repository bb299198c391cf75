// The cast kernel: named slots of an FP8 pool to BF16 rows, at their own places or one after another.
//
// It moves 576 bytes in and 1,152 out for each slot and computes next to nothing, so the memory is its limit. It comes in
// several shapes, which are timed against each other and against the same kernel without a conversion (bench.cu).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>
#include <vector>

#include "fp8.h"

namespace verify {

struct CastArguments {
  const std::uint8_t* pool;   // slots x 576
  std::uint16_t* target;      // rows of 576
  const std::int32_t* ids;    // read unless `all`
  const std::int32_t* count;  // on the device: so many of the ids count
  std::int32_t ids_size;      // and never more than these
  std::int32_t slots;         // if more are named, all are cast once (unless `compact`)
  bool all;
  bool compact;
  std::int32_t rows_late;
  std::int32_t left_out;
  float factor;  // read by the scaled kinds alone
};

enum class Move { convert, scaled, none };  // none: the same bytes, unconverted

struct CastShape {
  std::string name;
  int index;  // of the kernel
  int threads;
  int blocks_per_sm;
};

// Every kernel, with every size and number of blocks that is tried.
std::vector<CastShape> cast_shapes();
// The one that the checks use: at most 8 % over the best at every count on an H200 (docs/measurements).
CastShape default_cast_shape();

void launch_cast(const CastArguments& arguments, Fp8 type, Move move, const CastShape& shape, int multiprocessors,
                 cudaStream_t stream);

// cudaSuccess where this GPU has code here.
cudaError_t cast_has_code();

}  // namespace verify
