// See evidence.h.
#include "engine/evidence.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "engine/leads.h"
#include "engine/nearest.h"

namespace suture {
namespace {

constexpr std::size_t kWidth = 100;  // of code in a line of evidence

// What the rule looks for, as a person would say it: the pattern on one line.
std::string wanted(const CompiledRule& rule) {
  std::string out;
  for (const CompiledShape& shape : rule.shapes) {
    if (!shape.narrow.match) continue;
    const std::string one = "`" + one_line(shape.narrow.match->written(), kWidth) + "`";
    if (out.find(one) == std::string::npos) out += (out.empty() ? "" : " or ") + one;
  }
  return out;
}

std::vector<std::string> file_names(const Rule& rule) {
  std::vector<std::string> out;
  for (const Text& file : rule.files) out.push_back(file.value);
  return out;
}

std::string count_text(std::uint32_t n) {
  return std::to_string(n);
}

// Why an argument edit finds too little: the calls are there, and the argument is not.
std::string not_passed(const RuleRun& run) {
  if (run.sites.not_passed.empty()) return "";
  std::string name;
  for (const CompiledShape& shape : run.rule->shapes) {
    const auto* argument = shape.edit ? std::get_if<CompiledArgument>(&*shape.edit) : nullptr;
    if (argument != nullptr && name.empty()) name = argument->name;
  }
  const std::size_t n = run.sites.not_passed.size();
  return (n == 1 ? std::string("; a call is there, and does") : "; " + std::to_string(n) + " calls are there, and do") +
         " not pass the argument " + name;
}

}  // namespace

std::string first_line(const CodeView& target, Range range) {
  return one_line(target.source->text(range), kWidth);
}

Evidence evidence_at(const std::string& path, const CodeView& target, Range range, std::string text) {
  Evidence out;
  out.path = path;
  out.where = target.source->locate(range);
  out.text = std::move(text);
  return out;
}

Evidence site_evidence(const std::string& path, const CodeView& target, const Site& site) {
  const Range range = site.match.range(*target.tree);
  return evidence_at(path, target, range, first_line(target, range));
}

std::vector<Evidence> nearest_candidates(const CompiledRule& rule, const std::string& path, const CodeView& target,
                                         const RuleSites& sites) {
  std::vector<Range> known;
  for (const auto* list : {&sites.old, &sites.not_passed, &sites.unresolved, &sites.broken}) {
    for (const Site& site : *list) known.push_back(site.match.range(*target.tree));
  }
  return nearest_in_file(rule, path, target, known);
}

std::vector<Evidence> found_evidence(const RuleRun& run) {
  const CodeView target = run.file->target();
  std::vector<Evidence> out;
  if (run.import && run.import->at != kNone) {
    const Range range = target.tree->range(run.import->at);
    out.push_back(evidence_at(run.path, target, range, first_line(target, range)));
  }
  for (const auto* list : {&run.sites.old, &run.sites.result, &run.sites.done, &run.sites.not_passed,
                           &run.sites.unresolved, &run.sites.broken}) {
    for (const Site& site : *list) {
      out.push_back(site_evidence(run.path, target, site));
      if (list == &run.sites.unresolved) out.back().detail = unresolved_detail(*run.rule, target, site);
    }
  }
  return out;
}

std::string drift_reason(const RuleRun& run) {
  const Rule& rule = *run.rule->rule;
  if (!run.unserved.empty()) return "it names no file that the import is needed in: " + join(run.unserved, ", ");
  if (run.path.empty()) return "none of its files is there: " + join(file_names(rule), ", ");
  if (run.file->problem) return run.file->problem->message;
  if (run.import) {
    if (run.import->kind != ImportStatus::Kind::taken) return "";
    return "the name " + run.rule->import()->bound() + " is bound by something else";
  }
  if (!run.sites.scope_found)
    return "there is no " + shown_scopes(rule) + " in " +
           (run.looked_at.size() > 1 || run.of_glob ? join(run.looked_at, ", ") : run.path);
  if (!run.sites.broken.empty()) {
    const bool misread = run.sites.broken.front().match.misread != kNone;
    return misread ? "the parser reads the site otherwise than Python" : "a syntax error overlaps the site";
  }
  if (!run.sites.broken_scopes.empty()) return "a syntax error lies in the scope, so a site may be hidden";
  if (!run.sites.unfit.empty()) {
    const auto& [site, why] = run.sites.unfit.front();
    const CodeView target = run.file->target();
    const Range range = site.match.range(*target.tree);
    return "the code at line " + std::to_string(target.source->line_of(range.begin) + 1) + " " + why;
  }
  if (!run.sites.unresolved.empty()) return "the code is there, but in no shape that the rule knows";
  if (run.sites.beyond) {
    const std::uint32_t sites = *run.sites.beyond;
    return "it selects site " + count_text(rule.select.n) + ", counted from 0, and there " +
           (sites == 1 ? "is 1 site" : "are " + count_text(sites) + " sites");
  }
  const std::uint32_t n = run.count();
  const Expect& e = rule.expect;
  if (n >= e.min && n <= e.max) return "";
  const std::string expected = e.min == e.max ? count_text(e.min) : count_text(e.min) + " to " + count_text(e.max);
  const std::string what = wanted(*run.rule);
  const bool each = run.of_glob && e.per_file;
  return "expected " + expected + (expected == "1" ? " site" : " sites") + (each ? " in each file" : "") + ", found " +
         count_text(n) + (what.empty() ? "" : " of " + what) + (n < e.min ? not_passed(run) : "") +
         (each ? " in " + run.path : "") +
         (run.looked_at.size() > 1 || run.of_glob ? "; looked at " + join(run.looked_at, ", ") : "");
}

std::string drift_reasons(const std::vector<const RuleRun*>& runs) {
  std::vector<std::pair<std::string, std::vector<std::string>>> rules_by_reason;
  for (const RuleRun* run : runs) {
    const std::string reason = drift_reason(*run);
    const std::string& id = run->rule->rule->id;
    const auto same = std::find_if(rules_by_reason.begin(), rules_by_reason.end(),
                                   [&](const auto& each) { return each.first == reason; });
    if (same == rules_by_reason.end()) {
      rules_by_reason.push_back({reason, {id}});
    } else if (same->second.back() != id) {
      same->second.push_back(id);
    }
  }
  std::vector<std::string> parts;
  for (const auto& [reason, rules] : rules_by_reason)
    parts.push_back((rules.size() == 1 ? "rule " : "rules ") + join(rules, ", ", " and ") + ": " + reason);
  return join(parts, "; ");
}

}  // namespace suture
