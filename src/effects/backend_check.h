// The check of a patched backend file in the target's own interpreter, with its torch, its FlashInfer and its GPU: the
// original file and the patched one, each loaded alone by the harness (verify_backend/, embedded), on the same inputs.
//
// It is run as EXE -B -c PROGRAM with the caller's whole environment, which decides what torch and FlashInfer find, and
// gets harness and files on stdin. Nothing of the target's sglang is imported; the files go to a temporary folder
// that the harness removes (Triton reads the source of its kernels from a file).
#pragma once

#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "read/catalog.h"

namespace suture {

// verify_backend/*.py.
const std::vector<NamedBytes>& backend_harness();

struct BackendRequest {
  std::string interpreter;
  std::vector<std::string> environment;
  std::string file;                          // which backend file, by its name: verify_backend/subjects.py knows them
  std::string original, patched;             // its two texts
  std::map<std::string, std::string> added;  // by path in the package: what the patches added
  int heads = 16, slots = 495'552, layers = 16;
  std::string mla_kernel;     // "fa2" or "fa3"; empty: the one that FlashInfer picks
  std::string double_folder;  // for tests: the CPU's double of GPU and FlashInfer; empty: the real ones
  std::chrono::seconds limit{0};
};

// One way through the backend, on both sides.
struct BackendPath {
  std::string name;
  enum class State { equal, different, not_run, not_there } state = State::not_run;
  std::string why;
  int outputs = 0;
};

// A decode step of a real size; pairs: original, patched. Times are microseconds a layer.
struct BackendStep {
  int requests = 0, length = 0;
  bool graph = false, equal = false;
  std::array<double, 2> max_error{}, microseconds{}, host_microseconds{};
  std::array<double, 2> bytes_taken{};  // beyond what was there; of a graph: its private pool
};

struct BackendAnswer {
  std::optional<std::pair<std::string, std::string>> trouble;  // kind (harness.py lists them) and message
  std::vector<std::pair<std::string, std::string>> versions;   // "torch", "2.11.0+cu130"
  std::string device;
  std::vector<BackendPath> paths;
  std::vector<BackendStep> steps;
  std::string unmeasured;  // why there are no steps
  std::array<double, 2> bytes_kept{};
  std::string document;  // the answer as it came, JSON
};

// Error (file_system): the interpreter is not there, cannot be run, or answered something else. Error (incomplete): it
// crashed. Error (timed_out): it did not even end when it should have ended itself.
Result<BackendAnswer> check_backend(const BackendRequest& request);

}  // namespace suture
