// See verify_backend.h. Tests: tests/backend/verify_test.py, tests/cli/verify_test.py.
#include "shell/verify_backend.h"

#include <algorithm>
#include <array>

#include "effects/backend_check.h"
#include "effects/environment.h"
#include "engine/revert.h"
#include "shell/planning.h"
#include "shell/verify_text.h"

namespace suture {
namespace {

constexpr const char* kPackage = "sglang";
// What can be verified, the default first: verify_backend/subjects.py has the same files.
constexpr std::array<const char*, 2> kBackends = {"srt/layers/attention/flashinfer_mla_backend.py",
                                                  "srt/layers/attention/flashattention_backend.py"};
constexpr const char* kDouble = "SUTURE_BACKEND_DOUBLE";

Error unfit(std::string message, std::string hint) {
  return {Exit::unfit, std::move(message), std::nullopt, std::move(hint)};
}

// One backend file, and the entries of the receipt that edit it and are to be verified.
struct Subject {
  const char* backend = nullptr;
  std::vector<const ReceiptEntry*> entries;
};

std::string either_backend(const Target& target) {
  return shown_path(target, kBackends[0]) + " or " + shown_path(target, kBackends[1]);
}

const char* backend_of(const ReceiptEntry& entry) {
  for (const char* backend : kBackends) {
    if (entry.edits.contains(backend)) return backend;
  }
  return nullptr;
}

Result<Subject> named_subject(const Session& session, const Catalog& catalog, const Target& target) {
  Subject subject;
  for (const std::string& name : session.options().names) {
    const ReceiptEntry* entry = target.state.receipt.find(name);
    if (entry == nullptr && catalog.find(name) == nullptr) return unknown_patch(catalog, name);
    if (entry == nullptr) {
      return unfit(
          "there is no receipt of " + name + " in " + target.state.display,
          "suture apply " + name + " writes one; it holds the original bytes, which are one side of the check");
    }
    const char* backend = backend_of(*entry);
    if (backend == nullptr)
      return unfit(name + " does not edit " + either_backend(target), "verify --backend runs these files alone");
    if (subject.backend != nullptr && subject.backend != backend) {
      return unfit(name + " and " + subject.entries.front()->patch + " edit different backends",
                   "a run verifies one: name them one at a time");
    }
    subject.backend = backend;
    subject.entries.push_back(entry);
  }
  return subject;
}

// Those that are named, else all of the first backend that a patch edits; a note names those that are left out.
Result<Subject> subject_of(const Session& session, const Catalog& catalog, const Target& target, Report& report) {
  if (!session.options().names.empty()) return named_subject(session, catalog, target);
  Subject subject;
  for (const char* backend : kBackends) {
    for (const ReceiptEntry& entry : target.state.receipt.patches) {
      if (!entry.edits.contains(backend)) continue;
      if (subject.backend == nullptr) subject.backend = backend;
      if (subject.backend == backend) {
        subject.entries.push_back(&entry);
      } else {
        note(session, report,
             "note: " + entry.patch + " is not verified in this run: it edits " + shown_path(target, backend) +
                 "; suture verify --backend " + entry.patch + " does\n");
      }
    }
  }
  if (subject.backend != nullptr) return subject;
  return unfit("no receipt in " + target.state.display + " is of a patch of " + either_backend(target),
               "apply one first: suture list shows the patches");
}

Result<Target> load(const Session& session, const Catalog& catalog) {
  Result<Target> target = load_target(session, catalog, {kPackage, kPackage, {}}, session.options().value("--tree"));
  if (!target) return target;
  if (!target->state.present) {
    return unfit("there is no package sglang in " + target->state.display + " (" + target->tree.how + ")",
                 "say with --tree where it is");
  }
  return target;
}

// The two texts, and the files beside the patched one.
Status read_sides(const Session& session, const Target& target, std::string_view backend, BackendRequest& request,
                  Report& report) {
  const TreeState& state = target.state;
  const std::string shown = shown_path(target, std::string(backend));
  const auto file = state.files.find(std::string(backend));
  if (file == state.files.end() || !file->second.bytes)
    return Error{Exit::file_system, shown + " cannot be read", std::nullopt, reinstall_hint(state)};
  const ReceiptFile& known = state.receipt.files.at(std::string(backend));
  const auto blob = state.blobs.find(known.original_sha256);
  if (blob == state.blobs.end()) {
    return Error{Exit::file_system, "the original bytes of " + shown + " in .suture/blobs are missing or damaged",
                 std::nullopt, reinstall_hint(state) + ", and apply again"};
  }
  request.file = backend.substr(backend.rfind('/') + 1);
  request.original = blob->second;
  request.patched = *file->second.bytes;
  if (file->second.sha256 != known.left_sha256)
    note(session, report, "note: " + shown + " was edited since; it is verified as it is now\n");
  for (const ReceiptEntry& entry : state.receipt.patches) {
    for (const auto& [path, hash] : entry.adds) {
      const auto added = state.files.find(path);
      if (added != state.files.end() && added->second.bytes) request.added[path] = *added->second.bytes;
    }
  }
  return Nothing{};
}

Status read_numbers(const Session& session, BackendRequest& request) {
  const auto heads = number_option(session, "--heads", request.heads, 1, 128);
  if (!heads) return heads.error();
  const auto slots = number_option(session, "--slots", request.slots, 1024, 29'000'000);
  if (!slots) return slots.error();
  const auto layers = number_option(session, "--layers", request.layers, 1, 128);
  if (!layers) return layers.error();
  const auto limit = number_option(session, "--limit", 1800, 1, 86'400);
  if (!limit) return limit.error();
  request.mla_kernel = session.options().value("--mla-kernel");
  if (!request.mla_kernel.empty() && request.mla_kernel != "fa2" && request.mla_kernel != "fa3")
    return Error{Exit::usage, "--mla-kernel is given \"" + request.mla_kernel + "\"", std::nullopt,
                 "fa2 and fa3 are FlashInfer's MLA kernels that SGLang may run"};
  request.heads = *heads;
  request.slots = *slots;
  request.layers = *layers;
  request.limit = std::chrono::seconds(*limit);
  return Nothing{};
}

Result<BackendRequest> request_of(const Session& session, const Target& target, std::string_view backend,
                                  Report& report) {
  BackendRequest request;
  if (Status read = read_numbers(session, request); !read) return read.error();
  Result<std::string> interpreter = interpreter_of(session);
  if (!interpreter) return interpreter.error();
  request.interpreter = std::move(*interpreter);
  request.environment = whole_environment(session);
  request.double_folder = value_of(session.environment(), kDouble);
  if (Status read = read_sides(session, target, backend, request, report); !read) return read.error();
  return request;
}

std::string heading(const Target& target, const std::vector<const ReceiptEntry*>& entries) {
  std::string text = "sglang " + target.state.dist.version.value_or("of unknown version") + ":";
  for (const ReceiptEntry* entry : entries) text += " " + entry->patch;
  return text + ", original against patched\n";
}

void report_answer(const Session& session, const BackendAnswer& answer, Report& report) {
  report.out += backend_text(answer);
  report.verification = answer.document;
  if (auto problem = backend_problem(answer)) return report.fail(std::move(*problem));
  const bool double_used = !value_of(session.environment(), kDouble).empty();
  report.out +=
      std::string(double_used ? "\ncompared on the CPU's double: " : "\npassed: ") + backend_summary(answer) + "\n";
}

}  // namespace

std::vector<std::string> whole_environment(const Session& session) {
  std::vector<std::string> out;
  for (const auto& [name, value] : session.environment()) out.push_back(name + "=" + value);
  return out;
}

Report verify_backend(const Session& session) {
  Report report;
  if (!session.options().flag("--python")) {
    report.fail({Exit::usage, "verify --backend needs --python EXE", std::nullopt,
                 "name the interpreter that runs the server: it has the torch and the FlashInfer to verify with"});
    return report;
  }
  Result<Catalog> catalog = session.open_catalog();
  if (!catalog) return report.fail(catalog.error()), report;
  Result<Target> target = load(session, *catalog);
  if (!target) return report.fail(target.error()), report;
  report.trees.push_back(report_on(*target));
  note_where(session, target->tree, report);
  const Result<Subject> subject = subject_of(session, *catalog, *target, report);
  if (!subject) return report.fail(subject.error()), report;
  Result<BackendRequest> request = request_of(session, *target, subject->backend, report);
  if (!request) return report.fail(request.error()), report;
  report.out = heading(*target, subject->entries);
  Result<BackendAnswer> answer = check_backend(*request);
  if (!answer) return report.fail(answer.error()), report;
  report_answer(session, *answer, report);
  return report;
}

}  // namespace suture
