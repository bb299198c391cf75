// Random patterns and code as trees of our own, and written out: what the oracles compare the engine with never went
// through the parser.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace suture::oracle {

struct Expr;
using Term = std::shared_ptr<Expr>;
struct Expr {
  enum Kind { name, number, string, variable, run, call, list, sum, attribute, keyword, splat } kind = name;
  std::string text;         // of a leaf; the name of an attribute, a keyword, a metavariable ("" unnamed)
  std::vector<Term> parts;  // call: what is called, then arguments
};

// Draws go into named locals, in order: of the operands of `+` and the arguments of a call, no order is given.
class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }
  bool chance(std::size_t percent) { return below(100) < percent; }

  // An expression; with metavariables where it is to be a pattern.
  Term expression(int depth, bool pattern) {
    if (pattern && chance(25)) return leaf(Expr::variable, pick({"X", "Y", ""}));
    switch (depth == 0 ? below(3) : below(8)) {
      case 0:
        return leaf(Expr::name, pick({"a", "b", "f"}));
      case 1:
        return leaf(Expr::number, pick({"0", "1"}));
      case 2:
        return leaf(Expr::string, pick({"s", "t"}));
      case 3:
        return node(Expr::list, "", elements(depth, pattern, false));
      case 4: {
        const Term left = expression(depth - 1, pattern);
        const Term right = expression(depth - 1, pattern);
        return node(Expr::sum, "", {left, right});
      }
      case 5: {
        const std::string name = pick({"p", "q"});
        return node(Expr::attribute, name, {expression(depth - 1, pattern)});
      }
      default:
        break;
    }
    std::vector<Term> parts = {chance(70) ? leaf(Expr::name, pick({"f", "g"})) : expression(depth - 1, pattern)};
    for (Term& argument : elements(depth, pattern, true)) parts.push_back(std::move(argument));
    return node(Expr::call, "", parts);
  }

  // Code that a pattern may well match: each metavariable filled, now and then something changed.
  Term instance(const Term& pattern, std::map<std::string, Term>& filled) {
    if (chance(4)) return expression(1, false);
    if (pattern->kind == Expr::variable) {
      Term& value = filled[pattern->text];
      if (!value || pattern->text.empty() || chance(10)) value = expression(1, false);
      return value;
    }
    Term out = std::make_shared<Expr>(*pattern);
    out->parts.clear();
    for (const Term& part : pattern->parts) {
      if (part->kind != Expr::run) {
        out->parts.push_back(instance(part, filled));
        continue;
      }
      for (std::size_t n = below(3); n > 0; --n) out->parts.push_back(expression(1, false));
    }
    return ordered(out);
  }

  std::string written(const Term& e, bool noise) {
    const std::string text = plain(e, noise);
    const bool wrap = noise && e->kind != Expr::keyword && e->kind != Expr::splat && e->kind != Expr::run && chance(10);
    return wrap ? "(" + text + ")" : text;
  }

 private:
  static Term leaf(Expr::Kind kind, const std::string& text) { return node(kind, text, {}); }
  static Term node(Expr::Kind kind, const std::string& text, std::vector<Term> parts) {
    auto out = std::make_shared<Expr>();
    out->kind = kind;
    out->text = text;
    out->parts = std::move(parts);
    return out;
  }
  std::string pick(const std::vector<std::string>& from) { return from[below(from.size())]; }

  std::vector<Term> elements(int depth, bool pattern, bool arguments) {
    std::vector<Term> out;
    std::vector<std::string> names = {"j", "k"};
    for (std::size_t n = below(4); n > 0; --n) {
      if (pattern && chance(30)) {
        out.push_back(leaf(Expr::run, pick({"A", "B", ""})));
      } else if (arguments && !names.empty() && chance(25)) {
        out.push_back(node(Expr::keyword, names.back(), {expression(depth - 1, pattern)}));
        names.pop_back();
      } else if (arguments && chance(8)) {
        out.push_back(node(Expr::splat, "", {expression(0, pattern)}));
      } else {
        out.push_back(expression(depth - 1, pattern));
      }
    }
    return in_order(out);
  }
  // Python wants positionals in front of keywords; `*x` may stand anywhere.
  static std::vector<Term> in_order(std::vector<Term> list) {
    std::stable_sort(list.begin(), list.end(), [](const Term& a, const Term& b) {
      const auto late = [](const Term& e) { return e->kind == Expr::keyword; };
      return !late(a) && late(b) && b->kind != Expr::splat;
    });
    return list;
  }
  static Term ordered(const Term& e) {
    if (e->kind == Expr::call) {
      std::vector<Term> arguments(e->parts.begin() + 1, e->parts.end());
      std::vector<Term> kept;
      std::set<std::string> names;
      for (const Term& a : arguments) {
        if (a->kind != Expr::keyword || names.insert(a->text).second) kept.push_back(a);
      }
      kept = in_order(kept);
      e->parts.resize(1);
      e->parts.insert(e->parts.end(), kept.begin(), kept.end());
    }
    return e;
  }

  std::string break_line(bool noise) {
    if (!noise || !chance(15)) return "";
    return pick({"\n  ", "  # note\n", "\n # a\n # b\n", "\\\n"});
  }
  std::string joined(const std::vector<Term>& parts, std::size_t from, bool noise) {
    std::string out;
    for (std::size_t i = from; i < parts.size(); ++i) {
      if (i > from) out += ", ";
      out += break_line(noise);
      out += written(parts[i], noise);
    }
    if (noise && parts.size() > from && chance(15)) out += ",";
    return out + break_line(noise);
  }
  std::string plain(const Term& e, bool noise) {
    switch (e->kind) {
      case Expr::name:
      case Expr::number:
        return e->text;
      case Expr::string:
        return noise && chance(50) ? "\"" + e->text + "\"" : "'" + e->text + "'";
      case Expr::variable:
        return "$" + (e->text.empty() ? "_" : e->text);
      case Expr::run:
        return "$$$" + e->text;
      case Expr::list:
        return "[" + joined(e->parts, 0, noise) + "]";
      case Expr::sum:
        break;
      case Expr::attribute:
        return operand(e->parts[0], noise, true) + "." + e->text;
      case Expr::keyword:
        return e->text + "=" + written(e->parts[0], noise);
      case Expr::splat:
        return "*" + operand(e->parts[0], noise);
      case Expr::call:
        break;
    }
    if (e->kind == Expr::sum) {
      const std::string left = written(e->parts[0], noise);
      return left + " + " + operand(e->parts[1], noise);
    }
    const std::string callee = operand(e->parts[0], noise, true);
    return callee + "(" + joined(e->parts, 1, noise) + ")";
  }
  std::string operand(const Term& e, bool noise, bool tight = false) {
    const std::string text = written(e, noise);
    const bool loose = e->kind == Expr::sum || (tight && e->kind == Expr::number);
    return loose ? "(" + text + ")" : text;
  }

  std::mt19937 random_;
};

// --- a naive matcher: it tries every way
// --------------------------------------------------------------------------------

using Bound = std::map<std::string, std::vector<Term>>;
using Solutions = std::vector<Bound>;

inline bool same(const Term& a, const Term& b) {
  return a->kind == b->kind && a->text == b->text &&
         std::equal(a->parts.begin(), a->parts.end(), b->parts.begin(), b->parts.end(), same);
}

inline bool add_binding(Bound& bound, const std::string& key, const std::vector<Term>& nodes) {
  if (key.empty() || key == "$$$") return true;
  const auto [at, fresh] = bound.emplace(key, nodes);
  return fresh || std::equal(at->second.begin(), at->second.end(), nodes.begin(), nodes.end(), same);
}

inline Solutions solve(const Term& p, const Term& t, const Bound& bound);

// All ways to match ps[i..] with ts[j..], in order.
inline void in_order(const std::vector<Term>& ps, std::size_t i, const std::vector<Term>& ts, std::size_t j,
                     const Bound& bound, Solutions& out) {
  if (i == ps.size()) {
    if (j == ts.size()) out.push_back(bound);
    return;
  }
  if (ps[i]->kind == Expr::run) {
    for (std::size_t end = j; end <= ts.size(); ++end) {
      Bound with = bound;
      const std::vector<Term> taken(ts.begin() + static_cast<std::ptrdiff_t>(j),
                                    ts.begin() + static_cast<std::ptrdiff_t>(end));
      if (add_binding(with, "$$$" + ps[i]->text, taken)) in_order(ps, i + 1, ts, end, with, out);
    }
    return;
  }
  if (j == ts.size()) return;
  for (const Bound& with : solve(ps[i], ts[j], bound)) in_order(ps, i + 1, ts, j + 1, with, out);
}

inline void keywords(const std::vector<Term>& ps, const std::vector<Term>& ts, std::size_t i,
                     std::vector<std::pair<Term, Term>>& taken, const Bound& bound, Solutions& out) {
  if (i < ps.size() && ps[i]->kind != Expr::keyword) return keywords(ps, ts, i + 1, taken, bound, out);
  if (i < ps.size()) {
    for (const Term& t : ts) {
      if (t->kind != Expr::keyword || t->text != ps[i]->text) continue;
      for (const Bound& with : solve(ps[i]->parts[0], t->parts[0], bound)) {
        taken.emplace_back(ps[i], t);
        keywords(ps, ts, i + 1, taken, with, out);
        taken.pop_back();
      }
    }
    return;
  }
  std::vector<Term> ordered;
  std::vector<Term> rest;
  for (const Term& p : ps) {
    if (p->kind != Expr::keyword) ordered.push_back(p);
  }
  for (const Term& t : ts) {
    if (std::none_of(taken.begin(), taken.end(), [&](const auto& pair) { return pair.second == t; })) rest.push_back(t);
  }
  in_order(ordered, 0, rest, 0, bound, out);
}

inline Solutions solve(const Term& p, const Term& t, const Bound& bound) {
  Solutions out;
  if (p->kind == Expr::variable) {
    Bound with = bound;
    const bool node = t->kind != Expr::keyword && t->kind != Expr::splat;
    if (node && add_binding(with, p->text, {t})) out.push_back(with);
    return out;
  }
  if (p->kind != t->kind || p->text != t->text) return out;
  if (p->kind != Expr::call) {
    in_order(p->parts, 0, t->parts, 0, bound, out);
    return out;
  }
  for (const Bound& with : solve(p->parts[0], t->parts[0], bound)) {
    std::vector<std::pair<Term, Term>> taken;
    keywords({p->parts.begin() + 1, p->parts.end()}, {t->parts.begin() + 1, t->parts.end()}, 0, taken, with, out);
  }
  return out;
}

inline void all_nodes(const Term& e, std::vector<Term>& out) {
  if (e->kind != Expr::keyword && e->kind != Expr::splat) out.push_back(e);
  for (const Term& part : e->parts) all_nodes(part, out);
}
inline bool any(const Term& e, Expr::Kind kind) {
  return e->kind == kind || std::any_of(e->parts.begin(), e->parts.end(), [&](const Term& p) { return any(p, kind); });
}

}  // namespace suture::oracle
