// See difference.h. Tests: tests/unit/difference_test.cc has each kind of sentence.
#include "engine/difference.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "engine/code_words.h"
#include "engine/token.h"

namespace suture {
namespace {

constexpr std::size_t kWidth = 80;          // of code in a sentence
constexpr std::size_t kMostElements = 300;  // of a list that is aligned; what follows is left out
constexpr std::uint32_t kOne = 3;           // what an element costs that one side alone has

// A sentence without its first word or with it: "has one argument more" is said of whatever it was found in.
struct Words {
  std::string subject, predicate;
  [[nodiscard]] bool none() const { return predicate.empty(); }
};

// One step of an alignment; kNone: the other side has nothing there.
struct Step {
  NodeId pattern = kNone, code = kNone;
};

std::string backquoted(std::string_view code) {
  return "`" + one_line(code, kWidth) + "`";
}

class Comparer {
 public:
  Comparer(const Pattern& pattern, const CodeView& target)
      : pattern_(pattern), p_(pattern.tree()), target_(target), t_(*target.tree) {}

  Words whole(NodeId node) {
    if (pattern_.form() == Pattern::Form::statements) return run_of_statements(node);
    const NodeId root = pattern_.roots()[0];
    if (Words part = only_a_part(root, node); !part.none()) return part;
    return nodes(root, node, "");
  }

 private:
  // --- words of single nodes

  std::string code(NodeId t) const { return quoted_code(target_, t); }
  std::string want(NodeId p) const { return quoted_code(pattern_, p); }

  Words is_not(const std::string& subject, NodeId p, NodeId t) const {
    return {subject.empty() ? "it" : subject, "is " + code(t) + ", expected " + want(p)};
  }

  bool same(NodeId p, NodeId t) const {
    const Metavariable* mv = pattern_.metavariable(p);
    // As an argument a metavariable is a positional one.
    if (mv != nullptr && !mv->run && (t_.is(t, kinds().keyword_argument) || is_splat(t))) return false;
    return part_matches(Search{&pattern_, target_, {}}, p, t);
  }
  bool is_splat(NodeId t) const { return t_.is(t, kinds().list_splat) || t_.is(t, kinds().dictionary_splat); }
  bool is_run(NodeId p) const {
    const Metavariable* mv = pattern_.metavariable(p);
    return mv != nullptr && mv->run;
  }

  // Names, attributes, literals: told apart as a whole.
  static bool is_plain(const Tree& tree, NodeId id) {
    return is_token(tree, id) || tree.is(id, kinds().attribute) || tree.is(id, kinds().subscript) ||
           tree.is(id, kinds().string) || tree.is(id, kinds().dotted_name);
  }

  Words nodes(NodeId p, NodeId t, const std::string& subject) {
    p = strip_parentheses(p_, p);
    t = strip_parentheses(t_, t);
    if (t_.is(t, kinds().decorated_definition) && !p_.is(p, kinds().decorated_definition))
      t = t_.child(t, fields().definition);
    if (pattern_.metavariable(p) != nullptr || !same_kind(p_, p, t_, t)) return is_not(subject, p, t);
    if (is_plain(p_, p) || is_plain(t_, t)) return is_not(subject, p, t);
    Words inner = children(p, t);
    if (inner.none()) return {};
    if (inner.subject.empty()) {
      inner.subject = subject;
    } else if (!subject.empty() && !subject.starts_with("the ")) {
      inner.subject = "in " + subject + ", " + inner.subject;
    }
    return inner;
  }

  Words children(NodeId p, NodeId t) {
    if (p_.is(p, kinds().call)) return call(p, t);
    if (p_.is(p, kinds().argument_list)) return arguments(p, t);
    return list(significant(p_, p), significant(t_, t));
  }

  // --- calls

  Words call(NodeId p, NodeId t) {
    const NodeId function = p_.child(p, fields().function);
    const NodeId called = t_.child(t, fields().function);
    if (!same(function, called)) return callee(function, called);
    const NodeId arguments_p = p_.child(p, fields().arguments);
    const NodeId arguments_t = t_.child(t, fields().arguments);
    return same(arguments_p, arguments_t) ? Words{} : nodes(arguments_p, arguments_t, "");
  }

  // In `a.get(x).to(y)` it is the inner call that differs where both end in `.to`.
  Words callee(NodeId p, NodeId t) {
    if (p_.is(p, kinds().attribute) && t_.is(t, kinds().attribute)) {
      const NodeId object_p = strip_parentheses(p_, p_.child(p, fields().object));
      const NodeId object_t = strip_parentheses(t_, t_.child(t, fields().object));
      const bool same_name = same(p_.child(p, fields().attribute), t_.child(t, fields().attribute));
      if (same_name && p_.is(object_p, kinds().call) && t_.is(object_t, kinds().call))
        return nodes(object_p, object_t, "");
    }
    return is_not("the callee", p, t);
  }

  // Keywords by name, the rest in order; told in the order of the pattern.
  Words arguments(NodeId p, NodeId t) {
    std::vector<NodeId> ordered;
    std::vector<NodeId> rest = t_.named_children(t);
    std::vector<Step> steps;
    for (const NodeId element : p_.named_children(p)) {
      if (!p_.is(element, kinds().keyword_argument)) {
        ordered.push_back(element);
        continue;
      }
      const auto named = std::find_if(rest.begin(), rest.end(), [&](NodeId each) {
        return t_.is(each, kinds().keyword_argument) &&
               part_matches(Search{&pattern_, target_, {}}, p_.child(element, fields().name),
                            t_.child(each, fields().name));
      });
      if (named == rest.end()) {
        steps.push_back({element, kNone});
        continue;
      }
      if (!same(element, *named)) steps.push_back({element, *named});
      rest.erase(named);
    }
    for (const Step& step : align(ordered, rest, false)) steps.push_back(step);
    // What the code has beyond the pattern is told last: where an element is another one, that says more.
    std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.pattern < b.pattern; });
    return first_of(steps);
  }

  // --- lists

  Words list(const std::vector<NodeId>& ps, const std::vector<NodeId>& ts) { return first_of(align(ps, ts, false)); }

  Words first_of(const std::vector<Step>& steps) {
    if (steps.empty()) return {};
    const Step& first = steps.front();
    if (first.pattern == kNone) return more(steps);
    if (first.code == kNone) return missing(first.pattern, steps);
    const bool keywords = p_.is(first.pattern, kinds().keyword_argument) && t_.is(first.code, kinds().keyword_argument);
    if (!keywords) return nodes(first.pattern, first.code, role(first));
    return nodes(p_.child(first.pattern, fields().value), t_.child(first.code, fields().value), role(first));
  }

  std::string role(const Step& step) const {
    if (p_.is(step.pattern, kinds().keyword_argument) && t_.is(step.code, kinds().keyword_argument))
      return "argument " + quoted_code(target_, t_.child(step.code, fields().name));
    if (const auto part = part_name(t_, step.code); !part.empty()) return std::string(part);
    const Noun noun = noun_of(t_, step.code);
    if (noun.one == "part") return "";
    if (is_clause(t_, step.code)) return "the " + std::string(noun.one);
    return std::string(noun.one) + " " + std::to_string(ordinal(step.code));
  }

  // Counted from 1 among its siblings of one noun.
  std::size_t ordinal(NodeId t) const {
    std::size_t n = 1;
    for (const NodeId sibling : t_.named_children(t_[t].parent)) {
      if (sibling == t) break;
      if (part_name(t_, sibling).empty() && noun_of(t_, sibling).one == noun_of(t_, t).one) ++n;
    }
    return n;
  }

  // What the code has beyond the pattern: all of the first one's kind.
  Words more(const std::vector<Step>& steps) const {
    const NodeId first = steps.front().code;
    const Noun noun = noun_of(t_, first);
    if (is_clause(t_, first)) return {"", "has " + with_article(noun.one)};
    std::vector<std::string> texts;
    for (const Step& step : steps) {
      if (step.pattern == kNone && noun_of(t_, step.code).one == noun.one)
        texts.push_back(one_line(target_.source->text(t_.range(step.code)), kWidth));
    }
    if (noun.one == "name") return {"", "imports `" + join(texts, "`, `") + "` too"};
    if (noun.one == "part") return {"", "has `" + texts.front() + "` too"};
    if (noun.one == "statement") return more_statements(steps, texts);
    const std::string count = texts.size() == 1 ? "one " + std::string(noun.one)
                                                : std::to_string(texts.size()) + " " + std::string(noun.many);
    return {"", "has " + count + " more: " + one_line(join(texts, ", "), kWidth)};
  }
  Words more_statements(const std::vector<Step>& steps, const std::vector<std::string>& texts) const {
    const std::size_t there = t_.named_children(t_[steps.front().code].parent).size();
    const bool body = !t_.is(t_[steps.front().code].parent, kinds().module) && whole_suite_;
    std::string count = texts.size() == 1 ? "one statement more" : std::to_string(texts.size()) + " statements more";
    if (body) count = std::to_string(there) + " statements where the rule has " + std::to_string(there - texts.size());
    return {"", "has " + count + ": `" + texts.front() + "`" + (texts.size() > 1 ? " and more" : "")};
  }

  Words missing(NodeId p, const std::vector<Step>& steps) const {
    const Noun noun = noun_of(p_, p);
    if (p_.is(p, kinds().keyword_argument))
      return {"keyword " + quoted_code(pattern_, p_.child(p, fields().name)), "is missing"};
    if (is_clause(p_, p)) return {"", "has no " + std::string(noun.one)};
    if (noun.one == "name") return {"", "does not import " + want(p)};
    if (noun.one == "part") {
      const auto part = part_name(p_, p);
      return {"", "has no " + (part.empty() ? "" : std::string(part.substr(4)) + " ") + want(p)};
    }
    const auto count = std::count_if(steps.begin(), steps.end(), [&](const Step& step) {
      return step.code == kNone && noun_of(p_, step.pattern).one == noun.one;
    });
    if (count == 1) return {"the " + std::string(noun.one) + " " + want(p), "is missing"};
    return {std::to_string(count) + " " + std::string(noun.many), "are missing, " + want(p) + " first"};
  }

  // --- statements and parts

  Words run_of_statements(NodeId node) {
    const NodeId suite = t_[node].parent;
    if (suite == kNone || !is_suite(t_, suite)) return is_not("", pattern_.roots()[0], node);
    const auto all = statements_of(t_, suite);
    const auto from = std::find(all.begin(), all.end(), node);
    const auto room = static_cast<std::ptrdiff_t>(pattern_.roots().size() + 3);
    const std::vector<NodeId> window(from, all.end() - from > room ? from + room : all.end());
    whole_suite_ = false;
    if (pattern_.roots().size() == 1 && !is_run(pattern_.roots()[0])) {
      whole_suite_ = true;
      return same(pattern_.roots()[0], node) ? Words{} : nodes(pattern_.roots()[0], node, "");
    }
    const std::vector<Step> steps = align(pattern_.roots(), window, true);
    whole_suite_ = !steps.empty() && steps.front().pattern != kNone && steps.front().code != kNone;
    return first_of(steps);
  }

  // The code is all of one part of the pattern, and the rest is not around it.
  Words only_a_part(NodeId root, NodeId node) const {
    for (NodeId part = root + 1; part < p_[root].subtree_end; ++part) {
      if (!p_.is(part, kinds().call) || !same(part, node)) continue;
      const NodeId parent = p_[part].parent;
      const NodeId outer = p_[parent].parent;
      if (p_.is(parent, kinds().attribute) && p_.is(outer, kinds().call)) {
        const std::string wanted = backquoted(pattern_.spelled(Range{p_[part].end, p_[outer].end}));
        const std::string there = method_behind(node);
        if (there.empty()) return {"", "has no " + wanted + " behind it"};
        return {"", "is followed by " + there + ", expected " + wanted};
      }
      if (p_.is(parent, kinds().argument_list))
        return {"", "is not an argument of " + want(p_.child(outer, fields().function))};
      return {"", "is not part of " + want(root)};
    }
    return {};
  }

  // `.view(kind)` of `x.view(kind)`, for the node x; empty where no call follows.
  [[nodiscard]] std::string method_behind(NodeId node) const {
    const NodeId attribute = t_[node].parent;
    if (attribute == kNone || !t_.is(attribute, kinds().attribute)) return "";
    const NodeId call = t_[attribute].parent;
    if (!t_.is(call, kinds().call) || t_.child(call, fields().function) != attribute) return "";
    return backquoted(target_.source->text({t_[node].end, t_[call].end}));
  }

  // --- alignment

  // What a pattern may leave unsaid (match.h) costs nothing.
  bool is_optional(NodeId t) const {
    const std::uint8_t field = t_[t].field;
    const Node& node = t_[t];
    if (!node.named && kind_name(node.kind) == "async") return true;
    if (!node.named) return kind_name(node.kind) == "=" || kind_name(node.kind) == "@";
    return field != 0 && (field == fields().return_type || field == fields().type_parameters ||
                          field == fields().superclasses || field == fields().type);
  }

  // Two elements taken for one: never dearer than one that is missing and one more, where they may be one at all.
  std::uint32_t cost_of_pair(NodeId p, NodeId t) const {
    if (p_[p].named != t_[t].named || p_[p].field != t_[t].field) return 2 * kOne + 1;
    if (!same_kind(p_, p, t_, t)) return 2 * kOne - 1;
    return share_a_token(p, t) ? kOne - 1 : kOne + 1;
  }
  bool share_a_token(NodeId p, NodeId t) const {
    std::set<std::string> keys;
    for (const NodeId token : tokens_of(p_, {p})) {
      if (p_[token].named) keys.insert(token_key(pattern_.source(), p_, token));
    }
    const std::vector<NodeId> tokens = tokens_of(t_, {t});
    return std::any_of(tokens.begin(), tokens.end(),
                       [&](NodeId token) { return keys.contains(token_key(*target_.source, t_, token)); });
  }

  // The cheapest way from the pattern's elements to the code's: what differs, in order. open: the code may go on.
  std::vector<Step> align(const std::vector<NodeId>& ps, const std::vector<NodeId>& all, bool open) const {
    const std::vector<NodeId> ts(all.begin(), all.size() > kMostElements ? all.begin() + kMostElements : all.end());
    const std::size_t n = ps.size(), m = ts.size();
    std::vector<std::vector<std::uint32_t>> cost(n + 1, std::vector<std::uint32_t>(m + 1, 0));
    std::vector<std::vector<bool>> equal(n, std::vector<bool>(m, false));
    const auto extra = [&](std::size_t j) { return is_optional(ts[j]) ? 0U : kOne; };
    for (std::size_t i = 0; i <= n; ++i) {
      for (std::size_t j = 0; j <= m; ++j) {
        if (i == 0) {
          cost[i][j] = j == 0 ? 0 : cost[0][j - 1] + extra(j - 1);
          continue;
        }
        const bool run = is_run(ps[i - 1]);
        std::uint32_t best = cost[i - 1][j] + (run ? 0 : kOne);
        if (j > 0) best = std::min(best, cost[i][j - 1] + (run ? 0 : extra(j - 1)));
        if (j > 0 && !run) {
          equal[i - 1][j - 1] = same(ps[i - 1], ts[j - 1]);
          best = std::min(best, cost[i - 1][j - 1] + (equal[i - 1][j - 1] ? 0 : cost_of_pair(ps[i - 1], ts[j - 1])));
        }
        cost[i][j] = best;
      }
    }
    std::size_t end = m;
    // The last of the cheapest ends: a statement that was put between says more than one that is missing.
    if (open) end = m - static_cast<std::size_t>(std::min_element(cost[n].rbegin(), cost[n].rend()) - cost[n].rbegin());
    return trace(ps, ts, end, cost, equal);
  }

  // Back from the end, what one side alone has first: so of equal ways the one is told that pairs the elements in front.
  std::vector<Step> trace(const std::vector<NodeId>& ps, const std::vector<NodeId>& ts, std::size_t end,
                          const std::vector<std::vector<std::uint32_t>>& cost,
                          const std::vector<std::vector<bool>>& equal) const {
    std::vector<Step> steps;
    for (std::size_t i = ps.size(), j = end; i > 0 || j > 0;) {
      const bool run = i > 0 && is_run(ps[i - 1]);
      const std::uint32_t extra = j == 0 || run || is_optional(ts[j - 1]) ? 0 : kOne;
      if (j > 0 && cost[i][j] == cost[i][j - 1] + extra) {
        if (extra > 0) steps.push_back({kNone, ts[j - 1]});
        --j;
      } else if (i > 0 && cost[i][j] == cost[i - 1][j] + (run ? 0 : kOne)) {
        if (!run) steps.push_back({ps[i - 1], kNone});
        --i;
      } else {
        if (!equal[i - 1][j - 1]) steps.push_back({ps[i - 1], ts[j - 1]});
        --i, --j;
      }
    }
    std::reverse(steps.begin(), steps.end());
    return steps;
  }

  const Pattern& pattern_;
  const Tree& p_;
  CodeView target_;
  const Tree& t_;
  bool whole_suite_ = true;  // the statements that are compared are all of their suite
};

}  // namespace

std::string quoted_code(const CodeView& target, NodeId node) {
  return backquoted(target.source->text(target.tree->range(node)));
}
std::string quoted_code(const Pattern& pattern, NodeId node) {
  return backquoted(pattern.spelled(node));
}
std::string quoted_code(const Pattern& pattern) {
  return backquoted(pattern.written());
}

std::string difference(const Pattern& pattern, const CodeView& target, NodeId node) {
  const auto any = [](const std::string&, const Binding&) { return true; };
  const auto yes = [](const Match&) { return true; };
  if (match_at(Search{&pattern, target, {}}, node, Admit(any), Accept(yes))) return "";
  const Words words = Comparer(pattern, target).whole(node);
  return words.none() || words.subject.empty() ? words.predicate : words.subject + " " + words.predicate;
}

}  // namespace suture
