// Candidates in one file. Contract: engine/nearest.h. Tests: tests/unit/evidence_test.cc.
#include "engine/nearest.h"

#include <algorithm>
#include <optional>

#include "engine/difference.h"
#include "engine/evidence.h"
#include "engine/leads.h"
#include "engine/narrow.h"
#include "engine/sites.h"

namespace suture {
namespace {

// What the pattern matches at the node, its narrowing apart.
std::optional<Match> match_there(const Pattern& pattern, const CodeView& target, NodeId node) {
  std::optional<Match> found;
  const auto admit = [](const std::string&, const Binding&) { return true; };
  const auto accept = [&](const Match& match) {
    found = match;
    return true;
  };
  (void)match_at(Search{&pattern, target, {}}, node, Admit(admit), Accept(accept));
  return found;
}

class Leads {
 public:
  Leads(const CompiledRule& rule, const CodeView& target)
      : rule_(rule), target_(target), tree_(*target.tree), scopes_(find_scopes(target, scope_names(*rule.rule))) {}

  [[nodiscard]] const std::vector<NodeId>& scopes() const { return scopes_; }

  // All leads, best first; of those that overlap the best one alone.
  std::vector<Lead> ranked() {
    for (std::size_t i = 0; i < rule_.shapes.size(); ++i) of_shape(i);
    std::stable_sort(leads_.begin(), leads_.end(), [&](const Lead& a, const Lead& b) { return before(a, b); });
    std::vector<Lead> out;
    for (const Lead& lead : leads_) {
      const bool overlaps = std::any_of(out.begin(), out.end(), [&](const Lead& other) {
        const Range a = range_of(other), b = range_of(lead);
        return a.begin < b.end && b.begin < a.end;
      });
      if (!overlaps) out.push_back(lead);
      if (out.size() == kMostLeads) break;
    }
    return out;
  }

  [[nodiscard]] Range range_of(const Lead& lead) const {
    return {tree_[lead.nodes.front()].begin, tree_[lead.nodes.back()].end};
  }

  // What differs at the lead. nullopt: nothing does, so it is a site of the rule (or part of a result).
  [[nodiscard]] std::optional<std::string> detail(const Lead& lead) const {
    if (in_syntax_error(lead)) return "a syntax error lies around it";
    const CompiledShape& shape = rule_.shapes[lead.shape];
    const std::optional<Match> match = match_there(*shape.narrow.match, target_, lead.nodes.front());
    if (!match) return difference(*shape.narrow.match, target_, lead.nodes.front());
    if (!lead.scope) return "matches in full, but not in " + shown_scopes(*rule_.rule);
    std::string words = rejection(shape.narrow, target_, *lead.scope, *match);
    if (!words.empty()) return words;
    if (shape.versions) return "matches a shape that is for the versions " + shape.shape->versions->value;
    return std::nullopt;
  }

  [[nodiscard]] Evidence evidence(const std::string& path, const Lead& lead, std::string words) const {
    Evidence out =
        evidence_at(path, target_, range_of(lead),
                    "in " + scope_name(target_, lead.nodes.front()) + ": " + first_line(target_, range_of(lead)));
    out.detail = std::move(words);
    return out;
  }

 private:
  static constexpr std::size_t kMostLeads = 12;  // that are looked at closely

  // What the parser makes of the code around it proves nothing then.
  [[nodiscard]] bool in_syntax_error(const Lead& lead) const {
    if (std::any_of(lead.nodes.begin(), lead.nodes.end(), [&](NodeId node) { return tree_[node].broken; })) return true;
    for (NodeId node = lead.nodes.front(); node != kNone; node = tree_[node].parent) {
      if (tree_[node].error) return true;
    }
    return false;
  }

  void of_shape(std::size_t index) {
    const auto& pattern = rule_.shapes[index].narrow.match;
    if (!pattern) return;
    for (Lead& lead : leads_for(*pattern, target_, scopes_)) {
      lead.shape = index;
      leads_.push_back(std::move(lead));
    }
  }

  [[nodiscard]] bool before(const Lead& a, const Lead& b) const {
    if (a.scope.has_value() != b.scope.has_value()) return a.scope.has_value();
    if (a.like.weight != b.like.weight) return a.like.weight > b.like.weight;
    if (a.same_kind != b.same_kind) return a.same_kind;
    if (a.like.tokens != b.like.tokens) return a.like.tokens < b.like.tokens;
    return range_of(a).begin < range_of(b).begin;
  }

  const CompiledRule& rule_;
  CodeView target_;
  const Tree& tree_;
  std::vector<NodeId> scopes_;
  std::vector<Lead> leads_;
};

// Definitions whose last name is the one of a scope that is not there: "Engine.step" for "Decoder.step".
std::vector<Evidence> renamed_scopes(const Rule& rule, const std::string& path, const CodeView& target) {
  std::vector<Evidence> out;
  for (const std::string& scope : scope_names(rule)) {
    for (const NodeId node : definitions_called(target, scope.substr(scope.rfind('.') + 1))) {
      const Range range = target.tree->range(node);
      Evidence each = evidence_at(path, target, range, first_line_of_definition(target, node));
      each.detail = "this is " + scope_name(target, node) + ", expected " + scope;
      out.push_back(std::move(each));
    }
  }
  return out;
}

}  // namespace

std::string unresolved_detail(const CompiledRule& rule, const CodeView& target, const Site& site) {
  std::string out;
  std::uint32_t best = 0;
  for (const CompiledShape& shape : rule.shapes) {
    if (!shape.narrow.match) continue;
    const std::uint32_t weight = likeness(features_of(*shape.narrow.match), target, site.match.nodes).weight;
    if (!out.empty() && weight <= best) continue;
    const std::optional<Match> match = match_there(*shape.narrow.match, target, site.match.nodes.front());
    out = match ? rejection(shape.narrow, target, site.scope, *match)
                : difference(*shape.narrow.match, target, site.match.nodes.front());
    best = weight;
  }
  return out;
}

std::vector<Evidence> nearest_in_file(const CompiledRule& rule, const std::string& path, const CodeView& target,
                                      const std::vector<Range>& known) {
  Leads leads(rule, target);
  std::vector<Evidence> out;
  if (leads.scopes().empty()) out = renamed_scopes(*rule.rule, path, target);
  for (const Lead& lead : leads.ranked()) {
    if (out.size() >= kMostCandidates) break;
    if (std::find(known.begin(), known.end(), leads.range_of(lead)) != known.end()) continue;
    std::optional<std::string> detail = leads.detail(lead);
    if (detail) out.push_back(leads.evidence(path, lead, std::move(*detail)));
  }
  if (out.size() > kMostCandidates) out.resize(kMostCandidates);
  return out;
}

}  // namespace suture
