// libFuzzer's entry for traces: `make fuzz-trace` (clang). See trace_fuzz.h.
#include "trace_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  suture::fuzz_trace(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
