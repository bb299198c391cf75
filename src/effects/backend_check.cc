// See backend_check.h. Tests: tests/backend/verify_test.py.
#include "effects/backend_check.h"

#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "effects/sealed_json.h"
#include "effects/subprocess.h"

namespace suture {
namespace {

using nlohmann::json;

// Nothing beside the script's own folder is imported from where suture happens to be called.
constexpr std::string_view kProgram = R"(import sys
sys.path[:] = [folder for folder in sys.path if folder]
import json, os, shutil, tempfile
request = json.load(sys.stdin)
folder = tempfile.mkdtemp(prefix="suture-verify-")
try:
    for name, text in request.pop("modules").items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(text.encode("utf-8"))
    sys.path.insert(0, folder)
    import harness
    harness.main(request, folder)
finally:
    shutil.rmtree(folder, ignore_errors=True)
)";

// How much longer than it was told to the harness may take to end itself.
constexpr std::chrono::seconds kGrace{30};

std::string input_of(const BackendRequest& request) {
  json modules = json::object();
  for (const NamedBytes& file : backend_harness()) modules[file.path.substr(file.path.rfind('/') + 1)] = file.bytes;
  json added = json::object();
  for (const auto& [path, bytes] : request.added) added[path] = bytes_to_json(bytes);
  return json{{"modules", modules},
              {"file", request.file},
              {"original", bytes_to_json(request.original)},
              {"patched", bytes_to_json(request.patched)},
              {"added", added},
              {"heads", request.heads},
              {"slots", request.slots},
              {"layers", request.layers},
              {"mla_kernel", request.mla_kernel},
              {"double", request.double_folder},
              {"limit", request.limit.count()}}
      .dump();
}

Error no_answer(const BackendRequest& request, Exit code, const std::string& what, const std::string& hint) {
  return {code, request.interpreter + " (--python) cannot verify the backend: " + what, std::nullopt, hint};
}

// The last line that it printed to stderr: of a Python traceback the one that says what it is.
std::string last_words(const ProcessResult& process) {
  const std::vector<std::string_view> lines = split_lines(trim_end(process.err));
  return lines.empty() || lines.back().empty() ? "" : ": " + one_line(lines.back(), 300);
}

std::optional<Error> failure(const BackendRequest& request, const ProcessResult& process) {
  switch (process.end) {
    case ProcessResult::End::not_started:
      return no_answer(request, Exit::file_system, std::string("it cannot be run: ") + std::strerror(process.code),
                       "name the interpreter that runs the server");
    case ProcessResult::End::signalled:
      return no_answer(request, Exit::incomplete,
                       std::string("it crashed (") + strsignal(process.code) + ")" + last_words(process),
                       "run it again with CUDA_LAUNCH_BLOCKING=1; the kernel's log (dmesg) may say more");
    case ProcessResult::End::timed_out:
      return no_answer(request, Exit::timed_out, "it did not end", "--limit SECONDS gives it longer");
    case ProcessResult::End::too_much:
      return no_answer(request, Exit::file_system, "it printed without end",
                       "name the Python interpreter that runs the server");
    case ProcessResult::End::exited:
      break;
  }
  if (process.code == 0) return std::nullopt;
  return no_answer(request, Exit::file_system,
                   "it ended with exit code " + std::to_string(process.code) + last_words(process),
                   "it takes Python 3.9 or newer: name the interpreter that runs the server");
}

BackendPath path_from(const json& value) {
  using State = BackendPath::State;
  static const std::map<std::string, State> states = {{"equal", State::equal},
                                                      {"different", State::different},
                                                      {"not-run", State::not_run},
                                                      {"not-there", State::not_there}};
  return {value.at("path"), states.at(value.at("state")), value.at("why"), value.at("outputs")};
}

BackendStep step_from(const json& value) {
  BackendStep step;
  step.requests = value.at("requests");
  step.length = value.at("length");
  step.graph = value.at("how") == "graph";
  step.equal = value.at("equal");
  step.max_error = value.at("max_error");
  step.microseconds = value.at("microseconds_a_layer");
  step.host_microseconds = value.at("host_microseconds_a_layer");
  step.bytes_taken = value.at("bytes_taken");
  return step;
}

BackendAnswer answer_from(const json& document) {
  BackendAnswer answer;
  if (const json& trouble = document.at("error"); !trouble.is_null())
    answer.trouble = {trouble.at("kind").get<std::string>(), trouble.at("message").get<std::string>()};
  for (const auto& [name, version] : document.at("versions").items()) answer.versions.emplace_back(name, version);
  answer.device = document.at("device");
  for (const json& path : document.at("paths")) answer.paths.push_back(path_from(path));
  for (const json& step : document.at("steps")) answer.steps.push_back(step_from(step));
  answer.unmeasured = document.at("unmeasured");
  answer.bytes_kept = document.at("bytes_kept");
  answer.document = document.dump();
  return answer;
}

}  // namespace

Result<BackendAnswer> check_backend(const BackendRequest& request) {
  const std::string input = input_of(request);
  ProcessRequest process_request;
  process_request.environment = request.environment;
  process_request.argv = {request.interpreter, "-B", "-c", std::string(kProgram)};
  process_request.input = input;
  process_request.limit = request.limit + kGrace;
  process_request.max_output = std::size_t{16} << 20U;  // what compilers and torch print is no reason to end it
  const ProcessResult process = run_process(process_request);
  if (auto error = failure(request, process)) return *std::move(error);
  try {
    return answer_from(json::parse(process.out));
  } catch (const std::exception& error) {  // json's, and std::out_of_range of a state that is none
    return no_answer(request, Exit::file_system, "its answer is not the harness's: " + one_line(process.out, 120),
                     "name the Python interpreter that runs the server");
  }
}

}  // namespace suture
