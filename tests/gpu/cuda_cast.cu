// The CUDA cast of verify_kernels, for kv_cast_against_cuda.py, which builds this with verify_kernels/cast.cu and calls it in
// its own process: both casts then read the same pools, at the same addresses.
#include <cstddef>
#include <cstdint>

#include "cast.h"

extern "C" {

int cast_shape_count() {
  return static_cast<int>(verify::cast_shapes().size());
}

const char* cast_shape_name(int index) {
  static const std::vector<verify::CastShape> kShapes = verify::cast_shapes();
  return kShapes[static_cast<std::size_t>(index)].name.c_str();
}

// e4m3fn to bf16; rows of 576. `count` lies on the device.
void cast_launch(int shape, const void* pool, void* shadow, const std::int32_t* ids, const std::int32_t* count,
                 std::int32_t ids_size, std::int32_t slots, int multiprocessors, void* stream) {
  static const std::vector<verify::CastShape> kShapes = verify::cast_shapes();
  verify::launch_cast({static_cast<const std::uint8_t*>(pool), static_cast<std::uint16_t*>(shadow), ids, count,
                       ids_size, slots, false, false, 0, 0, 1},
                      verify::Fp8::e4m3fn, verify::Move::convert, kShapes[static_cast<std::size_t>(shape)],
                      multiprocessors, static_cast<cudaStream_t>(stream));
}

}  // extern "C"
