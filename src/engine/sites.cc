// See sites.h. Tests: tests/unit/sites_test.cc.
#include "engine/sites.h"

#include <algorithm>

#include "engine/layout.h"
#include "engine/structural.h"

namespace suture {
namespace {

bool name_fits(const std::vector<std::string>& want, const std::vector<std::string>& have) {
  return std::equal(want.begin(), want.end(), have.begin(), have.end(),
                    [](const std::string& w, const std::string& h) { return w == "*" || w == h; });
}

// --- classification ----------------------------------------------------------------------------------------------------------------

class Classifier {
 public:
  Classifier(const CompiledRule& rule, const CodeView& target, const std::optional<Version>& version)
      : rule_(rule), target_(target), tree_(*target.tree), version_(version) {}

  RuleSites run() {
    std::vector<std::string> names;
    for (const Text& name : rule_.rule->in) names.push_back(name.value);
    const auto scopes = find_scopes(target_, names);
    out_.scope_found = !scopes.empty();
    for (NodeId scope : scopes) {
      if (tree_[scope].broken && !names.empty()) out_.broken_scopes.push_back(scope);
      in_scope(scope);
    }
    return std::move(out_);
  }

 private:
  struct Found {
    std::vector<Site> old, result, done, unresolved, broken;
    std::vector<std::pair<Site, std::vector<std::size_t>>> ambiguous;
  };

  void in_scope(NodeId scope) {
    Found found;
    for (std::size_t i = 0; i < rule_.shapes.size(); ++i) results(scope, i, found.result);
    if (rule_.done_if) {
      for (Match& m : find_narrowed(*rule_.done_if, target_, scope))
        add(found.done, Site{scope, std::move(m), 0, kNone}, {&found.result});
    }
    old_sites(scope, found);
    not_passed(scope, found);
    unfit(scope, found);
    select(found);
  }

  // The sites where the rule's own match holds or a shape with a match of its own does, and which shapes hold there.
  void old_sites(NodeId scope, Found& found) {
    struct Candidate {
      Site site;
      std::vector<std::size_t> shapes;
    };
    std::vector<Candidate> candidates;
    const auto enter = [&](Site site, std::optional<std::size_t> shape) {
      for (Candidate& c : candidates) {
        if (!overlap(c.site, site)) continue;
        if (shape && std::find(c.shapes.begin(), c.shapes.end(), *shape) == c.shapes.end()) {
          if (c.shapes.empty()) c.site = std::move(site);
          c.shapes.push_back(*shape);
        }
        return;
      }
      candidates.push_back({std::move(site), shape ? std::vector<std::size_t>{*shape} : std::vector<std::size_t>{}});
    };
    for (std::size_t i = 0; i < rule_.shapes.size(); ++i) {
      if (excluded(rule_.shapes[i])) continue;
      for (Site& site : shape_sites(scope, i)) {
        // Nested matches of ONE shape are sites of their own.
        candidates.push_back({std::move(site), {i}});
      }
    }
    merge(candidates);
    if (rule_.base.match && !rule_.rule->any_of.empty()) {
      for (Match& m : find_narrowed(rule_.base, target_, scope))
        enter(Site{scope, std::move(m), 0, kNone}, std::nullopt);
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [&](const Candidate& a, const Candidate& b) { return begin(a.site) < begin(b.site); });
    for (const Candidate& c : candidates) {
      std::erase_if(found.result, [&](const Site& result) { return is_part(result, c.site); });
    }
    for (Candidate& c : candidates) {
      if (covered(c.site, found.result) || covered(c.site, found.done)) continue;
      if (c.site.match.broken) {
        found.broken.push_back(std::move(c.site));
      } else if (c.shapes.empty()) {
        found.unresolved.push_back(std::move(c.site));
      } else if (c.shapes.size() > 1) {
        found.ambiguous.emplace_back(std::move(c.site), std::move(c.shapes));
      } else {
        c.site.shape = c.shapes[0];
        found.old.push_back(std::move(c.site));
      }
    }
  }

  // Matches of different shapes that overlap are one site, which then has several shapes.
  template <class Candidates>
  void merge(Candidates& candidates) const {
    Candidates out;
    for (auto& c : candidates) {
      auto same = std::find_if(out.begin(), out.end(), [&](const auto& o) {
        return o.shapes[0] != c.shapes[0] &&
               std::find(o.shapes.begin(), o.shapes.end(), c.shapes[0]) == o.shapes.end() && overlap(o.site, c.site);
      });
      if (same == out.end()) {
        out.push_back(std::move(c));
      } else {
        same->shapes.push_back(c.shapes[0]);
      }
    }
    candidates = std::move(out);
  }

  bool excluded(const CompiledShape& shape) const {
    return shape.versions && version_ && !shape.versions->contains(*version_);
  }

  // The narrowing of what an examined edit leaves: `where` on what it changes says what that was.
  static CompiledNarrowing of_result(const CompiledShape& shape, const CompiledStructural& edit) {
    CompiledNarrowing out = shape.narrow;
    if (out.match) std::erase_if(out.where, [&](const CompiledWhere& w) { return changes(edit, *out.match, w.name); });
    return out;
  }

  // Where the shape's code stands; the scope, where it has none.
  std::vector<Site> matched_sites(NodeId scope, std::size_t index) const {
    return matched_sites(scope, index, rule_.shapes[index].narrow);
  }
  std::vector<Site> matched_sites(NodeId scope, std::size_t index, const CompiledNarrowing& narrow) const {
    const CompiledShape& shape = rule_.shapes[index];
    std::vector<Site> out;
    if (!shape.edit) return out;
    if (narrow.match) {
      for (Match& m : find_narrowed(narrow, target_, scope)) out.push_back(Site{scope, std::move(m), index, kNone});
      if (!shape.grown) return out;
      CompiledNarrowing after = narrow;
      after.match = shape.grown;
      for (Match& m : find_narrowed(after, target_, scope)) add(out, Site{scope, std::move(m), index, kNone}, {});
      return out;
    }
    const bool edits_scope =
        std::holds_alternative<CompiledInsert>(*shape.edit) || std::holds_alternative<CompiledStructural>(*shape.edit);
    if (!edits_scope) return out;
    Match whole;
    whole.nodes = {scope};
    whole.broken = tree_[scope].broken;
    out.push_back(Site{scope, std::move(whole), index, kNone});
    return out;
  }

  static const CompiledStructural* examined_edit(const CompiledShape& shape) {
    const auto* structural = shape.edit ? std::get_if<CompiledStructural>(&*shape.edit) : nullptr;
    return structural != nullptr && is_examined(*structural) ? structural : nullptr;
  }
  Examined examined(const CompiledStructural& edit, const Site& site) const {
    return examine(edit, {target_, &site.match, rule_.rule->comments});
  }
  Examined::State state_of(const CompiledStructural& edit, const Site& site) const {
    return examined(edit, site).state;
  }

  // Sites at which the edit finds something that is neither what it changes nor what it leaves.
  void unfit(NodeId scope, const Found& found) {
    for (std::size_t i = 0; i < rule_.shapes.size(); ++i) {
      const CompiledStructural* edit = examined_edit(rule_.shapes[i]);
      if (edit == nullptr || excluded(rule_.shapes[i])) continue;
      for (Site& site : matched_sites(scope, i)) {
        const Examined look = examined(*edit, site);
        const bool other = covered(site, found.result) || covered(site, found.done) || covered(site, found.old);
        if (look.state != Examined::State::unfit || other) continue;
        out_.unfit.emplace_back(std::move(site), look.why);
      }
    }
  }

  // Where the shape's code stands and its edit is still to do.
  std::vector<Site> shape_sites(NodeId scope, std::size_t index) const {
    const CompiledShape& shape = rule_.shapes[index];
    std::vector<Site> out = matched_sites(scope, index);
    if (const CompiledStructural* structural = examined_edit(shape)) {
      std::erase_if(out, [&](const Site& site) { return state_of(*structural, site) != Examined::State::to_do; });
    }
    if (out.empty()) return out;
    if (const auto* argument = std::get_if<CompiledArgument>(&*shape.edit)) {
      for (Site& site : out) site.argument = find_argument(target_, site.match.nodes[0], *argument);
      std::erase_if(out, [](const Site& site) { return site.argument == kNone; });
    }
    return out;
  }

  // Calls that an argument edit matches and that do not pass its argument: no sites, but the reason why there are none.
  void not_passed(NodeId scope, const Found& found) {
    for (const CompiledShape& shape : rule_.shapes) {
      const auto* argument = shape.edit ? std::get_if<CompiledArgument>(&*shape.edit) : nullptr;
      if (argument == nullptr || !shape.narrow.match || excluded(shape)) continue;
      for (Match& m : find_narrowed(shape.narrow, target_, scope)) {
        Site site{scope, std::move(m), 0, kNone};
        if (find_argument(target_, site.match.nodes[0], *argument) != kNone || covered(site, found.result) ||
            covered(site, found.done))
          continue;
        out_.not_passed.push_back(std::move(site));
      }
    }
  }

  // Where the shape's edit is in place.
  void results(NodeId scope, std::size_t index, std::vector<Site>& out) const {
    const CompiledShape& shape = rule_.shapes[index];
    if (shape.applied) {
      for (Match& m : find_narrowed(*shape.applied, target_, scope))
        add(out, Site{scope, std::move(m), index, kNone}, {});
      return;
    }
    if (!shape.edit) return;
    if (const CompiledStructural* structural = examined_edit(shape)) {
      for (Site& site : matched_sites(scope, index, of_result(shape, *structural))) {
        if (state_of(*structural, site) == Examined::State::in_place) add(out, std::move(site), {});
      }
      return;
    }
    if (const auto* argument = std::get_if<CompiledArgument>(&*shape.edit))
      return argument_results(scope, index, *argument, out);
    const auto* insert = std::get_if<CompiledInsert>(&*shape.edit);
    if (insert == nullptr) return;
    for (Site& site : shape_sites(scope, index)) {
      if (inserted(*insert, site)) add(out, std::move(site), {});
    }
  }

  void argument_results(NodeId scope, std::size_t index, const CompiledArgument& argument,
                        std::vector<Site>& out) const {
    const CompiledShape& shape = rule_.shapes[index];
    if (!shape.narrow.match) return;
    CompiledNarrowing free = shape.narrow;
    free.match = without_argument(*shape.narrow.match, argument);
    for (Match& m : find_narrowed(free, target_, scope)) {
      const NodeId value = find_argument(target_, m.nodes[0], argument);
      if (value == kNone) continue;
      Bindings given = m.bindings;
      given.erase("ARG");
      if (at_node(argument.becomes, value, given)) add(out, Site{scope, std::move(m), index, value}, {});
    }
  }

  // The match with the argument's own element, where the pattern names it, left open.
  static Pattern without_argument(const Pattern& match, const CompiledArgument& argument) {
    const Tree& tree = match.tree();
    const NodeId list =
        tree.is(match.roots()[0], kinds().call) ? tree.child(match.roots()[0], fields().arguments) : kNone;
    if (list == kNone) return match;
    NodeId value = kNone;
    std::uint32_t position = 0;
    bool counting = true;
    for (NodeId element : tree.named_children(list)) {
      const Metavariable* mv = match.metavariable(element);
      if (mv != nullptr && mv->run) counting = false;
      if (tree.is(element, kinds().keyword_argument)) {
        if (match.source().text(tree.range(tree.child(element, fields().name))) == argument.name)
          value = tree.child(element, fields().value);
      } else if (counting && argument.position == position++) {
        value = element;
      }
    }
    if (value == kNone) return match;
    const Range r = tree.range(value);
    const Range all{tree[match.roots().front()].begin, tree[match.roots().back()].end};
    const auto open =
        compile_pattern(match.spelled({all.begin, r.begin}) + "$ARG" + match.spelled({r.end, all.end}), nullptr);
    return open ? *open : match;
  }

  bool at_node(const Pattern& pattern, NodeId node, const Bindings& given) const {
    const auto admit = [](const std::string&, const Binding&) { return true; };
    const auto accept = [](const Match&) { return true; };
    return match_at(Search{&pattern, target_, given}, node, Admit(admit), Accept(accept));
  }

  // The inserted statements stand consecutively exactly where the edit puts them.
  bool inserted(const CompiledInsert& insert, const Site& site) const {
    std::vector<NodeId> all;
    std::size_t from = 0;
    const std::size_t n = insert.block.form() == Pattern::Form::expression ? 1 : insert.block.roots().size();
    if (insert.place == Place::prepend_body || insert.place == Place::append_body) {
      const NodeId suite = tree_.child(site.match.nodes[0], fields().body);
      if (suite == kNone && !tree_.is(site.match.nodes[0], kinds().module)) return false;
      const NodeId body = suite == kNone ? site.match.nodes[0] : suite;
      all = statements_of(tree_, body);
      from = insert.place == Place::prepend_body ? (docstring_of(tree_, body) == kNone ? 0 : 1)
                                                 : (all.size() >= n ? all.size() - n : all.size());
    } else {
      const NodeId first = statement_of(tree_, site.match.nodes.front());
      const NodeId last = statement_of(tree_, site.match.nodes.back());
      all = statements_of(tree_, tree_[first].parent == kNone ? first : tree_[first].parent);
      const auto at = static_cast<std::size_t>(
          std::find(all.begin(), all.end(), insert.place == Place::insert_before ? first : last) - all.begin());
      if (insert.place == Place::insert_before && at < n) return false;
      from = insert.place == Place::insert_before ? at - n : at + 1;
    }
    if (from + n > all.size()) return false;
    if (insert.block.form() != Pattern::Form::expression) return at_node(insert.block, all[from], site.match.bindings);
    const auto inner = tree_.named_children(all[from]);
    return tree_.is(all[from], kinds().expression_statement) && inner.size() == 1 &&
           at_node(insert.block, inner[0], site.match.bindings);
  }

  // --- sets of sites ----------------------------------------------------------------------------------------------------------------

  std::uint32_t begin(const Site& site) const { return site.match.range(tree_).begin; }
  bool overlap(const Site& a, const Site& b) const {
    const Range x = a.match.range(tree_);
    const Range y = b.match.range(tree_);
    return x.begin < y.end && y.begin < x.end;
  }
  bool covered(const Site& site, const std::vector<Site>& by) const {
    return std::any_of(by.begin(), by.end(),
                       [&](const Site& other) { return other.match.range(tree_).contains(site.match.range(tree_)); });
  }
  // `b()` of an old `a(); b()`, where the result is `b()` alone: some of the statements of the old site, which is to be
  // done as a whole.
  bool is_part(const Site& result, const Site& old) const {
    const auto& all = old.match.nodes;
    return result.match.nodes.size() < all.size() &&
           std::all_of(result.match.nodes.begin(), result.match.nodes.end(), [&](NodeId node) {
             return std::any_of(all.begin(), all.end(), [&](NodeId a) { return tree_.range(a) == tree_.range(node); });
           });
  }
  void add(std::vector<Site>& to, Site site, const std::vector<const std::vector<Site>*>& before) const {
    const Range r = site.match.range(tree_);
    const auto same = [&](const Site& other) { return other.match.range(tree_) == r; };
    if (std::any_of(to.begin(), to.end(), same)) return;
    for (const auto* list : before) {
      if (covered(site, *list)) return;
    }
    to.push_back(std::move(site));
  }

  // `select` picks among all sites of the scope, in source order.
  void select(Found& found) {
    const Select& select = rule_.rule->select;
    if (select.kind != SelectKind::all) {
      std::vector<std::uint32_t> begins;
      for (const auto* list : {&found.old, &found.result, &found.done}) {
        for (const Site& site : *list) begins.push_back(begin(site));
      }
      std::sort(begins.begin(), begins.end());
      const std::size_t n =
          select.kind == SelectKind::first ? 0 : (select.kind == SelectKind::last ? begins.size() - 1 : select.n);
      const std::uint32_t picked = n < begins.size() ? begins[n] : kNone;
      // No site at all is for `expect` to judge: `in` may name scopes that hold none.
      if (n >= begins.size() && !begins.empty()) out_.beyond = static_cast<std::uint32_t>(begins.size());
      for (auto* list : {&found.old, &found.result, &found.done}) {
        for (Site& site : *list) {
          if (begin(site) != picked) out_.passed.push_back(site);
        }
        std::erase_if(*list, [&](const Site& site) { return begin(site) != picked; });
      }
    }
    const auto move_all = [](auto& from, auto& to) {
      to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
    };
    move_all(found.old, out_.old);
    move_all(found.result, out_.result);
    move_all(found.done, out_.done);
    move_all(found.unresolved, out_.unresolved);
    move_all(found.ambiguous, out_.ambiguous);
    move_all(found.broken, out_.broken);
  }

  const CompiledRule& rule_;
  CodeView target_;
  const Tree& tree_;
  const std::optional<Version>& version_;
  RuleSites out_;
};

}  // namespace

std::vector<std::string> split_name(const std::string& name) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= name.size()) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    parts.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::vector<NodeId> find_scopes(const CodeView& target, const std::vector<std::string>& names) {
  const Tree& tree = *target.tree;
  if (names.empty()) return {tree.root()};
  std::vector<std::vector<std::string>> wanted;
  for (const std::string& name : names) wanted.push_back(split_name(name));
  std::vector<NodeId> out;
  std::vector<std::pair<NodeId, std::string>> open;
  const Kind function = kinds().function_definition, klass = kinds().class_definition;
  for (NodeId id = 0; id < tree.size(); ++id) {
    if (!tree.is(id, function) && !tree.is(id, klass)) continue;
    while (!open.empty() && id >= tree[open.back().first].subtree_end) open.pop_back();
    const NodeId name = tree.child(id, fields().name);
    open.emplace_back(id, name == kNone ? "" : std::string(target.source->text(tree.range(name))));
    std::vector<std::string> path;
    for (const auto& part : open) path.push_back(part.second);
    if (std::any_of(wanted.begin(), wanted.end(), [&](const auto& w) { return name_fits(w, path); })) out.push_back(id);
  }
  return out;
}

std::string scope_name(const CodeView& target, NodeId node) {
  const Tree& tree = *target.tree;
  std::string out;
  for (NodeId at = node; at != kNone; at = tree[at].parent) {
    if (!is_definition(tree, at)) continue;
    const NodeId name = tree.child(at, fields().name);
    if (name == kNone) continue;
    out = std::string(target.source->text(tree.range(name))) + (out.empty() ? "" : ".") + out;
  }
  return out.empty() ? "<module>" : out;
}

RuleSites find_sites(const CompiledRule& rule, const CodeView& target, const std::optional<Version>& version) {
  return Classifier(rule, target, version).run();
}

NodeId find_argument(const CodeView& target, NodeId call, const CompiledArgument& argument) {
  const Tree& tree = *target.tree;
  if (!tree.is(call, kinds().call)) return kNone;
  const NodeId list = tree.child(call, fields().arguments);
  if (list == kNone || !tree.is(list, kinds().argument_list)) return kNone;
  std::uint32_t position = 0;
  bool splat = false;  // behind a `*x` positions are unknown
  for (NodeId element : tree.named_children(list)) {
    if (tree.is(element, kinds().keyword_argument)) {
      if (target.source->text(tree.range(tree.child(element, fields().name))) == argument.name)
        return tree.child(element, fields().value);
    } else if (tree.is(element, kinds().list_splat) || tree.is(element, kinds().dictionary_splat)) {
      splat = true;
    } else if (!splat && argument.position == position++) {
      return element;
    }
  }
  return kNone;
}

}  // namespace suture
