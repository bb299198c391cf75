// How verify_kernels ends. One number for each way, so that a script never takes one for another: with a planted error,
// 0 is never the answer, and a GPU part that did not run is never "passed".
#pragma once

#include <stdexcept>
#include <string>

namespace verify {

enum class Exit : int {
  passed = 0,
  failed = 1,             // a check failed: the numbers are wrong
  usage = 2,              // the command line
  no_gpu = 3,             // GPU part skipped: built without nvcc, no driver, or no GPU. The CPU part passed
  caught = 4,             // --plant: the planted error was caught everywhere it was planted. What one wants to see
  missed = 5,             // --plant: it was not. A fault of this program
  driver_too_old = 6,     // GPU part skipped: the driver is older than the CUDA runtime that this was built with
  out_of_memory = 7,      // the GPU's memory or the host's
  cuda_failed = 8,        // any other CUDA call failed
  gpu_too_old = 9,        // GPU part skipped: the GPU has no code in this build, or is below compute capability 8.0
  slower_than_move = 10,  // --within: the cast takes longer than a plain move of the same bytes by more than that
};

// Whether the GPU part did not run at all (then nothing it would have found is known).
constexpr bool is_skip(Exit exit) {
  return exit == Exit::no_gpu || exit == Exit::driver_too_old || exit == Exit::gpu_too_old;
}

// Thrown where there is no going on. what() is one sentence of what happened and one of what to do.
class Stop : public std::runtime_error {
 public:
  Stop(Exit exit, const std::string& sentence) : std::runtime_error(sentence), exit_(exit) {}
  Exit exit() const { return exit_; }

 private:
  Exit exit_;
};

}  // namespace verify
