// See write_patch.h.
#include "engine/write_patch.h"

#include <algorithm>

#include "base/text.h"

#include "engine/edits.h"
#include "engine/imports.h"
#include "engine/soundness.h"

namespace suture {
namespace {

Error edit_error(const RuleRun& run, const RewriteProblem& problem) {
  return Error{Exit::refused, "rule " + run.rule->rule->id + " cannot edit this site: " + problem.message,
               run.file->source->locate(problem.at), problem.hint};
}

// In a file that is not UTF-8 what is not ASCII would be other characters: it is refused, not encoded, because a rule's text is
// what a person reads in it.
std::optional<Error> not_encodable(const RuleRun& run, const std::vector<Splice>& splices) {
  if (!run.file->ascii_only()) return std::nullopt;
  for (const Splice& s : splices) {
    const bool ascii =
        std::all_of(s.text.begin(), s.text.end(), [](char c) { return static_cast<unsigned char>(c) < 128; });
    if (ascii) continue;
    return edit_error(
        run, {"the file is in the encoding " + run.file->encoding + ", and the code to be written is not ASCII",
              "write the rule's text in ASCII, with escapes in its strings",
              {s.begin, s.end}});
  }
  return std::nullopt;
}

}  // namespace

Result<Splices> patch_splices(const TreeState& state, const PatchRun& run) {
  Splices out;
  for (const RuleRun& rule : run.rules) {
    auto& splices = out[rule.path];
    if (const CompiledImport* import = rule.rule->import()) {
      if (!rule.import) continue;  // no file needs it
      const std::string line = import->statement + std::string(rule.file->source->newline());
      const auto standing = standing_import(state, rule.path, line);
      if (!standing && rule.import->kind == ImportStatus::Kind::satisfied) continue;
      // A line that another patch wrote is listed again, so that it goes with the last of them.
      std::vector<Splice> wanted = standing
                                       ? std::vector<Splice>{Splice{standing->begin, standing->begin, line, "", true}}
                                       : insert_import(rule.file->target(), *import);
      for (Splice& s : wanted) s.rule = rule.rule->rule->id;
      if (auto error = not_encodable(rule, wanted)) return *error;
      splices.insert(splices.end(), wanted.begin(), wanted.end());
      continue;
    }
    for (const Site& site : rule.sites.old) {
      Rewrite rewrite = edit_site(*rule.rule, rule.file->target(), site);
      if (rewrite.problem) return edit_error(rule, *rewrite.problem);
      if (auto error = not_encodable(rule, rewrite.splices)) return *error;
      splices.insert(splices.end(), rewrite.splices.begin(), rewrite.splices.end());
    }
  }
  std::erase_if(out, [](const auto& entry) { return entry.second.empty(); });  // rules without a file among them
  for (auto& [path, splices] : out) {
    const auto owner = std::find_if(run.rules.begin(), run.rules.end(),
                                    [wanted = path](const RuleRun& r) { return r.path == wanted; });
    if (const auto overlap = order_splices(owner->file->target(), splices)) {
      return Error{Exit::bad_rule, "the rules " + overlap->first + " and " + overlap->second + " edit the same bytes",
                   owner->file->source->locate(overlap->at), "make one rule of the two, or narrow one of them"};
    }
  }
  return out;
}

namespace {

// What the grammar lets pass and Python does not (soundness.h), where the edits brought it in.
std::optional<Error> new_fault(const RuleRun& was, const RuleRun& now) {
  if (!now.file || !was.file || now.path != was.path || now.file == was.file || now.file->problem) return std::nullopt;
  const std::vector<Fault> before = python_faults(was.file->target());
  const std::vector<Fault> after = python_faults(now.file->target());
  if (after.size() <= before.size()) return std::nullopt;
  // The first that the file did not have: those in front of it are as they were.
  std::size_t i = 0;
  while (i < before.size() && after[i].what == before[i].what &&
         was.file->source->text(before[i].at) == now.file->source->text(after[i].at))
    ++i;
  return Error{Exit::bad_rule, "rule edits would leave code that Python does not accept: " + after[i].what,
               now.file->source->locate(after[i].at), "the rules are wrong for this file; nothing was written"};
}

// The same rule in the same file, once that is written. A file of a glob in which the rule has nothing any more is not among
// its files: then it has no site there.
RuleRun counterpart(Workbench& bench, const TreeState& after, const PatchRun& run, const RuleRun& was) {
  for (const RuleRun& now : run.rules) {
    if (now.rule == was.rule && (now.path == was.path || !was.of_glob)) return now;
  }
  RuleRun none;
  none.rule = was.rule;
  none.path = was.path;
  const auto file = after.files.find(was.path);
  if (file != after.files.end() && file->second.bytes) none.file = bench.files().get(was.path, file->second);
  return none;
}

// All rules are classified on the spliced bytes: every edited site must be a result, none old, and no new syntax error.
std::optional<Error> verify_result(Workbench& bench, const TreeState& after, const Patch& patch,
                                   const PatchRun& before) {
  const PatchRun run = run_patch(bench, after, patch);
  std::vector<std::string> broken;
  for (const RuleRun& was : before.rules) {
    const RuleRun now = counterpart(bench, after, run, was);
    if (now.file && was.file && now.path == was.path && now.file->tree.error_count() > was.file->tree.error_count()) {
      return Error{Exit::bad_rule, "the edits of " + patch.name + " would leave a syntax error in " + now.path,
                   now.file->first_error(), "the rules are wrong for this file; nothing was written"};
    }
    if (auto fault = new_fault(was, now)) return *fault;
    const std::size_t wanted = was.rule->least_results(was.sites.result.size() + was.sites.old.size());
    const bool good = was.import ? now.import && now.import->kind == ImportStatus::Kind::satisfied
                                 : now.sites.old.empty() && now.sites.ambiguous.empty() &&
                                       now.sites.unresolved.empty() && now.sites.result.size() >= wanted;
    const std::string& id = was.rule->rule->id;
    if (!good && (broken.empty() || broken.back() != id)) broken.push_back(id);
  }
  if (broken.empty()) return std::nullopt;
  const Rule& first = *run.rules.front().rule->rule;
  return Error{
      Exit::bad_rule,
      "after the edits of " + patch.name + " the code is not what these rules call a result: " + join(broken, ", "),
      first.source->locate(first.at), "mend the rules, or write out `applied:`; nothing was written"};
}

}  // namespace

Result<TreeState> write_patch(Workbench& bench, const TreeState& state, const Patch& patch, const PatchRun& run) {
  auto splices = patch_splices(state, run);
  if (!splices) return splices.error();
  TreeState after = state;
  ReceiptEntry entry;
  entry.patch = patch.name;
  entry.edition = patch.edition;
  entry.version = state.dist.version.value_or(state.dist.assumed);
  for (const auto& [path, list] : *splices) write_edits(after, entry, path, list);
  for (const AddedFile& added : patch.adds) write_added_file(after, entry, added.path.value, added.bytes);
  after.receipt.patches.push_back(std::move(entry));
  if (auto error = verify_result(bench, after, patch, run)) return *error;
  return after;
}

}  // namespace suture
