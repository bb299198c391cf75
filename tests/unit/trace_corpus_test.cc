// The corpus of the fuzzer of traces (tests/fuzz), replayed: nothing aborts, whatever window the bytes come in.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "fuzz/trace_fuzz.h"

namespace suture {
namespace {

TEST(TraceCorpus, EveryInputHolds) {
  std::size_t inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SUTURE_SOURCE_DIR "/tests/fuzz/corpus/trace")) {
    SCOPED_TRACE(entry.path().string());
    std::ifstream file(entry.path(), std::ios::binary);
    fuzz_trace({std::istreambuf_iterator<char>(file), {}});
    ++inputs;
  }
  EXPECT_GT(inputs, 20U);
}

}  // namespace
}  // namespace suture
