// See audit_finder.h. Tests: tests/unit/audit_test.cc, tests/audit.
#include "engine/audit_finder.h"

#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "engine/narrow.h"
#include "engine/sites.h"
#include "read/glob.h"

namespace suture {
namespace {

void wants_callee(const Pattern& pattern, NodeId name, const CompiledNarrowing& narrow, Seeker& seeker) {
  const Metavariable* mv = pattern.metavariable(name);
  if (mv == nullptr) {
    seeker.callee = pattern.source().text(pattern.tree().range(name));
    return;
  }
  // `$F` of `$F()` may be `a.b`, of which the name is a part, unless a clause says that it is an identifier.
  const bool one_name = pattern.tree()[name].field == fields().attribute ||
                        std::any_of(narrow.where.begin(), narrow.where.end(), [&](const CompiledWhere& where) {
                          return where.name == mv->name && where.kind && *where.kind == kinds().identifier;
                        });
  for (const CompiledWhere& where : narrow.where) {
    if (!one_name || where.name != mv->name || mv->run || !where.regex) continue;
    seeker.regex = where.regex;
    seeker.literal = required_literal(where.regex->pattern());
  }
}

// The matches of all rules in a parsed file, in source order; of rules of one kind the first that matches a node.
class Finder {
 public:
  Finder(const AuditRules& rules, const std::vector<Seeker>& seekers, const CodeView& target)
      : rules_(rules), seekers_(seekers), target_(target) {}

  std::vector<FoundSite> run() {
    const Tree& tree = *target_.tree;
    scopes();
    for (NodeId id = 0; id < tree.size(); ++id) {
      if (!tree.is(id, kinds().call)) continue;
      const NodeId name = callee_name(tree, id);
      const std::string_view text = name == kNone ? std::string_view() : target_.source->text(tree.range(name));
      for (const Seeker& seeker : seekers_) {
        if (!seeker.call || !seeker.admits(text)) continue;
        for (const NodeId scope : scopes_[seeker.rule]) {
          if (!tree.contains(scope, id)) continue;
          if (auto match = find_narrowed_at(seeker.shape->narrow, target_, scope, id)) add(seeker.rule, *match);
        }
      }
    }
    for (const Seeker& seeker : seekers_) {
      if (seeker.call) continue;
      for (const NodeId scope : scopes_[seeker.rule]) {
        for (const Match& match : find_narrowed(seeker.shape->narrow, target_, scope)) add(seeker.rule, match);
      }
    }
    std::stable_sort(out_.begin(), out_.end(), [&](const FoundSite& a, const FoundSite& b) {
      return a.match.range(tree).begin < b.match.range(tree).begin;
    });
    return std::move(out_);
  }

 private:
  void scopes() {
    for (const Seeker& seeker : seekers_) {
      if (scopes_.contains(seeker.rule)) continue;
      std::vector<std::string> names;
      for (const Text& name : rules_.compiled()[seeker.rule].rule->in) names.push_back(name.value);
      scopes_.emplace(seeker.rule, find_scopes(target_, names));
    }
  }
  void add(std::size_t rule, const Match& match) {
    const Range range = match.range(*target_.tree);
    const auto [place, fresh] =
        found_.emplace(std::make_tuple(rules_.audit(rule).kind, range.begin, range.end), out_.size());
    if (fresh) {
      out_.push_back({rule, match});
    } else if (rule < out_[place->second].rule) {
      out_[place->second] = {rule, match};
    }
  }

  const AuditRules& rules_;
  const std::vector<Seeker>& seekers_;
  CodeView target_;
  std::map<std::size_t, std::vector<NodeId>> scopes_;
  std::map<std::tuple<std::string_view, std::uint32_t, std::uint32_t>, std::size_t> found_;  // kind and range
  std::vector<FoundSite> out_;
};

}  // namespace

bool Seeker::admits(std::string_view name) const {
  if (!callee.empty()) return callee == name;
  if (!regex) return true;
  return name.find(literal) != std::string_view::npos &&
         re2::RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *regex);
}

std::vector<Seeker> seekers_of(const std::vector<CompiledRule>& rules, const std::string& path) {
  std::vector<Seeker> out;
  for (std::size_t r = 0; r < rules.size(); ++r) {
    const std::vector<Text>& files = rules[r].rule->files;
    const bool fits = files.empty() || std::any_of(files.begin(), files.end(), [&](const Text& file) {
                        return is_glob(file.value) ? Glob(file.value).matches(path) : file.value == path;
                      });
    if (!fits) continue;
    for (const CompiledShape& shape : rules[r].shapes) {
      const Pattern& pattern = *shape.narrow.match;
      Seeker seeker{r, &shape, false, "", nullptr, ""};
      const NodeId root = strip_parentheses(pattern.tree(), pattern.roots()[0]);
      seeker.call = pattern.form() == Pattern::Form::expression && pattern.metavariable(root) == nullptr &&
                    pattern.tree().is(root, kinds().call);
      const NodeId name = seeker.call ? callee_name(pattern.tree(), root) : kNone;
      if (name != kNone) wants_callee(pattern, name, shape.narrow, seeker);
      out.push_back(std::move(seeker));
    }
  }
  return out;
}

std::vector<FoundSite> find_audit_sites(const AuditRules& rules, const std::vector<Seeker>& seekers,
                                        const CodeView& target) {
  return Finder(rules, seekers, target).run();
}

NodeId callee_name(const Tree& tree, NodeId call) {
  if (!tree.is(call, kinds().call)) return kNone;
  const NodeId function = strip_parentheses(tree, tree.child(call, fields().function));
  if (tree.is(function, kinds().identifier)) return function;
  return tree.is(function, kinds().attribute) ? tree.child(function, fields().attribute) : kNone;
}

}  // namespace suture
