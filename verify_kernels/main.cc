// verify_kernels: options, the CPU part, the GPU part, the bench, the report.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <new>

#include "check.h"
#include "gpu_errors.h"
#include "options.h"
#include "report.h"

namespace verify {
namespace {

void say(const Options& options, const std::string& text) {
  if (options.json) return;
  std::cout << text << std::flush;
}

PartReport run_part(const std::string& name, Machine& machine, const std::vector<CaseSpec>& specs,
                    const Options& options) {
  PartReport part{name, {}, {}};
  Report all;
  for (int i = 0; i < options.seeds; ++i) {
    const std::uint64_t seed = options.seed + static_cast<std::uint64_t>(i) * 1000;
    part.seeds.push_back(run_cases(machine, specs, seed, options.plant, [&options](const CaseReport& c) {
      if (!options.quiet) say(options, case_line(c, options.plant != Plant::none));
    }));
    const std::vector<CaseReport>& cases = part.seeds.back().cases;
    all.cases.insert(all.cases.end(), cases.begin(), cases.end());
  }
  part.caught = catches(all, options.plant);
  say(options, part_text(part, options.plant));
  return part;
}

// A planted error shows in the small cases, or not at all.
std::vector<CaseSpec> gpu_cases(const Options& options) {
  std::vector<CaseSpec> specs = small_cases();
  if (options.plant != Plant::none) return specs;
  const std::vector<CaseSpec> large = large_cases(options.slots);
  specs.insert(specs.end(), large.begin(), large.end());
  return specs;
}

void run_gpu(const Options& options, RunReport& run) {
  if (!options.pretend.empty()) pretend(options.pretend);
  run.gpu = open_gpu();
  say(options, run.gpu->name + ", compute capability " + run.gpu->compute_capability + ", driver for CUDA " +
                   run.gpu->driver + ", runtime " + run.gpu->runtime + "\n");
  if (options.part != Options::Part::bench)
    run.parts.push_back(run_part("GPU", *make_gpu_machine(), gpu_cases(options), options));
  if (!options.bench) return;
  const BenchOptions bench{options.slots, 16, options.repeats, options.seed};
  run.bench = run_bench(bench, [&options](const std::string& line) {
    if (!options.quiet) say(options, line);
  });
  say(options, bench_text(*run.bench, options));
}

// What the parts that ran come to.
Exit outcome(const RunReport& run, const Options& options) {
  bool failed = false;
  bool missed = false;
  for (const PartReport& part : run.parts) {
    for (const Report& report : part.seeds) {
      const std::string finding = beside_the_plant(report, options.plant);
      if (finding.empty()) continue;
      failed = true;
      if (options.plant != Plant::none)
        std::cerr << part.name << " part, FAILED where nothing is planted: " << finding << "\n";
    }
    for (const Catch& found : part.caught) missed = missed || found.caught == 0;
  }
  if (failed) return Exit::failed;
  if (options.plant != Plant::none) return missed ? Exit::missed : Exit::caught;
  if (!run.bench || options.within <= 0) return Exit::passed;
  const bool slow = std::any_of(run.bench->casts.begin(), run.bench->casts.end(), [&options](const CastTime& time) {
    return time.us > time.move_us * (1 + options.within / 100);
  });
  return slow ? Exit::slower_than_move : Exit::passed;
}

Exit run(const Options& options) {
  RunReport run;
  if (options.part == Options::Part::both || options.part == Options::Part::cpu) {
    run.parts.push_back(run_part("CPU", *make_cpu_machine(), small_cases(), options));
  }
  Exit gpu_exit = Exit::passed;
  if (options.part != Options::Part::cpu) {
    try {
      run_gpu(options, run);
    } catch (const Stop& stop) {
      gpu_exit = stop.exit();
      run.skipped = stop.what();
      std::cerr << (is_skip(gpu_exit) ? "GPU part skipped: " : "GPU part: ") << stop.what() << "\n";
    }
  }
  // A fault that was found says more than a part that was not run, and a part that was not run more than one that passed.
  Exit exit = outcome(run, options);
  const bool found = exit == Exit::failed || exit == Exit::missed;
  if (gpu_exit != Exit::passed && !found) exit = gpu_exit;
  if (options.json) std::cout << json_of(run, options, exit);
  return exit;
}

Exit run_guarded(const std::vector<std::string>& args) {
  try {
    std::string help;
    const Options options = read_options(args, help);
    if (help.empty()) return run(options);
    std::cout << help;
    return Exit::passed;
  } catch (const Stop& stop) {
    std::cerr << "verify_kernels: " << stop.what() << "\n";
    return stop.exit();
  } catch (const std::bad_alloc&) {
    const Stop stop = host_out_of_memory();
    std::cerr << "verify_kernels: " << stop.what() << "\n";
    return stop.exit();
  }
}

}  // namespace
}  // namespace verify

int main(int argc, char** argv) {
  return static_cast<int>(verify::run_guarded({argv + 1, argv + argc}));
}
