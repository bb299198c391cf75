// What can be in the way of the GPU part, each in a sentence of what it is and one of what to do. Here and not in the CUDA
// code, so that a machine without a GPU can show them all (--pretend).
#pragma once

#include <cstddef>
#include <string>

#include "exit.h"

namespace verify {

Stop not_built();
Stop no_driver();
Stop no_gpu();
// Versions as CUDA counts them: 13000 is 13.0.
Stop driver_too_old(int driver, int runtime);
Stop gpu_too_old(const std::string& name, const std::string& compute_capability);
Stop no_code_for(const std::string& name, const std::string& compute_capability);
Stop gpu_out_of_memory(std::size_t wanted, std::size_t free, std::size_t total);
Stop gpu_out_of_memory(const std::string& call);
Stop host_out_of_memory();
Stop cuda_failed(const std::string& call, const std::string& error);

std::string cuda_version(int version);

// Throws what `name` says; Stop with Exit::usage where it says nothing known.
void pretend(const std::string& name);

}  // namespace verify
