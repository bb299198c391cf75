// Stands in for the GPU part where there was no nvcc.
#include "bench.h"
#include "gpu_errors.h"
#include "machine.h"

namespace verify {
Gpu open_gpu() {
  throw not_built();
}
std::unique_ptr<Machine> make_gpu_machine() {
  throw not_built();
}
Bench run_bench(const BenchOptions&, const std::function<void(const std::string&)>&) {
  throw not_built();
}

}  // namespace verify
