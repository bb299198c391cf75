// A block takes one query row, 16 heads, and one split of the row's slots; it goes over them in tiles of 16 slots, which
// cp.async brings into shared memory, the next one while this one is worked on:
//   scores   16 heads x 16 slots: eight warps, each 8 slots and a quarter of the 576 columns, by mma.m16n8k16; the
//            quarters are added in shared memory
//   softmax  256 threads, one score each: running maximum, sum of the unrounded p, p rounded to BF16
//   values   each warp 64 of the 512 columns
// A second kernel merges the splits. Slots past the end are zeros with p = 0, never read: what lies there may be NaN.
#include <cuda_bf16.h>

#include <algorithm>

#include "attention.h"
#include "device.h"

namespace verify {
namespace {

constexpr int kThreads = 256;
constexpr int kTile = 16;
constexpr int kStride = kColumns + 8;  // of a row in shared memory: 16 bytes more, so that 8 rows meet all banks once
constexpr int kQuarters = 4;
constexpr int kSteps = kColumns / kTile / kQuarters;  // 16 columns each

struct alignas(16) Shared {
  std::uint16_t tile[2][kTile][kStride];
  std::uint16_t p[kHeadGroup][kTile + 8];
  float scores[kQuarters][kHeadGroup][kTile];
  float shrink[kHeadGroup];
};

__device__ std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

// 16 bytes, or zeros.
__device__ void copy_async(void* to, const void* from, bool valid) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from),
               "r"(valid ? 16 : 0));
}

__device__ void mma(float (&sum)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ std::uint32_t pair_at(const std::uint16_t* pointer) {
  return *reinterpret_cast<const std::uint32_t*>(pointer);
}

// A 16 x 16 operand of mma, row-major with so many elements a row.
__device__ void load_a(std::uint32_t (&a)[4], const std::uint16_t* matrix, int stride, int lane) {
  const std::uint16_t* at = matrix + lane / 4 * stride + lane % 4 * 2;
  a[0] = pair_at(at);
  a[1] = pair_at(at + 8 * stride);
  a[2] = pair_at(at + 8);
  a[3] = pair_at(at + 8 * stride + 8);
}

// A split's slots: [begin, end) of the row's.
struct Span {
  int start, begin, end;
};

__device__ Span span_of(const AttentionArguments& arguments) {
  const Row row = arguments.rows[blockIdx.x];
  const int tiles = (row.length + kTile - 1) / kTile;
  const int piece = (tiles + arguments.splits - 1) / arguments.splits * kTile;
  const int begin = static_cast<int>(blockIdx.z) * piece;
  return {row.start, begin, min(row.length, begin + piece)};
}

__device__ void load_tile(const AttentionArguments& arguments, const Span& span, int base,
                          std::uint16_t (*tile)[kStride]) {
  constexpr int kChunks = kColumns / 8;
  for (int i = static_cast<int>(threadIdx.x); i < kTile * kChunks; i += kThreads) {
    const int j = i / kChunks;
    const int column = i % kChunks * 8;
    const bool valid = base + j < span.end;
    const std::int64_t key = valid ? arguments.ids[span.start + base + j] : 0;
    copy_async(&tile[j][column], arguments.keys + key * kColumns + column, valid);
  }
  asm volatile("cp.async.commit_group;");
}

// This warp's quarter of the scores of its 8 slots.
__device__ void add_scores(const std::uint32_t (&query)[kSteps][4], const std::uint16_t (*tile)[kStride],
                           Shared& shared, int warp, int lane) {
  const int half = warp % 2;
  const int quarter = warp / 2;
  float sum[4] = {};
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    const std::uint16_t* key = &tile[half * 8 + lane / 4][(quarter * kSteps + step) * 16 + lane % 4 * 2];
    mma(sum, query[step], pair_at(key), pair_at(key + 8));
  }
  float* at = &shared.scores[quarter][lane / 4][half * 8 + lane % 4 * 2];
  at[0] = sum[0];
  at[1] = sum[1];
  at[8 * kTile] = sum[2];
  at[8 * kTile + 1] = sum[3];
}

// The softmax of one tile: a thread has one score; the 16 lanes of a head hold the same maximum and sum.
__device__ void soften(Shared& shared, float scale, bool valid, float& maximum, float& total) {
  const int head = static_cast<int>(threadIdx.x) / kTile;
  const int j = static_cast<int>(threadIdx.x) % kTile;
  float score = 0;
  for (int quarter = 0; quarter < kQuarters; ++quarter) score += shared.scores[quarter][head][j];
  score = valid ? score * scale : -INFINITY;
  float highest = score;
  for (int mask = 8; mask > 0; mask /= 2) highest = fmaxf(highest, __shfl_xor_sync(0xffffffff, highest, mask));
  highest = fmaxf(highest, maximum);
  const float p = exp2f(score - highest);
  float sum = p;
  for (int mask = 8; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffff, sum, mask);
  const float shrink = exp2f(maximum - highest);
  total = total * shrink + sum;
  maximum = highest;
  shared.p[head][j] = __bfloat16_as_ushort(__float2bfloat16_rn(p));
  if (j == 0) shared.shrink[head] = shrink;
}

// This warp's 64 columns of the values.
__device__ void add_values(float (&sums)[8][4], const std::uint16_t (*tile)[kStride], const Shared& shared, int warp,
                           int lane) {
  std::uint32_t p[4];
  load_a(p, &shared.p[0][0], kTile + 8, lane);
  const float low = shared.shrink[lane / 4];
  const float high = shared.shrink[lane / 4 + 8];
#pragma unroll
  for (int n = 0; n < 8; n += 2) {
    for (int k = n; k < n + 2; ++k) {
      sums[k][0] *= low;
      sums[k][1] *= low;
      sums[k][2] *= high;
      sums[k][3] *= high;
    }
    const std::uint16_t* at = &tile[lane % 16][warp * 64 + n * 8 + lane / 16 * 8];
    std::uint32_t b[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3])
                 : "r"(shared_address(at)));
    mma(sums[n], p, b[0], b[1]);
    mma(sums[n + 1], p, b[2], b[3]);
  }
}

__device__ void store_values(const AttentionArguments& arguments, const float (&sums)[8][4], int warp, int lane) {
  const int head = static_cast<int>(blockIdx.y) * kHeadGroup + lane / 4;
  for (int n = 0; n < 8; ++n) {
    for (int half = 0; half < 2; ++half) {
      const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * arguments.heads + head + half * 8;
      float* at =
          arguments.partial + (row * arguments.splits + blockIdx.z) * kValueColumns + warp * 64 + n * 8 + lane % 4 * 2;
      *reinterpret_cast<float2*>(at) = {sums[n][half * 2], sums[n][half * 2 + 1]};
    }
  }
}

__global__ void __launch_bounds__(kThreads) attend_kernel(AttentionArguments arguments) {
  __shared__ Shared shared;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Span span = span_of(arguments);
  const std::int64_t first_head = static_cast<std::int64_t>(blockIdx.x) * arguments.heads + blockIdx.y * kHeadGroup;
  float maximum = -INFINITY;
  float total = 0;
  if (span.begin < span.end) {
    std::uint32_t query[kSteps][4];
    for (int step = 0; step < kSteps; ++step) {
      load_a(query[step], arguments.query + first_head * kColumns + (warp / 2 * kSteps + step) * 16, kColumns, lane);
    }
    float sums[8][4] = {};
    load_tile(arguments, span, span.begin, shared.tile[0]);
    int now = 0;
    for (int base = span.begin; base < span.end; base += kTile, now ^= 1) {
      __syncthreads();  // the other buffer has been read
      if (base + kTile < span.end) {
        load_tile(arguments, span, base + kTile, shared.tile[now ^ 1]);
        asm volatile("cp.async.wait_group 1;");
      } else {
        asm volatile("cp.async.wait_group 0;");
      }
      __syncthreads();
      add_scores(query, shared.tile[now], shared, warp, lane);
      __syncthreads();
      soften(shared, arguments.scale, base + static_cast<int>(threadIdx.x) % kTile < span.end, maximum, total);
      __syncthreads();
      add_values(sums, shared.tile[now], shared, warp, lane);
    }
    store_values(arguments, sums, warp, lane);
  }
  if (threadIdx.x % kTile == 0) {
    arguments.state[(first_head + threadIdx.x / kTile) * arguments.splits + blockIdx.z] = {maximum, total};
  }
}

// One block a query row and head, four columns a thread.
__global__ void __launch_bounds__(kValueColumns / 4) merge_kernel(AttentionArguments arguments) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * arguments.heads + blockIdx.y;
  const float2* state = arguments.state + row * arguments.splits;
  const float4* partial = reinterpret_cast<const float4*>(arguments.partial + row * arguments.splits * kValueColumns);
  float highest = -INFINITY;
  for (int split = 0; split < arguments.splits; ++split) highest = fmaxf(highest, state[split].x);
  float total = 0;
  float4 sum = {0, 0, 0, 0};
  for (int split = 0; split < arguments.splits; ++split) {
    if (state[split].y == 0) continue;  // no slots: its partial was not written
    const float weight = exp2f(state[split].x - highest);
    const float4 part = partial[split * (kValueColumns / 4) + threadIdx.x];
    total += state[split].y * weight;
    sum = {sum.x + part.x * weight, sum.y + part.y * weight, sum.z + part.z * weight, sum.w + part.w * weight};
  }
  // A row without slots attends to nothing.
  const float over = total == 0 ? 0 : 1 / total;
  float4* out = reinterpret_cast<float4*>(arguments.output + row * kValueColumns);
  out[threadIdx.x] = {sum.x * over, sum.y * over, sum.z * over, sum.w * over};
}

}  // namespace

int splits_for(int rows, int heads, int longest, int multiprocessors) {
  const int blocks = std::max(1, rows * (heads / kHeadGroup));
  const int useful = std::max(1, longest / (4 * kTile));
  return std::clamp(4 * multiprocessors / blocks, 1, std::min(useful, 512));
}

void launch_attention(const AttentionArguments& arguments, cudaStream_t stream) {
  AttentionArguments given = arguments;
  given.scale *= 1.4426950408889634f;  // exp(x) = exp2(x log2 e)
  const dim3 grid(static_cast<unsigned>(given.row_count), static_cast<unsigned>(given.heads / kHeadGroup),
                  static_cast<unsigned>(given.splits));
  attend_kernel<<<grid, kThreads, 0, stream>>>(given);
  VERIFY_CUDA(cudaGetLastError());
  const dim3 merge_grid(grid.x, static_cast<unsigned>(given.heads));
  merge_kernel<<<merge_grid, kValueColumns / 4, 0, stream>>>(given);
  VERIFY_CUDA(cudaGetLastError());
}

}  // namespace verify
