// Candidates in the rest of the package. Contract: engine/nearest.h. Tests: tests/unit/evidence_test.cc.
#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "engine/difference.h"
#include "engine/evidence.h"
#include "engine/leads.h"
#include "engine/nearest.h"
#include "engine/sites.h"

namespace suture {
namespace {

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

bool is_name_byte(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

// Whether the word stands in the bytes, `before` in front of it.
bool has_word(const std::string& bytes, const std::string& before, const std::string& word) {
  const std::string all = before + word;
  for (std::size_t at = bytes.find(all); at != std::string::npos; at = bytes.find(all, at + 1)) {
    const std::size_t end = at + all.size();
    const bool begins = at == 0 || !is_name_byte(bytes[at - 1]);
    if (begins && (end == bytes.size() || !is_name_byte(bytes[end]))) return true;
  }
  return false;
}

bool defines(const std::string& bytes, const std::string& name) {
  return name == "*" || has_word(bytes, "def ", name) || has_word(bytes, "class ", name);
}

const Rule* find_rule(const Patch& patch, const std::string& id) {
  const auto rule = std::find_if(patch.rules.begin(), patch.rules.end(), [&](const Rule& r) { return r.id == id; });
  return rule == patch.rules.end() ? nullptr : &*rule;
}

// A place in another file, and how good a lead it is: the lower the better.
struct Moved {
  int tier = 0;
  Evidence evidence;
};

class MovedSearch {
 public:
  MovedSearch(const CompiledRule& rule, const std::string& path, const CodeView& target)
      : rule_(rule), path_(path), target_(target) {}

  // The best place of the file, if it has one.
  std::optional<Moved> run() const {
    const auto scopes = find_scopes(target_, scope_names(*rule_.rule));
    const bool named = !rule_.rule->in.empty();
    if (named && !scopes.empty()) return in_scope(scopes.front());
    if (auto place = renamed()) return place;
    const bool same_name = std::any_of(rule_.rule->files.begin(), rule_.rule->files.end(),
                                       [&](const Text& file) { return base_name(file.value) == base_name(path_); });
    if (!same_name) return named ? std::nullopt : in_full();
    if (auto place = nearest(2)) return place;
    return Moved{6, {path_, {}, "a file of the same name", "nothing in it is like what the rule looks for"}};
  }

 private:
  [[nodiscard]] std::string other_file() const { return "the rule does not look in this file"; }

  // The first place below the node where all of the code is.
  [[nodiscard]] std::optional<Evidence> full_match(NodeId below) const {
    for (const CompiledShape& shape : rule_.shapes) {
      if (!shape.narrow.match) continue;
      const auto found = find_narrowed(shape.narrow, target_, below);
      if (found.empty()) continue;
      const Range range = found[0].range(*target_.tree);
      return at(range, "in " + scope_name(target_, found[0].nodes.front()) + ": " + first_line(target_, range),
                "matches in full; " + other_file());
    }
    return std::nullopt;
  }

  // A rule that names no scope: less than all of its code, in a file of another name, is no lead.
  [[nodiscard]] std::optional<Moved> in_full() const {
    std::optional<Evidence> place = full_match(target_.tree->root());
    return place ? std::optional(Moved{5, std::move(*place)}) : std::nullopt;
  }

  // The scope is here: its code in full, or what differs, or the scope itself.
  [[nodiscard]] Moved in_scope(NodeId scope) const {
    if (auto place = full_match(scope)) return {0, std::move(*place)};
    if (auto place = nearest(1)) {
      place->evidence.detail += "; " + other_file();
      return *place;
    }
    return {1, at(target_.tree->range(scope), first_line_of_definition(target_, scope),
                  "this is " + scope_name(target_, scope) + "; " + other_file())};
  }

  // The code that is most like the pattern.
  [[nodiscard]] std::optional<Moved> nearest(int tier) const {
    std::vector<Evidence> found = nearest_in_file(rule_, path_, target_, {});
    if (found.empty()) return std::nullopt;
    return Moved{tier, std::move(found.front())};
  }

  // A scope of the last name, where the code is called there too.
  [[nodiscard]] std::optional<Moved> renamed() const {
    for (const std::string& scope : scope_names(*rule_.rule)) {
      const auto nodes = definitions_called(target_, split_name(scope).back());
      if (nodes.empty()) continue;
      const auto best = std::find_if(nodes.begin(), nodes.end(), [&](NodeId node) { return calls_it(node); });
      const NodeId node = best == nodes.end() ? nodes.front() : *best;
      return Moved{best == nodes.end() ? 4 : 3,
                   at(target_.tree->range(node), first_line_of_definition(target_, node),
                      "this is " + scope_name(target_, node) + ", expected " + scope + "; " + other_file())};
    }
    return std::nullopt;
  }
  [[nodiscard]] bool calls_it(NodeId node) const {
    return std::any_of(rule_.shapes.begin(), rule_.shapes.end(), [&](const CompiledShape& shape) {
      return shape.narrow.match && likeness(features_of(*shape.narrow.match), target_, {node}).callee;
    });
  }

  [[nodiscard]] Evidence at(Range range, std::string text, std::string detail) const {
    Evidence out = evidence_at(path_, target_, range, std::move(text));
    out.detail = std::move(detail);
    return out;
  }

  const CompiledRule& rule_;
  const std::string& path_;
  CodeView target_;
};

}  // namespace

Traces::Traces(const PatchOutcome& outcome, const Patch& patch) {
  for (const RuleOutcome& each : outcome.rules) {
    const Rule* rule = each.lost ? find_rule(patch, each.rule) : nullptr;
    if (rule == nullptr) continue;
    OfRule of;
    for (const Text& file : rule->files) of.files.push_back(file.value);
    for (const std::string& scope : scope_names(*rule)) of.scopes.push_back(split_name(scope));
    const auto compiled = compile_rule(*rule);
    if (!compiled) continue;
    for (const CompiledShape& shape : compiled->shapes) {
      if (!shape.narrow.match) continue;
      for (const std::string& callee : features_of(*shape.narrow.match).telling()) of.callees.push_back(callee);
    }
    rules_.push_back(std::move(of));
  }
}

int Traces::rank(const std::string& path, const std::string& bytes) const {
  int best = 0;
  for (const OfRule& rule : rules_) {
    if (std::find(rule.files.begin(), rule.files.end(), path) != rule.files.end()) continue;
    const bool called = std::any_of(rule.callees.begin(), rule.callees.end(),
                                    [&](const std::string& name) { return has_word(bytes, "", name); });
    const bool named = std::any_of(rule.files.begin(), rule.files.end(),
                                   [&](const std::string& file) { return base_name(file) == base_name(path); });
    if (named) best = std::max(best, 3);
    for (const auto& scope : rule.scopes) {
      const bool whole =
          std::all_of(scope.begin(), scope.end(), [&](const auto& part) { return defines(bytes, part); });
      if (whole) {
        best = std::max(best, called ? 5 : 4);
      } else if (scope.back() != "*" && defines(bytes, scope.back())) {
        best = std::max(best, called ? 3 : 2);
      }
    }
    // A rule that names its scope is lost where no such name is; its callee alone is called in too many places.
    if (called && rule.scopes.empty()) best = std::max(best, 1);
  }
  return best;
}

void add_moved_candidates(PatchOutcome& outcome, const Patch& patch, const std::map<std::string, std::string>& files) {
  std::map<std::string, std::shared_ptr<const ParsedFile>> parsed;
  for (const auto& [path, bytes] : files) parsed.emplace(path, parse_file(path, bytes));
  for (RuleOutcome& each : outcome.rules) {
    const Rule* rule = each.lost ? find_rule(patch, each.rule) : nullptr;
    if (rule == nullptr) continue;
    const auto compiled = compile_rule(*rule);
    if (!compiled) continue;
    std::vector<Moved> found;
    for (const auto& [path, file] : parsed) {
      const bool own = std::any_of(rule->files.begin(), rule->files.end(),
                                   [&path = path](const Text& text) { return text.value == path; });
      if (own || file->problem) continue;
      if (auto place = MovedSearch(*compiled, path, file->target()).run()) found.push_back(std::move(*place));
    }
    std::stable_sort(found.begin(), found.end(), [](const Moved& a, const Moved& b) { return a.tier < b.tier; });
    // The very scope in another file says more than a callee in the old one.
    std::size_t before = 0;
    for (Moved& place : found) {
      const bool sure = place.tier <= 1;
      auto& all = each.candidates;
      all.insert(sure ? all.begin() + static_cast<std::ptrdiff_t>(before++) : all.end(), std::move(place.evidence));
    }
    if (each.candidates.size() > kMostCandidates) each.candidates.resize(kMostCandidates);
  }
}

}  // namespace suture
