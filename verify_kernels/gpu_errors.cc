#include "gpu_errors.h"

#include <map>

namespace verify {
namespace {

std::string megabytes(std::size_t bytes) {
  return std::to_string(bytes / 1'000'000) + " MB";
}

}  // namespace

Stop not_built() {
  return {Exit::no_gpu,
          "this verify_kernels was built without a CUDA compiler, so it has no GPU part\n"
          "  put the CUDA toolkit's nvcc on the PATH and run make verify-kernels"};
}

Stop no_driver() {
  return {Exit::no_gpu,
          "there is no NVIDIA driver here (libcuda.so.1 is not found)\n"
          "  run it on a GPU host; in a container, start that with the GPUs (docker run --gpus all)"};
}

Stop no_gpu() {
  return {Exit::no_gpu,
          "the NVIDIA driver is here, but shows no GPU\n"
          "  see nvidia-smi, and whether CUDA_VISIBLE_DEVICES is set and hides it"};
}

Stop driver_too_old(int driver, int runtime) {
  return {Exit::driver_too_old, "the NVIDIA driver is too old: it knows CUDA " + cuda_version(driver) +
                                    ", and this program was built with CUDA " + cuda_version(runtime) +
                                    "\n  update the driver, or build verify_kernels with a CUDA toolkit of version " +
                                    cuda_version(driver) + " or older"};
}

Stop gpu_too_old(const std::string& name, const std::string& compute_capability) {
  return {Exit::gpu_too_old, name + " has compute capability " + compute_capability +
                                 ", and the kernels need 8.0 (BF16 tensor cores)\n  run it on an A100 or newer"};
}

Stop no_code_for(const std::string& name, const std::string& compute_capability) {
  return {Exit::gpu_too_old, "this build has no code for " + name + " (compute capability " + compute_capability +
                                 ")\n  build all of them with make verify-kernels, or yours with"
                                 " -DVERIFY_KERNELS_ARCHITECTURES="};
}

Stop gpu_out_of_memory(std::size_t wanted, std::size_t free, std::size_t total) {
  return {Exit::out_of_memory,
          "the GPU has no " + megabytes(wanted) + " left (" + megabytes(free) + " of " + megabytes(total) +
              " are free)\n  stop what else runs there (nvidia-smi), or give a smaller pool: --slots 100000"};
}

Stop gpu_out_of_memory(const std::string& call) {
  return {Exit::out_of_memory, call + ": the GPU's memory is used up\n  stop what else runs there (nvidia-smi)"};
}

Stop host_out_of_memory() {
  return {Exit::out_of_memory, "the host's memory is used up\n  give a smaller pool: --slots 100000"};
}

Stop cuda_failed(const std::string& call, const std::string& error) {
  return {Exit::cuda_failed,
          call + ": " + error +
              "\n  see whether other CUDA programs run (nvidia-smi, and the kernel's log for Xid lines);"
              " if they do, this is a fault of verify_kernels"};
}

std::string cuda_version(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

void pretend(const std::string& name) {
  const std::map<std::string, Stop> all = {
      {"not-built", not_built()},
      {"no-driver", no_driver()},
      {"no-gpu", no_gpu()},
      {"driver-too-old", driver_too_old(11040, 13000)},
      {"gpu-too-old", gpu_too_old("Tesla T4", "7.5")},
      {"out-of-memory", gpu_out_of_memory(1'141'751'808, 500'000'000, 24'000'000'000)},
      {"cuda-failed", cuda_failed("cudaGraphLaunch", "an illegal memory access was encountered")},
  };
  const auto at = all.find(name);
  if (at != all.end()) throw at->second;
  std::string names;
  for (const auto& entry : all) names += (names.empty() ? "" : ", ") + entry.first;
  throw Stop(Exit::usage, "--pretend \"" + name + "\": there is no such thing\n  there are " + names);
}

}  // namespace verify
