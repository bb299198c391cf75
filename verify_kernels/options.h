// The command line of verify_kernels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ways.h"

namespace verify {

struct Options {
  enum class Part { both, cpu, gpu, bench };  // bench: the times without the checks
  Part part = Part::both;
  Plant plant = Plant::none;
  std::uint64_t seed = 1;
  int seeds = 1;
  std::int64_t slots = 495'552;  // of the pool that large cases and the bench use
  bool bench = false;
  int layers = 61;
  int repeats = 50;
  double within = 0;  // percent; 0: report only
  bool json = false;
  bool quiet = false;
  std::string pretend;  // tests: as if there were no GPU, ...
};

// Throws Stop with Exit::usage. `help` is set where --help asked for it: the text to print.
Options read_options(const std::vector<std::string>& args, std::string& help);

}  // namespace verify
