// A *chunk* is 8 or 16 columns: one load, and a store of twice the bytes. Two families of kernels deal them out:
//   flat    chunk by chunk over all threads; a thread has F chunks in flight, and looks up the slot of each
//   rows    a warp takes R rows, whose chunks divide evenly among its lanes (4 rows of 72, 8 of 36 or 72), so there is no
//           tail; R lanes look up one slot each, the next group's while this one's are moved
// Both are persistent: the grid depends on the GPU alone, as a captured graph needs, and blocks stride over what there is.
// Loads and stores are streaming ones: neither the pool's bytes nor the shadow's are read again by this kernel.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "cases.h"
#include "cast.h"
#include "device.h"

namespace verify {
namespace {

constexpr int kThreads = 256;

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

template <Fp8 Type, Move How>
__device__ uint4 converted(uint2 codes, float factor) {
  const uint2 low = converted<Type, How>(codes.x, factor);
  const uint2 high = converted<Type, How>(codes.y, factor);
  return {low.x, low.y, high.x, high.y};
}

template <int Width>
struct Chunk;
template <>
struct Chunk<8> {
  uint2 codes;
  __device__ void load(const std::uint8_t* from) { codes = __ldcs(reinterpret_cast<const uint2*>(from)); }
  template <Fp8 Type, Move How>
  __device__ void store(std::uint16_t* to, float factor) const {
    __stcs(reinterpret_cast<uint4*>(to), converted<Type, How>(codes, factor));
  }
};
template <>
struct Chunk<16> {
  uint4 codes;
  __device__ void load(const std::uint8_t* from) { codes = __ldcs(reinterpret_cast<const uint4*>(from)); }
  template <Fp8 Type, Move How>
  __device__ void store(std::uint16_t* to, float factor) const {
    __stcs(reinterpret_cast<uint4*>(to), converted<Type, How>(uint2{codes.x, codes.y}, factor));
    __stcs(reinterpret_cast<uint4*>(to) + 1, converted<Type, How>(uint2{codes.z, codes.w}, factor));
  }
};

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
  __device__ int slot(int row) const {
    if (row >= rows) return -1;
    const int id = all ? row : __ldg(arguments.ids + row);
    return id < arguments.slots ? id : -1;
  }
  __device__ std::int64_t target(int row, int slot) const {
    return static_cast<std::int64_t>(arguments.compact ? row : slot) + arguments.rows_late;
  }
};

template <Fp8 Type, Move How, int Width, int InFlight>
__global__ void __launch_bounds__(kThreads) flat_kernel(CastArguments arguments) {
  constexpr int kChunks = kColumns / Width;
  const Named named(arguments);
  const std::uint32_t total = static_cast<std::uint32_t>(named.rows) * kChunks;
  const std::uint32_t stride = gridDim.x * kThreads * InFlight;
  for (std::uint32_t start = blockIdx.x * kThreads * InFlight; start < total; start += stride) {
    Chunk<Width> chunks[InFlight];
    int slots[InFlight];
#pragma unroll
    for (int k = 0; k < InFlight; ++k) {
      slots[k] = named.slot(static_cast<int>((start + k * kThreads + threadIdx.x) / kChunks));
    }
#pragma unroll
    for (int k = 0; k < InFlight; ++k) {
      const std::uint32_t at = (start + k * kThreads + threadIdx.x) % kChunks * Width;
      if (slots[k] >= 0) chunks[k].load(arguments.pool + static_cast<std::int64_t>(slots[k]) * kColumns + at);
    }
#pragma unroll
    for (int k = 0; k < InFlight; ++k) {
      const std::uint32_t chunk = start + k * kThreads + threadIdx.x;
      if (slots[k] < 0) continue;
      std::uint16_t* row = arguments.target + named.target(static_cast<int>(chunk / kChunks), slots[k]) * kColumns;
      chunks[k].template store<Type, How>(row + chunk % kChunks * Width, arguments.factor);
    }
  }
}

template <Fp8 Type, Move How, int Width, int Rows>
__global__ void __launch_bounds__(kThreads) rows_kernel(CastArguments arguments) {
  constexpr int kChunks = kColumns / Width;
  constexpr int kLoads = Rows * kChunks / 32;
  static_assert(kLoads * 32 == Rows * kChunks);
  const Named named(arguments);
  const int lane = threadIdx.x % 32;
  const int stride = gridDim.x * (kThreads / 32) * Rows;
  int first = (blockIdx.x * (kThreads / 32) + threadIdx.x / 32) * Rows;
  int mine = lane < Rows ? named.slot(first + lane) : -1;
  for (; first < named.rows; first += stride) {
    const int next = lane < Rows ? named.slot(first + stride + lane) : -1;
    Chunk<Width> chunks[kLoads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
      const int chunk = k * 32 + lane;
      const int slot = __shfl_sync(0xffffffff, mine, chunk / kChunks);
      if (slot >= 0)
        chunks[k].load(arguments.pool + static_cast<std::int64_t>(slot) * kColumns + chunk % kChunks * Width);
    }
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
      const int chunk = k * 32 + lane;
      const int slot = __shfl_sync(0xffffffff, mine, chunk / kChunks);
      if (slot < 0) continue;
      std::uint16_t* row = arguments.target + named.target(first + chunk / kChunks, slot) * kColumns;
      chunks[k].template store<Type, How>(row + chunk % kChunks * Width, arguments.factor);
    }
    mine = next;
  }
}

using Kernel = void (*)(CastArguments);

struct Entry {
  const char* name;
  Kernel convert;  // e4m3fn
  Kernel none;
};

template <int Width, int InFlight>
constexpr Entry flat(const char* name) {
  return {name, flat_kernel<Fp8::e4m3fn, Move::convert, Width, InFlight>,
          flat_kernel<Fp8::e4m3fn, Move::none, Width, InFlight>};
}
template <int Width, int Rows>
constexpr Entry rows(const char* name) {
  return {name, rows_kernel<Fp8::e4m3fn, Move::convert, Width, Rows>,
          rows_kernel<Fp8::e4m3fn, Move::none, Width, Rows>};
}

const Entry kKernels[] = {
    flat<8, 1>("flat 8 B x 1"),    flat<8, 2>("flat 8 B x 2"),   flat<8, 4>("flat 8 B x 4"),
    flat<8, 8>("flat 8 B x 8"),    flat<16, 1>("flat 16 B x 1"), flat<16, 2>("flat 16 B x 2"),
    flat<16, 4>("flat 16 B x 4"),  rows<8, 4>("4 rows of 8 B"),  rows<8, 8>("8 rows of 8 B"),
    rows<16, 8>("8 rows of 16 B"),
};
constexpr int kDefault = 0;
constexpr int kDefaultBlocks = 8;

// The other type and the scaled cast come in the default shape alone.
template <Fp8 Type, Move How>
constexpr Kernel kDefaultKernel = flat_kernel<Type, How, 8, 1>;

Kernel kernel_for(Fp8 type, Move move, int index) {
  if (move == Move::none) return kKernels[index].none;
  if (type == Fp8::e5m2) {
    return move == Move::scaled ? kDefaultKernel<Fp8::e5m2, Move::scaled> : kDefaultKernel<Fp8::e5m2, Move::convert>;
  }
  return move == Move::scaled ? kDefaultKernel<Fp8::e4m3fn, Move::scaled> : kKernels[index].convert;
}

CastShape shape_of(int index, int blocks) {
  return {std::string(kKernels[index].name) + ", " + std::to_string(blocks) + " blocks", index, blocks};
}

}  // namespace

std::vector<CastShape> cast_shapes() {
  std::vector<CastShape> shapes;
  for (int index = 0; index < static_cast<int>(sizeof kKernels / sizeof kKernels[0]); ++index) {
    for (const int blocks : {2, 4, 8, 16}) {
      shapes.push_back(shape_of(index, blocks));
    }
  }
  return shapes;
}

CastShape default_cast_shape() {
  return shape_of(kDefault, kDefaultBlocks);
}

void launch_cast(const CastArguments& arguments, Fp8 type, Move move, const CastShape& shape, int multiprocessors,
                 cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(multiprocessors * shape.blocks_per_sm);
  kernel_for(type, move, shape.index)<<<blocks, kThreads, 0, stream>>>(arguments);
  VERIFY_CUDA(cudaGetLastError());
}

cudaError_t cast_has_code() {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kKernels[kDefault].convert));
}

}  // namespace verify
