// The text and the JSON of a run. Text goes out as it comes, so that a long run can be followed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench.h"
#include "check.h"
#include "exit.h"
#include "machine.h"
#include "options.h"

namespace verify {

// A part (CPU or GPU) of a run.
struct PartReport {
  std::string name;
  std::vector<Report> seeds;  // one a seed
  std::vector<Catch> caught;  // with a planted error
};

struct RunReport {
  std::vector<PartReport> parts;
  std::optional<Gpu> gpu;
  std::optional<Bench> bench;
  std::string skipped;  // why the GPU part was not run
};

std::string case_line(const CaseReport& c, bool planted);
std::string part_text(const PartReport& part, Plant plant);
std::string bench_text(const Bench& bench, const Options& options);
std::string json_of(const RunReport& run, const Options& options, Exit exit);

int cases_in(const PartReport& part);
int failed_in(const PartReport& part);

}  // namespace verify
