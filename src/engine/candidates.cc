// See candidates.h, and run.h for what is decided here. Tests: tests/unit/candidates_test.cc, tests/cli/files_test.py.
#include "engine/candidates.h"

#include <algorithm>
#include <iterator>

#include "engine/evidence.h"
#include "read/glob.h"

namespace suture {
namespace {

// A file of the package that exists and cannot be looked at as it is.
std::shared_ptr<const ParsedFile> unreadable(const std::string& path, const FileState& file) {
  auto out = std::make_shared<ParsedFile>();
  out->source = std::make_unique<const Source>(path, "");
  Location where;
  where.file = path;
  const bool large = file.kind == FileState::Kind::too_large;
  out->problem =
      Error{Exit::refused, large ? "the file is larger than 16 MiB" : "the file cannot be read: " + file.problem, where,
            large ? "suture does not parse files of this size; is it Python source?" : ""};
  return out;
}

bool holds_all_parts(const std::string& bytes, const std::string& scope) {
  for (std::size_t begin = 0; begin <= scope.size();) {
    const std::size_t end = std::min(scope.find('.', begin), scope.size());
    const std::string part = scope.substr(begin, end - begin);
    if (part != "*" && bytes.find(part) == std::string::npos) return false;
    begin = end + 1;
  }
  return true;
}

// A scope that `in` names is in no file without its names: such a file of a glob is not parsed.
bool may_hold_scope(const Rule& rule, const FileState& file) {
  if (rule.in.empty() || file.kind != FileState::Kind::regular) return true;
  return std::any_of(rule.in.begin(), rule.in.end(),
                     [&file](const Text& scope) { return holds_all_parts(*file.bytes, scope.value); });
}

void count_together(std::vector<RuleRun>& runs) {
  if (runs.front().rule->rule->expect.per_file) return;
  std::uint32_t total = 0;
  for (const RuleRun& run : runs) total += run.sites.count();
  for (RuleRun& run : runs) run.elsewhere = total - run.sites.count();
}

void append(std::vector<RuleRun>& to, std::vector<RuleRun> from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

// --- add_import: where the other rules are

template <class Test>
bool any_other(const std::vector<RuleRun>& all, const std::string& path, Test test) {
  return std::any_of(all.begin(), all.end(), [&](const RuleRun& other) {
    return other.rule->import() == nullptr && other.path == path && test(other.sites);
  });
}
bool is_used(const std::vector<RuleRun>& all, const std::string& path) {
  return any_other(all, path, [](const RuleSites& sites) { return sites.scope_found; });
}
bool is_edited(const std::vector<RuleRun>& all, const std::string& path) {
  return any_other(all, path, [](const RuleSites& sites) { return !sites.old.empty() || !sites.result.empty(); });
}

std::vector<std::string> edited_files(const std::vector<RuleRun>& all) {
  std::vector<std::string> out;
  for (const RuleRun& run : all) {
    const bool known = std::find(out.begin(), out.end(), run.path) != out.end();
    if (!run.path.empty() && !known && is_edited(all, run.path)) out.push_back(run.path);
  }
  return out;
}

}  // namespace

std::vector<std::string> Candidates::named(const std::string& candidate) const {
  std::vector<std::string> paths = files_named(state_.files, candidate);
  if (is_glob(candidate)) std::erase_if(paths, [this](const std::string& path) { return is_added(path); });
  return paths;
}

bool Candidates::is_added(const std::string& path) const {
  const auto known = state_.receipt.files.find(path);
  if (known != state_.receipt.files.end() && known->second.original_sha256.empty() && !known->second.existed)
    return true;
  return std::any_of(patch_.adds.begin(), patch_.adds.end(),
                     [&path](const AddedFile& added) { return added.path.value == path; });
}

RuleRun Candidates::look(const CompiledRule& rule, const std::string& path, const std::string& glob) {
  RuleRun run;
  run.rule = &rule;
  run.path = path;
  run.of_glob = !glob.empty();
  if (run.of_glob) run.looked_at = {glob};
  const FileState& file = at(path);
  const bool regular = file.kind == FileState::Kind::regular;
  run.file = regular ? bench_.files().get(path, file) : unreadable(path, file);
  if (run.file->problem) return run;
  if (const CompiledImport* import = rule.import()) {
    run.import = find_import(run.file->target(), *import, path, state_.folder);
    run.sites.scope_found = true;
  } else {
    run.sites = find_sites(rule, run.file->target(), deciding_version(state_));
  }
  return run;
}

std::vector<RuleRun> Candidates::choose(const CompiledRule& rule, std::vector<std::string>& looked_for) {
  Runs first;
  std::vector<std::string> looked_at;
  for (const Text& candidate : rule.rule->files) {
    const std::string& name = candidate.value;
    const bool glob = is_glob(name);
    if (glob && rule.import() != nullptr) continue;  // follow_other_rules() knows its files
    const std::vector<std::string> paths = named(name);
    if (paths.empty()) {
      if (std::find(looked_for.begin(), looked_for.end(), name) == looked_for.end()) looked_for.push_back(name);
      continue;
    }
    looked_at.push_back(name);
    bool found = false;
    Runs runs = glob ? in_glob(rule, name, found) : in_path(rule, name, found);
    if (found) return runs;
    if (first.empty()) first = std::move(runs);
  }
  if (first.empty()) {
    first.emplace_back();
    first.front().rule = &rule;
  }
  first.front().looked_at = std::move(looked_at);
  return first;
}

std::vector<RuleRun> Candidates::in_path(const CompiledRule& rule, const std::string& path, bool& found) {
  Runs runs;
  runs.push_back(look(rule, path));
  found = runs.front().stands();
  return runs;
}

// The files in which the code stands, with those that cannot be read; where it stands in none, the one to speak of.
std::vector<RuleRun> Candidates::in_glob(const CompiledRule& rule, const std::string& glob, bool& found) {
  const std::vector<std::string> paths = named(glob);
  Runs runs;
  for (const std::string& path : paths) {
    if (!may_hold_scope(*rule.rule, at(path))) continue;
    RuleRun run = look(rule, path, glob);
    const bool here = run.stands();
    found = found || here;
    if (here || run.file->problem) runs.push_back(std::move(run));
  }
  if (!found) {
    if (runs.empty()) runs.push_back(nearest_of(rule, paths, glob));
    runs.resize(1);
    return runs;
  }
  count_together(runs);
  if (runs.front().count() < rule.rule->expect.min) add_alike(runs, rule, paths, glob);
  return runs;
}

// Where too few sites count together: files without any that hold something like it, for the evidence.
void Candidates::add_alike(Runs& runs, const CompiledRule& rule, const std::vector<std::string>& paths,
                           const std::string& glob) {
  if (rule.rule->expect.per_file) return;
  const std::uint32_t total = runs.front().count();
  for (const std::string& path : paths) {
    if (!may_hold_scope(*rule.rule, at(path))) continue;
    RuleRun run = look(rule, path, glob);
    if (run.file->problem || run.stands()) continue;
    run.elsewhere = total;
    if (!nearest_candidates(*run.rule, run.path, run.file->target(), run.sites).empty()) runs.push_back(std::move(run));
  }
}

// Of files in which the code stands nowhere: one that may hide it, else one that holds something like it, else the first.
RuleRun Candidates::nearest_of(const CompiledRule& rule, const std::vector<std::string>& paths,
                               const std::string& glob) {
  std::optional<RuleRun> like;
  for (const std::string& path : paths) {
    if (!may_hold_scope(*rule.rule, at(path))) continue;
    RuleRun run = look(rule, path, glob);
    if (run.file->tree.broken()) return run;
    if (!like && !nearest_candidates(*run.rule, run.path, run.file->target(), run.sites).empty()) like = std::move(run);
  }
  return like ? std::move(*like) : look(rule, paths.front(), glob);
}

void Candidates::follow_other_rules(std::vector<RuleRun>& all) {
  Runs out;
  for (const RuleRun& run : all) {
    if (run.rule->import() != nullptr) {
      append(out, where_others_are(run, all));
    } else {
      out.push_back(run);
    }
  }
  all = std::move(out);
}

std::vector<RuleRun> Candidates::where_others_are(const RuleRun& chosen, const std::vector<RuleRun>& all) {
  const CompiledRule& rule = *chosen.rule;
  bool globs = false;
  for (const Text& candidate : rule.rule->files) {
    const std::string& name = candidate.value;
    const bool glob = is_glob(name);
    globs = globs || glob;
    if (glob ? is_used(all, chosen.path) : name == chosen.path) continue;
    std::vector<std::string> paths = named(name);
    std::erase_if(paths, [&](const std::string& path) {
      return glob ? !is_edited(all, path) : !is_used(all, path) || at(path).kind != FileState::Kind::regular;
    });
    if (paths.empty()) continue;
    Runs runs;
    for (const std::string& path : paths) runs.push_back(look(rule, path, glob ? name : ""));
    return runs;
  }
  RuleRun none = chosen;
  none.of_glob = globs && chosen.path.empty();
  if (none.of_glob) none.unserved = edited_files(all);
  return {std::move(none)};
}

}  // namespace suture
