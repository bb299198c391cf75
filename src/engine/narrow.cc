// See narrow.h. Tests: tests/unit/narrow_test.cc.
#include "engine/narrow.h"

#include <re2/re2.h>

#include <algorithm>

#include "base/text.h"
#include "engine/difference.h"
#include "engine/flow.h"

namespace suture {
namespace {

// Whether one match passes everything that narrows it. Bindings grow in the order inside, has, after, before; a choice that fails
// later is taken back (each step is a loop over the ways to match, with the rest as its continuation).
class Narrower {
 public:
  Narrower(const CompiledNarrowing& narrowing, const CodeView& target, NodeId scope)
      : n_(narrowing), target_(target), tree_(*target.tree), scope_(scope) {}

  bool admits(const std::string& name, const Binding& binding) const {
    return std::all_of(n_.where.begin(), n_.where.end(),
                       [&](const CompiledWhere& w) { return w.name != name || fits(w, binding); });
  }

  // The match with what the narrowings bind; nullopt: narrowed away.
  std::optional<Match> narrow(const Match& match) {
    current_ = match;
    return step(0) ? std::optional(current_) : std::nullopt;
  }

  std::string rejection(const Match& match) {
    current_ = match;
    if (std::string words = rejected_binding(match); !words.empty()) return words;
    const auto yes = [] { return true; };
    const auto in = [&](const Pattern& p) { return inside(p, yes); };
    const auto holds_it = [&](const Pattern& p) { return has(p, yes); };
    const auto behind = [&](const Pattern& p) { return beside(p, true, yes); };
    const auto in_front = [&](const Pattern& p) { return beside(p, false, yes); };
    std::string out = rejecting(n_.inside, in, true, "is not inside ");
    if (out.empty()) out = rejecting(n_.has, holds_it, true, "does not contain ");
    if (out.empty()) out = rejecting(n_.after, behind, true, "is not after ");
    if (out.empty()) out = rejecting(n_.before, in_front, true, "is not before ");
    if (out.empty()) out = rejecting(n_.not_inside, in, false, "is inside ");
    if (out.empty()) out = rejecting(n_.not_has, holds_it, false, "contains ");
    if (out.empty()) out = rejecting(n_.not_after, behind, false, "is after ");
    if (out.empty()) out = rejecting(n_.not_before, in_front, false, "is before ");
    return out;
  }

 private:
  using Rest = FunctionRef<bool()>;

  std::string rejected_binding(const Match& match) const {
    for (const CompiledWhere& where : n_.where) {
      const auto bound = match.bindings.find(where.name);
      if (bound == match.bindings.end()) continue;
      const Misfit misfit = first_misfit(where, bound->second);
      if (misfit == Misfit::none) continue;
      const std::string name = (bound->second.run ? "$$$" : "$") + where.name;
      return name + " is `" + one_line(text_of(bound->second), 80) + "`, which " + words_for(misfit, where);
    }
    return "";
  }
  // The first pattern whose search does not end as wanted.
  std::string rejecting(const std::vector<Pattern>& patterns, FunctionRef<bool(const Pattern&)> search, bool wanted,
                        const std::string& words) {
    for (const Pattern& pattern : patterns) {
      const Bindings before = current_.bindings;
      const bool found = search(pattern);
      current_.bindings = before;
      if (found != wanted) return words + quoted_code(pattern);
    }
    return "";
  }

  // The lists one after the other; index counts over all patterns of all lists.
  bool step(std::size_t index) {
    std::size_t i = index;
    if (i < n_.inside.size()) return inside(n_.inside[i], [&] { return step(index + 1); });
    i -= n_.inside.size();
    if (i < n_.has.size()) return has(n_.has[i], [&] { return step(index + 1); });
    i -= n_.has.size();
    if (i < n_.after.size()) return beside(n_.after[i], true, [&] { return step(index + 1); });
    i -= n_.after.size();
    if (i < n_.before.size()) return beside(n_.before[i], false, [&] { return step(index + 1); });
    return no_forms();
  }

  bool no_forms() {
    const auto yes = [] { return true; };
    const auto none = [&](const std::vector<Pattern>& patterns, auto&& test) {
      return std::none_of(patterns.begin(), patterns.end(), [&](const Pattern& p) {
        const Bindings before = current_.bindings;
        const bool found = test(p);
        current_.bindings = before;
        return found;
      });
    };
    return none(n_.not_inside, [&](const Pattern& p) { return inside(p, yes); }) &&
           none(n_.not_has, [&](const Pattern& p) { return has(p, yes); }) &&
           none(n_.not_after, [&](const Pattern& p) { return beside(p, true, yes); }) &&
           none(n_.not_before, [&](const Pattern& p) { return beside(p, false, yes); });
  }

  // The pattern at this node, its bindings added for the rest.
  bool at(const Pattern& pattern, NodeId node, Rest rest) {
    const Search search{&pattern, target_, current_.bindings};
    const auto admit = [&](const std::string& name, const Binding& binding) { return admits(name, binding); };
    const auto accept = [&](const Match& found) { return with(found.bindings, rest); };
    return match_at(search, node, Admit(admit), Accept(accept));
  }
  bool with(const Bindings& bindings, Rest rest) {
    const Bindings before = current_.bindings;
    current_.bindings = bindings;
    if (rest()) return true;
    current_.bindings = before;
    return false;
  }

  bool inside(const Pattern& pattern, Rest rest) {
    for (NodeId node = tree_[current_.nodes.front()].parent; node != kNone; node = tree_[node].parent) {
      if (tree_.contains(scope_, node) && at(pattern, node, rest)) return true;
      // A definition pattern sees through decorators: the wrapper is tried too, as an ancestor of its own.
    }
    return false;
  }

  bool has(const Pattern& pattern, Rest rest) {
    for (NodeId node : current_.nodes) {
      if (anywhere(pattern, node, node, rest)) return true;
    }
    return false;
  }

  // Anywhere in the subtree but at `except` itself; suites are not entered where `shallow`.
  bool anywhere(const Pattern& pattern, NodeId top, NodeId except, Rest rest, bool shallow = false) {
    for (NodeId id = top; id < tree_[top].subtree_end;) {
      if (shallow && id != top && tree_.is(id, kinds().block)) {
        id = tree_[id].subtree_end;
        continue;
      }
      if (id != except && tree_[id].named && !tree_[id].extra && at(pattern, id, rest)) return true;
      ++id;
    }
    return false;
  }

  // Behind (after) or in front of a match in the same suite or an enclosing one, up to the scope.
  bool beside(const Pattern& pattern, bool after, Rest rest) {
    NodeId first = statement_of(tree_, current_.nodes.front());
    NodeId last = statement_of(tree_, current_.nodes.back());
    while (first != kNone && tree_[first].parent != kNone) {
      for (NodeId sibling : statements_of(tree_, tree_[first].parent)) {
        const bool right_side =
            after ? tree_[sibling].end <= tree_[first].begin : tree_[sibling].begin >= tree_[last].end;
        if (right_side && in_statement(pattern, sibling, rest)) return true;
      }
      const NodeId suite = tree_[first].parent;
      if (suite == scope_ || !tree_.contains(scope_, suite) || tree_[suite].parent == scope_ ||
          tree_[suite].parent == kNone)
        return false;
      first = last = statement_of(tree_, tree_[suite].parent);
    }
    return false;
  }
  bool in_statement(const Pattern& pattern, NodeId statement, Rest rest) {
    if (pattern.form() == Pattern::Form::statements) return at(pattern, statement, rest);
    return anywhere(pattern, statement, kNone, rest, true);
  }

  bool fits(const CompiledWhere& where, const Binding& binding) const {
    return first_misfit(where, binding) == Misfit::none;
  }

  enum class Misfit { none, kind, regex, not_regex, match, has, one_of, flow };
  Misfit first_misfit(const CompiledWhere& where, const Binding& binding) const {
    if (where.kind &&
        !(binding.nodes.size() == 1 && tree_[strip_parentheses(tree_, binding.nodes[0])].kind == *where.kind))
      return Misfit::kind;
    const std::string text = text_of(binding);
    if (where.regex && !re2::RE2::PartialMatch(text, *where.regex)) return Misfit::regex;
    if (where.not_regex && re2::RE2::PartialMatch(text, *where.not_regex)) return Misfit::not_regex;
    if (where.match && !is_match(*where.match, binding)) return Misfit::match;
    if (where.has && !holds(*where.has, binding)) return Misfit::has;
    const bool one_of =
        where.one_of.empty() || std::any_of(where.one_of.begin(), where.one_of.end(),
                                            [&](const std::string& one) { return same_code(one, binding); });
    if (!one_of) return Misfit::one_of;
    return !where.flow || follows(*where.flow, binding) ? Misfit::none : Misfit::flow;
  }
  bool follows(const CompiledFlow& flow, const Binding& binding) const {
    const auto admit = [&](const std::string& name, const Binding& bound) { return admits(name, bound); };
    return binding.nodes.size() == 1 && comes_from(target_, binding.nodes[0], flow, Admit(admit));
  }
  static std::string words_for(Misfit misfit, const CompiledWhere& where) {
    switch (misfit) {
      case Misfit::kind:
        return "is not of kind " + std::string(kind_name(*where.kind));
      case Misfit::regex:
        return "does not match the regex " + where.regex->pattern();
      case Misfit::not_regex:
        return "matches the regex " + where.not_regex->pattern();
      case Misfit::match:
        return "is not " + quoted_code(*where.match);
      case Misfit::has:
        return "does not contain " + quoted_code(*where.has);
      case Misfit::one_of:
        return "is none of `" + join(where.one_of, "`, `") + "`";
      case Misfit::flow:
        return "does not come from what the rule says";
      case Misfit::none:
        break;
    }
    return "";
  }
  std::string text_of(const Binding& binding) const {
    if (binding.nodes.empty()) return "";
    return std::string(target_.source->text({tree_[binding.nodes.front()].begin, tree_[binding.nodes.back()].end}));
  }
  bool is_match(const Pattern& pattern, const Binding& binding) const {
    const auto admit = [](const std::string&, const Binding&) { return true; };
    const auto accept = [](const Match&) { return true; };
    return binding.nodes.size() == 1 &&
           match_at(Search{&pattern, target_, {}}, binding.nodes[0], Admit(admit), Accept(accept));
  }
  bool holds(const Pattern& pattern, const Binding& binding) const {
    return std::any_of(binding.nodes.begin(), binding.nodes.end(), [&](NodeId node) {
      return !find_all(Search{&pattern, target_, {}}, node).empty();
    });
  }
  // `one_of` holds code: compared as code, so that 'x' is "x".
  bool same_code(const std::string& text, const Binding& binding) const {
    if (text == text_of(binding)) return true;
    const auto pattern = compile_pattern(text, nullptr);
    return pattern && pattern->names().empty() && is_match(*pattern, binding);
  }

  const CompiledNarrowing& n_;
  CodeView target_;
  const Tree& tree_;
  NodeId scope_;
  Match current_;
};

}  // namespace

std::vector<Match> find_narrowed(const CompiledNarrowing& narrowing, const CodeView& target, NodeId scope,
                                 const Bindings& given) {
  if (!narrowing.match) return {};
  Narrower narrower(narrowing, target, scope);
  std::vector<Match> out;
  const auto admit = [&](const std::string& name, const Binding& binding) { return narrower.admits(name, binding); };
  const auto accept = [&](const Match& match) {
    std::optional<Match> whole = narrower.narrow(match);
    if (!whole) return false;
    out.push_back(std::move(*whole));
    return true;
  };
  (void)find_all(Search{&*narrowing.match, target, given}, scope, Admit(admit), Accept(accept));
  return out;
}

std::optional<Match> find_narrowed_at(const CompiledNarrowing& narrowing, const CodeView& target, NodeId scope,
                                      NodeId node) {
  Narrower narrower(narrowing, target, scope);
  std::optional<Match> out;
  const auto admit = [&](const std::string& name, const Binding& binding) { return narrower.admits(name, binding); };
  const auto accept = [&](const Match& match) {
    out = narrower.narrow(match);
    return out.has_value();
  };
  (void)match_at(Search{&*narrowing.match, target, {}}, node, Admit(admit), Accept(accept));
  return out;
}

std::string rejection(const CompiledNarrowing& narrowing, const CodeView& target, NodeId scope, const Match& match) {
  return Narrower(narrowing, target, scope).rejection(match);
}

}  // namespace suture
