// A *chunk* is 8 columns: a load of 8 bytes and a store of 16. Three families of kernels deal them out:
//   flat     chunk by chunk over all threads; a thread has F chunks in flight, and looks up the slot of each
//   columns  a block takes as many rows as it has threads for, F times; a thread keeps to its chunk of the row
//   rows     a warp takes 4 rows, whose chunks divide evenly among its lanes; 4 lanes look up one slot each
// All are persistent: the grid depends on the GPU alone, as a captured graph needs, and blocks stride over what there is.
// What a step reads waits for three loads, one for the other: the count, the slot, the row. The slots are looked up
// before the count is known, and the next pass's while this one's rows are on their way: 0.1 us less for 500 slots.
// Ordinary loads and stores come in streaming kinds, too; which is faster depends on how many rows there are.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "cases.h"
#include "cast.h"
#include "device.h"

namespace verify {
namespace {

// prmt with all its modes: a selector of 8 + i is byte i's upper bit, eight times.
__device__ std::uint32_t permuted(std::uint32_t a, std::uint32_t selector) {
  std::uint32_t result;
  asm("prmt.b32 %0, %1, 0, %2;" : "=r"(result) : "r"(a), "r"(selector));
  return result;
}

__device__ std::uint32_t times(std::uint32_t pair, std::uint32_t factors) {
  const __nv_bfloat162 product =
      __hmul2(*reinterpret_cast<const __nv_bfloat162*>(&pair), *reinterpret_cast<const __nv_bfloat162*>(&factors));
  return *reinterpret_cast<const std::uint32_t*>(&product);
}

// Two FP16 numbers to two BF16, exact for what comes of FP8.
__device__ std::uint32_t bf16_of_half(std::uint32_t pair) {
  const __nv_bfloat162 wide = __float22bfloat162_rn(__half22float2(*reinterpret_cast<const __half2*>(&pair)));
  return *reinterpret_cast<const std::uint32_t*>(&wide);
}

// Two of four e4m3fn codes, each in the upper byte of its half, by arithmetic. Under BF16's exponent seven bits of
// magnitude are 2^-120 of their value, subnormals included, and BF16 multiplies subnormals exactly. Only NaN is not a
// number there: `nan` has its halves' bits set.
[[maybe_unused]] __device__ std::uint32_t bf16_of_e4m3fn(std::uint32_t spread, std::uint32_t nan) {
  const std::uint32_t small = (spread & 0x80008000) | (spread >> 4 & 0x07f007f0);
  return times(small, 0x7b807b80) | (nan & 0x7fff7fff);
}

// Four FP8 codes to four BF16, exact; NaN becomes some NaN. Where the hardware converts e4m3fn, it is faster than the
// arithmetic: 500 slots took 0.06 us less of 1.7 on an H200.
template <Fp8 Type>
__device__ uint2 widened(std::uint32_t codes) {
  if constexpr (Type == Fp8::e5m2) {
    // The upper byte of an FP16 number.
    return {bf16_of_half(permuted(codes, 0x1404)), bf16_of_half(permuted(codes, 0x3424))};
  } else {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
    std::uint32_t low, high;
    asm("{\n .reg .b16 a, b;\n mov.b32 {a, b}, %2;\n cvt.rn.f16x2.e4m3x2 %0, a;\n cvt.rn.f16x2.e4m3x2 %1, b;\n}"
        : "=r"(low), "=r"(high)
        : "r"(codes));
    return {bf16_of_half(low), bf16_of_half(high)};
#else
    const std::uint32_t is_nan = (codes & 0x7f7f7f7f) + 0x01010101;  // in the upper bit
    return {bf16_of_e4m3fn(permuted(codes, 0x1404), permuted(is_nan, 0x9988)),
            bf16_of_e4m3fn(permuted(codes, 0x3424), permuted(is_nan, 0xbbaa))};
#endif
  }
}

template <Fp8 Type, Move How>
__device__ uint2 converted(std::uint32_t codes, float factor) {
  if constexpr (How == Move::none) return {codes, codes};
  uint2 wide = widened<Type>(codes);
  if constexpr (How == Move::scaled) {
    const __nv_bfloat162 factors = __float2bfloat162_rn(factor);
    wide.x = times(wide.x, *reinterpret_cast<const std::uint32_t*>(&factors));
    wide.y = times(wide.y, *reinterpret_cast<const std::uint32_t*>(&factors));
  }
  return wide;
}

// Whether the cache keeps what is loaded and stored, or drops it first.
enum class Caching { all, none };

template <Caching Cached, typename T>
__device__ T load(const T* from) {
  if constexpr (Cached == Caching::all) return *from;
  return __ldcs(from);
}
template <Caching Cached>
__device__ void store(uint4* to, const uint4& value) {
  if constexpr (Cached == Caching::all) {
    *to = value;
  } else {
    __stcs(to, value);
  }
}

// A chunk of 8 columns: 8 bytes to 16.
template <Caching Cached>
struct Chunk {
  uint2 codes;
  __device__ void read(const std::uint8_t* from) { codes = load<Cached>(reinterpret_cast<const uint2*>(from)); }
  template <Fp8 Type, Move How>
  __device__ void write(std::uint16_t* to, float factor) const {
    const uint2 low = converted<Type, How>(codes.x, factor);
    const uint2 high = converted<Type, How>(codes.y, factor);
    store<Cached>(reinterpret_cast<uint4*>(to), {low.x, low.y, high.x, high.y});
  }
};
constexpr int kWidth = 8;
constexpr int kChunks = kColumns / kWidth;

// The id behind a row, whether it counts or not: it can be looked up before the count is known.
__device__ int id_of(const CastArguments& arguments, int row) {
  return !arguments.all && row < arguments.ids_size ? __ldg(arguments.ids + row) : 0;
}

// How many rows there are, and which slot each is of.
struct Named {
  const CastArguments& arguments;
  int rows;
  bool all;

  __device__ explicit Named(const CastArguments& given) : arguments(given), rows(given.slots), all(given.all) {
    if (all) return;
    const int count = min(*given.count - given.left_out, given.ids_size);
    all = !given.compact && count > given.slots;
    rows = all ? given.slots : max(count, 0);
  }
  // -1: nothing to do.
  __device__ int slot(int row, int id) const {
    if (all) id = row;
    return row < rows && id < arguments.slots ? id : -1;
  }
  __device__ const std::uint8_t* source(int slot) const {
    return arguments.pool + static_cast<std::int64_t>(slot) * kColumns;
  }
  __device__ std::uint16_t* target(int row, int slot) const {
    const std::int64_t to = static_cast<std::int64_t>(arguments.compact ? row : slot) + arguments.rows_late;
    return arguments.target + to * kColumns;
  }
};

constexpr int kMostThreads = 1024;

template <Fp8 Type, Move How, Caching Cached, int InFlight>
__global__ void __launch_bounds__(kMostThreads) flat_kernel(CastArguments arguments) {
  const std::uint32_t stride = gridDim.x * blockDim.x * InFlight;
  std::uint32_t start = blockIdx.x * blockDim.x * InFlight + threadIdx.x;
  int ids[InFlight];
#pragma unroll
  for (int k = 0; k < InFlight; ++k) ids[k] = id_of(arguments, static_cast<int>((start + k * blockDim.x) / kChunks));
  const Named named(arguments);
  const std::uint32_t total = static_cast<std::uint32_t>(named.rows) * kChunks;
  for (; start < total; start += stride) {
    Chunk<Cached> chunks[InFlight];
    int slots[InFlight];
#pragma unroll
    for (int k = 0; k < InFlight; ++k) {
      const std::uint32_t chunk = start + k * blockDim.x;
      slots[k] = named.slot(static_cast<int>(chunk / kChunks), ids[k]);
      if (slots[k] >= 0) chunks[k].read(named.source(slots[k]) + chunk % kChunks * kWidth);
    }
#pragma unroll
    for (int k = 0; k < InFlight; ++k) {
      ids[k] = id_of(arguments, static_cast<int>((start + stride + k * blockDim.x) / kChunks));
    }
#pragma unroll
    for (int k = 0; k < InFlight; ++k) {
      const std::uint32_t chunk = start + k * blockDim.x;
      if (slots[k] < 0) continue;
      std::uint16_t* row = named.target(static_cast<int>(chunk / kChunks), slots[k]);
      chunks[k].template write<Type, How>(row + chunk % kChunks * kWidth, arguments.factor);
    }
  }
}

// A block is a whole number of rows wide.
template <Fp8 Type, Move How, Caching Cached, int InFlight>
__global__ void __launch_bounds__(kMostThreads) columns_kernel(CastArguments arguments) {
  const int rows_wide = static_cast<int>(blockDim.x) / kChunks;
  const int column = static_cast<int>(threadIdx.x) % kChunks * kWidth;
  const int stride = static_cast<int>(gridDim.x) * rows_wide * InFlight;
  int row = static_cast<int>(blockIdx.x) * rows_wide * InFlight + static_cast<int>(threadIdx.x) / kChunks;
  int ids[InFlight];
#pragma unroll
  for (int k = 0; k < InFlight; ++k) ids[k] = id_of(arguments, row + k * rows_wide);
  const Named named(arguments);
  for (; row < named.rows; row += stride) {
    Chunk<Cached> chunks[InFlight];
    int slots[InFlight];
#pragma unroll
    for (int k = 0; k < InFlight; ++k) {
      slots[k] = named.slot(row + k * rows_wide, ids[k]);
      if (slots[k] >= 0) chunks[k].read(named.source(slots[k]) + column);
    }
#pragma unroll
    for (int k = 0; k < InFlight; ++k) ids[k] = id_of(arguments, row + stride + k * rows_wide);
#pragma unroll
    for (int k = 0; k < InFlight; ++k) {
      if (slots[k] < 0) continue;
      chunks[k].template write<Type, How>(named.target(row + k * rows_wide, slots[k]) + column, arguments.factor);
    }
  }
}

template <Fp8 Type, Move How, Caching Cached, int Rows>
__global__ void __launch_bounds__(kMostThreads) rows_kernel(CastArguments arguments) {
  constexpr int kLoads = Rows * kChunks / 32;
  static_assert(kLoads * 32 == Rows * kChunks);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warps = static_cast<int>(blockDim.x) / 32;
  const int stride = static_cast<int>(gridDim.x) * warps * Rows;
  int first = (static_cast<int>(blockIdx.x) * warps + static_cast<int>(threadIdx.x) / 32) * Rows;
  int id = lane < Rows ? id_of(arguments, first + lane) : 0;
  const Named named(arguments);
  for (; first < named.rows; first += stride) {
    const int mine = named.slot(first + lane, id);
    id = lane < Rows ? id_of(arguments, first + stride + lane) : 0;
    Chunk<Cached> chunks[kLoads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
      const int chunk = k * 32 + lane;
      const int slot = __shfl_sync(0xffffffff, mine, chunk / kChunks);
      if (slot >= 0) chunks[k].read(named.source(slot) + chunk % kChunks * kWidth);
    }
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
      const int chunk = k * 32 + lane;
      const int slot = __shfl_sync(0xffffffff, mine, chunk / kChunks);
      if (slot < 0) continue;
      std::uint16_t* row = named.target(first + chunk / kChunks, slot);
      chunks[k].template write<Type, How>(row + chunk % kChunks * kWidth, arguments.factor);
    }
  }
}

using Kernel = void (*)(CastArguments);

struct Block {
  int threads;
  int per_multiprocessor;
};

struct Entry {
  const char* name;
  Kernel convert;  // e4m3fn
  Kernel none;
  std::vector<Block> blocks;
};

template <Caching Cached, int InFlight>
Entry flat(const char* name, const std::vector<Block>& blocks) {
  return {name, flat_kernel<Fp8::e4m3fn, Move::convert, Cached, InFlight>,
          flat_kernel<Fp8::e4m3fn, Move::none, Cached, InFlight>, blocks};
}
template <Caching Cached, int InFlight>
Entry columns(const char* name, const std::vector<Block>& blocks) {
  return {name, columns_kernel<Fp8::e4m3fn, Move::convert, Cached, InFlight>,
          columns_kernel<Fp8::e4m3fn, Move::none, Cached, InFlight>, blocks};
}
template <Caching Cached, int Rows>
Entry rows(const char* name, const std::vector<Block>& blocks) {
  return {name, rows_kernel<Fp8::e4m3fn, Move::convert, Cached, Rows>,
          rows_kernel<Fp8::e4m3fn, Move::none, Cached, Rows>, blocks};
}

// At every count and order that is timed, the best of 315 shapes tried on an H200, or one within 1.4 % of it. Left out are
// chunks of 16 columns, streaming loads with ordinary stores, and other blocks; chunks of 4 were left out before.
const std::vector<Entry>& kernels() {
  constexpr Caching kCached = Caching::all;
  constexpr Caching kStreaming = Caching::none;
  static const std::vector<Entry> kAll = {
      flat<kCached, 1>("flat 8 B x 1", {{256, 2}, {256, 4}, {256, 8}}),
      flat<kStreaming, 4>("flat 8 B x 4, streaming", {{256, 8}, {512, 4}, {1024, 2}}),
      columns<kCached, 1>("columns 8 B x 1", {{144, 2}, {288, 1}, {288, 2}}),
      columns<kCached, 2>("columns 8 B x 2", {{72, 16}, {216, 6}, {288, 6}}),
      columns<kCached, 4>("columns 8 B x 4", {{144, 8}, {216, 6}, {288, 4}}),
      columns<kStreaming, 4>("columns 8 B x 4, streaming", {{72, 16}, {144, 8}, {288, 4}}),
      columns<kCached, 8>("columns 8 B x 8", {{72, 8}, {216, 8}, {288, 2}, {288, 6}}),
      rows<kCached, 4>("4 rows of 8 B", {{128, 16}, {256, 4}, {256, 8}}),
      rows<kStreaming, 4>("4 rows of 8 B, streaming", {{128, 16}, {256, 8}}),
  };
  return kAll;
}

// The shape that the checks use. The other type and the scaled cast come in it alone.
constexpr int kDefault = 0;
constexpr Block kDefaultBlock = {256, 8};
template <Fp8 Type, Move How>
constexpr Kernel kDefaultKernel = flat_kernel<Type, How, Caching::all, 1>;

CastShape shape_of(int index, const Block& block) {
  return {std::string(kernels()[static_cast<std::size_t>(index)].name) + ", " + std::to_string(block.threads) +
              " threads, " + std::to_string(block.per_multiprocessor) + " blocks",
          index, block.threads, block.per_multiprocessor};
}

Kernel kernel_for(Fp8 type, Move move, int index) {
  if (type == Fp8::e5m2) {
    return move == Move::scaled ? kDefaultKernel<Fp8::e5m2, Move::scaled> : kDefaultKernel<Fp8::e5m2, Move::convert>;
  }
  if (move == Move::scaled) return kDefaultKernel<Fp8::e4m3fn, Move::scaled>;
  const Entry& entry = kernels()[static_cast<std::size_t>(index)];
  return move == Move::none ? entry.none : entry.convert;
}

}  // namespace

std::vector<CastShape> cast_shapes() {
  std::vector<CastShape> shapes;
  for (std::size_t index = 0; index < kernels().size(); ++index) {
    for (const Block& block : kernels()[index].blocks) shapes.push_back(shape_of(static_cast<int>(index), block));
  }
  return shapes;
}

CastShape default_cast_shape() {
  return shape_of(kDefault, kDefaultBlock);
}

void launch_cast(const CastArguments& arguments, Fp8 type, Move move, const CastShape& shape, int multiprocessors,
                 cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(multiprocessors * shape.blocks_per_sm);
  kernel_for(type, move, shape.index)<<<blocks, static_cast<unsigned>(shape.threads), 0, stream>>>(arguments);
  VERIFY_CUDA(cudaGetLastError());
}

cudaError_t cast_has_code() {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kDefaultKernel<Fp8::e4m3fn, Move::convert>));
}

}  // namespace verify
