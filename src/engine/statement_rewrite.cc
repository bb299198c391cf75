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
    if (!moved_.empty()) {
      // Known only now: what leaves its place, and so which comments go along.
      out_ = {};
      list(have, want, suite);
    }
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
  // what lies between, in order, where both are of one kind. One for one, any simple statement becomes any other: `raise
  // E($$$A)` that becomes `log($$$A)` keeps the lines of its arguments.
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
        if (!pairable(have[c], want[j], have.size() == 1 && want.size() == 1)) continue;
        pairs[j] = c;
        i = c + 1;
        break;
      }
    }
    return pairs;
  }

  // Two statements that differ in tokens only: same kind, and the same suites in the same places.
  bool pairable(NodeId p, NodeId r, bool alone) const {
    if (pattern_.metavariable(p) != nullptr || replacement_.metavariable(r) != nullptr) return false;
    const bool suite = has_suite(pattern_.tree(), p);
    if (suite != has_suite(replacement_.tree(), r)) return false;
    const bool one_kind = pattern_.tree()[definition_of(pattern_.tree(), p)].kind ==
                          replacement_.tree()[definition_of(replacement_.tree(), r)].kind;
    return one_kind || (!suite && alone && !is_assignment(p));
  }

  // Its annotation may stand in the target, unnamed: nothing else has a place for it.
  bool is_assignment(NodeId p) const {
    const auto parts = pattern_.tree().named_children(p);
    return !parts.empty() && pattern_.tree().is(parts[0], kinds().assignment);
  }

  // Without its decorators.
  static NodeId definition_of(const Tree& tree, NodeId statement) {
    const NodeId inner =
        tree.is(statement, kinds().decorated_definition) ? tree.child(statement, fields().definition) : kNone;
    return inner == kNone ? statement : inner;
  }
  static std::vector<NodeId> decorators_of(const Tree& tree, NodeId statement) {
    if (!tree.is(statement, kinds().decorated_definition)) return {};
    std::vector<NodeId> out = tree.named_children(statement);
    std::erase_if(out, [&](NodeId n) { return !tree.is(n, kinds().decorator); });
    return out;
  }

  // What begins with a header and has a suite: the statement itself, then its clauses.
  struct Unit {
    NodeId clause = kNone;  // of the first: the statement
    NodeId suite = kNone;
    std::vector<NodeId> header;
  };
  static std::vector<Unit> units_of(const Tree& tree, NodeId statement) {
    std::vector<Unit> out(1);
    for (NodeId id = statement; id < tree[statement].subtree_end;) {
      if (tree.is(id, kinds().block)) {
        out.back().suite = id;
        out.back().clause = tree[id].parent;
        out.emplace_back();
        id = tree[id].subtree_end;
        continue;
      }
      const bool holds_suite = has_suite(tree, id);
      if (!holds_suite) out.back().header.push_back(id);
      id = holds_suite ? id + 1 : tree[id].subtree_end;
    }
    out.pop_back();  // nothing stands behind the last suite
    return out;
  }

  void rewrite_pair(NodeId p, NodeId t, NodeId r) {
    if (!has_suite(pattern_.tree(), p)) return tokens(p, t, r);
    decorators(p, t, r);
    const auto have = units_of(pattern_.tree(), definition_of(pattern_.tree(), p));
    const auto want = units_of(replacement_.tree(), definition_of(replacement_.tree(), r));
    const auto there = units_of(t_, definition_of(t_, t));
    if (have.size() != there.size()) return;  // every clause is matched
    const auto same = pair_units(have, want);
    std::vector<bool> used(have.size(), false);
    for (std::size_t j = 0, last = 0; j < want.size(); ++j) {
      if (same[j] == kNoToken) {
        put_clause(want[j].clause, there[last].suite);
        continue;
      }
      last = same[j];
      used[last] = true;
      if (!have[last].header.empty() && !want[j].header.empty())
        part(have[last].header, there[last].header, want[j].header);
      list(statements_of(pattern_.tree(), have[last].suite), statements_of(replacement_.tree(), want[j].suite),
           there[last].suite);
    }
    for (std::size_t i = 0; i < have.size(); ++i) {
      if (!used[i]) drop_clause(there[i]);
    }
  }

  // For each unit of the replacement the one of the pattern that it becomes: the statement itself, then equal headers, then what
  // lies between, in order, where both are of one kind.
  std::vector<std::size_t> pair_units(const std::vector<Unit>& have, const std::vector<Unit>& want) const {
    const auto keys = [](const Pattern& pattern, const std::vector<Unit>& units) {
      std::vector<SnippetToken> out;
      for (std::size_t i = 0; i < units.size(); ++i) {
        std::string key = i == 0 ? "" : std::string(kind_name(pattern.tree()[units[i].clause].kind)) + " ";
        for (const SnippetToken& token : snippet_tokens(pattern, units[i].header)) key += i == 0 ? "" : token.key + " ";
        out.push_back({units[i].clause, key, nullptr, {}, false, ""});
      }
      return out;
    };
    std::vector<std::size_t> out = align(keys(pattern_, have), keys(replacement_, want));
    std::size_t next = 0;
    for (std::size_t j = 0; j < want.size(); ++j) {
      if (out[j] == kNoToken) {
        std::size_t limit = have.size();
        for (std::size_t k = j + 1; k < want.size(); ++k) limit = out[k] == kNoToken ? limit : std::min(limit, out[k]);
        for (std::size_t c = next; c < limit && out[j] == kNoToken; ++c) {
          if (pattern_.tree()[have[c].clause].kind == replacement_.tree()[want[j].clause].kind) out[j] = c;
        }
      }
      if (out[j] != kNoToken) next = out[j] + 1;
    }
    return out;
  }

  // A new clause, as lines below the suite.
  void put_clause(NodeId clause, NodeId suite) {
    const NodeId last = statements_of(t_, suite).back();
    const auto snippet = compile_pattern(replacement_.spelled(clause), nullptr);
    const NodeId owner = statement_of(t_, t_[suite].parent);
    const std::string block =
        render_block(*snippet, target_, match_.bindings, std::string(target_.source->indentation_at(t_[owner].begin)),
                     indentation_unit(target_, suite), target_.source->newline(), moved_);
    add({insert_line(target_, with_comments(target_, {last}, {0, target_.source->size()}).end, block)});
  }

  void drop_clause(const Unit& unit) {
    const Source& source = *target_.source;
    const auto statements = statements_of(t_, unit.suite);
    const Range all{t_[unit.clause].begin, with_comments(target_, statements, {0, source.size()}).end};
    std::vector<NodeId> comments = comments_in(all);
    if (!comments.empty() && std::find(moved_.begin(), moved_.end(), all) == moved_.end()) moved_.push_back(all);
    std::erase_if(comments, [&](NodeId comment) { return is_captured(t_.range(comment)); });
    if (!comments.empty() && comments_ == Comments::refuse) return refuse_comment(comments.front());
    std::string kept;
    for (std::size_t i = 0; comments_ == Comments::keep && i < comments.size(); ++i) {
      kept += suite_indentation(target_, unit.suite) + std::string(source.text(t_.range(comments[i]))) +
              std::string(source.newline());
    }
    add({remove_lines(target_, all, kept)});
  }

  void tokens(NodeId p, NodeId t, NodeId r) { part({p}, {t}, {r}); }

  void part(const std::vector<NodeId>& p, const std::vector<NodeId>& t, const std::vector<NodeId>& r) {
    const TokenMap map(target_, pattern_, match_, p, t);
    in_order_ = in_order_ && map.in_order();
    const auto way = afresh_ && !map.in_order() ? TokenRewrite::Way::afresh : TokenRewrite::Way::inside;
    take(rewrite_tokens({target_, &match_.bindings, &pattern_, &replacement_, r, comments_, kNone, way}, map));
  }

  // Decorators are lines: those of the pattern that the replacement has, too, stay, the others go or are rewritten, and new ones
  // come in front of what follows them. Decorators of the target that the pattern does not name are kept, inside of new ones.
  void decorators(NodeId p, NodeId t, NodeId r) {
    const auto have = decorators_of(pattern_.tree(), p);
    const auto want = decorators_of(replacement_.tree(), r);
    std::vector<SnippetToken> a;
    std::vector<SnippetToken> b;
    for (NodeId n : have) a.push_back({n, statement_key(pattern_, n), nullptr, {}, false, ""});
    for (NodeId n : want) b.push_back({n, statement_key(replacement_, n), nullptr, {}, false, ""});
    const auto same = align(a, b);
    std::vector<bool> used(have.size(), false);
    for (std::size_t i : same) {
      if (i != kNoToken) used[i] = true;
    }
    std::size_t next = 0;  // of `have`: where new ones go in front of
    for (std::size_t j = 0; j < want.size(); ++j) {
      if (same[j] != kNoToken) {
        next = same[j] + 1;
      } else if (next < have.size() && !used[next]) {
        used[next] = true;
        part({have[next]}, target_decorator(have[next]), {want[j]});
        ++next;
      } else {
        put_decorator(want[j], next < have.size() ? target_decorator(have[next])[0]
                               : have.empty()     ? t
                                                  : definition_of(t_, t));
      }
    }
    for (std::size_t i = 0; i < have.size(); ++i) {
      if (!used[i]) drop_decorator(target_decorator(have[i])[0]);
    }
  }
  std::vector<NodeId> target_decorator(NodeId p) const { return node_.at(p); }

  void put_decorator(NodeId decorator, NodeId before) {
    const auto snippet = compile_pattern(replacement_.spelled(decorator), nullptr);
    const std::string indentation(target_.source->indentation_at(t_[before].begin));
    const std::string unit = indentation_unit(target_, t_[statement_of(t_, before)].parent);
    const std::string line =
        render_block(*snippet, target_, match_.bindings, indentation, unit, target_.source->newline());
    add({Splice{t_[before].begin, t_[before].begin, line.substr(indentation.size()) + indentation, "", false}});
  }

  void drop_decorator(NodeId decorator) {
    NodeId next = t_.next_sibling(decorator);
    while (t_[next].extra) next = t_.next_sibling(next);
    const Range all{t_[decorator].begin, t_[next].begin};
    const auto comments = comments_in(all);
    if (!comments.empty() && comments_ == Comments::refuse) return refuse_comment(comments.front());
    std::string kept;
    for (std::size_t i = 0; comments_ == Comments::keep && i < comments.size(); ++i) {
      kept += std::string(target_.source->text(t_.range(comments[i]))) + std::string(target_.source->newline()) +
              std::string(target_.source->indentation_at(all.begin));
    }
    add({Splice{all.begin, all.end, kept, "", false}});
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
                           indentation_unit(target_, suite), target_.source->newline(), moved_);
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
    const bool stays = !statements.empty() && (lines == 1 || ends_alike(statements, gone.back()));
    Range all{code.begin, stays ? code.end : end_of_line(gone.back())};
    if (statements.empty())
      all.begin = with_comments(target_, gone, match_.range(t_)).begin;  // a comment above speaks of it
    std::vector<NodeId> comments = comments_in(all);
    if (!comments.empty() && std::find(moved_.begin(), moved_.end(), all) == moved_.end()) moved_.push_back(all);
    const bool behind = !comments.empty() && t_[comments.back()].begin >= code.end;
    std::erase_if(comments, [&](NodeId comment) { return is_captured(t_.range(comment)); });
    if (!comments.empty() && comments_ == Comments::refuse) return refuse_comment(comments.front());
    if (comments_ == Comments::keep) {
      std::string kept;
      for (NodeId comment : comments) {
        if (t_[comment].begin < code.begin) continue;  // stays in its place
        kept += suite_indentation(target_, t_[gone.front()].parent) +
                std::string(target_.source->text(t_.range(comment))) + std::string(target_.source->newline());
      }
      block.insert(0, kept);
    }
    std::vector<Splice> splices = block.empty() ? take_out(target_, gone.front(), gone.back())
                                                : put_in_place(target_, gone.front(), gone.back(), block);
    // The comment behind them goes with them, or was copied to its own line.
    if (behind && splices.back().end < all.end) splices.back().end = all.end;
    if (comments_ == Comments::drop && all.begin < code.begin)
      splices.front().begin = target_.source->line_begin(target_.source->line_of(all.begin));
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
  // Inside of a capture that the replacement holds, or beside its statements: copied with it, wherever it goes.
  bool is_captured(Range comment) const {
    const auto& names = replacement_.names();
    return std::any_of(names.begin(), names.end(), [&](const Metavariable& mv) {
      const auto it = match_.bindings.find(mv.name);
      if (it == match_.bindings.end() || it->second.nodes.empty()) return false;
      const auto& nodes = it->second.nodes;
      const Range code{t_[nodes.front()].begin, t_[nodes.back()].end};
      if (code.contains(comment)) return true;
      if (t_[nodes.front()].parent == kNone || !is_suite(t_, t_[nodes.front()].parent)) return false;
      const auto within = std::find_if(moved_.begin(), moved_.end(), [&](const Range& r) { return r.contains(code); });
      return within != moved_.end() && with_comments(target_, nodes, *within).contains(comment);
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

  void refuse_comment(NodeId comment) {
    if (out_.problem) return;
    out_.problem = RewriteProblem{"a comment stands where code is replaced",
                                  "say `comments: keep` or `comments: drop` in the rule", t_.range(comment)};
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
  std::vector<Range> moved_;  // what leaves its place, and has comments
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
