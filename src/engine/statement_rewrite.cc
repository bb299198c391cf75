// See rewrite.h and statement_rewrite.h. Tests: tests/unit/rewrite_test.cc.
#include "engine/statement_rewrite.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "engine/layout.h"
#include "engine/token_rewrite.h"

namespace suture {
namespace {

bool has_suite(const Tree& tree, NodeId statement) {
  for (NodeId id = statement; id < tree[statement].subtree_end; ++id) {
    if (tree.is(id, kinds().block)) return true;
  }
  return false;
}

std::string statement_key(const Pattern& pattern, NodeId statement) {
  std::string key;
  for (const SnippetToken& token : snippet_tokens(pattern, {statement})) key += token.key + "\n";
  return key;
}

// Rewrites a list of statements of the pattern, as they stand in the target, into those of the replacement.
class StatementRewriter {
 public:
  explicit StatementRewriter(const StatementRewrite& job)
      : target_(job.target),
        t_(*job.target.tree),
        pattern_(*job.pattern),
        match_(*job.match),
        replacement_(*job.replacement),
        comments_(job.comments),
        afresh_(job.afresh) {
    for (const auto& [p, t] : match_.pairs) node_[p] = {t};
    for (const auto& [p, ts] : match_.runs) node_[p] = ts;
  }
  [[nodiscard]] bool in_order() const { return in_order_; }

  Rewrite run(const std::vector<NodeId>& have, const std::vector<NodeId>& want, NodeId suite) {
    list(have, want, suite);
    std::stable_sort(out_.splices.begin(), out_.splices.end(),
                     [](const Splice& a, const Splice& b) { return a.begin < b.begin; });
    return std::move(out_);
  }

 private:
  void list(const std::vector<NodeId>& have, const std::vector<NodeId>& want, NodeId suite) {
    const auto pairs = pair_up(have, want);
    NodeId last = kNone;          // the last target statement that stays
    std::vector<NodeId> pending;  // replacement statements that wait for a place
    std::vector<NodeId> gone;
    std::size_t i = 0;
    const auto flush_before = [&](NodeId statement) {
      if (!pending.empty()) insert(pending, suite, last, statement, gone);
      pending.clear();
    };
    for (std::size_t j = 0; j < want.size(); ++j) {
      if (pairs[j] == kNoToken) {
        pending.push_back(want[j]);
        continue;
      }
      for (; i < pairs[j]; ++i) collect_gone(have[i], gone);
      const auto targets = target_of(have[i]);
      if (!targets.empty()) {  // an empty run is no place
        flush_before(targets.front());
        remove(gone, suite);
        gone.clear();
        if (statement_key(pattern_, have[i]) != statement_key(replacement_, want[j]))
          rewrite_pair(have[i], targets[0], want[j]);
        last = targets.back();
      }
      ++i;
    }
    for (; i < have.size(); ++i) collect_gone(have[i], gone);
    flush_before(kNone);
    remove(gone, suite);
  }

  std::vector<NodeId> target_of(NodeId p) const {
    const auto it = node_.find(p);
    if (it == node_.end()) return {};
    std::vector<NodeId> out;
    for (NodeId t : it->second) out.push_back(statement_of(t_, t));
    return out;
  }
  void collect_gone(NodeId p, std::vector<NodeId>& gone) const {
    for (NodeId t : target_of(p)) gone.push_back(t);
  }

  // For each statement of `want` the one of `have` that it becomes: equal ones by a longest common subsequence, then
  // what lies between, in order, where both are of one kind.
  std::vector<std::size_t> pair_up(const std::vector<NodeId>& have, const std::vector<NodeId>& want) const {
    std::vector<SnippetToken> a;
    std::vector<SnippetToken> b;
    for (NodeId n : have) a.push_back({n, statement_key(pattern_, n), nullptr, {}, false, ""});
    for (NodeId n : want) b.push_back({n, statement_key(replacement_, n), nullptr, {}, false, ""});
    std::vector<std::size_t> pairs = align(a, b);
    std::size_t i = 0;
    for (std::size_t j = 0; j < want.size(); ++j) {
      if (pairs[j] != kNoToken) {
        i = pairs[j] + 1;
        continue;
      }
      std::size_t limit = have.size();
      for (std::size_t k = j + 1; k < want.size(); ++k) {
        if (pairs[k] != kNoToken) {
          limit = pairs[k];
          break;
        }
      }
      for (std::size_t c = i; c < limit; ++c) {
        if (!pairable(have[c], want[j])) continue;
        pairs[j] = c;
        i = c + 1;
        break;
      }
    }
    return pairs;
  }

  // Two statements that differ in tokens only: same kind, and the same suites in the same places.
  bool pairable(NodeId p, NodeId r) const {
    if (pattern_.metavariable(p) != nullptr || replacement_.metavariable(r) != nullptr) return false;
    if (pattern_.tree()[p].kind != replacement_.tree()[r].kind) return false;
    if (!has_suite(pattern_.tree(), p) && !has_suite(replacement_.tree(), r)) return true;
    return suites(pattern_.tree(), p).size() == suites(replacement_.tree(), r).size() &&
           clause_kinds(pattern_.tree(), p) == clause_kinds(replacement_.tree(), r);
  }

  // The outermost suites of a statement, clauses included.
  static std::vector<NodeId> suites(const Tree& tree, NodeId statement) {
    std::vector<NodeId> out;
    for (NodeId id = statement; id < tree[statement].subtree_end;) {
      if (tree.is(id, kinds().block)) {
        out.push_back(id);
        id = tree[id].subtree_end;
      } else {
        ++id;
      }
    }
    return out;
  }
  static std::vector<Kind> clause_kinds(const Tree& tree, NodeId statement) {
    std::vector<Kind> out;
    for (NodeId suite : suites(tree, statement)) out.push_back(tree[tree[suite].parent].kind);
    return out;
  }

  void rewrite_pair(NodeId p, NodeId t, NodeId r) {
    const auto p_suites = suites(pattern_.tree(), p);
    const auto r_suites = suites(replacement_.tree(), r);
    if (p_suites.empty()) {
      tokens(p, t, r);
      return;
    }
    headers(p, t, r);
    for (std::size_t i = 0; i < p_suites.size(); ++i) {
      const auto it = node_.find(p_suites[i]);
      if (it == node_.end() || it->second.empty()) continue;
      list(statements_of(pattern_.tree(), p_suites[i]), statements_of(replacement_.tree(), r_suites[i]), it->second[0]);
    }
  }

  void tokens(NodeId p, NodeId t, NodeId r) { part({p}, {t}, {r}); }

  void part(const std::vector<NodeId>& p, const std::vector<NodeId>& t, const std::vector<NodeId>& r) {
    const TokenMap map(target_, pattern_, match_, p, t);
    in_order_ = in_order_ && map.in_order();
    const auto way = afresh_ && !map.in_order() ? TokenRewrite::Way::afresh : TokenRewrite::Way::inside;
    take(rewrite_tokens({target_, &match_.bindings, &pattern_, &replacement_, r, comments_, kNone, way}, map));
  }

  // What stands outside of the suites, header by header: from the statement's begin to its first suite, then between
  // suites.
  void headers(NodeId p, NodeId t, NodeId r) {
    const auto split = [](const Tree& tree, NodeId statement) {
      std::vector<std::vector<NodeId>> parts(1);
      for (NodeId id = statement; id < tree[statement].subtree_end;) {
        if (tree.is(id, kinds().block)) {
          parts.emplace_back();
          id = tree[id].subtree_end;
          continue;
        }
        const bool holds_suite = has_suite(tree, id);
        if (!holds_suite) parts.back().push_back(id);
        id = holds_suite ? id + 1 : tree[id].subtree_end;
      }
      return parts;
    };
    const auto ps = split(pattern_.tree(), p);
    const auto ts = split(t_, t);
    const auto rs = split(replacement_.tree(), r);
    for (std::size_t i = 0; i < ps.size() && i < rs.size() && i < ts.size(); ++i) {
      if (ps[i].empty() || ts[i].empty() || rs[i].empty()) continue;
      part(ps[i], ts[i], rs[i]);
    }
  }

  // --- whole statements
  // -----------------------------------------------------------------------------------------------------------

  std::string rendered(const std::vector<NodeId>& statements, NodeId suite) {
    std::string text;
    for (NodeId statement : statements) {
      std::string body = statements_text({&replacement_.source(), &replacement_.tree()}, {statement}, "");
      PatternProblem problem;
      const auto block = compile_pattern(without_placeholders(body), &problem);
      if (!block) continue;
      text += render_block(*block, target_, match_.bindings, suite_indentation(target_, suite),
                           indentation_unit(target_, suite), target_.source->newline());
    }
    return text;
  }

  void insert(const std::vector<NodeId>& statements, NodeId suite, NodeId after, NodeId before,
              std::vector<NodeId>& gone) {
    const std::string block = rendered(statements, suite);
    if (!gone.empty()) {
      // In the place of what goes: one region, so that the comments around it stay where they are.
      exchange(gone, block, statements);
      gone.clear();
    } else if (before != kNone) {
      add(insert_above(target_, before, block));
    } else if (after != kNone) {
      add(insert_below(target_, after, block));
    }
  }

  // Statements that stand one after the other become `block` ("" takes them out), which renders `statements`.
  void exchange(const std::vector<NodeId>& gone, std::string block, const std::vector<NodeId>& statements) {
    const std::size_t lines = static_cast<std::size_t>(std::count(block.begin(), block.end(), '\n'));
    // A comment behind the last one stays where it is, but for a block that goes on below it, or leaves nothing in
    // front of it.
    const Range code{t_[gone.front()].begin, t_[gone.back()].end};
    const bool stays = lines == 1 || ends_alike(statements, gone.back());
    const Range all{code.begin, stays ? code.end : end_of_line(gone.back())};
    std::vector<NodeId> comments = comments_in(all);
    std::erase_if(comments, [&](NodeId comment) { return is_captured(statements, t_.range(comment)); });
    if (!comments.empty() && comments_ == Comments::refuse) {
      problem("a comment stands where code is replaced", "say `comments: keep` or `comments: drop` in the rule",
              t_.range(comments.front()));
      return;
    }
    if (comments_ == Comments::keep) {
      std::string kept;
      for (NodeId comment : comments) {
        kept += suite_indentation(target_, t_[gone.front()].parent) +
                std::string(target_.source->text(t_.range(comment))) + std::string(target_.source->newline());
      }
      block.insert(0, kept);
    }
    std::vector<Splice> splices = block.empty() ? take_out(target_, gone.front(), gone.back())
                                                : put_in_place(target_, gone.front(), gone.back(), block);
    // The comment behind them goes with them, or was copied to its own line.
    if (!comments.empty() && t_[comments.back()].begin >= code.end && splices.back().end < all.end)
      splices.back().end = all.end;
    add(splices);
  }

  // The last thing of the new block is the capture that ends with this statement, or the very statement: what stands
  // behind it still does.
  bool ends_alike(const std::vector<NodeId>& statements, NodeId last) const {
    const auto tokens = snippet_tokens(replacement_, statements);
    if (tokens.empty()) return false;
    const Metavariable* mv = tokens.back().mv;
    const auto it = mv == nullptr ? match_.bindings.end() : match_.bindings.find(mv->name);
    if (it != match_.bindings.end() && !it->second.nodes.empty())
      return t_[it->second.nodes.back()].end == t_[last].end;
    const auto old = snippet_tokens(pattern_, {pattern_.roots().back()});
    return old.size() <= tokens.size() &&
           std::equal(old.rbegin(), old.rend(), tokens.rbegin(),
                      [](const SnippetToken& x, const SnippetToken& y) { return x.key == y.key; });
  }
  // Inside of a capture that the new block holds: copied with it.
  bool is_captured(const std::vector<NodeId>& statements, Range comment) const {
    const auto tokens = snippet_tokens(replacement_, statements);
    return std::any_of(tokens.begin(), tokens.end(), [&](const SnippetToken& token) {
      const auto it = token.mv == nullptr ? match_.bindings.end() : match_.bindings.find(token.mv->name);
      if (it == match_.bindings.end() || it->second.nodes.empty()) return false;
      return Range{t_[it->second.nodes.front()].begin, t_[it->second.nodes.back()].end}.contains(comment);
    });
  }

  // Of the line on which the statement ends, where nothing but a comment follows it; else of the statement.
  std::uint32_t end_of_line(NodeId statement) const {
    const std::uint32_t end = t_[statement].end;
    const std::uint32_t line_end = target_.source->line_end(target_.source->line_of(end));
    const auto rest = trim(target_.source->text({end, line_end}));
    return !rest.empty() && rest.front() == '#' ? line_end : end;
  }

  std::vector<NodeId> comments_in(Range range) const {
    std::vector<NodeId> out;
    for (NodeId id = 0; id < t_.size(); ++id) {
      if (t_.is(id, kinds().comment) && range.contains(t_.range(id))) out.push_back(id);
    }
    return out;
  }

  void remove(const std::vector<NodeId>& gone, NodeId suite) {
    if (gone.empty()) return;
    const auto all = statements_of(t_, suite);
    const bool emptied = std::all_of(all.begin(), all.end(),
                                     [&](NodeId s) { return std::find(gone.begin(), gone.end(), s) != gone.end(); });
    const bool refilled =
        !out_.splices.empty() && std::any_of(out_.splices.begin(), out_.splices.end(), [&](const Splice& s) {
          return s.begin >= t_[suite].begin && s.end <= t_[suite].end && !s.text.empty();
        });
    const bool needs_pass = emptied && !refilled && !t_.is(suite, kinds().module);
    // Runs of neighbours go together.
    std::vector<NodeId> run;
    for (NodeId statement : gone) {
      const bool follows = !run.empty() && std::find(all.begin(), all.end(), run.back()) + 1 != all.end() &&
                           *(std::find(all.begin(), all.end(), run.back()) + 1) == statement;
      if (!run.empty() && !follows) {
        exchange(run, "", {});
        run.clear();
      }
      run.push_back(statement);
    }
    exchange(run, needs_pass ? suite_indentation(target_, suite) + "pass" + std::string(target_.source->newline()) : "",
             {});
  }

  void problem(std::string message, std::string hint, Range at) {
    if (!out_.problem) out_.problem = RewriteProblem{std::move(message), std::move(hint), at};
  }
  void add(const std::vector<Splice>& splices) {
    out_.splices.insert(out_.splices.end(), splices.begin(), splices.end());
  }
  void take(const Rewrite& rewrite) {
    add(rewrite.splices);
    if (rewrite.problem && !out_.problem) out_.problem = rewrite.problem;
  }

  CodeView target_;
  const Tree& t_;
  const Pattern& pattern_;
  const Match& match_;
  const Pattern& replacement_;
  Comments comments_;
  bool afresh_;
  bool in_order_ = true;
  std::map<NodeId, std::vector<NodeId>> node_;
  Rewrite out_;
};

}  // namespace

Rewrite rewrite_statements(const StatementRewrite& job, const std::vector<NodeId>& have,
                           const std::vector<NodeId>& want, NodeId suite, bool* in_order) {
  StatementRewriter rewriter(job);
  Rewrite out = rewriter.run(have, want, suite);
  *in_order = rewriter.in_order();
  return out;
}

}  // namespace suture
