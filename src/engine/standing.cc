// See standing.h, and judge_receipt() in plan.h. Tests: tests/unit/judge_test.cc.
#include "engine/standing.h"

#include <set>

#include "engine/resolver.h"
#include "engine/revert.h"

namespace suture {
namespace {

const FileState* find_file(const TreeState& state, const std::string& path) {
  const auto it = state.files.find(path);
  return it == state.files.end() ? nullptr : &it->second;
}

// What is there and cannot be read, with the system's words; empty: nothing of that kind.
std::string unreadable_words(const TreeState& state, const std::string& path) {
  const FileState* file = find_file(state, path);
  if (file == nullptr) return "";
  if (file->kind == FileState::Kind::unreadable) return path + " cannot be read: " + file->problem;
  return file->kind == FileState::Kind::too_large ? path + " is larger than 16 MiB" : "";
}

// A patch that the catalog does not have: the lines that it imports by are in its receipt.
std::vector<std::string> dead_imports(Workbench& bench, const TreeState& state, const ReceiptEntry& entry) {
  std::vector<std::string> out;
  const std::vector<AddedFile> none;
  for (const auto& [path, edits] : entry.edits) {
    for (const WrittenEdit& edit : edits) {
      const auto import = edit.import && !edit.touched ? read_import(edit.written) : std::nullopt;
      if (!import) continue;
      CompiledImport line = *import;
      while (!line.statement.empty() && (line.statement.back() == '\n' || line.statement.back() == '\r'))
        line.statement.pop_back();
      if (auto problem = Resolver(bench, state, none).problem(line, path)) out.push_back(std::move(problem->reason));
    }
  }
  return out;
}

}  // namespace

void judge_standing(const TreeState& state, const ReceiptEntry& entry, PatchOutcome& outcome) {
  outcome.has_receipt = true;
  std::set<std::string> lost;
  std::size_t standing = 0;
  for (const auto& [path, edits] : entry.edits) {
    for (const auto& range : standing_edits(state, entry, path)) {
      if (range) {
        ++standing;
      } else {
        lost.insert(path);
      }
    }
  }
  for (const auto& [path, sha] : entry.adds) {
    const FileState* file = find_file(state, path);
    if (file != nullptr && file->kind == FileState::Kind::regular && file->sha256 == sha) {
      ++standing;
    } else {
      lost.insert(path);
    }
  }
  outcome.verdict = lost.empty() ? Verdict::applied : Verdict::partial;
  if (lost.empty()) return;
  for (const std::string& path : lost) {
    if (std::string words = unreadable_words(state, path); !words.empty()) {
      outcome.reason = "whether what suture wrote stands cannot be said: " + words;
      outcome.hints.emplace_back("run suture as a user who may read it");
      return;
    }
  }
  std::string names;
  for (const std::string& path : lost) names += (names.empty() ? "" : ", ") + path;
  outcome.reason = "what suture wrote does not stand any more in " + names;
  outcome.hints.push_back(standing == 0
                              ? "reinstall the package, or `suture revert " + outcome.patch + "`"
                              : "`suture revert " + outcome.patch + "` takes back what stands, or says why not");
}

PatchOutcome judge_receipt(const TreeState& state, const std::string& patch) {
  Workbench bench;
  TreeState live = state;
  drop_void_entries(live);
  PatchOutcome out;
  out.patch = patch;
  const ReceiptEntry* entry = live.receipt.find(patch);
  if (entry == nullptr) {
    out.reason = "there is no receipt of it here, and no patch of that name is known";
    return out;
  }
  judge_standing(live, *entry, out);
  out.lacks = dead_imports(bench, live, *entry);
  out.notes.emplace_back("no patch of this name is known to this run: it is judged by its receipt alone");
  return out;
}

}  // namespace suture
