// See prefilter.h. Tests: tests/unit/audit_test.cc; tests/audit compares with parsing everything on a whole release.
#include "engine/prefilter.h"

#include <re2/re2.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "engine/code.h"

namespace suture {
namespace {

bool is_ascii(char c) {
  return static_cast<unsigned char>(c) < 128;
}

// --- from patterns ---------------------------------------------------------------------------------------------------

// Whether the node, an identifier of the pattern, is what a call calls: `f` in `f(...)`, `b` in `a.b(...)`.
bool is_callee(const Tree& tree, NodeId id) {
  NodeId at = id;
  const NodeId parent = tree[at].parent;
  if (parent != kNone && tree.is(parent, kinds().attribute) && tree[at].field == fields().attribute) at = parent;
  const NodeId call = tree[at].parent;
  return call != kNone && tree.is(call, kinds().call) && tree[at].field == fields().function;
}

// The attribute that is taken of the identifier: `b` of `a.b`, where the pattern names it.
std::string attribute_of(const Pattern& pattern, NodeId id) {
  const Tree& tree = pattern.tree();
  const NodeId parent = tree[id].parent;
  if (parent == kNone || !tree.is(parent, kinds().attribute) || tree[id].field != fields().object) return "";
  const NodeId name = tree.child(parent, fields().attribute);
  if (name == kNone || pattern.metavariable(name) != nullptr) return "";
  return std::string(pattern.source().text(tree.range(name)));
}

// A metavariable that stands for one identifier: the name of an attribute, or one of which a clause says so.
bool is_one_name(const Tree& tree, NodeId id, const std::string& name, const std::vector<CompiledWhere>& clauses) {
  const NodeId parent = tree[id].parent;
  const bool attribute = parent != kNone && tree.is(parent, kinds().attribute) && tree[id].field == fields().attribute;
  return attribute || std::any_of(clauses.begin(), clauses.end(), [&](const CompiledWhere& where) {
           return where.name == name && where.kind && *where.kind == kinds().identifier;
         });
}

std::optional<Anchor> anchor_of(const Pattern& pattern, NodeId id, const Metavariable& mv,
                                const std::vector<CompiledWhere>& clauses) {
  const Tree& tree = pattern.tree();
  if (mv.run || mv.name.empty()) return std::nullopt;
  for (const CompiledWhere& where : clauses) {
    if (where.name != mv.name || !where.regex) continue;
    const std::string literal = required_literal(where.regex->pattern());
    if (literal.empty()) continue;
    if (!is_one_name(tree, id, mv.name, clauses)) return Anchor{literal, false, nullptr, false, ""};
    return Anchor{literal, false, where.regex, is_callee(tree, id), attribute_of(pattern, id)};
  }
  return std::nullopt;
}

std::vector<Anchor> anchors_in(const Pattern& pattern, const std::vector<CompiledWhere>& clauses) {
  const Tree& tree = pattern.tree();
  std::vector<Anchor> out;
  for (const NodeId root : pattern.roots()) {
    for (NodeId id = root; id < tree[root].subtree_end; ++id) {
      if (!tree.is(id, kinds().identifier)) continue;
      if (const Metavariable* mv = pattern.metavariable(id)) {
        if (auto anchor = anchor_of(pattern, id, *mv, clauses)) out.push_back(*std::move(anchor));
      } else {
        std::string name(pattern.source().text(tree.range(id)));
        if (std::all_of(name.begin(), name.end(), is_ascii_word))
          out.push_back({std::move(name), true, nullptr, is_callee(tree, id), attribute_of(pattern, id)});
      }
    }
  }
  return out;
}

// What a pattern takes of the metavariable, wherever that stands in it: the names of attributes; nullopt: that cannot be told.
std::optional<std::vector<std::string>> taken_of(const Pattern& pattern, const std::string& name) {
  const Tree& tree = pattern.tree();
  std::vector<std::string> out;
  for (const NodeId root : pattern.roots()) {
    for (NodeId id = root; id < tree[root].subtree_end; ++id) {
      const Metavariable* mv = pattern.metavariable(id);
      if (mv == nullptr || mv->name != name) continue;
      NodeId at = id;  // `($FROM).view()` matches `x.view()`
      while (tree[at].parent != kNone && tree.is(tree[at].parent, kinds().parenthesized_expression))
        at = tree[at].parent;
      if (tree[at].parent == kNone || !tree.is(tree[at].parent, kinds().attribute)) continue;
      if (tree[at].field != fields().object) return std::nullopt;
      out.push_back(attribute_of(pattern, at));
      if (out.back().empty()) return std::nullopt;
    }
  }
  return out;
}

// Whether the metavariable stands at the begin of the expression alone, before all calls and indexing: `$FROM.a(...)[...]`.
bool begins_with(const Pattern& pattern, const std::string& name) {
  const Tree& tree = pattern.tree();
  const NodeId root = pattern.roots()[0];
  for (NodeId id = root; id < tree[root].subtree_end; ++id) {
    const Metavariable* mv = pattern.metavariable(id);
    if (mv == nullptr || mv->name != name) continue;
    for (NodeId at = id; at != root; at = tree[at].parent) {
      const std::uint8_t field = tree[at].field;
      const bool first = tree.is(tree[at].parent, kinds().parenthesized_expression) || field == fields().object ||
                         field == fields().function ||
                         (field == fields().value && tree.is(tree[at].parent, kinds().subscript));
      if (!first) return false;
    }
  }
  return pattern.roots().size() == 1;
}

// A way to have a site, as Need has it with the anchors numbered.
struct WayValue {
  Origin origin;
  std::vector<Anchor> anchors;
  std::string method;
  bool any_method = false;
};
struct Way {
  std::vector<Anchor> site, has;
  std::vector<WayValue> values;
};

bool may_be_name(const Pattern& pattern) {
  const Tree& tree = pattern.tree();
  return std::any_of(pattern.roots().begin(), pattern.roots().end(), [&](NodeId root) {
    const NodeId node = strip_parentheses(tree, root);
    return tree.is(node, kinds().identifier) || pattern.metavariable(node) != nullptr;
  });
}

// The ways in which a value may come from where a clause says.
std::vector<WayValue> values_of(const CompiledFlow& flow, const std::vector<CompiledWhere>& clauses) {
  std::vector<WayValue> out;
  for (const auto* list : {&flow.from, &flow.element_of}) {
    for (const Pattern& pattern : *list) {
      out.push_back({{}, anchors_in(pattern, clauses), "", false});
      out.back().origin.bare = may_be_name(pattern);
    }
  }
  if (flow.parameter) {
    const std::string literal = required_literal(flow.parameter->pattern());
    out.emplace_back();
    out.back().origin.parameter = true;
    if (!literal.empty()) out.back().anchors.push_back({literal, false, flow.parameter, false, ""});
  }
  std::optional<std::vector<std::string>> through = std::vector<std::string>();
  bool arguments = false;
  for (const Pattern& pattern : flow.through) {
    arguments = arguments || !begins_with(pattern, "FROM");
    const auto taken = taken_of(pattern, "FROM");
    if (through && taken) through->insert(through->end(), taken->begin(), taken->end());
    if (!taken) through.reset();
  }
  for (WayValue& value : out) {
    value.origin.through = through;
    value.origin.arguments = arguments;
  }
  return out;
}

std::vector<Way> ways_of(const CompiledNarrowing& narrowing) {
  std::vector<Way> out = {{anchors_in(*narrowing.match, narrowing.where), {}, {}}};
  for (const Pattern& pattern : narrowing.has) {
    const std::vector<Anchor> more = anchors_in(pattern, narrowing.where);
    out[0].has.insert(out[0].has.end(), more.begin(), more.end());
  }
  for (const CompiledWhere& where : narrowing.where) {
    if (!where.flow || !narrowing.match->binds(where.name)) continue;
    const auto taken = taken_of(*narrowing.match, where.name);
    std::vector<Way> longer;
    for (const Way& way : out) {
      for (WayValue& value : values_of(*where.flow, narrowing.where)) {
        value.any_method = !taken || taken->size() > 1;
        if (taken && taken->size() == 1) value.method = taken->front();
        longer.push_back(way);
        longer.back().values.push_back(std::move(value));
      }
    }
    out = std::move(longer);
  }
  return out;
}

// What looks past the definition that a site stands in.
bool looks_around(const CompiledNarrowing& n) {
  return n.match->form() != Pattern::Form::expression || !n.inside.empty() || !n.after.empty() || !n.before.empty() ||
         !n.not_inside.empty() || !n.not_after.empty() || !n.not_before.empty();
}

// --- in the text -----------------------------------------------------------------------------------------------------

// Behind blanks, comments, continuations and closing parentheses; the end of the text where nothing else follows.
std::size_t behind_gap(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const char c = text[at];
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (c != ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\v' && c != '\\' && c != ')' &&
               is_ascii(c)) {
      break;
    } else {
      ++at;
    }
  }
  return at;
}

bool is_called(std::string_view text, std::size_t at) {
  at = behind_gap(text, at);
  return at < text.size() && text[at] == '(';
}

bool has_attribute(std::string_view text, std::size_t at, const std::string& name) {
  at = behind_gap(text, at);
  if (at >= text.size() || text[at] != '.') return false;
  at = behind_gap(text, at + 1);
  return text.substr(at, name.size()) == name &&
         (at + name.size() >= text.size() || !is_ascii_word(text[at + name.size()]));
}

// `def` or `class`, and blanks, stand before it.
bool is_defined(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end > 0 && (text[end - 1] == ' ' || text[end - 1] == '\t')) --end;
  if (end == at) return false;
  std::size_t begin = end;
  while (begin > 0 && (is_ascii_word(text[begin - 1]) || !is_ascii(text[begin - 1]))) --begin;
  const std::string_view word = text.substr(begin, end - begin);
  return word == "def" || word == "class";
}

}  // namespace

Prefilter::Prefilter(const std::vector<CompiledRule>& rules) {
  for (std::size_t r = 0; r < rules.size(); ++r) {
    for (std::size_t s = 0; s < rules[r].shapes.size(); ++s) add(r, s, rules[r].shapes[s]);
  }
  std::vector<std::size_t> searched;  // those that stand first in some need
  for (const Need& need : needs_) {
    if (std::find(searched.begin(), searched.end(), need.anchors[0]) == searched.end())
      searched.push_back(need.anchors[0]);
  }
  search_for(std::move(searched));
}

void Prefilter::search_for(std::vector<std::size_t> anchors) {
  const auto size = [this](std::size_t anchor) { return anchors_[anchor].literal.size(); };
  std::stable_sort(anchors.begin(), anchors.end(), [&](std::size_t a, std::size_t b) { return size(a) < size(b); });
  for (const std::size_t anchor : anchors) {
    const std::string& literal = anchors_[anchor].literal;
    const auto core = std::find_if(cores_.begin(), cores_.end(), [&](const Core& c) {
      return literal.find(literals_[c.literal].text()) != std::string::npos;
    });
    if (core == cores_.end()) {
      cores_.push_back({anchor, {{anchor, 0}}});
    } else {
      core->anchors.emplace_back(anchor, literal.find(literals_[core->literal].text()));
    }
  }
}

std::size_t Prefilter::index_of(const Anchor& anchor) {
  const auto found = std::find(anchors_.begin(), anchors_.end(), anchor);
  if (found != anchors_.end()) return static_cast<std::size_t>(found - anchors_.begin());
  anchors_.push_back(anchor);
  literals_.emplace_back(anchor.literal);
  return anchors_.size() - 1;
}

void Prefilter::add(std::size_t rule, std::size_t shape, const CompiledShape& compiled) {
  for (const Way& way : ways_of(compiled.narrow)) {
    Need need{rule, shape, {}, looks_around(compiled.narrow), {}, {}};
    const auto numbered = [&](const std::vector<Anchor>& anchors) {
      std::vector<std::size_t> out;
      for (const Anchor& anchor : anchors) out.push_back(index_of(anchor));
      need.anchors.insert(need.anchors.end(), out.begin(), out.end());
      return out;
    };
    need.site = numbered(way.site);
    static_cast<void>(numbered(way.has));
    for (const WayValue& value : way.values) {
      need.values.push_back({value.origin, std::nullopt, value.any_method});
      need.values.back().origin.anchors = numbered(value.anchors);
      for (const std::size_t anchor : need.site) {
        OriginOfValue& numbered_value = need.values.back();
        if (!anchors_[anchor].word || anchors_[anchor].literal != value.method) continue;
        if (numbered_value.method && *numbered_value.method != anchor)
          numbered_value.any_method = true;  // which is it?
        numbered_value.method = anchor;
      }
      if (!value.method.empty() && !need.values.back().method) need.values.back().any_method = true;
    }
    if (need.anchors.empty()) {
      takes_all_ = true;
      continue;
    }
    // The rarest first: the longest, and of those one that says more.
    const auto weight = [this](std::size_t anchor) {
      return anchors_[anchor].literal.size() + (anchors_[anchor].called ? 1 : 0);
    };
    std::stable_sort(need.anchors.begin(), need.anchors.end(),
                     [&](std::size_t a, std::size_t b) { return weight(a) > weight(b); });
    needs_.push_back(std::move(need));
  }
}

bool Prefilter::fits(const Anchor& anchor, std::string_view text, std::size_t at) const {
  std::size_t begin = at, end = at + anchor.literal.size();
  const auto is_part = [&text](std::size_t i) { return is_ascii_word(text[i]) || !is_ascii(text[i]); };
  if (anchor.word) {
    if (begin > 0 && is_ascii_word(text[begin - 1])) return false;
    if (end < text.size() && is_ascii_word(text[end])) return false;
  } else if (anchor.regex) {
    while (begin > 0 && is_part(begin - 1)) --begin;
    while (end < text.size() && is_part(end)) ++end;
  }
  if (!anchor.then.empty() && !has_attribute(text, end, anchor.then)) return false;
  if (anchor.called && (!is_called(text, end) || is_defined(text, begin))) return false;
  if (anchor.word || !anchor.regex) return true;
  const std::string_view name = text.substr(begin, end - begin);
  // A name beside bytes that are not ASCII is let pass: they may be part of it, or none.
  return !std::all_of(name.begin(), name.end(), is_ascii) ||
         re2::RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *anchor.regex);
}

std::vector<Hit> Prefilter::scan(std::string_view text) const {
  std::vector<Hit> out;
  for (const Core& core : cores_) {
    const Literal& literal = literals_[core.literal];
    for (std::size_t at = literal.find(text); at != std::string_view::npos; at = literal.find(text, at + 1)) {
      for (const auto& [anchor, offset] : core.anchors) {
        if (offset > at) continue;
        const std::size_t begin = at - offset;
        if (text.substr(begin).starts_with(anchors_[anchor].literal) && fits(anchors_[anchor], text, begin))
          out.push_back({static_cast<std::uint32_t>(begin), anchor});
      }
    }
  }
  std::sort(out.begin(), out.end(),
            [](const Hit& a, const Hit& b) { return a.at != b.at ? a.at < b.at : a.anchor < b.anchor; });
  return out;
}

bool Prefilter::holds(const Need& need, std::string_view text, Range part) const {
  return std::all_of(need.anchors.begin(), need.anchors.end(),
                     [&](std::size_t anchor) { return find(anchor, text, part, [](std::uint32_t) { return true; }); });
}

bool Prefilter::find(std::size_t anchor, std::string_view text, Range part,
                     FunctionRef<bool(std::uint32_t)> stop) const {
  const Literal& literal = literals_[anchor];
  // Up to the end of the part; what follows a name there is looked at in the whole text.
  const std::string_view until = text.substr(0, part.end);
  for (std::size_t at = literal.find(until, part.begin); at != std::string_view::npos;
       at = literal.find(until, at + 1)) {
    if (fits(anchors_[anchor], text, at) && stop(static_cast<std::uint32_t>(at))) return true;
  }
  return false;
}

}  // namespace suture
