// MLA attention over BF16 keys by indices: one kernel for all three ways, so that they must agree bit for bit.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cases.h"

namespace verify {

struct AttentionArguments {
  const std::uint16_t* keys;   // rows of 576
  const std::int32_t* ids;     // which of them
  const Row* rows;             // on the device: which run of the ids a query row reads
  const std::uint16_t* query;  // rows x heads x 576
  float* partial;              // rows x heads x splits x 512
  float2* state;               // rows x heads x splits: the maximum and the sum of a split
  float* output;               // rows x heads x 512
  int row_count;
  int heads;   // a multiple of 16
  int splits;  // a row's slots are read by so many blocks
  float scale;
};

// How many splits fill a GPU of so many multiprocessors. Fixed before a capture, as a planned kernel has it.
int splits_for(int rows, int heads, int longest, int multiprocessors);

void launch_attention(const AttentionArguments& arguments, cudaStream_t stream);

}  // namespace verify
