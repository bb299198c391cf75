#include "options.h"

#include <CLI/CLI.hpp>

#include "exit.h"

namespace verify {
namespace {

constexpr const char* kFooter =
    "Exit codes: 0 all checks passed; 1 a check failed; 2 usage; 3 the GPU part was skipped, for there is no GPU, no\n"
    "driver, or no GPU code in this build (the CPU part passed); 4 the planted error was caught; 5 it was not; 6 the "
    "driver is\n"
    "too old; 7 out of memory; 8 a CUDA call failed; 9 the GPU is too old; 10 slower than --within.";

[[noreturn]] void usage(const std::string& message, const std::string& hint) {
  throw Stop(Exit::usage, message + "\n  " + hint);
}

std::string plant_names() {
  std::string names;
  for (const PlantWords& words : plants()) names += (names.empty() ? "" : ", ") + std::string(words.name);
  return names;
}

void set_part(Options& options, const std::string& only) {
  if (only == "cpu") {
    options.part = Options::Part::cpu;
  } else if (only == "gpu") {
    options.part = Options::Part::gpu;
  } else if (only == "bench") {
    options.part = Options::Part::bench;
    options.bench = true;
  } else if (!only.empty()) {
    usage("--only \"" + only + "\": there is no such part", "the parts are cpu, gpu and bench");
  }
}

void check(const Options& options) {
  // The cast counts chunks of 8 columns in 31 bits.
  if (options.slots < 8192 || options.slots > 29'000'000) {
    usage("--slots " + std::to_string(options.slots) + " is out of range", "it goes from 8192 to 29000000");
  }
  if (options.layers < 1 || options.layers > 1000) {
    usage("--layers " + std::to_string(options.layers) + " is out of range", "it goes from 1 to 1000");
  }
  if (options.seeds < 1 || options.repeats < 3) usage("--seeds goes from 1, --repeats from 3", "leave them out");
  if (options.bench && options.part == Options::Part::cpu) {
    usage("--bench needs the GPU part, and --only cpu leaves it out", "give one of the two");
  }
  if (options.bench && options.plant != Plant::none) {
    usage("--bench and --plant do not go together", "give one of the two");
  }
  if (options.within > 0 && !options.bench) usage("--within is about --bench", "give --bench too");
}

}  // namespace

Options read_options(const std::vector<std::string>& args, std::string& help) {
  Options options;
  std::string only;
  std::string plant;
  CLI::App app(
      "Checks that MLA attention over an FP8 KV pool is the same when only the slots that a step reads are cast.",
      "verify_kernels");
  app.footer(kFooter);
  app.add_option("--only", only,
                 "run one part: the checks on the cpu, the checks on the gpu, or the bench without checks");
  app.add_option("--plant", plant, "plant an error, which must be caught: " + plant_names());
  app.add_option("--seed", options.seed, "of the first case")->capture_default_str();
  app.add_option("--seeds", options.seeds, "run all cases with so many seeds")->capture_default_str();
  app.add_option("--slots", options.slots, "slots of the pool of the large cases and of --bench")
      ->capture_default_str();
  app.add_flag("--bench", options.bench, "after the checks, time it on the GPU");
  app.add_option("--layers", options.layers, "layers of a step, for the times a step")->capture_default_str();
  app.add_option("--repeats", options.repeats, "replays that a median is of")->capture_default_str();
  app.add_option("--within", options.within, "with --bench: fail where the cast is slower than a move by more PERCENT");
  app.add_flag("--json", options.json, "print one JSON document instead of text");
  app.add_flag("-q,--quiet", options.quiet, "no line for each case");
  app.add_option("--pretend", options.pretend,
                 "for tests: fail as the GPU part would (no-driver, driver-too-old, out-of-memory, ...)");
  try {
    app.parse(std::vector<std::string>(args.rbegin(), args.rend()));
  } catch (const CLI::CallForHelp&) {
    help = app.help();
    return options;
  } catch (const CLI::ParseError& error) {
    usage(std::string("the command line cannot be read: ") + error.what(), "verify_kernels --help lists the options");
  }
  set_part(options, only);
  if (!plant.empty()) {
    const std::optional<Plant> named = plant_named(plant);
    if (!named) usage("--plant \"" + plant + "\": there is no such error", "there are " + plant_names());
    options.plant = *named;
  }
  check(options);
  return options;
}

}  // namespace verify
