// See misfit.h. Tests: tests/unit/evidence_test.cc; tests/cli/evidence_test.py has the messages.
#include "engine/misfit.h"

#include <algorithm>

#include "base/text.h"
#include "engine/difference.h"
#include "engine/edits.h"
#include "engine/evidence.h"
#include "engine/foreign_diff.h"
#include "engine/leads.h"
#include "engine/narrow.h"
#include "engine/revert.h"
#include "engine/unread.h"

namespace suture {
namespace {

bool overlap(Range a, Range b) {
  return a.begin < b.end && b.begin < a.end;
}

// The site as one shape reads it.
std::optional<Site> reading_of(const CompiledRule& rule, const CodeView& target, const Site& site, std::size_t index) {
  const CompiledShape& shape = rule.shapes[index];
  for (Match& match : find_narrowed(shape.narrow, target, site.scope)) {
    if (!overlap(match.range(*target.tree), site.match.range(*target.tree))) continue;
    Site out{site.scope, std::move(match), index, kNone};
    if (const auto* argument = shape.edit ? std::get_if<CompiledArgument>(&*shape.edit) : nullptr)
      out.argument = find_argument(target, out.match.nodes[0], *argument);
    return out;
  }
  return std::nullopt;
}

// What the shape's edit makes of the site, on one line.
std::string written_by(const CompiledRule& rule, const CodeView& target, const Site& site) {
  Rewrite rewrite = edit_site(rule, target, site);
  if (rewrite.problem) return "it could not be edited so: " + rewrite.problem->message;
  (void)order_splices(target, rewrite.splices);
  const Range at = site.match.range(*target.tree);
  std::uint32_t begin = at.begin, end = at.end;
  std::int64_t growth = 0;
  for (const Splice& each : rewrite.splices) {
    begin = std::min(begin, each.begin);
    end = std::max(end, each.end);
    growth += static_cast<std::int64_t>(each.text.size()) - (each.end - each.begin);
  }
  const std::string after = splice(target.source->bytes(), rewrite.splices);
  const auto size = static_cast<std::size_t>(static_cast<std::int64_t>(end - begin) + growth);
  return "it would write `" + one_line(std::string_view(after).substr(begin, size), 100) + "`";
}

Evidence shape_evidence(const RuleRun& run, const Site& site, std::size_t index) {
  const CodeView target = run.file->target();
  const CompiledShape& shape = run.rule->shapes[index];
  const std::optional<Site> reading = reading_of(*run.rule, target, site, index);
  const std::string by = shape.narrow.match ? ", " + quoted_code(*shape.narrow.match) : std::string();
  Evidence out = site_evidence(run.path, target, reading ? *reading : site);
  out.text = "shape " + std::to_string(index + 1) + by + ": " + out.text;
  if (reading) out.detail = written_by(*run.rule, target, *reading);
  out.column = true;
  return out;
}

std::vector<Range> scope_ranges(const RuleRun& run) {
  std::vector<Range> out;
  if (!run.file || run.file->problem || run.import || run.rule->rule->in.empty()) return out;
  for (const NodeId scope : find_scopes(run.file->target(), scope_names(*run.rule->rule)))
    out.push_back(run.file->tree.range(scope));
  return out;
}

// The difference of one edited file, near the scopes of the rules that fail in it.
void add_diff(PatchOutcome& outcome, const TreeState& state, const std::vector<const RuleRun*>& runs,
              const std::string& path) {
  std::vector<Range> near;
  bool whole = false;
  for (const RuleRun* run : runs) {
    if (run->path != path) continue;
    const std::vector<Range> scopes = scope_ranges(*run);
    whole = whole || scopes.empty();
    near.insert(near.end(), scopes.begin(), scopes.end());
  }
  if (whole) near.clear();
  const std::optional<ForeignDiff> diff = foreign_diff(state, path, near);
  if (diff) {
    outcome.diff += diff->text;
    if (!diff->note.empty()) outcome.notes.push_back(path + ": " + diff->note);
    outcome.hints.push_back("undo that edit, or " + reinstall_hint(state));
    return;
  }
  const std::string version = state.dist.version ? "==" + *state.dist.version : "";
  outcome.hints.push_back("what was shipped is known by its hash alone: pip download --no-deps " + state.package +
                          version + " brings the bytes to compare with");
  outcome.hints.push_back("undo the edit, or " + reinstall_hint(state));
}

void add_unique(std::vector<std::string>& all, std::vector<std::string> more) {
  for (std::string& each : more) {
    if (std::find(all.begin(), all.end(), each) == all.end()) all.push_back(std::move(each));
  }
}

// Which construct keeps a site from being read.
void tell_unread(PatchOutcome& outcome, const RuleRun& run) {
  const CodeView target = run.file->target();
  std::optional<UnreadCode> unread;
  if (!run.sites.broken.empty()) {
    unread = unread_in(target, run.sites.broken.front().match);
  } else if (!run.sites.broken_scopes.empty()) {
    unread = syntax_error_in(target, run.sites.broken_scopes.front());
  }
  if (!unread) return;
  const std::string column = "column " + std::to_string(target.source->locate(unread->at).column) + ": ";
  Evidence evidence = evidence_at(run.path, target, unread->at, column + unread->what);
  const bool said = std::any_of(outcome.evidence.begin(), outcome.evidence.end(), [&](const Evidence& each) {
    return each.path == evidence.path && each.text == evidence.text && each.where.line == evidence.where.line;
  });
  if (!said) outcome.evidence.push_back(std::move(evidence));
  add_unique(outcome.hints, {std::move(unread->hint)});
}

void tell_found(PatchOutcome& outcome, const RuleRun& run) {
  if (!run.file) return;
  if (!run.file->problem) {
    for (Evidence& each : found_evidence(run)) outcome.evidence.push_back(std::move(each));
    tell_unread(outcome, run);
    return;
  }
  Evidence unreadable;
  unreadable.path = run.path;
  if (run.file->problem->where) unreadable.where = *run.file->problem->where;
  const bool said = std::any_of(outcome.evidence.begin(), outcome.evidence.end(), [&](const Evidence& each) {
    return each.path == unreadable.path && each.where.line == unreadable.where.line;
  });
  if (!said) outcome.evidence.push_back(std::move(unreadable));  // one file may fail several rules
  if (!run.file->problem->hint.empty()) add_unique(outcome.hints, {run.file->problem->hint});
}

// Its sites could be counted: nothing that cannot be read lies where they may be.
bool counted(const RuleRun& run) {
  const bool readable = run.file && !run.file->problem && run.sites.broken.empty() && run.sites.broken_scopes.empty();
  return readable && (!run.file->tree.broken() || run.sites.scope_found);
}

std::string edited_words(const TreeState& state, const std::string& path) {
  return path + " was edited by hand (it is not as " +
         (state.receipt.files.contains(path) ? "suture left it)" : "its RECORD says)");
}

}  // namespace

bool edited_by_hand(const TreeState& state, const std::string& path) {
  const auto file = state.files.find(path);
  if (file == state.files.end() || file->second.kind != FileState::Kind::regular) return false;
  const auto left = state.receipt.files.find(path);
  if (left != state.receipt.files.end()) return left->second.left_sha256 != file->second.sha256;
  const auto shipped = state.dist.record.find(path);
  return shipped != state.dist.record.end() && shipped->second != file->second.sha256;
}

void tell_ambiguous(PatchOutcome& outcome, const std::vector<const RuleRun*>& runs) {
  outcome.verdict = Verdict::ambiguous;
  std::vector<std::string> parts;
  for (const RuleRun* run : runs) {
    const auto& [site, shapes] = run->sites.ambiguous.front();
    const std::size_t sites = run->sites.ambiguous.size();
    for (const std::size_t shape : shapes) outcome.evidence.push_back(shape_evidence(*run, site, shape));
    parts.push_back("rule " + run->rule->rule->id + ": " + std::to_string(shapes.size()) + " of its shapes hold at " +
                    (sites == 1 ? "one site" : "one site, the first of " + std::to_string(sites)));
  }
  outcome.reason = join(parts, "; ");
  outcome.hints.emplace_back("the rule's shapes must be told apart by structure");
}

void tell_misfit(PatchOutcome& outcome, const TreeState& state, const Patch& patch,
                 const std::vector<const RuleRun*>& runs, Verdict verdict) {
  outcome.verdict = verdict;
  outcome.reason = drift_reasons(runs);
  for (const RuleRun* run : runs) tell_found(outcome, *run);
  if (verdict == Verdict::foreign_edit) {
    std::vector<std::string> edited;
    for (const RuleRun* run : runs) {
      if (edited_by_hand(state, run->path)) add_unique(edited, {run->path});
    }
    for (const std::string& path : edited) {
      outcome.reason += "; " + edited_words(state, path);
      add_diff(outcome, state, runs, path);
    }
    return;
  }
  if (std::all_of(runs.begin(), runs.end(), [](const RuleRun* run) { return counted(*run); }))
    outcome.hints.push_back("`suture explain " + patch.name + "` says what it looks for");
}

}  // namespace suture
