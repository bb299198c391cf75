// suture verify: proof on the user's own machine that the patched attention equals the reference. Without --backend it runs
// verify_kernels, an executable of its own (CUDA C++, no torch), and hands on what that says; with --backend it runs
// the patched file itself (shell/verify_backend.h).
#include <array>
#include <cstring>
#include <map>

#include "base/text.h"
#include "effects/environment.h"
#include "effects/subprocess.h"
#include "shell/planning.h"
#include "shell/verify_backend.h"

namespace suture {
namespace {

// Handed on as they are.
constexpr std::array<std::string_view, 7> kKernelValues = {"--only",   "--plant",   "--seed",  "--seeds",
                                                           "--layers", "--repeats", "--within"};
constexpr std::array<std::string_view, 3> kBackendOnly = {"--heads", "--mla-kernel", "--python"};

Error usage(std::string message, std::string hint) {
  return {Exit::usage, std::move(message), std::nullopt, std::move(hint)};
}

std::optional<Error> check_options(const Session& session) {
  const Options& options = session.options();
  if (options.flag("--backend")) {
    for (const std::string_view name :
         {"--kernels", "--only", "--plant", "--seed", "--seeds", "--bench", "--repeats", "--within"}) {
      if (options.flag(name))
        return usage(std::string(name) + " is about verify_kernels, which --backend does not run",
                     "give one of the two");
    }
    return std::nullopt;
  }
  for (const std::string_view name : kBackendOnly) {
    if (options.flag(name)) return usage(std::string(name) + " is about the patched backend", "add --backend");
  }
  if (options.flag("--tree") || !options.names.empty())
    return usage("verify without --backend runs verify_kernels, which reads no tree and knows no patch",
                 "add --backend");
  return std::nullopt;
}

bool is_file(const Session& session, const std::string& path) {
  const Io<FileInfo> info = session.fs().info_at(kAbsolute, path);
  return info && info.value.kind == FileInfo::Kind::regular;
}

// Beside the binary: where it is installed, and where the build leaves it.
Result<std::string> find_kernels(const Session& session) {
  const std::string given = session.options().value("--kernels");
  if (!given.empty()) {
    const Io<std::string> path = session.fs().real_path(given);
    if (path && is_file(session, path.value)) return path.value;
    return Error{Exit::no_kernels, given + " (--kernels) is no file", std::nullopt,
                 "name the executable verify_kernels; cmake -S verify_kernels -B build-kernels builds it"};
  }
  const Io<std::string> self = session.fs().real_path("/proc/self/exe");
  const std::string folder = self ? parent_of(self.value) : ".";
  for (const std::string& path : {folder + "/verify_kernels", folder + "/verify_kernels/verify_kernels"}) {
    if (is_file(session, path)) return path;
  }
  return Error{Exit::no_kernels, "there is no verify_kernels beside suture, in " + folder, std::nullopt,
               "build it where nvcc is, in a checkout: cmake -S verify_kernels -B build-kernels && cmake --build "
               "build-kernels; then copy it here, or name it with --kernels PATH"};
}

std::vector<std::string> arguments(const Session& session, const std::string& kernels) {
  const Options& options = session.options();
  std::vector<std::string> argv = {kernels};
  for (const std::string_view name : kKernelValues) {
    if (!options.flag(name)) continue;
    argv.emplace_back(name);
    argv.push_back(options.value(name));
  }
  if (options.flag("--slots")) argv.insert(argv.end(), {"--slots", options.value("--slots")});
  if (options.flag("--bench")) argv.emplace_back("--bench");
  if (options.json) argv.emplace_back("--json");
  if (options.quiet) argv.emplace_back("--quiet");
  return argv;
}

struct Meaning {
  Exit exit;
  std::string_view words;
};

// The exit codes of verify_kernels (verify_kernels/exit.h). A planted error that is caught proves that the check can fail.
const std::map<int, Meaning>& meanings() {
  static const std::map<int, Meaning> table = {
      {0, {Exit::ok, ""}},
      {1, {Exit::verification, "verification failed"}},
      {2, {Exit::usage, "verify_kernels does not take these options"}},
      {3, {Exit::skipped, "the GPU part was skipped: the GPU is not verified"}},
      {4, {Exit::ok, ""}},
      {5, {Exit::verification, "the planted error was not caught: the check proves nothing"}},
      {6, {Exit::gpu_unfit, "the driver is too old: the GPU is not verified"}},
      {7, {Exit::out_of_memory, "out of memory: the GPU is not verified"}},
      {8, {Exit::incomplete, "a CUDA call failed: the GPU is not verified"}},
      {9, {Exit::gpu_unfit, "the GPU is too old: it is not verified"}},
      {10, {Exit::verification, "the cast is slower than --within allows"}},
  };
  return table;
}

Error not_run(Exit code, const std::string& kernels, const std::string& what, const std::string& hint) {
  return {code, kernels + ": " + what, std::nullopt, hint};
}

std::optional<Error> ended_badly(const ProcessResult& process, const std::string& kernels) {
  switch (process.end) {
    case ProcessResult::End::not_started:
      return not_run(Exit::file_system, kernels, std::string("it cannot be run: ") + std::strerror(process.code),
                     "is it built for this machine?");
    case ProcessResult::End::signalled:
      return not_run(Exit::incomplete, kernels, std::string("it crashed (") + strsignal(process.code) + ")",
                     "this is a bug of verify_kernels, or of the driver");
    case ProcessResult::End::timed_out:
      return not_run(Exit::timed_out, kernels, "it did not end in time", "--limit SECONDS gives it longer");
    case ProcessResult::End::too_much:
      return not_run(Exit::file_system, kernels, "it printed without end", "name verify_kernels with --kernels");
    case ProcessResult::End::exited:
      break;
  }
  return std::nullopt;
}

void report_kernels(const Session& session, const ProcessResult& process, const std::string& kernels, Report& report) {
  (session.options().json ? report.verification : report.out) = process.out;
  report.err += process.err;
  if (auto error = ended_badly(process, kernels)) return report.fail(std::move(*error));
  const auto meaning = meanings().find(process.code);
  if (meaning == meanings().end()) {
    return report.fail(not_run(Exit::incomplete, kernels, "it ended with exit code " + std::to_string(process.code),
                               "name verify_kernels with --kernels"));
  }
  if (meaning->second.exit == Exit::ok) return;
  report.fail({meaning->second.exit, std::string(meaning->second.words), std::nullopt,
               "what verify_kernels printed says more"});
}

Report run_kernels(const Session& session) {
  Report report;
  const Result<int> limit = number_option(session, "--limit", 1800, 1, 86'400);
  if (!limit) return report.fail(limit.error()), report;
  const Result<std::string> kernels = find_kernels(session);
  if (!kernels) return report.fail(kernels.error()), report;
  ProcessRequest request;
  request.argv = arguments(session, *kernels);
  request.environment = whole_environment(session);
  request.limit = std::chrono::seconds(*limit);
  request.max_output = std::size_t{16} << 20U;
  report_kernels(session, run_process(request), *kernels, report);
  return report;
}

Report run(const Session& session) {
  Report report;
  if (auto error = check_options(session)) return report.fail(std::move(*error)), report;
  return session.options().flag("--backend") ? verify_backend(session) : run_kernels(session);
}

}  // namespace

Command verify_command() {
  return {
      .name = "verify",
      .summary = "prove on this machine that patched attention equals the reference, and time it",
      .details =
          "Runs verify_kernels, which computes MLA attention over an FP8 pool three ways, on the CPU and on the GPU.\n"
          "\n"
          "With --backend: runs the original backend file of TREE (from the receipt) and the patched one in the\n"
          "interpreter --python EXE, with its torch, its FlashInfer and its GPU: eager and in CUDA graphs, bit for\n"
          "bit, then decode steps of a real size with error, time and memory. No model is loaded, no server is\n"
          "started, and nothing is written. PATCH: which ones; without it, all that edit that file.",
      .positionals = {"PATCH", 0, kAnyNumber},
      .trees = Command::Trees::one,
      .options = {{"--backend", "", "run the patched backend file of TREE against its original", false},
                  {"--heads", "N", "with --backend: attention heads of this GPU's share (16)", false},
                  {"--mla-kernel", "NAME", "with --backend: FlashInfer's kernel, fa2 or fa3 (the one that it picks)",
                   false},
                  {"--slots", "N", "slots of the KV pool (495552)", false},
                  {"--layers", "N", "layers; with --backend each has a pool of its own (16)", false},
                  {"--limit", "SECONDS", "end it after so long (1800)", false},
                  {"--kernels", "PATH", "where verify_kernels is, if not beside suture", false},
                  {"--only", "PART", "of verify_kernels: cpu or gpu", false},
                  {"--plant", "ERROR", "of verify_kernels: plant an error, which must be caught", false},
                  {"--bench", "", "of verify_kernels: time it on the GPU", false},
                  {"--seed", "N", "of verify_kernels: of the first case", false},
                  {"--seeds", "N", "of verify_kernels: run all cases with so many seeds", false},
                  {"--repeats", "N", "of verify_kernels: replays that a median is of", false},
                  {"--within", "PERCENT", "of verify_kernels: with --bench, how much slower than a move is a failure",
                   false}},
      .run = run,
  };
}

}  // namespace suture
