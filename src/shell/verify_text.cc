// See verify_text.h. Tests: tests/unit/verify_text_test.cc, tests/backend/verify_test.py.
#include "shell/verify_text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

#include "base/text.h"
#include "shell/words.h"

namespace suture {
namespace {

using State = BackendPath::State;

// Names of verify_backend/paths.py and fa3_paths.py. A run without one of them proves too little to be called passed.
constexpr std::array<std::string_view, 4> kEveryRelease = {"eager decode", "graph decode, eager steps between",
                                                           "paged extend", "pool of the query's dtype"};

struct Trouble {
  Exit exit;
  std::string_view what, hint;
};

// Kinds of harness.py.
const std::map<std::string, Trouble, std::less<>>& troubles() {
  static const std::map<std::string, Trouble, std::less<>> table = {
      {"no-torch",
       {Exit::no_torch, "the interpreter has no torch that loads",
        "give --python the interpreter that runs the server"}},
      {"no-gpu",
       {Exit::skipped, "skipped, nothing was verified: there is no GPU that torch can use here",
        "run it on the GPU host; in a container, start it with --gpus all; is CUDA_VISIBLE_DEVICES empty?"}},
      {"driver-too-old",
       {Exit::gpu_unfit, "nothing was verified: the GPU's driver is too old for this torch",
        "update the driver, or take a torch of the CUDA version that nvidia-smi shows"}},
      {"not-taken",
       {Exit::gpu_unfit, "nothing was verified: on this GPU the patch changes nothing",
        "what it assumes of the machine stands in `suture explain`; run it on such a GPU"}},
      {"no-flashinfer",
       {Exit::no_flashinfer, "the interpreter has no FlashInfer that loads",
        "give --python the interpreter that runs the server, or install the FlashInfer that SGLang pins"}},
      {"flashinfer-fails",
       {Exit::no_flashinfer, "FlashInfer cannot compile or run its MLA kernel",
        "it needs nvcc of torch's CUDA version (CUDA_HOME) and ninja, or its prebuilt kernels (flashinfer-jit-cache)"}},
      {"no-sgl-kernel",
       {Exit::no_flashinfer, "the interpreter has no sgl_kernel that loads, which has FlashAttention 3",
        "give --python the interpreter that runs the server, or install the sglang-kernel that SGLang pins"}},
      {"sgl-kernel-fails",
       {Exit::no_flashinfer, "FlashAttention 3 of sgl_kernel does not run on this GPU",
        "it needs a GPU of compute capability 8.x or 9.0, and an sglang-kernel of torch's CUDA version"}},
      {"out-of-memory",
       {Exit::out_of_memory, "the GPU has too little free memory",
        "stop what else runs on it, or ask for less: --slots 65536 --layers 4"}},
      {"timed-out", {Exit::timed_out, "it did not end in time", "--limit SECONDS gives it longer"}},
      {"gpu-lost",
       {Exit::incomplete, "a fault ended the CUDA context, and nothing after it was run",
        "the side that faulted is named; CUDA_LAUNCH_BLOCKING=1 names the kernel"}},
      {"crashed",
       {Exit::incomplete, "the harness ended with an error",
        "this may be a bug of suture: report it with the versions"}},
  };
  return table;
}

std::string short_number(double value) {
  std::array<char, 64> buffer{};
  static_cast<void>(std::snprintf(buffer.data(), buffer.size(), "%.1e", value));
  return buffer.data();
}

std::string microseconds(double value) {
  return fixed(value, value < 100 ? 1 : 0);
}

std::string megabytes(double bytes) {
  return fixed(bytes / 1e6, 1);
}

std::string path_line(const BackendPath& path) {
  switch (path.state) {
    case State::equal:
      return "equal      " + path.name + " (" + count_of(static_cast<std::size_t>(path.outputs), "output", "outputs") +
             ")\n";
    case State::different:
      return "DIFFERENT  " + path.name + ": " + printable(path.why) + "\n";
    case State::not_run:
      return "not run    " + path.name + ": " + printable(path.why) + "\n";
    case State::not_there:
      return "not there  " + path.name + ": this release has no such path\n";
  }
  return "";
}

std::string step_line(const BackendStep& step) {
  const std::string name =
      std::to_string(step.requests) + " x " + std::to_string(step.length) + (step.graph ? ", graph" : ", eager");
  const double times = step.microseconds[1] > 0 ? step.microseconds[0] / step.microseconds[1] : 0;
  // A replay is issued once for all layers: its host time says nothing about the patch.
  const auto host = [&step](std::size_t side) {
    return step.graph ? std::string("-") : microseconds(step.host_microseconds[side]);
  };
  return pad(name, 18) + pad_left(microseconds(step.microseconds[0]), 8) +
         pad_left(microseconds(step.microseconds[1]), 8) + pad_left(fixed(times, 1), 7) + pad_left(host(0), 9) +
         pad_left(host(1), 8) + pad_left(short_number(step.max_error[0]), 11) +
         pad_left(short_number(step.max_error[1]), 9) + pad_left(megabytes(step.bytes_taken[0]), 9) +
         pad_left(megabytes(step.bytes_taken[1]), 8) + (step.equal ? "   equal\n" : "   DIFFERENT\n");
}

std::string steps_text(const BackendAnswer& answer) {
  if (answer.steps.empty()) return answer.unmeasured.empty() ? "" : "\nnot measured: " + answer.unmeasured + "\n";
  std::string text =
      "\nDecode steps, original and patched: us a layer (median of 5), how many times less, us of the host to issue a "
      "layer,\n"
      "largest error against float32, MB taken at the peak (of a graph: its private pool), and whether the bits are "
      "equal.\n\n" +
      pad("requests x length", 18) + pad_left("us", 8) + pad_left("us", 8) + pad_left("times", 7) +
      pad_left("host", 9) + pad_left("host", 8) + pad_left("error", 11) + pad_left("error", 9) + pad_left("MB", 9) +
      pad_left("MB", 8) + "   bits\n";
  for (const BackendStep& step : answer.steps) text += step_line(step);
  return text + "\nKept for good: " + megabytes(answer.bytes_kept[0]) + " MB and " + megabytes(answer.bytes_kept[1]) +
         " MB.\n";
}

std::size_t count_state(const BackendAnswer& answer, State state) {
  return static_cast<std::size_t>(std::count_if(answer.paths.begin(), answer.paths.end(),
                                                [state](const BackendPath& path) { return path.state == state; }));
}

std::optional<Error> difference(const BackendAnswer& answer) {
  for (const BackendPath& path : answer.paths) {
    if (path.state != State::different) continue;
    return Error{Exit::verification, "verification failed: " + path.name + ": " + path.why, std::nullopt,
                 "suture revert takes the patch back"};
  }
  for (const BackendStep& step : answer.steps) {
    if (step.equal) continue;
    return Error{Exit::verification,
                 "verification failed: " + std::to_string(step.requests) + " x " + std::to_string(step.length) +
                     " tokens give other bits than the original file",
                 std::nullopt, "suture revert takes the patch back"};
  }
  return std::nullopt;
}

}  // namespace

std::string backend_text(const BackendAnswer& answer) {
  std::string text = answer.device.empty() ? "" : printable(answer.device) + "\n";
  std::vector<std::string> versions;
  for (const auto& [name, version] : answer.versions) {
    if (!version.empty()) versions.push_back(printable(name + " " + version));
  }
  if (!versions.empty()) text += join(versions, ", ") + "\n";
  if (!answer.paths.empty()) text += "\n";
  for (const BackendPath& path : answer.paths) text += path_line(path);
  return text + steps_text(answer);
}

std::optional<Error> backend_problem(const BackendAnswer& answer) {
  if (auto error = difference(answer)) return error;
  if (answer.trouble) {
    const auto& [kind, message] = *answer.trouble;
    const auto known = troubles().find(kind);
    const Trouble& trouble = known != troubles().end() ? known->second : troubles().at("crashed");
    return Error{trouble.exit, std::string(trouble.what) + ": " + one_line(printable(message), 600), std::nullopt,
                 std::string(trouble.hint)};
  }
  for (const std::string_view name : kEveryRelease) {
    const bool ran = std::any_of(answer.paths.begin(), answer.paths.end(), [name](const BackendPath& path) {
      return path.name == name && path.state == State::equal;
    });
    if (ran) continue;
    return Error{Exit::incomplete, "\"" + std::string(name) + "\" could not be run, so nothing is proved", std::nullopt,
                 "the line above says why; this suture may know nothing of this release of SGLang"};
  }
  return std::nullopt;
}

std::string backend_summary(const BackendAnswer& answer) {
  std::string text = count_of(count_state(answer, State::equal), "path", "paths");
  if (!answer.steps.empty()) text += " and " + count_of(answer.steps.size(), "step", "steps");
  text += " equal bit for bit";
  if (const std::size_t left = count_state(answer, State::not_run); left > 0)
    text += "; " + count_of(left, "path", "paths") + " did not run";
  return text;
}

}  // namespace suture
