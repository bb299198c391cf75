// Runs the cases on a machine and says what did not hold.
//
// Of each case, eagerly for both steps, and then from one captured graph for both: the reference way's output is no NaN
// and within the bound of reference.h; the gather's and the shadow's have the reference's bits; the shadow holds exactly the
// named slots. With a planted error the same checks run, and some must fail in each way and mode that it is planted in.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reference.h"
#include "ways.h"

namespace verify {

struct Finding {
  Way way;
  bool in_graph;
  int step;          // 0 or 1
  std::string what;  // one sentence
};

struct CaseReport {
  std::string name;
  Fp8 type;
  int heads;
  std::uint64_t seed;
  int comparisons = 0;  // of one output or one shadow with what it must be
  Comparison exact;     // the worst of both steps
  std::vector<Finding> findings;
};

// A way and mode that an error is planted in, over all cases.
struct Catch {
  Way way;
  bool in_graph;
  int caught = 0;     // cases
  std::string first;  // the first finding
};

struct Report {
  std::vector<CaseReport> cases;
  int comparisons = 0;
  int failed = 0;  // cases with a finding
};

CaseReport run_case(Machine& machine, const CaseSpec& spec, std::uint64_t seed, Plant plant);

// All of them; `tell` hears of each as it is done.
Report run_cases(Machine& machine, const std::vector<CaseSpec>& specs, std::uint64_t seed, Plant plant,
                 const std::function<void(const CaseReport&)>& tell);

// For each way and mode that the plant is in, what caught it; `caught` 0 where nothing did.
std::vector<Catch> catches(const Report& report, Plant plant);

// The first finding where nothing is planted; empty where there is none. Without a plant, that is any finding.
std::string beside_the_plant(const Report& report, Plant plant);

}  // namespace verify
