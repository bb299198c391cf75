// See match.h. Tests: tests/unit/match_test.cc, and tests/oracle with a naive matcher on generated sources. Longer than 500 lines: the steps of
// one matcher call each other in a ring, and share its bindings.
#include "engine/match.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "engine/token.h"
#include "engine/unread.h"

namespace suture {
namespace {

using Next = FunctionRef<bool()>;

constexpr std::uint64_t kMaxSteps = 2'000'000;  // of one match_at; real rules take under a thousand

// `{$$$A}` is a set to the grammar, and may be a dict: it names no element.
bool is_any_braces(const Pattern& pattern, NodeId id) {
  if (!pattern.tree().is(id, kinds().set)) return false;
  const auto elements = pattern.tree().named_children(id);
  return std::all_of(elements.begin(), elements.end(), [&](NodeId n) {
    const Metavariable* mv = pattern.metavariable(n);
    return mv != nullptr && mv->run;
  });
}

bool same_kind(const Pattern& pattern, NodeId p, const Tree& tree, NodeId t) {
  return same_kind(pattern.tree(), p, tree, t) || (tree.is(t, kinds().dictionary) && is_any_braces(pattern, p));
}

bool is_async(const Tree& tree, NodeId id) {
  return !tree[id].named && kind_name(tree[id].kind) == "async";
}

bool is_splat(const Tree& tree, NodeId id) {
  return tree.is(id, kinds().list_splat) || tree.is(id, kinds().dictionary_splat);
}

bool is_parameter(const Tree& tree, NodeId id) {
  const Kinds& k = kinds();
  return tree.is(id, k.identifier) || tree.is(id, k.default_parameter) || tree.is(id, k.typed_parameter) ||
         tree.is(id, k.typed_default_parameter) || tree.is(id, k.list_splat_pattern) ||
         tree.is(id, k.dictionary_splat_pattern);
}

// name, annotation and default of a parameter; kNone where it has none.
struct Parameter {
  NodeId core = kNone, type = kNone, value = kNone;
};
Parameter parameter(const Tree& tree, NodeId id) {
  const Kinds& k = kinds();
  if (tree.is(id, k.typed_parameter)) return {tree.first_child(id), tree.child(id, fields().type), kNone};
  if (tree.is(id, k.default_parameter) || tree.is(id, k.typed_default_parameter)) {
    return {tree.child(id, fields().name), tree.child(id, fields().type), tree.child(id, fields().value)};
  }
  return {id, kNone, kNone};
}

// Positions (pattern node, first node of the target's list, index into it) from which the rest of the pattern cannot
// match, whatever was bound before: known only where no name occurs twice, none is given, and nothing but the
// structure decides.
using Dead = std::set<std::tuple<NodeId, NodeId, std::size_t>>;

// One attempt at one place.
class Matcher {
 public:
  // dead: what is known to fail; nullptr where failures depend on more than positions. learns: adds to it.
  Matcher(const Search& search, Admit admit, Accept accept, Dead* dead, bool learns)
      : pattern_(*search.pattern),
        p_(search.pattern->tree()),
        source_(*search.target.source),
        t_(*search.target.tree),
        admit_(admit),
        accept_(accept),
        dead_(dead),
        learns_(learns),
        memoise_(dead != nullptr) {
    match_.bindings = search.given;
  }

  bool at_node(NodeId node) {
    return match_node(pattern_.roots()[0], node, [&] {
      match_.nodes = {node};
      return finish();
    });
  }

  // A part of the pattern at this node.
  bool part_at_node(NodeId part, NodeId node) {
    return match_element(part, node, [] { return true; });
  }

  // The statements of `suite` from index `from`, to wherever the pattern ends.
  bool at_statements(const std::vector<NodeId>& statements, std::size_t from) {
    return sequence(pattern_.roots(), 0, statements, from, Tail::open, [&] {
      if (reached_ == from) return false;  // nothing but empty runs
      match_.nodes.assign(statements.begin() + static_cast<std::ptrdiff_t>(from),
                          statements.begin() + static_cast<std::ptrdiff_t>(reached_));
      return finish();
    });
  }

 private:
  enum class Tail { exact, open };

  bool finish() {
    match_.misread = misread_part(pattern_, t_, match_);
    match_.broken = match_.misread != kNone || error_around(t_, match_.nodes.front()) != kNone ||
                    std::any_of(match_.nodes.begin(), match_.nodes.end(),
                                [&](NodeId n) { return t_[n].broken || in_broken_line(target(), n); });
    return accept_(match_);
  }

  CodeView target() const { return {&source_, &t_}; }
  bool step() { return ++steps_ <= kMaxSteps; }
  void learn(const Dead::value_type& key) {
    if (learns_ && steps_ <= kMaxSteps) dead_->insert(key);  // running out of steps proves nothing
  }

  bool match_node(NodeId p, NodeId t, Next next) {
    if (!step()) return false;
    if (const Metavariable* mv = pattern_.metavariable(p))
      return t_[t].named && !is_no_value(t) && bind_one(*mv, p, t, next);
    p = strip_parentheses(p_, p);
    if (pattern_.metavariable(p) != nullptr) return match_node(p, t, next);
    t = strip_parentheses(t_, t);
    t = strip_decorators(p, t);
    if (p_.is(p, kinds().argument_list) && t_.is(t, kinds().generator_expression)) return bare_generator(p, t, next);
    if (!same_kind(pattern_, p, t_, t)) return false;
    const std::size_t mark = match_.pairs.size();
    match_.pairs.emplace_back(p, t);
    if (match_children(p, t, next)) return true;
    match_.pairs.resize(mark);
    return false;
  }

  // Nodes that the grammar has where an expression could be: `E as e` of an except clause or a with statement, the `b = c` of
  // `a = b = c`, `*x` and `**x` (but for parameters), a `k: v` of a dict, the `*` and `/` between parameters. What a metavariable stands for must stand
  // somewhere else, too.
  bool is_no_value(NodeId t) const {
    static const std::set<Kind> kNoValues = {kinds().list_splat,
                                             kinds().dictionary_splat,
                                             kinds().list_splat_pattern,
                                             kinds().dictionary_splat_pattern,
                                             kind_named("pair"),
                                             kind_named("keyword_separator"),
                                             kind_named("positional_separator")};
    if (t_[t].parent == kNone) return false;
    const bool in_parameters =
        t_.is(t_[t].parent, kinds().parameters) || t_.is(t_[t].parent, kinds().lambda_parameters);
    const bool splat = t_.is(t, kinds().list_splat_pattern) || t_.is(t, kinds().dictionary_splat_pattern);
    if (splat) return !in_parameters;
    if (kNoValues.contains(t_[t].kind)) return true;
    if (t_.is(t, kinds().assignment)) return t_.is(t_[t].parent, kinds().assignment);
    if (kind_name(t_[t].kind) == "with_item") t = t_.first_child(t);
    return t_.is(t, kinds().as_pattern) && kind_name(t_[t_[t].parent].kind) != "case_pattern";
  }

  bool match_children(NodeId p, NodeId t, Next next) {
    if (is_token(p_, p) || is_token(t_, t)) {
      return is_token(p_, p) && is_token(t_, t) && token_equal(p, t) && next();
    }
    if (p_.is(p, kinds().argument_list)) return arguments(p, t, next);
    std::vector<NodeId> ps = significant(p_, p);
    std::vector<NodeId> ts = significant(t_, t);
    if (pattern_.other_clauses() && holds_clauses(p)) return with_other_clauses(ps, ts, next);
    std::vector<NodeId> empty;
    drop_unnamed_parts(p, ps, ts, empty);
    return bind_empty(empty, 0, [&] { return sequence(ps, 0, ts, 0, Tail::exact, next); });
  }

  // The root of the pattern, or the suite of cases that it has.
  bool holds_clauses(NodeId p) const {
    const NodeId root = pattern_.roots()[0];
    if (p_.is(root, kinds().match_statement)) return p_.is(p, kinds().block) && p_[p].parent == root;
    return p == root;
  }
  // The pattern's clauses are some of the target's, in order; all else is exact.
  bool with_other_clauses(std::vector<NodeId>& ps, std::vector<NodeId>& ts, Next next) {
    const auto split = [](const Tree& tree, std::vector<NodeId>& nodes) {
      const auto at = std::stable_partition(nodes.begin(), nodes.end(), [&](NodeId n) { return !is_clause(tree, n); });
      std::vector<NodeId> clauses(at, nodes.end());
      nodes.erase(at, nodes.end());
      return clauses;
    };
    const std::vector<NodeId> wanted = split(p_, ps);
    const std::vector<NodeId> there = split(t_, ts);
    std::erase_if(ts, [&](NodeId n) { return is_async(t_, n); });
    return sequence(ps, 0, ts, 0, Tail::exact, [&] { return some_of(wanted, 0, there, 0, next); });
  }
  bool some_of(const std::vector<NodeId>& ps, std::size_t i, const std::vector<NodeId>& ts, std::size_t j, Next next) {
    if (i == ps.size()) return next();
    for (; j < ts.size(); ++j) {
      if (match_node(ps[i], ts[j], [&] { return some_of(ps, i + 1, ts, j + 1, next); })) return true;
    }
    return false;
  }

  bool token_equal(NodeId p, NodeId t) {
    std::string key = token_key(pattern_.source(), p_, p);
    return without_placeholders(key) == token_key(source_, t_, t);
  }

  // The pattern says `def` and the target's definition is decorated: look inside the wrapper.
  NodeId strip_decorators(NodeId p, NodeId t) const {
    if (t_.is(t, kinds().decorated_definition) && !p_.is(p, kinds().decorated_definition)) {
      const NodeId inner = t_.child(t, fields().definition);
      if (inner != kNone) return inner;
    }
    return t;
  }

  // What a pattern may leave unsaid: async, return types, bases, type parameters, annotations.
  // empty: the runs of lists that the target does not have.
  void drop_unnamed_parts(NodeId p, std::vector<NodeId>& ps, std::vector<NodeId>& ts,
                          std::vector<NodeId>& empty) const {
    const auto drop = [&](auto&& which) {
      const bool named = std::any_of(ps.begin(), ps.end(), [&](NodeId n) { return which(p_, n); });
      if (!named) std::erase_if(ts, [&](NodeId n) { return which(t_, n); });
    };
    const auto drop_field = [&](std::uint8_t field) {
      drop([field](const Tree& tree, NodeId n) { return tree[n].field == field; });
    };
    drop(is_async);
    const Kinds& k = kinds();
    if (p_.is(p, k.function_definition)) {
      drop_field(fields().return_type);
      drop_field(fields().type_parameters);
    } else if (p_.is(p, k.class_definition)) {
      drop_field(fields().superclasses);
      drop_field(fields().type_parameters);
      allow_absent(fields().superclasses, ps, ts, empty);  // `class C($$$)` also matches `class C:`
    } else if (p_.is(p, k.lambda)) {
      allow_absent(fields().parameters, ps, ts, empty);  // `lambda $$$: x` also matches `lambda: x`
    } else if (p_.is(p, k.assignment)) {
      // `x = 1` matches `x: T = 1`; `x: T` never matches `x: T = 1`.
      drop_field(fields().type);
    }
  }

  // A list of the pattern that can be empty needs none in the target.
  void allow_absent(std::uint8_t field, std::vector<NodeId>& ps, const std::vector<NodeId>& ts,
                    std::vector<NodeId>& empty) const {
    if (std::any_of(ts.begin(), ts.end(), [&](NodeId n) { return t_[n].field == field; })) return;
    const auto list =
        std::find_if(ps.begin(), ps.end(), [&](NodeId n) { return p_[n].field == field && only_runs(n); });
    if (list == ps.end()) return;
    empty = p_.named_children(*list);
    ps.erase(list);
  }
  bool bind_empty(const std::vector<NodeId>& runs, std::size_t i, Next next) {
    if (i == runs.size()) return next();
    return bind_run(*pattern_.metavariable(runs[i]), runs[i], {}, [&] { return bind_empty(runs, i + 1, next); });
  }

  bool only_runs(NodeId list) const {
    const auto elements = p_.named_children(list);
    return std::all_of(elements.begin(), elements.end(), [&](NodeId n) {
      const Metavariable* mv = pattern_.metavariable(n);
      return mv != nullptr && mv->run;
    });
  }

  // ps[i..] against ts[j..]. Runs take as little as they can.
  bool sequence(const std::vector<NodeId>& ps, std::size_t i, const std::vector<NodeId>& ts, std::size_t j, Tail tail,
                Next next) {
    if (!step()) return false;
    if (i == ps.size()) {
      if (tail == Tail::exact) return j == ts.size() && next();
      reached_ = j;
      return next();
    }
    const bool memo = memoise_ && !ts.empty();
    const auto key = std::make_tuple(ps[i], ts.empty() ? kNone : ts.front(), j);
    if (memo && dead_->contains(key)) return false;
    const Metavariable* mv = pattern_.metavariable(ps[i]);
    bool found = false;
    if (mv != nullptr && mv->run) {
      found = run(*mv, ps, i, ts, j, tail, next);
    } else if (j < ts.size()) {
      found = match_element(ps[i], ts[j], [&] { return sequence(ps, i + 1, ts, j + 1, tail, next); });
    }
    if (!found && ps.size() > 1) found = no_statement(ps, i, ts, j, tail, next);
    if (!found && memo) learn(key);
    return found;
  }

  // `from a import $$$X` where $$$X is empty is no statement: there is none to match.
  bool no_statement(const std::vector<NodeId>& ps, std::size_t i, const std::vector<NodeId>& ts, std::size_t j,
                    Tail tail, Next next) {
    const std::vector<NodeId> runs = pattern_.only_runs(ps[i]);
    return !runs.empty() && bind_empty(runs, 0, [&] { return sequence(ps, i + 1, ts, j, tail, next); });
  }

  bool run(const Metavariable& mv, const std::vector<NodeId>& ps, std::size_t i, const std::vector<NodeId>& ts,
           std::size_t j, Tail tail, Next next) {
    for (std::size_t end = j;; ++end) {
      const bool known = memoise_ && i + 1 < ps.size() && !ts.empty() && dead_->contains({ps[i + 1], ts.front(), end});
      if (known && (end >= ts.size() || !t_[ts[end]].named)) return false;
      if (known) continue;
      const std::vector<NodeId> taken(ts.begin() + static_cast<std::ptrdiff_t>(j),
                                      ts.begin() + static_cast<std::ptrdiff_t>(end));
      if (bind_run(mv, ps[i], taken, [&] { return sequence(ps, i + 1, ts, end, tail, next); })) return true;
      if (end >= ts.size() || !t_[ts[end]].named) return false;
    }
  }

  // An element of a list: parameters have rules of their own.
  bool match_element(NodeId p, NodeId t, Next next) {
    const bool in_parameters = p_[p].parent != kNone && (p_.is(p_[p].parent, kinds().parameters) ||
                                                         p_.is(p_[p].parent, kinds().lambda_parameters));
    if (!in_parameters || pattern_.metavariable(p) != nullptr || !is_parameter(p_, p) || !is_parameter(t_, t)) {
      return match_node(p, t, next);
    }
    const Parameter want = parameter(p_, p);
    const Parameter have = parameter(t_, t);
    const std::size_t mark = match_.pairs.size();
    if (want.core != p) match_.pairs.emplace_back(p, t);  // its `:` and `=` are found by this
    const bool found = match_node(want.core, have.core, [&] {
      return optional_part(want.type, have.type, [&] { return optional_part(want.value, have.value, next); });
    });
    if (!found) match_.pairs.resize(mark);
    return found;
  }
  bool optional_part(NodeId p, NodeId t, Next next) {
    if (p == kNone) return next();
    return t != kNone && match_node(p, t, next);
  }

  // --- arguments
  // ------------------------------------------------------------------------------------------------------------

  struct ArgumentState {
    std::vector<NodeId> keywords, ordered;         // of the pattern
    std::vector<NodeId> targets;                   // all of the call, in order
    std::vector<std::pair<NodeId, NodeId>> taken;  // pattern keyword -> target keyword
    bool in_order = true;
  };

  bool arguments(NodeId p, NodeId t, Next next) {
    ArgumentState state;
    for (NodeId e : p_.named_children(p)) {
      (p_.is(e, kinds().keyword_argument) ? state.keywords : state.ordered).push_back(e);
    }
    state.targets = t_.named_children(t);
    // Which keywords are taken already is part of no memo key.
    const bool memo = memoise_;
    memoise_ = memoise_ && state.keywords.empty();
    const bool found = keyword(state, 0, next);
    memoise_ = memo;
    return found;
  }

  bool keyword(ArgumentState& state, std::size_t i, Next next) {
    if (i == state.keywords.size()) return positionals(state, next);
    const NodeId p = state.keywords[i];
    const NodeId name = p_.child(p, fields().name);
    for (NodeId t : state.targets) {
      if (!t_.is(t, kinds().keyword_argument)) continue;
      if (std::any_of(state.taken.begin(), state.taken.end(), [&](const auto& pair) { return pair.second == t; }))
        continue;
      const bool found = match_node(name, t_.child(t, fields().name), [&] {
        match_.pairs.emplace_back(p, t);
        state.taken.emplace_back(p, t);
        const bool ok = match_node(p_.child(p, fields().value), t_.child(t, fields().value),
                                   [&] { return keyword(state, i + 1, next); });
        if (!ok) state.taken.pop_back();
        return ok;
      });
      if (found) return true;
    }
    return false;
  }

  bool positionals(ArgumentState& state, Next next) {
    std::vector<NodeId> rest;
    for (NodeId t : state.targets) {
      if (std::none_of(state.taken.begin(), state.taken.end(), [&](const auto& pair) { return pair.second == t; }))
        rest.push_back(t);
    }
    // First as the source has it: what stands before a keyword there goes to what stands before it in the pattern.
    state.in_order = true;
    if (positional(state, 0, rest, 0, next)) return true;
    state.in_order = false;
    return !state.taken.empty() && positional(state, 0, rest, 0, next);
  }

  // Whether pattern element and argument stand on the same side of each keyword that was taken by name.
  static bool same_side(const ArgumentState& state, NodeId p, NodeId t) {
    return !state.in_order || std::all_of(state.taken.begin(), state.taken.end(),
                                          [&](const auto& pair) { return (p < pair.first) == (t < pair.second); });
  }

  bool positional(ArgumentState& state, std::size_t i, const std::vector<NodeId>& rest, std::size_t j, Next next) {
    if (!step()) return false;
    if (i == state.ordered.size()) return j == rest.size() && barriers_hold(state) && next();
    const bool memo = memoise_ && !rest.empty();
    const auto key = std::make_tuple(state.ordered[i], rest.empty() ? kNone : rest.front(), j);
    if (memo && dead_->contains(key)) return false;
    const bool found = positional_here(state, i, rest, j, next);
    if (!found && memo) learn(key);
    return found;
  }

  bool positional_here(ArgumentState& state, std::size_t i, const std::vector<NodeId>& rest, std::size_t j, Next next) {
    const NodeId p = state.ordered[i];
    const Metavariable* mv = pattern_.metavariable(p);
    if (mv != nullptr && mv->run) {
      for (std::size_t end = j; end <= rest.size(); ++end) {
        if (end > j && !same_side(state, p, rest[end - 1])) return false;
        const std::vector<NodeId> taken(rest.begin() + static_cast<std::ptrdiff_t>(j),
                                        rest.begin() + static_cast<std::ptrdiff_t>(end));
        if (bind_run(*mv, p, taken, [&] { return positional(state, i + 1, rest, end, next); })) return true;
      }
      return false;
    }
    if (j == rest.size() || !same_side(state, p, rest[j])) return false;
    const NodeId t = rest[j];
    if (mv != nullptr && (t_.is(t, kinds().keyword_argument) || is_splat(t_, t))) return false;
    return match_node(p, t, [&] { return positional(state, i + 1, rest, j + 1, next); });
  }

  // A splat that the pattern names stands on the same side of each keyword in both.
  bool barriers_hold(const ArgumentState& state) const {
    for (NodeId p : state.ordered) {
      if (!is_splat(p_, p)) continue;
      const auto splat =
          std::find_if(match_.pairs.rbegin(), match_.pairs.rend(), [&](const auto& pair) { return pair.first == p; });
      if (splat == match_.pairs.rend()) continue;
      for (const auto& [pk, tk] : state.taken) {
        if ((pk < p) != (tk < splat->second)) return false;
      }
    }
    return true;
  }

  // f(x for x in y): the arguments are the generator itself.
  bool bare_generator(NodeId p, NodeId t, Next next) {
    const auto elements = p_.named_children(p);
    if (elements.size() != 1) return false;
    if (const Metavariable* mv = pattern_.metavariable(elements[0]); mv != nullptr && mv->run) {
      return bind_run(*mv, elements[0], {t}, next);
    }
    return match_node(elements[0], t, next);
  }

  // --- bindings
  // -------------------------------------------------------------------------------------------------------------

  bool bind_one(const Metavariable& mv, NodeId p, NodeId t, Next next) {
    const std::size_t mark = match_.pairs.size();
    match_.pairs.emplace_back(p, t);
    if (bind(mv, Binding{false, {without_wrapper(t)}}, next)) return true;
    match_.pairs.resize(mark);
    return false;
  }

  // The name that the `e` of `as e` or the `T` of `x: T` is all of: the same name elsewhere is equal to it.
  NodeId without_wrapper(NodeId t) const {
    static const Kind as_target = kind_named("as_pattern_target");
    const auto inner = t_.named_children(t);
    static const Kind case_pattern = kind_named("case_pattern");
    const bool wraps =
        t_.is(t, as_target) || t_.is(t, kinds().type) || t_.is(t, kinds().dotted_name) || t_.is(t, case_pattern);
    if (!wraps || inner.size() != 1 || t_.range(inner[0]) != t_.range(t)) return t;
    return without_wrapper(inner[0]);
  }

  bool bind_run(const Metavariable& mv, NodeId p, const std::vector<NodeId>& nodes, Next next) {
    const std::size_t mark = match_.runs.size();
    match_.runs.emplace_back(p, nodes);
    if (bind(mv, Binding{true, nodes}, next)) return true;
    match_.runs.resize(mark);
    return false;
  }

  bool bind(const Metavariable& mv, Binding binding, Next next) {
    if (mv.name.empty()) return next();
    const auto it = match_.bindings.find(mv.name);
    if (it != match_.bindings.end()) return same(it->second, binding) && next();
    if (!admit_(mv.name, binding)) return false;
    match_.bindings.emplace(mv.name, std::move(binding));
    if (next()) return true;
    match_.bindings.erase(mv.name);
    return false;
  }

  bool same(const Binding& a, const Binding& b) const {
    return std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(),
                      [&](NodeId x, NodeId y) { return equal_code(target(), x, target(), y); });
  }

  const Pattern& pattern_;
  const Tree& p_;
  const Source& source_;
  const Tree& t_;
  Admit admit_;
  Accept accept_;
  Dead* dead_;
  bool learns_;
  bool memoise_;
  Match match_;
  std::size_t reached_ = 0;
  std::uint64_t steps_ = 0;
};

// Where the pattern has runs, first a cheap answer by structure alone, with a memory of failures (one for all places
// of a search): is there any match at all? Only then are the ways enumerated, since a caller may reject any of them.
template <class Attempt>
bool two_phases(const Search& search, Admit admit, Accept accept, Dead& dead, Attempt attempt) {
  if (search.pattern->has_runs() && !search.pattern->repeats_names() && search.given.empty()) {
    const auto any_binding = [](const std::string&, const Binding&) { return true; };
    const auto any_match = [](const Match&) { return true; };
    Matcher probe(search, Admit(any_binding), Accept(any_match), &dead, true);
    if (!attempt(probe)) return false;
    Matcher matcher(search, admit, accept, &dead, false);
    return attempt(matcher);
  }
  Matcher matcher(search, admit, accept, nullptr, false);
  return attempt(matcher);
}

}  // namespace

bool part_matches(const Search& search, NodeId part, NodeId node) {
  const auto admit = [](const std::string&, const Binding&) { return true; };
  const auto accept = [](const Match&) { return true; };
  return Matcher(search, Admit(admit), Accept(accept), nullptr, false).part_at_node(part, node);
}

bool match_at(const Search& search, NodeId node, Admit admit, Accept accept) {
  const Tree& tree = *search.target.tree;
  Dead dead;
  if (search.pattern->form() != Pattern::Form::statements) {
    return two_phases(search, admit, accept, dead, [&](Matcher& m) { return m.at_node(node); });
  }
  if (tree[node].parent == kNone || !is_suite(tree, tree[node].parent)) return false;
  const auto statements = statements_of(tree, tree[node].parent);
  const auto at = std::find(statements.begin(), statements.end(), node);
  if (at == statements.end()) return false;
  const auto index = static_cast<std::size_t>(at - statements.begin());
  return two_phases(search, admit, accept, dead, [&](Matcher& m) { return m.at_statements(statements, index); });
}

std::vector<Match> find_all(const Search& search, NodeId scope, Admit admit, Accept accept) {
  const Tree& tree = *search.target.tree;
  const Pattern& pattern = *search.pattern;
  std::vector<Match> found;
  Dead dead;
  const auto take = [&](const Match& match) {
    if (!accept(match)) return false;
    found.push_back(match);
    return true;
  };
  if (pattern.form() == Pattern::Form::statements) {
    // A definition that is the scope stands in a suite outside of it.
    if (pattern.roots().size() == 1 && !is_suite(tree, scope) && tree[scope].parent != kNone)
      (void)match_at(search, statement_of(tree, scope), admit, Accept(take));
    for (NodeId id = scope; id < tree[scope].subtree_end; ++id) {
      if (!is_suite(tree, id)) continue;
      const auto statements = statements_of(tree, id);
      for (std::size_t i = 0; i < statements.size();) {
        const bool hit =
            two_phases(search, admit, take, dead, [&](Matcher& m) { return m.at_statements(statements, i); });
        i += hit ? found.back().nodes.size() : 1;
      }
    }
    return found;
  }
  const NodeId root = strip_parentheses(pattern.tree(), pattern.roots()[0]);
  const bool anything = pattern.metavariable(root) != nullptr;
  for (NodeId id = scope; id < tree[scope].subtree_end; ++id) {
    const Node& node = tree[id];
    if (node.extra || !node.named || tree.is(id, kinds().parenthesized_expression)) continue;
    if (!anything && !same_kind(pattern, root, tree, id)) continue;
    (void)two_phases(search, admit, take, dead, [&](Matcher& m) { return m.at_node(id); });
  }
  return found;
}

std::vector<Match> find_all(const Search& search, NodeId scope) {
  const auto admit = [](const std::string&, const Binding&) { return true; };
  const auto accept = [](const Match&) { return true; };
  return find_all(search, scope, Admit(admit), Accept(accept));
}

}  // namespace suture
