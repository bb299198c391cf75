// See evidence.h.
#include "engine/evidence.h"

#include <algorithm>

namespace suture {
namespace {

std::string folded(std::string_view text) {
  std::string out;
  bool blank = false;
  for (char c : text) {
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      blank = !out.empty();
      continue;
    }
    if (blank) out += ' ';
    blank = false;
    out += c;
  }
  return out;
}

std::string shortened(std::string text) {
  constexpr std::size_t kWidth = 100;
  if (text.size() > kWidth) text = text.substr(0, kWidth - 3) + "...";
  return text;
}

// `to` of `x.y.to(...)`; empty where the node is no call of a name.
std::string_view callee(const Source& source, const Tree& tree, NodeId node) {
  if (!tree.is(node, kinds().call)) return {};
  NodeId function = tree.child(node, fields().function);
  if (function != kNone && tree.is(function, kinds().attribute)) function = tree.child(function, fields().attribute);
  if (function == kNone || !tree.is(function, kinds().identifier)) return {};
  return source.text(tree.range(function));
}

// What the rule looks for, as a person would say it: the pattern on one line.
std::string wanted(const CompiledRule& rule) {
  std::string out;
  for (const CompiledShape& shape : rule.shapes) {
    if (!shape.narrow.match) continue;
    const std::string one = "`" + shortened(folded(shape.narrow.match->written())) + "`";
    if (out.find(one) == std::string::npos) out += (out.empty() ? "" : " or ") + one;
  }
  return out;
}

// All names of calls in a pattern: the outer one is the best lead, then those inside.
std::vector<std::string> pattern_callees(const CompiledRule& rule) {
  std::vector<std::string> out;
  for (const CompiledShape& shape : rule.shapes) {
    if (!shape.narrow.match) continue;
    const Pattern& p = *shape.narrow.match;
    for (NodeId id = 0; id < p.tree().size(); ++id) {
      const std::string name(callee(p.source(), p.tree(), id));
      if (!name.empty() && name == without_placeholders(name) && std::find(out.begin(), out.end(), name) == out.end())
        out.push_back(name);
    }
  }
  return out;
}

std::string count_text(std::uint32_t n) {
  return std::to_string(n);
}

std::string names_of(const std::vector<std::string>& paths) {
  std::string out;
  for (const std::string& path : paths) out += (out.empty() ? "" : ", ") + path;
  return out;
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
  return shortened(folded(target.source->text(range)));
}

Evidence evidence_at(const std::string& path, const CodeView& target, Range range, std::string text) {
  Evidence out;
  out.path = path;
  out.where = target.source->locate(range);
  out.text = std::move(text);
  return out;
}

Evidence site_evidence(const RuleRun& run, const Site& site) {
  const CodeView target = run.file->target();
  const Range range = site.match.range(*target.tree);
  return evidence_at(run.path, target, range, first_line(target, range));
}

std::vector<Evidence> nearest_candidates(const RuleRun& run) {
  struct Lead {
    std::size_t rank;
    NodeId node;
  };
  const CodeView target = run.file->target();
  const Tree& tree = *target.tree;
  const auto names = pattern_callees(*run.rule);
  std::vector<std::string> scope_names;
  for (const Text& name : run.rule->rule->in) scope_names.push_back(name.value);
  const auto scopes = find_scopes(target, scope_names);
  std::vector<Lead> leads;
  for (NodeId id = 0; id < tree.size(); ++id) {
    const auto name = callee(*target.source, tree, id);
    const auto at = name.empty() ? names.end() : std::find(names.begin(), names.end(), name);
    if (at == names.end()) continue;
    const bool in_scope = std::any_of(scopes.begin(), scopes.end(), [&](NodeId s) { return tree.contains(s, id); });
    leads.push_back({static_cast<std::size_t>(at - names.begin()) + (in_scope ? 0 : names.size()), id});
  }
  std::stable_sort(leads.begin(), leads.end(), [](const Lead& a, const Lead& b) { return a.rank < b.rank; });
  std::vector<Evidence> out;
  for (const Lead& lead : leads) {
    if (out.size() == 3) break;
    const bool inner = std::any_of(leads.begin(), leads.end(), [&](const Lead& l) {
      return l.node != lead.node && tree.contains(l.node, lead.node) && l.rank <= lead.rank;
    });
    const auto shown = [&](const Site& s) { return s.match.range(tree) == tree.range(lead.node); };
    const bool site = std::any_of(run.sites.old.begin(), run.sites.old.end(), shown) ||
                      std::any_of(run.sites.not_passed.begin(), run.sites.not_passed.end(), shown);
    if (inner || site) continue;
    out.push_back(
        evidence_at(run.path, target, tree.range(lead.node),
                    "in " + scope_name(target, lead.node) + ": " + first_line(target, tree.range(lead.node))));
  }
  return out;
}

std::string drift_reason(const RuleRun& run) {
  const Rule& rule = *run.rule->rule;
  const std::string who = "rule " + rule.id + ": ";
  if (!run.unserved.empty()) return who + "it names no file that the import is needed in: " + names_of(run.unserved);
  if (run.path.empty()) return who + "none of its files is there";
  if (run.file->problem) return who + run.file->problem->message;
  if (run.import) {
    if (run.import->kind != ImportStatus::Kind::taken) return "";
    return who + "the name " + run.rule->import()->bound() + " is bound by something else";
  }
  if (!run.sites.scope_found)
    return who + "there is no " + (rule.in.empty() ? "scope" : rule.in.front().value) + " in " +
           (run.looked_at.size() > 1 || run.of_glob ? names_of(run.looked_at) : run.path);
  if (!run.sites.broken.empty()) return who + "a syntax error overlaps the site";
  if (!run.sites.broken_scopes.empty()) return who + "a syntax error lies in the scope, so a site may be hidden";
  if (!run.sites.unfit.empty()) {
    const auto& [site, why] = run.sites.unfit.front();
    const CodeView target = run.file->target();
    const Range range = site.match.range(*target.tree);
    return who + "the code at line " + std::to_string(target.source->line_of(range.begin) + 1) + " " + why;
  }
  if (!run.sites.unresolved.empty()) return who + "the code is there, but in no shape that the rule knows";
  if (run.sites.beyond) {
    const std::uint32_t sites = *run.sites.beyond;
    return who + "it selects site " + count_text(rule.select.n) + ", counted from 0, and there " +
           (sites == 1 ? "is 1 site" : "are " + count_text(sites) + " sites");
  }
  const std::uint32_t n = run.count();
  const Expect& e = rule.expect;
  if (n >= e.min && n <= e.max) return "";
  const std::string expected = e.min == e.max ? count_text(e.min) : count_text(e.min) + " to " + count_text(e.max);
  const std::string what = wanted(*run.rule);
  return who + "expected " + expected + (expected == "1" ? " site" : " sites") +
         (run.of_glob && e.per_file ? " in each file" : "") + ", found " + count_text(n) +
         (what.empty() ? "" : " of " + what) + (n < e.min ? not_passed(run) : "") +
         (run.of_glob && e.per_file ? " in " + run.path : "") +
         (run.looked_at.size() > 1 || run.of_glob ? "; looked at " + names_of(run.looked_at) : "");
}

}  // namespace suture
